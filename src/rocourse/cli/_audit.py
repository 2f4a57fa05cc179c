"""`rocourse audit`: whether a model honours the promises that are open."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse._places import Place, place
from rocourse.console import Output, needing_service, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import BinaryIO

    from rocourse.estimators import RecourseClassifier
    from rocourse.evaluation import Auditor, AuditPart, BrokenPromise, Forecast
    from rocourse.ledger import Ledger

EXAMPLES = options.examples(
    "rocourse audit ledger.db --model retrained/",
    "rocourse audit ledger.db --model retrained/ --require 0.98 --html audit.html",
    "rocourse audit ledger.db --model a/ --model b/ --broken broken.csv --json",
    "rocourse audit ledger.db --model retrained/ --by sex,age --against forecast.json",
    "rocourse audit ledger.db --model model/ --forecast --reference train.csv --out forecast.json",
    "rocourse audit postgresql://host/ledger --model retrained/ --at 2027-01-01",
    "rocourse audit postgresql://host/ledger --model retrained/ --engine ray --address auto",
)

_FORECAST = "Forecast"
TOO_FEW = 3
"""Exit code: a model honours less than `--require` asks for."""


def audit(
    ledger: Annotated[
        str,
        typer.Argument(metavar="LEDGER", help="File of the ledger, or URL of its database."),
    ],
    model: Annotated[
        list[Place],
        typer.Option(
            "--model", metavar="MODEL", parser=place, help="Model to be audited. Repeat for more."
        ),
    ],
    require: Annotated[
        float | None,
        typer.Option(
            "--require",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help=f"Exit with {TOO_FEW} if a model honours less than this share, as in 0.98.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Page to write the report to.")
    ] = None,
    broken: Annotated[
        Path | None,
        typer.Option(
            "--broken",
            metavar="FILE",
            help="CSV file to write every promise to that is not honoured.",
        ),
    ] = None,
    worst: Annotated[
        int,
        typer.Option("--list", metavar="N", min=0, help="The most broken promises to list."),
    ] = 1000,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Day or time in ISO format to audit for, in UTC unless it says otherwise; now, "
            "unless given. Promises that expire by then are left out.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Also the promises that were open at some time since then, whatever became of "
            "them.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Column to tell people by; several also crossed, numbers by quarters. "
            f"{options.NAMES}",
        ),
    ] = None,
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast",
            rich_help_panel=_FORECAST,
            help="Say, before there is a new model, what share of the promises models will honour "
            "that are retrained as MODEL, the one in force, was.",
        ),
    ] = False,
    reference: Annotated[
        Place | None,
        typer.Option(
            "--reference",
            metavar="DATA",
            parser=place,
            rich_help_panel=_FORECAST,
            help="The rows that MODEL was trained on, to retrain it with; by default its stored "
            "witnesses are asked.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            rich_help_panel=_FORECAST,
            help="JSON file to write the forecast to.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FILE",
            rich_help_panel=_FORECAST,
            help="Such a file, to compare the audit with.",
        ),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Only the promises of this tenant.")
    ] = None,
    model_from: options.ModelFrom = None,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Count the promises that a model honours of those that are owed, before it is deployed.

    Owed are promises that are open, and those that an earlier model broke. A promise is honoured if
    the model gives the promised class to the row that was promised it.
    """
    from datetime import UTC, datetime

    from rocourse.artifacts import StoredModel, check_file_path, write_file

    output = Output(as_json=as_json, quiet=quiet)
    moment = datetime.now(UTC) if at is None else options.moment(at, "--at")
    start = None if since is None else options.moment(since, "--since")
    where = options.engine(engine, address, jobs)
    _check_options(require, html, broken)
    _check_forecast(forecast, len(model), reference, out, against)
    for path in (html, broken, out):
        if path is not None:
            check_file_path(path, force=force)
    if forecast:
        fitted = StoredModel(model[0], model_from)()
        told = _forecast(ledger, fitted, reference, moment, by, tenant, output)
        if out is not None:
            write_file(out, json.dumps(told.to_dict(), indent=1).encode(), force=force)
            output.show(f"Forecast written to {out}")
        return
    with _open(ledger) as book:
        from rocourse.console import audit_lines, score_lines
        from rocourse.engines import LedgerAudit

        asked = LedgerAudit(
            _whole(ledger),
            {str(path): StoredModel(path, model_from) for path in model},
            at=moment,
            since=start,
            tenant=tenant,
            worst=worst,
            by=tuple(by or ()),
            all_failed=broken is not None,
        )
        auditors = asked.auditors()
        with _broken_file(broken, force=force) as file:
            counts = book.counts(at=moment, tenant=tenant)
            total = counts["open"] + counts["broken"] if start is None else sum(counts.values())
            _take(asked.parts(book, where), total, auditors, file, output)
            reports = [auditor.report() for auditor in auditors]
            # Before the file of broken promises appears: it is both of them, or none.
            if html is not None:
                from rocourse.reports import render_audit

                page = render_audit(reports, ledger=book.name, required=require)
                write_file(html, page.encode(), force=force)
    foretold = None if against is None else _read_forecast(against)
    scores = [] if foretold is None else [foretold.score(report) for report in reports]
    failed = [] if require is None else [r for r in reports if not r.meets(require)]
    output.emit(
        {
            "ledger": book.name,
            "at": moment.isoformat(),
            "required": require,
            "passed": None if require is None else not failed,
            "audits": [report.to_dict() for report in reports],
            **({} if foretold is None else {"scores": [one and one.to_dict() for one in scores]}),
        }
    )
    output.show(*audit_lines(reports, ledger=book.name, required=require))
    for report, score in zip(reports, scores, strict=False):
        output.show(*score_lines(report.name, score))
    for path, what in ((html, "Report"), (broken, "Promises that are not honoured")):
        if path is not None:
            output.show(f"{what} written to {path}")
    if failed:
        raise typer.Exit(TOO_FEW)


def _check_options(require: float | None, html: Path | None, broken: Path | None) -> None:
    # A comparison with NaN is false: whatever is honoured would be enough.
    if require is not None and require != require:
        raise typer.BadParameter("nan is no share; give one as in 0.98.", param_hint="'--require'")
    if html is not None and broken is not None and html.resolve() == broken.resolve():
        raise typer.BadParameter("--html and --broken must be two files.")


def _check_forecast(
    wanted: bool, models: int, reference: Place | None, out: Path | None, against: Path | None
) -> None:
    if not wanted and (reference is not None or out is not None):
        raise typer.BadParameter("--reference and --out go with --forecast.")
    if wanted and against is not None:
        raise typer.BadParameter("--forecast and --against exclude each other.")
    if wanted and models != 1:
        raise typer.BadParameter("--forecast takes one --model, the one in force.")


def _forecast(
    address: str,
    fitted: "RecourseClassifier",
    reference: Place | None,
    moment: "datetime",
    by: list[str] | None,
    tenant: str | None,
    output: Output,
) -> "Forecast":
    """What is expected of the next model, told to people and machines."""
    from rocourse.console import forecast_lines
    from rocourse.evaluation import forecast
    from rocourse.tables import read_labelled, split_names

    X, y = (None, None) if reference is None else read_labelled(reference, fitted.schema_)
    following = fitted.successors(X, y)
    with _open(address) as book:
        told = forecast(
            book.promised_rows(at=moment, tenant=tenant),
            fitted,
            following,
            digest=fitted.digest_,
            at=moment,
            by=split_names(by, fitted.schema_.names),
        )
    output.emit({"ledger": book.name, "forecast": told.to_dict()})
    output.show(*forecast_lines(told))
    return told


def _read_forecast(path: Path) -> "Forecast":
    from rocourse.errors import ArtifactError
    from rocourse.evaluation import Forecast

    try:
        return Forecast.from_dict(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(
            f"--against must be a file that --forecast wrote, but {str(path)!r} cannot be read as "
            "one; write it with --forecast --out."
        ) from error


def _open(address: str) -> "Ledger":
    """Opens a ledger that is there: an audit makes none."""
    with needing_service():
        from rocourse.ledger import Ledger
    return Ledger.open(address, create=False)


def _whole(address: str) -> str:
    """The address of a ledger for processes that have another current directory."""
    return address if "://" in address else str(Path(address).absolute())


def _take(
    parts: "Iterable[Sequence[AuditPart]]",
    total: int,
    auditors: "Sequence[Auditor]",
    file: "BinaryIO | None",
    output: Output,
) -> None:
    """Takes in what the models make of the same promises, one range after the other."""
    write = None if file is None else _csv_writer(file)
    done = 0
    with output.row_progress(total) as report:
        for judged in parts:
            for auditor, part in zip(auditors, judged, strict=True):
                auditor.take(part)
                if write is not None:
                    write(auditor.name, part.failed)
            done += sum(judged[0].kinds.values())
            report(min(done, total))


def _broken_file(path: Path | None, *, force: bool) -> "AbstractContextManager[BinaryIO | None]":
    from rocourse.artifacts import new_file

    return nullcontext() if path is None else new_file(path, force=force)


def _csv_writer(file: "BinaryIO") -> "Callable[[str, Iterable[BrokenPromise]], None]":
    """Begins a CSV file; gives what appends promises that the model of a name does not honour."""
    import csv
    import io
    from dataclasses import fields

    from rocourse.evaluation import BrokenPromise
    from rocourse.tables import spreadsheet_safe

    columns = ["audited", *(field.name for field in fields(BrokenPromise))]

    def write(lines: "Iterable[dict[str, Any]]", *, header: bool = False) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(
            {name: spreadsheet_safe(x) if isinstance(x, str) else x for name, x in line.items()}
            for line in lines
        )
        file.write(text.getvalue().encode())

    write([], header=True)
    return lambda name, promises: write(
        {"audited": name, **promise.to_dict()} for promise in promises
    )
