"""`rocourse keys`: who may ask a service for what."""

from pathlib import Path
from typing import Annotated

import typer

from rocourse.console import Commands, Output, needing_service, options

app = typer.Typer(
    cls=Commands, no_args_is_help=True, help="API keys of a service: make, list and remove them."
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="File of the keys' hashes.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")]


@app.command(
    "add",
    epilog=options.examples(
        "rocourse keys add keys.json branch --role decide",
        "rocourse keys add keys.json auditor --role audit --tenant north --expires 2027-01-01",
    ),
)
def add(
    file: File,
    name: Name,
    roles: Annotated[
        list[str],
        typer.Option(
            "--role",
            help="decide: decisions and returns; read: promises; audit: the audit view; operate: "
            "put another model in service; erase: have the ledger forget. Repeat the option.",
        ),
    ],
    tenant: Annotated[
        str,
        typer.Option("--tenant", help="Whose promises the key is about: it sees no others."),
    ] = "default",
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="TIME",
            help="Day or time in ISO format, in UTC unless it says otherwise, from when on the key "
            "is worth nothing.",
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a key and print it. Only its hash is kept: it cannot be shown again."""
    with needing_service():
        from rocourse.service import add_key

    output = Output(as_json=as_json, quiet=quiet)
    end = None if expires is None else options.moment(expires, "--expires")
    key = add_key(file, name, roles, tenant=tenant, expires=end)
    output.emit({"name": name, "roles": roles, "tenant": tenant, "expires": expires, "key": key})
    if not as_json:
        # Also when quiet: it is shown once and never again.
        print(key)


@app.command("list", epilog=options.examples("rocourse keys list keys.json"))
def list_(file: File, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Say whose keys there are, and what they allow."""
    with needing_service():
        from rocourse.service import list_keys

    output = Output(as_json=as_json, quiet=quiet)
    callers = list_keys(file)
    ends = [None if one.expires is None else one.expires.isoformat() for one in callers]
    output.emit(
        [
            {"name": one.name, "roles": sorted(one.roles), "tenant": one.tenant, "expires": end}
            for one, end in zip(callers, ends, strict=True)
        ]
    )
    output.show(
        *(
            f"{one.name}: {', '.join(sorted(one.roles))}; tenant {one.tenant}"
            + (f", until {end}" if end else "")
            for one, end in zip(callers, ends, strict=True)
        )
    )


@app.command("remove", epilog=options.examples("rocourse keys remove keys.json branch"))
def remove(
    file: File, name: Name, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Take a key out; a service that runs refuses it from the next request on."""
    with needing_service():
        from rocourse.service import remove_key

    output = Output(as_json=as_json, quiet=quiet)
    remove_key(file, name)
    output.emit({"removed": name})
