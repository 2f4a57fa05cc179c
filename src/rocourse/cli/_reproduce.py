"""`rocourse reproduce`: the paper's tables and figures, and comparisons of our own."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rocourse.console import INTERRUPTED, JobReport, Output, options

if TYPE_CHECKING:
    from rocourse.experiments.reproduction import Advance, Outcome
    from rocourse.reports import Section

EXAMPLES = options.examples(
    "rocourse reproduce all",
    "rocourse reproduce table-main --scale paper --jobs 2",
    "rocourse reproduce fig-attack --report",
    "rocourse reproduce table-methods --jobs 2",
    "rocourse reproduce all --scale paper --engine ray --address auto",
)

_SHOWN_SKIPS = 5


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="Tables and figures such as table-main or fig-attack; all stands for those of the "
            "paper.",
        ),
    ],
    scale: Annotated[
        Literal["quick", "paper"],
        typer.Option("--scale", help="Minutes, or the whole protocol."),
    ] = "quick",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            show_default="runs/reproduce/SCALE",
            help="Directory of the packed results and of the report.",
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            metavar="DIR",
            show_default="runs/reproduce/SCALE",
            help="Directory of models and of results until they are packed.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="SET", help="Run this data set only. Repeat for more."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", metavar="NAME", help="Run this method only. Repeat for more."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, show_default="one a core", help="Jobs side by side."),
    ] = None,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    report: Annotated[
        bool,
        typer.Option("--report", "--table", help="Only draw what is stored; compute nothing."),
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce tables and figures of the paper; what has been computed is kept."""
    output = Output(as_json=as_json, quiet=quiet)
    from rocourse.experiments.reproduction import (
        Outcome,
        find_entries,
        find_scale,
        write_report,
    )
    from rocourse.experiments.reproduction import reproduce as run

    entries, size = find_entries(names), find_scale(scale)
    where = options.engine(engine, address, jobs if engine == "ray" else jobs or _cores())
    folder = out or Path("runs/reproduce") / scale
    outcome = Outcome()
    if report:
        drawn = write_report(size, folder)
    else:
        try:
            with output.job_progress() as tell:
                outcome, drawn = run(
                    entries,
                    size,
                    folder,
                    work=work,
                    engine=where,
                    data=data or (),
                    methods=variant or (),
                    on_advance=lambda advance: _tell(advance, tell),
                )
        except KeyboardInterrupt as error:
            output.warn("interrupted: what was done is kept, and the same command goes on from it")
            raise typer.Exit(INTERRUPTED) from error
    named = {entry.name for entry in entries}
    sections = [section for section in drawn if section.name in named]
    output.emit(_record(sections, outcome))
    _show(output, sections, outcome, tables=len(entries) == 1)
    output.show(f"Report written to {folder / 'report.html'}")
    if outcome.failed:
        raise typer.Exit(1)


def _tell(advance: "Advance", tell: JobReport) -> None:
    label = "" if advance.job is None else advance.job.label
    if advance.error is not None:
        # At once, and also to the quiet: a long run can be stopped and mended.
        print(f"failed: {label}: {advance.error}", file=sys.stderr, flush=True)
    gone = advance.failed + advance.skipped
    tell(advance.done, advance.total, gone, advance.seconds_left, label)


def _show(
    output: Output, sections: Sequence["Section"], outcome: "Outcome", *, tables: bool
) -> None:
    for section in sections if tables else ():
        output.show(section.title, *([section.note] if section.note else []), "")
        for table in section.tables:
            output.show(f"{table.title}:", "", table.to_markdown(), "", table.note, "")
    for job in outcome.skipped[:_SHOWN_SKIPS]:
        output.warn(f"skipped: {job.label}: a model that it needs could not be fitted")
    if len(outcome.skipped) > _SHOWN_SKIPS:
        output.warn(f"skipped: {len(outcome.skipped) - _SHOWN_SKIPS} more for the same reason")
    if outcome.absent:
        # What several data sets lack is said once.
        reasons = " ".join(dict.fromkeys(outcome.absent.values()))
        output.warn(f"left out: {outcome.left_out} jobs, since {reasons[0].lower()}{reasons[1:]}")
    output.show(
        f"Jobs: {outcome.done} done, {outcome.stored} found, {len(outcome.failed)} failed, "
        f"{len(outcome.skipped)} skipped, {outcome.left_out} left out."
    )


def _record(sections: Sequence["Section"], outcome: "Outcome") -> dict[str, object]:
    return {
        "entries": [
            {
                "name": section.name,
                "title": section.title,
                "jobs": {"done": section.done, "total": section.total},
                "tables": [table.to_dict() for table in section.tables],
                "figures": [picture.name for picture in section.pictures],
            }
            for section in sections
        ],
        "done": outcome.done,
        "stored": outcome.stored,
        "failed": {job.label: reason for job, reason in outcome.failed.items()},
        "skipped": [job.label for job in outcome.skipped],
        "absent": outcome.absent,
    }


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
