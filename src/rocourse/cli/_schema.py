"""`rocourse schema`: read a schema off a table, or show one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocourse._wording import counted, first_few
from rocourse.console import Commands, Output, options, with_schema_options

if TYPE_CHECKING:
    from rich.table import Table

    from rocourse.console import ColumnOptions
    from rocourse.schema import Feature, Schema

app = typer.Typer(cls=Commands, no_args_is_help=True, help="Infer and show schemas.")


@app.command(
    epilog=options.examples(
        "rocourse schema infer applicants.csv --target approved --out schema.json",
        "rocourse schema infer applicants.csv --target approved --immutable age,sex",
        "rocourse schema infer loans.parquet --target paid --bounds term=6:72 --drop id",
        "rocourse schema infer loans.csv --target paid --max-change income=+20% --step income=100",
    )
)
@with_schema_options
def infer(
    data: options.Data,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="Column that is predicted.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="A .json file to write, or .toml with comments."
        ),
    ] = None,
    drop: options.Drop = None,
    fix: options.Fix = None,
    *,
    columns: "ColumnOptions",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read a schema off training rows: the features, their ranges and categories."""
    from rocourse.artifacts import check_file_path
    from rocourse.console import gap_lines, look_over
    from rocourse.tables import names_to_drop

    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_file_path(out, force=force)
    rows = columns.read(data, target)
    dropped = names_to_drop(rows.columns, drop, data)
    looked_at = rows.drop(columns=dropped)
    look = look_over(data, looked_at, target, columns, fix=fix is not None, gaps_told=True)
    look.require_no_errors()
    schema = look.columns.infer(rows, target, [*dropped, *look.added])
    for line in look.lines():
        output.warn(line)
    if out is not None:
        schema.save(out, force=force)
    output.emit(schema.to_dict())
    written = [] if out is None else [f"Schema written to {out}"]
    output.show(_table(schema), *gap_lines(schema, rows), *written)


@app.command(epilog=options.examples("rocourse schema show schema.json"))
def show(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A schema file.")],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a schema file and show it as a table."""
    from rocourse.schema import Schema

    output = Output(as_json=as_json, quiet=quiet)
    loaded = Schema.load(schema)
    output.emit(loaded.to_dict())
    output.show(_table(loaded))


def _table(schema: "Schema") -> "Table":
    from rich.markup import escape
    from rich.table import Table

    from rocourse.schema import limits_in_words, together_in_words

    table = Table("feature", "values", "advice may", title="Schema", title_justify="left")
    for feature in schema.features:
        table.add_row(
            escape(feature.name), escape(_values(feature)), escape(limits_in_words(feature))
        )
    if schema.target is not None:
        classes = ", ".join(map(str, schema.target.classes))
        table.caption = escape(
            f"target {schema.target.name}: {classes} (favourable: {schema.target.favourable})"
        )
        table.caption_justify = "left"
    for rule in schema.together:
        table.add_row("together", escape(together_in_words(rule)), "")
    if schema.max_features is not None:
        table.add_row("in all", "", f"change at most {counted(schema.max_features, 'feature')}")
    return table


def _values(feature: "Feature") -> str:
    from rocourse.schema import Categorical

    if isinstance(feature, Categorical):
        return first_few([str(category) for category in feature.categories], 6)
    kind = "date" if feature.date else "whole number" if feature.integer else "number"

    def told(value: float | None) -> str:
        if value is None:
            return ""
        return feature.word(value) if feature.date else f"{value:g}"

    text = f"{kind} {told(feature.low)} to {told(feature.high)}"
    if feature.bounds != (None, None):
        low, high = map(told, feature.bounds)
        text += f", bounds {low}:{high}"
    return text
