"""`rocourse reproduce`: the experiments whose results the docs show."""

from pathlib import Path
from typing import Annotated

import typer

from rocourse.cli import _options
from rocourse.cli._console import Output

EXAMPLES = _options.examples(
    "rocourse reproduce methods --jobs 2",
    "rocourse reproduce robustness --data student",
    "rocourse reproduce simulated --table",
)


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="methods, robustness or simulated.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Directory of the results.  [default: docs/results/NAME]"
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="SET", help="Run this data set only. Repeat for more."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", metavar="NAME", help="Run this variant only. Repeat for more."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes side by side.")] = 1,
    table: Annotated[
        bool, typer.Option("--table", help="Only print the table of stored results.")
    ] = False,
    as_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Run an experiment (results already stored are kept) and print its table."""
    from rocourse.experiments import (
        as_markdown,
        comparison_rows,
        find_comparison,
        protocol_tables,
        read_comparison,
        run_comparison,
    )

    output = Output(as_json=as_json, quiet=quiet)
    comparison = find_comparison(name, data or (), variant or ())
    folder = out or Path("docs/results") / comparison.name
    if table:
        cells = read_comparison(comparison, folder)
    else:
        with output.progress() as report:
            cells = run_comparison(comparison, folder, jobs=jobs, on_progress=report)
    output.emit([cell.to_dict() for cell in cells])
    output.show(comparison.title, "")
    if not comparison.full_tables:
        output.show(as_markdown(comparison_rows(cells)))
        return
    for title, rows in protocol_tables(cells):
        output.show(f"{title}:", "", as_markdown(rows), "")
