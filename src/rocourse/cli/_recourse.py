"""`rocourse recourse`: what each row must change to be given the desired class."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse.console import Output, options

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

EXAMPLES = options.examples(
    "rocourse recourse model/ applicants.csv",
    "rocourse recourse model/ applicants.csv --out advice.csv",
    "rocourse recourse model/ applicants.parquet --desired approved --out advice.parquet",
    "rocourse recourse model/ applicants.csv --flip --json",
    "rocourse recourse model/ applicants.csv --model-from scoring.models:latest",
)

_SHOWN_ROWS = 5


def recourse(
    model: options.Model,
    data: options.Data,
    out: options.TableFile = None,
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
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Advise each row what to change. Rows are counted from 0.

    The output says for each row whether advice was found, not found or not needed; a row for which
    none was found keeps its values.
    """
    from rocourse.artifacts import load_from
    from rocourse.console import AdviceSummary, answers
    from rocourse.tables import JsonRecords, check_table_path, new_table, open_rows, recourse_table

    if flip and desired is not None:
        raise typer.BadParameter("--flip and --desired exclude each other.")
    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_table_path(out, force=force)
    fitted = load_from(model, model_from)
    ask = partial(fitted.recourse, desired=_wanted(fitted, desired, flip, model))
    rows = open_rows(data, schema=fitted.schema_, drop=drop)
    summary = AdviceSummary(_SHOWN_ROWS)
    with JsonRecords() as records:
        file = nullcontext() if out is None else new_table(out, force=force)
        with output.row_progress(rows.total) as report, file as write:
            for found in answers(rows, ask, report):
                summary.add(found)
                if write is not None:
                    write(recourse_table(found, stable=rows.several))
                if as_json:
                    records.add(found.to_records())
        if as_json:
            head = {"model": str(model), "data": str(data), "method": fitted.method}
            records.print({**head, "rows": rows.total, **summary.counts}, "records")
    output.show(*summary.lines())
    if out is not None:
        output.show(f"Advice for {rows.total} rows written to {out}")


def _wanted(fitted: "RecourseClassifier", desired: str | None, flip: bool, path: Path) -> Any:
    """What to ask for: one class for all rows, or None to flip each of them."""
    from rocourse.console import parse_class, target_of
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
