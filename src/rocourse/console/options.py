"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[Path, typer.Argument(metavar="DATA", help="Rows, in a .csv or .parquet file.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Directory of a trained model.")]

Target = Annotated[str, typer.Option("--target", metavar="COL", help="Column that is predicted.")]
TableFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="A .csv or .parquet file to write.")
]
Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME", help="How recourses are found; see `rocourse methods`."
    ),
]

ModelFrom = Annotated[
    str | None,
    typer.Option(
        "--model-from",
        metavar="MODULE:FUNCTION",
        help="Function without arguments that returns the fitted model which MODEL explains, where "
        "MODEL was saved without it; as in scoring.models:latest.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, and nothing else, to stdout.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only (and JSON, where asked for).")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]

NAMES = "Repeat the option or separate names by commas."
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help=f"Column to leave out, such as an id. {NAMES}"),
]

Fix = Annotated[
    Literal["safe"] | None,
    typer.Option(
        "--fix",
        help="Take what is safe of what `rocourse check` advises: leave out ids, constants, free "
        "text and columns that are there twice; make protected attributes and dates immutable.",
    ),
]

Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COL",
        help="Column that tells rows apart, to come first in the output; by default the one that "
        "the model was trained with, if it is there.",
    ),
]

SCHEMA_PANEL = "Schema"
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        rich_help_panel=SCHEMA_PANEL,
        help="Schema file; without one, the schema is inferred from the rows.",
    ),
]


def examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    # Help text is Rich markup, in which an opening bracket begins a style.
    return "\n".join(["[bold]Examples[/bold]", *(line.replace("[", r"\[") for line in lines)])
