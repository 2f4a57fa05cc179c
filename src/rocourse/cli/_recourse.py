"""`rocourse recourse`: what each row must change to be given the desired class."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse._places import Place
from rocourse.console import Output, options

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

EXAMPLES = options.examples(
    "rocourse recourse model/ applicants.csv",
    "rocourse recourse model/ applicants.csv --out advice.csv",
    "rocourse recourse model/ applicants.parquet --desired approved --out advice.parquet",
    "rocourse recourse model/ applicants.csv --flip --json",
    "rocourse recourse model/ applicants.csv --id number --out advice.csv",
    "rocourse recourse model/ applicants.csv --options 3 --lock Purpose --range Amount=10000..",
    "rocourse recourse model/ applicants.csv --prove --loosen Duration,Status",
    "rocourse recourse model/ applicants.csv --certify delta --at 0.01",
    "rocourse recourse model/ applicants.csv --model-from scoring.models:latest",
    "rocourse recourse model/ applicants/ --out advice/ --engine ray --address auto",
)

_SHOWN_ROWS = 5
_WISHES = "Wishes"


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
    id: options.Id = None,
    several: Annotated[
        int,
        typer.Option(
            "--options", metavar="N", min=1, help="The most options for a row, the best first."
        ),
    ] = 1,
    lock: Annotated[
        list[str] | None,
        typer.Option(
            "--lock",
            metavar="COL",
            rich_help_panel=_WISHES,
            help=f"Feature that must stay as it is. {options.NAMES}",
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="COL=LOW..HIGH",
            rich_help_panel=_WISHES,
            help="Where a number must end, either side may be empty; or COL=A,B, the categories "
            "that will do.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="COL",
            rich_help_panel=_WISHES,
            help="Feature that may change, no other than these.",
        ),
    ] = None,
    prefer: Annotated[
        list[str] | None,
        typer.Option(
            "--prefer",
            metavar="COL",
            rich_help_panel=_WISHES,
            help="Feature to change rather than others.",
        ),
    ] = None,
    wishes: Annotated[
        Path | None,
        typer.Option(
            "--wishes",
            metavar="FILE",
            rich_help_panel=_WISHES,
            help="A JSON file of wishes, one object for all rows or a list with one for each.",
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Where nothing is found, look through everything that is allowed: prove that "
            "nothing is enough, or say how far the search went; and say which limit to loosen.",
        ),
    ] = False,
    loosen: Annotated[
        list[str] | None,
        typer.Option(
            "--loosen",
            metavar="COL",
            help="With --prove: a column whose limits might be loosened; by default any. "
            f"{options.NAMES}",
        ),
    ] = None,
    certify: options.Certify = None,
    at: options.At = None,
    confidence: options.Confidence = 0.95,
    exact: options.Exact = False,
    delta: options.Delta = None,
    reference: options.Reference = None,
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Advise each row what to change. Rows are counted from 0.

    The output says for each row whether advice was found, not found or not needed; a row for which
    none was found keeps its values. With --options, each option is a line of its own. Wishes can
    only narrow what the schema allows.
    """
    from rocourse.artifacts import StoredModel
    from rocourse.console import (
        AdviceRequest,
        AdviceSummary,
        Sheet,
        WishOptions,
        ask_rows,
        certified,
    )
    from rocourse.tables import (
        JsonRecords,
        check_table_path,
        is_folder,
        open_rows,
        read_labelled,
        split_names,
    )

    if loosen and not prove:
        raise typer.BadParameter("--loosen goes with --prove.")
    if certify is None and (at, exact, delta, reference) != (None, False, None, None):
        raise typer.BadParameter("--at, --exact, --delta and --reference go with --certify.")
    if flip and desired is not None:
        raise typer.BadParameter("--flip and --desired exclude each other.")
    output = Output(as_json=as_json, quiet=quiet)
    where = options.engine(engine, address, jobs)
    if out is not None:
        check_table_path(out, force=force)
    stored = StoredModel(model, model_from)
    fitted = stored()
    schema = fitted.schema_
    levels = {"at": at, "confidence": confidence, "exact": exact, "delta": delta}
    if certify is not None:
        known = (None, None) if reference is None else read_labelled(reference, schema)
        stored = stored.changed(
            partial(certified, kind=certify, levels=levels, reference=known)  # type: ignore[arg-type]
        )
    wishing = WishOptions(lock, ranges, only, prefer, wishes)
    rows = open_rows(data, schema=schema, drop=drop, id=id)
    listed = as_json and (out is None or not is_folder(out))
    request = AdviceRequest(
        desired=_wanted(fitted, desired, flip, model),
        options=several,
        prove=prove,
        loosen=tuple(split_names(loosen, schema.names)),
        silenced=exact,
        id=rows.id,
        stable=rows.several,
        shown=_SHOWN_ROWS,
        table=out is not None,
        records=listed,
    )
    asked = {"request": repr(request), "wishes": repr(wishing)}
    asked["certificate"] = repr((certify, levels, reference))
    plan = {"command": "recourse", "model": fitted.digest_, **rows.origin, **asked}
    sheet = None if out is None else Sheet(out, force, plan)
    beside = wishing.batches(schema)
    summary = AdviceSummary(_SHOWN_ROWS)
    with JsonRecords() as records:
        with output.row_progress(rows.total) as report:
            answers = ask_rows(request, rows, stored, where, report, sheet=sheet, beside=beside)
            for answer in answers:
                summary.add(answer.counts if answer.told is None else answer.told)
                if answer.records is not None:
                    records.add(answer.records)
        head = {"model": str(model), "data": str(data), "method": fitted.method}
        counted = {**head, "rows": rows.total, **summary.counts}
        if listed:
            records.print(counted, "records")
        else:
            output.emit(counted)
    output.show(*summary.lines())
    if out is not None:
        output.show(f"Advice for {rows.total} rows written to {out}")


def _wanted(fitted: "RecourseClassifier", desired: str | None, flip: bool, path: Place) -> Any:
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
        return target.wanted()
    return parse_class(desired, target.classes, option="--desired")
