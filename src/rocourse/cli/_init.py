"""`rocourse init`: a schema and parameters to begin with, to be read and edited."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from rocourse.console import Output, options, with_schema_options

if TYPE_CHECKING:
    from rocourse.console import ColumnOptions

EXAMPLES = options.examples(
    "rocourse init applicants.csv --target approved",
    "rocourse init mortgages.csv --target deny --favourable no --out mortgages/",
    "rocourse init loans.csv --target paid --immutable age --method roar",
)


@with_schema_options
def init(
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder to write the files to.")
    ] = Path("."),
    method: options.Method = "rocourse",
    drop: options.Drop = None,
    *,
    columns: "ColumnOptions",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a schema and parameters to begin with, as files with comments.

    The schema is read off the table, with what `--fix safe` settles; what a look at the table warns
    of stands beside the features.
    """
    from rocourse.artifacts import check_file_path, write_file
    from rocourse.console import chosen_method, look_over, starting_config
    from rocourse.tables import names_to_drop

    output = Output(as_json=as_json, quiet=quiet)
    files = {"schema": out / "schema.toml", "config": out / "config.toml"}
    for path in files.values():
        check_file_path(path, force=force)
    estimator = chosen_method(method)
    rows = columns.read(data, target)
    dropped = names_to_drop(rows.columns, drop, data)
    look = look_over(data, rows.drop(columns=dropped), target, columns, fix=True, gaps_told=True)
    look.require_no_errors()
    schema = look.columns.infer(rows, target, [*dropped, *look.added])
    for line in look.lines():
        output.warn(line)
    warnings = [finding for finding in look.check.of("warning") if len(finding.columns) == 1]
    remarks = {finding.columns[0]: finding.sentence for finding in warnings}
    texts = {"schema": schema.to_toml(remarks), "config": starting_config(method, estimator)}
    for name, text in texts.items():
        write_file(files[name], text.encode(), force=force)
    written = {name: str(path) for name, path in files.items()}
    output.emit({**written, "fixed": list(look.fixed)})
    command = (
        f"rocourse train {quote(str(data))} --target {quote(target)} "
        f"--schema {quote(written['schema'])} --config {quote(written['config'])} --out model/"
    )
    if method != "rocourse":
        command += f" --method {method}"
    output.show(
        f"Written: {written['schema']}, {written['config']}. Say there what people can do, then:",
        f"  {command}",
    )
