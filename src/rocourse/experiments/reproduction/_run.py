"""A whole run: what the entries named ask for, and the report of what there is."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._registry import Entry
from rocourse.experiments.reproduction._report import write_report
from rocourse.experiments.reproduction._scales import Scale
from rocourse.experiments.reproduction._schedule import OnAdvance, Outcome, run_jobs
from rocourse.experiments.reproduction._store import Store


def reproduce(
    entries: Sequence[Entry],
    scale: Scale,
    out: Path,
    *,
    workers: int = 1,
    data: Sequence[str] = (),
    methods: Sequence[str] = (),
    on_advance: OnAdvance | None = None,
    registry: Mapping[str, Entry] | None = None,
) -> Outcome:
    """Does what some entries ask for and has no result in `out` yet, then draws the report.

    Args:
        entries: What to reproduce.
        scale: How large a run.
        out: The folder of results, models and report; made if need be.
        workers: Processes side by side.
        data: Only these data sets; by default all.
        methods: Only these methods; by default all.
        on_advance: Told how far it has come.
        registry: What the report holds, if not all entries.
    """
    jobs = [job for entry in entries for job in entry.jobs(scale) if _is_meant(job, data, methods)]
    outcome = run_jobs(jobs, Store(out), workers=workers, on_advance=on_advance)
    write_report(scale, out, registry=registry)
    return outcome


def _is_meant(job: Job, data: Sequence[str], methods: Sequence[str]) -> bool:
    return (not data or job.inputs["dataset"] in data) and (
        not methods or job.inputs.get("method") in methods
    )
