"""`rocourse ledger`: what whoever answers for the promises does with their record."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse.console import Commands, Output, needing_service, options

if TYPE_CHECKING:
    from rocourse.ledger import Erasure, Head, Ledger

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help="The record of promises: verify it, watch it, erase from it, back it up and restore it.",
)

CHANGED = 3
"""Exit code: something was changed behind the ledger's back, or promises break."""

Address = Annotated[
    str, typer.Argument(metavar="LEDGER", help="File of the ledger, or URL of its database.")
]
Note = Annotated[
    str,
    typer.Option(
        "--note", help="Why, such as the number of a request; no personal data: it stays."
    ),
]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Only what belongs to this tenant.")]


@app.command(
    "verify",
    epilog=options.examples(
        "rocourse ledger verify promises.db", "rocourse ledger verify promises.db --head 12:9f2c…"
    ),
)
def verify(
    ledger: Address,
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="NUMBER:HASH",
            help="What an earlier run printed, kept elsewhere: the chain must still go through it.",
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Look for anything that was changed, added or taken away behind the ledger's back.

    Exits with 3 if there is something. Without --head, nobody can tell whether the end was cut off.
    """
    output = Output(as_json=as_json, quiet=quiet)
    known = None if head is None else _head(head)
    with _open(ledger) as book:
        found = book.upkeep.verify(head=known)
    output.emit(
        {
            "ledger": book.name,
            "clean": found.clean,
            "head": str(found.head),
            "promises": found.promises,
            "erased": found.erased,
            "events": found.events,
            "faults": list(found.faults),
            "number_of_faults": found.count,
        }
    )
    output.show(
        f"{found.promises:,} promises ({found.erased:,} erased), {found.events:,} events",
        *found.faults,
        *([f"… {found.count:,} faults in all"] if found.count > len(found.faults) else []),
        f"Head {found.head}",
        "Nothing was changed." if found.clean else "The ledger was changed behind its back.",
    )
    if not found.clean:
        raise typer.Exit(CHANGED)


@app.command("drift", epilog=options.examples("rocourse ledger drift promises.db --kept 0.95"))
def drift(
    ledger: Address,
    kept: Annotated[
        float,
        typer.Option("--kept", metavar="SHARE", help="The share of promises that is to be kept."),
    ] = 0.95,
    tenant: Tenant = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say whether promises begin to break, by those that people came back with.

    It may be asked at any time and as often as you like: while promises are kept as stated, an
    alarm comes with a chance of at most 5%, ever. Exits with 3 if there is one.
    """
    from rocourse.evaluation import ALARM_AT, PromiseWatch

    output = Output(as_json=as_json, quiet=quiet)
    watch = PromiseWatch(kept)
    with _open(ledger) as book:
        for honoured in book.outcomes(tenant=tenant):
            watch.add(honoured)
    output.emit(
        {
            "ledger": book.name,
            "kept": kept,
            "outcomes": watch.outcomes,
            "honoured": int(watch.honoured),
            "evidence": watch.evidence,
            "alarm_at": ALARM_AT,
            "alarm": watch.alarm(),
        }
    )
    said = "fewer promises are kept than stated" if watch.alarm() else "no alarm"
    output.show(
        f"{int(watch.honoured):,} of {watch.outcomes:,} promises that people came back with were "
        f"kept; {kept:g} is stated.",
        f"Evidence {watch.evidence:.3g}, at most {watch.highest:.3g}; an alarm is due from "
        f"{ALARM_AT:g} on: {said}.",
    )
    if watch.alarm():
        raise typer.Exit(CHANGED)


@app.command(
    "erase",
    epilog=options.examples(
        "rocourse ledger erase promises.db --subject A-1017 --note 'request 17'",
        "rocourse ledger erase promises.db --promise 01890a5d-ac96-774b-bcce-b302099a8057",
    ),
)
def erase(
    ledger: Address,
    subject: Annotated[
        str | None, typer.Option("--subject", help="Whom to forget, by your own reference.")
    ] = None,
    promise: Annotated[
        str | None, typer.Option("--promise", metavar="ID", help="Or one promise only.")
    ] = None,
    tenant: Tenant = None,
    note: Note = "",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Remove what is personal in someone's promises for good; what binds is withdrawn."""
    output = Output(as_json=as_json, quiet=quiet)
    with _open(ledger) as book:
        done = book.upkeep.erase(subject=subject, id=promise, tenant=tenant, note=note)
    output.emit(_document(done))
    output.show(_line(done))


@app.command("retain", epilog=options.examples("rocourse ledger retain promises.db --days 730"))
def retain(
    ledger: Address,
    days: Annotated[
        int,
        typer.Option(
            "--days",
            min=0,
            help="Days that promises are kept after they have been settled or expired.",
        ),
    ],
    tenant: Tenant = None,
    note: Note = "",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Remove what is personal in promises that ended long ago, and old stored answers."""
    output = Output(as_json=as_json, quiet=quiet)
    with _open(ledger) as book:
        done = book.upkeep.retain(days=days, tenant=tenant, note=note)
    output.emit([_document(one) for one in done])
    output.show(f"{sum(one.promises for one in done):,} promises were erased for their age")


@app.command("erasures", epilog=options.examples("rocourse ledger erasures promises.db"))
def erasures(
    ledger: Address,
    tenant: Tenant = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say what was erased, when and why."""
    output = Output(as_json=as_json, quiet=quiet)
    with _open(ledger) as book:
        found = book.upkeep.erasures(tenant=tenant)
    output.emit([_document(one) for one in found])
    output.show(*map(_line, found))


@app.command("roles", epilog=options.examples("rocourse ledger roles desk | psql promises"))
def roles(
    writer: Annotated[
        str, typer.Argument(metavar="ROLE", help="Role that the service connects with.")
    ],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the SQL by which a role of PostgreSQL may add to a ledger, and change nothing of it."""
    with needing_service():
        from rocourse.ledger import writer_grants
    output = Output(as_json=as_json, quiet=quiet)
    statements = writer_grants(writer)
    output.emit(statements)
    if not as_json:
        # Also when quiet, and not wrapped: it is for another program.
        print("".join(f"{statement};\n" for statement in statements), end="")


@app.command("backup", epilog=options.examples("rocourse ledger backup promises.db promises.jsonl"))
def backup(
    ledger: Address,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write the copy to.")],
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Copy a ledger to a file, while it is in use."""
    from rocourse.artifacts import check_file_path, new_file

    output = Output(as_json=as_json, quiet=quiet)
    check_file_path(file, force=force)
    with _open(ledger) as book, new_file(file, force=force, private=True) as copy:
        head = book.upkeep.back_up(copy)
    output.emit({"ledger": book.name, "file": str(file), "head": str(head)})
    output.show(f"Copied to {file}", f"Head {head}")


@app.command(
    "restore",
    epilog=options.examples(
        "rocourse ledger restore promises.jsonl restored.db",
        "rocourse ledger restore promises.jsonl postgresql://owner@db/promises",
    ),
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.")],
    ledger: Address,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fill a new ledger, in a file or a database, from a copy, and verify it."""
    with needing_service():
        from rocourse.ledger import restored

    output = Output(as_json=as_json, quiet=quiet)
    found = restored(file, ledger)
    output.emit({"head": str(found.head), "promises": found.promises, "events": found.events})
    output.show(
        f"{found.promises:,} promises and {found.events:,} events restored", f"Head {found.head}"
    )


def _open(address: str) -> "Ledger":
    """Opens a ledger that is there."""
    with needing_service():
        from rocourse.ledger import Ledger
    return Ledger.open(address, create=False)


def _head(text: str) -> "Head":
    from rocourse.ledger import Head

    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise typer.BadParameter(
            "it must be a number, a colon and a hash, as `rocourse ledger verify` prints it.",
            param_hint="'--head'",
        )
    return Head(int(number), digest)


def _document(done: "Erasure") -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(done), "at": done.at.isoformat()}


def _line(done: "Erasure") -> str:
    words = {"erase": "on request", "retain": "for their age"}
    note = f": {done.note}" if done.note else ""
    return (
        f"{done.at:%Y-%m-%d %H:%M} {done.promises:,} promises erased {words[done.kind]}, link "
        f"{done.number}{note}"
    )
