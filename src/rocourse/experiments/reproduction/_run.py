"""A whole run: what the entries named ask for, packed, and the report of what there is."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rocourse.artifacts import write_file
from rocourse.engines import LOCAL, Engine
from rocourse.experiments._tuning import versions
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._packed import Pack, read_packs, write_packs
from rocourse.experiments.reproduction._registry import REGISTRY, Entry
from rocourse.experiments.reproduction._scales import Scale
from rocourse.experiments.reproduction._schedule import OnAdvance, Outcome, run_jobs
from rocourse.experiments.reproduction._store import Store
from rocourse.reports import Section, draw_report

WORK = Path("runs/reproduce")
"""Where models and results that are not packed yet are kept, in a folder a scale."""


def reproduce(
    entries: Sequence[Entry],
    scale: Scale,
    out: Path,
    *,
    work: Path | None = None,
    engine: Engine = LOCAL,
    data: Sequence[str] = (),
    methods: Sequence[str] = (),
    on_advance: OnAdvance | None = None,
    registry: Mapping[str, Entry] | None = None,
) -> tuple[Outcome, list[Section]]:
    """Does what some entries ask for and has no result in `out` yet, then draws the report.

    However the run ends, what it has done is packed into `out`.

    Args:
        entries: What to reproduce.
        scale: How large a run.
        out: The folder of packed results and report; made if need be.
        work: The folder of models and single results; by default one of the scale in `WORK`.
        engine: Where jobs are done; all who work must see both folders.
        data: Only these data sets; by default all.
        methods: Only these methods; by default all.
        on_advance: Told how far it has come.
        registry: What the report holds, if not all entries.
    """
    known = REGISTRY if registry is None else registry
    store = Store(work or WORK / scale.name, out)
    jobs = [job for entry in entries for job in entry.jobs(scale) if _is_meant(job, data, methods)]
    try:
        outcome = run_jobs(jobs, store, engine=engine, on_advance=on_advance)
    finally:
        pack(store, out, scale, known)
    return outcome, write_report(scale, out, registry=known)


def read_sections(entries: Iterable[Entry], scale: Scale, store: Store) -> list[Section]:
    """The entries that have any results, with their tables and pictures."""
    sections = []
    for entry in entries:
        jobs = list(dict.fromkeys(entry.jobs(scale)))
        results = store.results(jobs)
        if results:
            beside = store.results(entry.beside(scale))
            parts = tuple(entry.render(scale, {**beside, **results}))
            counts = len(results), len(jobs)
            sections.append(
                Section(entry.name, entry.title, parts, *counts, entry.note(scale), entry.ours)
            )
    return sections


def write_report(
    scale: Scale, out: Path, *, registry: Mapping[str, Entry] | None = None
) -> list[Section]:
    """Draws all entries that have results: a page, the same as Markdown, and the figures.

    Nothing is read but the packed results, each once, and nothing is computed anew.

    Args:
        scale: Which jobs to look for.
        out: The folder of the packed results, which the report is put beside.
        registry: The entries, if not those of the paper.

    Returns:
        What was drawn.
    """
    entries = (REGISTRY if registry is None else registry).values()
    sections = read_sections(entries, scale, Store(out, out))
    for name, content in draw_report(sections, scale=scale.name, note=scale.note).items():
        write_file(out / name, content, force=True)
    return sections


def pack(store: Store, out: Path, scale: Scale, registry: Mapping[str, Entry]) -> None:
    """Moves the single results that an entry draws into the packed files of `out`.

    A job that several entries ask for stands in the file of the first of them. What is packed and
    no entry asks for any more stays where it is.
    """
    owners: dict[Job, str] = {}
    for entry in registry.values():
        for job in entry.jobs(scale):
            owners.setdefault(job, entry.name)
    fresh = {job: record for job in owners if (record := store.loose(job)) is not None}
    if not fresh:
        return
    # Read anew: another run may have packed something since this one began.
    packs = read_packs(out)
    for job, record in fresh.items():
        name = owners[job]
        if name not in packs:
            command = f"rocourse reproduce {name} --scale {scale.name}"
            packs[name] = Pack({"name": name, "command": command, "versions": {}})
        packs[name].records[job.digest] = record
        packs[name].header["versions"] = _joined(packs[name].header["versions"], versions())
    order = {job.digest: place for place, job in enumerate(owners)}
    for held in packs.values():
        ranked = sorted(held.records.items(), key=lambda item: order.get(item[0], len(order)))
        held.records = dict(ranked)
    write_packs(out, packs)
    for job in fresh:
        store.path(job).unlink()


def _joined(stored: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Versions of what computed results, where there are several all of them."""
    return {
        name: ", ".join(sorted({*stored.get(name, version).split(", "), version}))
        for name, version in ours.items()
    }


def _is_meant(job: Job, data: Sequence[str], methods: Sequence[str]) -> bool:
    return (not data or job.inputs["dataset"] in data) and (
        not methods or job.inputs.get("method") in methods
    )
