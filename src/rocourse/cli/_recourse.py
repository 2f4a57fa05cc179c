"""`rocourse recourse`: what each row must change to be given the desired class."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse.cli import _options
from rocourse.cli._console import Output

if TYPE_CHECKING:
    from rich.text import Text

    from rocourse.methods import RecourseClassifier
    from rocourse.schema import Recourse

EXAMPLES = _options.examples(
    "rocourse recourse model/ applicants.csv",
    "rocourse recourse model/ applicants.csv --out advice.csv",
    "rocourse recourse model/ applicants.parquet --desired approved --out advice.parquet",
    "rocourse recourse model/ applicants.csv --flip --json",
)

_SHOWN_ROWS = 5


def recourse(
    model: _options.Model,
    data: _options.Data,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .csv or .parquet file to write."),
    ] = None,
    desired: Annotated[
        str | None,
        typer.Option(
            "--desired",
            metavar="CLASS",
            help="Class to ask for; by default the favourable one. Rows that have it need nothing.",
        ),
    ] = None,
    flip: Annotated[
        bool, typer.Option("--flip", help="Ask for the other class of two, row by row.")
    ] = False,
    drop: _options.Drop = None,
    force: _options.Force = False,
    as_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Advise each row what to change. Rows are counted from 0.

    The output says for each row whether advice was found, not found or not needed; a row for which
    none was found keeps its values.
    """
    from rocourse.artifacts import load
    from rocourse.cli._records import recourse_table
    from rocourse.cli._rows import read_rows, select_features
    from rocourse.cli._tables import check_table_path, write_table

    if flip and desired is not None:
        raise typer.BadParameter("--flip and --desired exclude each other.")
    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_table_path(out, force=force)
    fitted = load(model)
    wanted = _wanted(fitted, desired, flip, model)
    rows = select_features(read_rows(data, schema=fitted.schema_, drop=drop), fitted.schema_)
    found = fitted.recourse(rows, desired=wanted)
    if out is not None:
        write_table(recourse_table(found), out, force=force)
    counts = {
        status: int((found.status == status).sum())
        for status in ("found", "not_found", "not_needed")
    }
    output.emit(
        {
            "model": str(model),
            "data": str(data),
            "method": found.method,
            "rows": len(found),
            **counts,
            "records": found.to_records(),
        }
    )
    output.show(*_in_words(found), _summary(counts))
    if out is not None:
        output.show(f"Advice for {len(found)} rows written to {out}")


def _wanted(fitted: "RecourseClassifier", desired: str | None, flip: bool, path: Path) -> Any:
    """What to ask for: one class for all rows, or None to flip each of them."""
    from rocourse.cli._rows import parse_class, target_of
    from rocourse.errors import ConfigError

    target = target_of(fitted)
    if flip:
        if len(target.classes) > 2:
            raise ConfigError(
                f"--flip must be used with a model of two classes, but {str(path)!r} has "
                f"{len(target.classes)}: {', '.join(map(str, target.classes))}; ask for one of "
                "them with --desired."
            )
        return None
    if desired is None:
        return target.favourable
    return parse_class(desired, target.classes, option="--desired")


def _in_words(found: "Recourse") -> list["str | Text"]:
    from rich.text import Text

    lines: list[str | Text] = []
    positions = [k for k in range(len(found)) if found.status[k] == "found"]
    for k in positions[:_SHOWN_ROWS]:
        label, before, after = found.original.index[k], found.predicted[k], found.desired[k]
        title = f"row {label}: {before} → {after}"
        lines.append(Text.assemble((title, "bold"), f" (probability {found.probability[k]:.2f})"))
        lines += [f"  {change}" for change in found.describe(k)]
    if len(positions) > _SHOWN_ROWS:
        lines.append(f"… and {len(positions) - _SHOWN_ROWS} more")
    return lines


def _summary(counts: dict[str, int]) -> str:
    return (
        f"Advice found for {counts['found']} rows, not found for {counts['not_found']}, not needed "
        f"for {counts['not_needed']}."
    )
