"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rocourse._places import Place, place

if TYPE_CHECKING:
    from datetime import datetime

    from rocourse.engines import Engine

Data = Annotated[
    Place,
    typer.Argument(metavar="DATA", parser=place, help="Rows, in a .csv or .parquet file."),
]
Model = Annotated[
    Place, typer.Argument(metavar="MODEL", parser=place, help="Directory of a trained model.")
]

Target = Annotated[str, typer.Option("--target", metavar="COL", help="Column that is predicted.")]
TableFile = Annotated[
    Place | None,
    typer.Option("--out", metavar="FILE", parser=place, help="A .csv or .parquet file to write."),
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

ENGINE_PANEL = "Engine"
EngineKind = Annotated[
    Literal["local", "ray"],
    typer.Option(
        "--engine",
        rich_help_panel=ENGINE_PANEL,
        help="Where the work is done: on this machine, or on a cluster of Ray (docs/scale.md).",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        rich_help_panel=ENGINE_PANEL,
        help="With --engine ray: the cluster; auto for the one that this machine is a part of.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        rich_help_panel=ENGINE_PANEL,
        show_default="one, and one a core of a cluster",
        help="Tasks side by side.",
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

_CERTIFICATE_PANEL = "Certificates"
KINDS_OF_CERTIFICATE = (
    "delta: how far every weight may move; sampled: how much of such a box of models agrees; "
    "witnesses: what share of retrained models does; ellipsoid: the loss that a refit of the last "
    "layer may give away; votes: how a forest grown anew votes."
)
At = Annotated[
    float | None,
    typer.Option(
        "--at",
        metavar="LEVEL",
        rich_help_panel=_CERTIFICATE_PANEL,
        help="The level that is asked for.",
    ),
]
Confidence = Annotated[
    float,
    typer.Option(
        "--confidence",
        metavar="SHARE",
        rich_help_panel=_CERTIFICATE_PANEL,
        help="How sure a level is to be that rests on draws.",
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact",
        rich_help_panel=_CERTIFICATE_PANEL,
        help="With delta: look for the exact level where bounds do not suffice.",
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(
        "--delta",
        metavar="δ",
        rich_help_panel=_CERTIFICATE_PANEL,
        help="With sampled: how far every weight may move.",
    ),
]
Reference = Annotated[
    Place | None,
    typer.Option(
        "--reference",
        metavar="DATA",
        parser=place,
        rich_help_panel=_CERTIFICATE_PANEL,
        help="With witnesses and ellipsoid: the rows that the model was trained on, with their "
        "classes.",
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count",
        metavar="N",
        rich_help_panel=_CERTIFICATE_PANEL,
        help="With witnesses: how many to train; by default as many as the level takes.",
    ),
]
Certify = Annotated[
    str | None,
    typer.Option(
        "--certify",
        metavar="KIND",
        rich_help_panel=_CERTIFICATE_PANEL,
        help=f"Search until the advice is certified at a level, --at. {KINDS_OF_CERTIFICATE}",
    ),
]


def engine(kind: Literal["local", "ray"], address: str | None, jobs: int | None) -> "Engine":
    """The engine that options name."""
    from rocourse.engines import Engine

    if address is not None and kind != "ray":
        raise typer.BadParameter("--address goes with --engine ray.")
    return Engine(kind, jobs, address)


def moment(text: str, option: str) -> "datetime":
    """The time that an option gives; in UTC, unless it says otherwise."""
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is no time; write it as in 2027-01-31 or 2027-01-31T12:00:00+01:00.",
            param_hint=f"'{option}'",
        ) from error
    return found if found.utcoffset() is not None else found.replace(tzinfo=UTC)


def examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    # Help text is Rich markup, in which an opening bracket begins a style.
    return "\n".join(["[bold]Examples[/bold]", *(line.replace("[", r"\[") for line in lines)])
