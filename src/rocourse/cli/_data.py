"""`rocourse data`: the data sets that come with the package or can be fetched."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from rocourse.console import INTERRUPTED, Commands, Output, options

app = typer.Typer(cls=Commands, no_args_is_help=True, help="List, fetch and find data sets.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set, such as loan.")]
Directory = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="Directory of data sets; by default $ROCOURSE_DATA or the user's cache.",
    ),
]


@app.command("list", epilog=options.examples("rocourse data list", "rocourse data list --json"))
def list_(as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """List the data sets."""
    from dataclasses import asdict

    from rich.table import Table

    from rocourse.datasets import list_datasets

    output = Output(as_json=as_json, quiet=quiet)
    infos = list_datasets()
    output.emit([asdict(info) for info in infos])
    table = Table("name", "kind", "rows", "subsets", "description")
    for info in infos:
        table.add_row(
            info.name, info.kind, f"{info.rows:,}", str(len(info.subsets)), info.description
        )
    output.show(table)


@app.command(
    epilog=options.examples("rocourse data fetch loan", "rocourse data fetch loan --dir data/")
)
def fetch(
    name: Name,
    directory: Directory = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="A mirror of the public source."),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set and check it against the known checksums.

    Files that are there and correct are kept, and an interrupted download is resumed.
    """
    from rocourse import datasets

    output = Output(as_json=as_json, quiet=quiet)
    finished: set[str] = set()
    total = next((len(i.subsets) for i in datasets.list_datasets() if i.name == name), None)
    try:
        with output.progress() as report:

            def on_bytes(file: str, done: int, size: int | None) -> None:
                if size is not None and done >= size:
                    finished.add(file)
                report("file", len(finished), total, f"{file} {done / 1e6:.1f} MB")

            path = datasets.fetch(name, data_dir=directory, base_url=base_url, progress=on_bytes)
    except KeyboardInterrupt as error:
        print("interrupted: run the same command again to resume", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from error
    output.emit({"name": name, "path": str(path)})
    output.show(f"Data set {name} is in {path}")


@app.command(epilog=options.examples("rocourse data path german_credit"))
def path(
    name: Name,
    directory: Directory = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the directory of a data set's files."""
    from rocourse.datasets import data_path

    output = Output(as_json=as_json, quiet=quiet)
    found = data_path(name, data_dir=directory)
    output.emit({"name": name, "path": str(found)})
    output.show(str(found))
