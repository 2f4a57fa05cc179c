"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path, typer.Argument(metavar="DATA", help="Rows, in a .csv or .parquet file.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Directory of a trained model.")]

Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME", help="How recourses are found; see `rocourse methods`."
    ),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, and nothing else, to stdout.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only (and JSON, where asked for).")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]

_NAMES = "Repeat the option or separate names by commas."
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help=f"Column to leave out, such as an id. {_NAMES}"),
]

# What a schema is inferred with.
_PANEL = "Schema"
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COL",
        rich_help_panel=_PANEL,
        help="Column of numbers that are categories.",
    ),
]
Integer = Annotated[
    list[str] | None,
    typer.Option(
        "--integer",
        metavar="COL",
        rich_help_panel=_PANEL,
        help="Column of whole numbers written as decimals.",
    ),
]
Immutable = Annotated[
    list[str] | None,
    typer.Option(
        "--immutable",
        metavar="COL",
        rich_help_panel=_PANEL,
        help=f"Feature that advice must leave alone. {_NAMES}",
    ),
]
IncreaseOnly = Annotated[
    list[str] | None,
    typer.Option(
        "--increase-only",
        metavar="COL",
        rich_help_panel=_PANEL,
        help="Feature that advice may only raise.",
    ),
]
DecreaseOnly = Annotated[
    list[str] | None,
    typer.Option(
        "--decrease-only",
        metavar="COL",
        rich_help_panel=_PANEL,
        help="Feature that advice may only lower.",
    ),
]
Bounds = Annotated[
    list[str] | None,
    typer.Option(
        "--bounds",
        metavar="COL=LOW:HIGH",
        rich_help_panel=_PANEL,
        help="Hard limits of rows and advice; either side may be empty.",
    ),
]
Favourable = Annotated[
    str | None,
    typer.Option(
        "--favourable",
        metavar="CLASS",
        rich_help_panel=_PANEL,
        help="The class that people want; by default the last one in sorted order.",
    ),
]


def examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    # Help text is Rich markup, in which an opening bracket begins a style.
    return "\n".join(["[bold]Examples[/bold]", *(line.replace("[", r"\[") for line in lines)])
