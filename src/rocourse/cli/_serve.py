"""`rocourse serve`: a service that decides, gives recourse and remembers what it promised."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from rocourse.console import Output, needing_service, options

EXAMPLES = options.examples(
    "rocourse serve model/",
    "rocourse serve model/ --ledger promises.db",
    "rocourse serve model/ --ledger postgresql://desk@db/promises --keys keys.json --host 0.0.0.0",
    "rocourse serve model/ --ledger promises.db --model-from scoring.models:latest",
)


def serve(
    model: options.Model,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="URL",
            help="Where promises are recorded: a file, or postgresql://... Without it, none are.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen at; one that others reach needs keys."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8000,
    keys: Annotated[
        Path | None,
        typer.Option("--keys", metavar="FILE", help="API keys, made with `rocourse keys add`."),
    ] = None,
    candidates: Annotated[
        list[Path] | None,
        typer.Option(
            "--candidate",
            metavar="MODEL",
            help="Another model that the audit view judges promises by. Repeat the option.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Column of the model by which the audit view tells people; several also crossed, "
            "numbers by quarters. Repeat the option.",
        ),
    ] = None,
    valid_days: Annotated[
        int, typer.Option("--valid-days", min=1, max=36500, help="How long a promise binds.")
    ] = 365,
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Rows of one request.")] = 1000,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=1000, help="Bytes of one request.")
    ] = 1 << 20,
    rate: Annotated[
        float, typer.Option("--rate", min=0.1, help="Requests of one caller a second.")
    ] = 1000.0,
    deadline: Annotated[
        float,
        typer.Option("--deadline", min=0.1, help="Seconds until a request is answered or refused."),
    ] = 2.0,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name that the service is asked for by, as behind a proxy. Repeat the option.",
        ),
    ] = None,
    certify: options.Certify = None,
    at: options.At = None,
    lender: Annotated[
        Path | None,
        typer.Option(
            "--lender",
            metavar="FILE",
            help="For letters: who writes, and what features are called; see docs/notices.md.",
        ),
    ] = None,
    model_from: options.ModelFrom = None,
    traces: Annotated[
        bool,
        typer.Option("--traces", help="Trace requests by OpenTelemetry; needs rocourse\\[otel]."),
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Decide on applications over HTTP, with a page at /. TLS is left to a proxy."""
    with needing_service():
        from rocourse.service import Settings, log_to_stderr
        from rocourse.service import serve as run

    settings = Settings(
        model=model,
        model_from=model_from,
        lender=lender,
        ledger=ledger,
        keys=keys,
        candidates=tuple(candidates or ()),
        by=tuple(by or ()),
        host=host,
        port=port,
        valid_for=timedelta(days=valid_days),
        max_rows=max_rows,
        max_bytes=max_bytes,
        rate=rate,
        deadline=deadline,
        hosts=tuple(hosts or ()),
        certify=certify,  # type: ignore[arg-type]
        at=at,
        traces=traces,
    )
    log_to_stderr(_level(quiet))

    output = Output(as_json=as_json, quiet=quiet)
    output.waiting(f"Loading {model}, and compiling what is not kept from an earlier start …")

    def announce(address: str) -> None:
        output.emit({"model": str(model), "address": address})
        output.show(f"Serving {model} at {address}")

    run(settings, on_ready=announce)


def _level(quiet: bool) -> int:
    import logging

    return logging.ERROR if quiet else logging.INFO
