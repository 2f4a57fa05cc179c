"""`rocourse check`: a look at a table before a model is trained on it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocourse.console import Output, options, with_schema_options

if TYPE_CHECKING:
    from rocourse.console import ColumnOptions

EXAMPLES = options.examples(
    "rocourse check applicants.csv --target approved",
    "rocourse check loans.csv --target deny --favourable no --html check.html",
    "rocourse check loans.parquet --target paid --fix safe --json",
)


@with_schema_options
def check(
    data: options.Data,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="Column that is predicted.")
    ] = None,
    drop: options.Drop = None,
    fix: options.Fix = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Page to write the check to.")
    ] = None,
    *,
    columns: "ColumnOptions",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Look at a table: what is odd about it, and the option that settles it.

    Errors stop `train`, warnings are printed by it, notes are told here only.
    """
    from rocourse.artifacts import check_file_path, write_file
    from rocourse.console import check_lines, look_over
    from rocourse.tables import names_to_drop

    output = Output(as_json=as_json, quiet=quiet)
    if html is not None:
        check_file_path(html, force=force)
    frame = columns.read(data, target)
    frame = frame.drop(columns=names_to_drop(frame.columns, drop, data))
    look = look_over(data, frame, target, columns, fix=fix is not None, gaps_told=False)
    if html is not None:
        from rocourse.reports import render_check

        page = render_check(look.check, name=data.name, target=target, fixed=look.fixed)
        write_file(html, page.encode(), force=force)
    output.emit({"data": str(data), **look.check.to_dict(), "fixed": list(look.fixed)})
    output.show(*check_lines(look, name=data.name))
    if html is not None:
        output.show(f"Check written to {html}")
