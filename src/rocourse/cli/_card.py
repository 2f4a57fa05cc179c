"""`rocourse card`: what a stored model is for, what was measured, and what it does not cover."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rocourse.console import Output, options

EXAMPLES = options.examples(
    "rocourse card model/",
    "rocourse card model/ --out card.md",
    "rocourse card model/ --with certified.json --with evaluated.json",
)


def card(
    model: options.Model,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="A Markdown file to write.")
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="What was measured since, as `rocourse certify --json` and `rocourse evaluate "
            "--by … --json` print it. Repeat the option.",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print the model card, in Markdown; `card.md` beside the model is the same."""
    from rocourse.artifacts import card as card_of
    from rocourse.artifacts import check_file_path, write_file

    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_file_path(out, force=force)
    text = card_of(model, measured=[_read(path) for path in measured or ()])
    output.emit({"model": str(model), "card": text})
    if out is None:
        output.show(text.rstrip("\n"))
        return
    write_file(out, text.encode(), force=force)
    output.show(f"Card written to {out}")


def _read(path: Path) -> dict[str, Any]:
    from rocourse.errors import DataError

    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not found.keys() & {"certificate", "groups"}:
        raise DataError(
            f"--with must name a file that `rocourse certify --json` or `rocourse evaluate --by … "
            f"--json` printed, but {str(path)!r} is none; print one."
        )
    return found
