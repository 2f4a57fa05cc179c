"""`rocourse audit`: whether a model honours the promises that are open."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse.console import Output, needing_service, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import BinaryIO

    from rocourse.evaluation import Auditor, BrokenPromise
    from rocourse.ledger import Ledger

EXAMPLES = options.examples(
    "rocourse audit ledger.db --model retrained/",
    "rocourse audit ledger.db --model retrained/ --require 0.98 --html audit.html",
    "rocourse audit ledger.db --model a/ --model b/ --broken broken.csv --json",
    "rocourse audit postgresql://host/ledger --model retrained/ --at 2027-01-01",
)

TOO_FEW = 3
"""Exit code: a model honours less than `--require` asks for."""


def audit(
    ledger: Annotated[
        str,
        typer.Argument(metavar="LEDGER", help="File of the ledger, or URL of its database."),
    ],
    model: Annotated[
        list[Path],
        typer.Option("--model", metavar="MODEL", help="Model to be audited. Repeat for more."),
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
    model_from: options.ModelFrom = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Count the open promises that a model honours, before it is deployed.

    A promise is honoured if the model gives the promised class to the row that was promised it.
    """
    from rocourse.artifacts import check_file_path, load_from, model_digest, write_file

    output = Output(as_json=as_json, quiet=quiet)
    moment = _moment(at)
    _check_options(require, html, broken)
    for path in (html, broken):
        if path is not None:
            check_file_path(path, force=force)
    with _open(ledger) as book:
        from rocourse.console import audit_lines
        from rocourse.evaluation import Auditor

        auditors = [
            Auditor(
                load_from(path, model_from),
                digest=model_digest(path),
                at=moment,
                name=str(path),
                worst=worst,
            )
            for path in model
        ]
        with _broken_file(broken, force=force) as file:
            _judge(book, auditors, moment, file, output)
            reports = [auditor.report() for auditor in auditors]
            # Before the file of broken promises appears: it is both of them, or none.
            if html is not None:
                from rocourse.reports import render_audit

                page = render_audit(reports, ledger=book.name, required=require)
                write_file(html, page.encode(), force=force)
    failed = [] if require is None else [r for r in reports if not r.meets(require)]
    output.emit(
        {
            "ledger": book.name,
            "at": moment.isoformat(),
            "required": require,
            "passed": None if require is None else not failed,
            "audits": [report.to_dict() for report in reports],
        }
    )
    output.show(*audit_lines(reports, ledger=book.name, required=require))
    for path, what in ((html, "Report"), (broken, "Promises that are not honoured")):
        if path is not None:
            output.show(f"{what} written to {path}")
    if failed:
        raise typer.Exit(TOO_FEW)


def _moment(text: str | None) -> "datetime":
    from datetime import UTC, datetime

    if text is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is no time; write it as in 2027-01-31 or 2027-01-31T12:00:00+01:00.",
            param_hint="'--at'",
        ) from error
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)


def _check_options(require: float | None, html: Path | None, broken: Path | None) -> None:
    # A comparison with NaN is false: whatever is honoured would be enough.
    if require is not None and require != require:
        raise typer.BadParameter("nan is no share; give one as in 0.98.", param_hint="'--require'")
    if html is not None and broken is not None and html.resolve() == broken.resolve():
        raise typer.BadParameter("--html and --broken must be two files.")


def _open(address: str) -> "Ledger":
    """Opens a ledger that is there: an audit makes none."""
    with needing_service():
        from rocourse.ledger import Ledger
    return Ledger.open(address, create=False)


def _judge(
    book: "Ledger",
    auditors: "Sequence[Auditor]",
    moment: "datetime",
    file: "BinaryIO | None",
    output: Output,
) -> None:
    """Shows every page to all models, so that they judge the same promises."""
    write = None if file is None else _csv_writer(file)
    total, done = book.counts(at=moment)["open"], 0
    with output.row_progress(total) as report:
        for page in book.open_promises(at=moment):
            for auditor in auditors:
                failed = auditor.add(page)
                if write is not None:
                    write(auditor.name, failed)
            done += len(page)
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

    columns = ["audited", *(field.name for field in fields(BrokenPromise))]

    def write(lines: "Iterable[dict[str, Any]]", *, header: bool = False) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(lines)
        file.write(text.getvalue().encode())

    write([], header=True)
    return lambda name, promises: write(
        {"audited": name, **promise.to_dict()} for promise in promises
    )
