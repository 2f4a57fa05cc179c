"""`rocourse keys`: who may ask a service for what."""

from pathlib import Path
from typing import Annotated

import typer

from rocourse.console import Output, needing_service, options

app = typer.Typer(no_args_is_help=True, help="API keys of a service: make, list and remove them.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="File of the keys' hashes.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")]


@app.command("add", epilog=options.examples("rocourse keys add keys.json branch --role decide"))
def add(
    file: File,
    name: Name,
    roles: Annotated[
        list[str],
        typer.Option(
            "--role",
            help="decide: decisions and returns; read: promises; audit: the audit view; operate: "
            "put another model in service. Repeat the option.",
        ),
    ],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make a key and print it. Only its hash is kept: it cannot be shown again."""
    with needing_service():
        from rocourse.service import add_key

    output = Output(as_json=as_json, quiet=quiet)
    key = add_key(file, name, roles)
    output.emit({"name": name, "roles": roles, "key": key})
    if not as_json:
        # Also when quiet: it is shown once and never again.
        print(key)


@app.command("list", epilog=options.examples("rocourse keys list keys.json"))
def list_(file: File, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Say whose keys there are, and what they allow."""
    with needing_service():
        from rocourse.service import list_keys

    output = Output(as_json=as_json, quiet=quiet)
    callers = [(caller.name, sorted(caller.roles)) for caller in list_keys(file)]
    output.emit([{"name": name, "roles": roles} for name, roles in callers])
    output.show(*(f"{name}: {', '.join(roles)}" for name, roles in callers))


@app.command("remove", epilog=options.examples("rocourse keys remove keys.json branch"))
def remove(
    file: File, name: Name, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Take a key out; a service that runs forgets it when it is started anew."""
    with needing_service():
        from rocourse.service import remove_key

    output = Output(as_json=as_json, quiet=quiet)
    remove_key(file, name)
    output.emit({"removed": name})
