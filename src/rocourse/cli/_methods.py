"""`rocourse methods`: the methods, and the parameters of one of them."""

from typing import Annotated

import typer

from rocourse.cli import _options
from rocourse.cli._console import Output

EXAMPLES = _options.examples("rocourse methods", "rocourse methods roar")


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the parameters of this method.")
    ] = None,
    as_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """List the methods that `rocourse train --method` knows, or the parameters of one."""
    from rich.markup import escape
    from rich.table import Table

    from rocourse.cli._rows import did_you_mean
    from rocourse.errors import ConfigError
    from rocourse.methods import METHODS, parameter_docs

    output = Output(as_json=as_json, quiet=quiet)
    if name is None:
        lines = {method: _first_line(cls.__doc__) for method, cls in METHODS.items()}
        output.emit(lines)
        table = Table("method", "what it is")
        for method, line in lines.items():
            table.add_row(method, escape(line))
        output.show(table)
        return
    if name not in METHODS:
        raise ConfigError(
            f"The method must be one of {', '.join(METHODS)}: got {name!r}"
            f"{did_you_mean(name, METHODS)}; correct the name."
        )
    defaults = METHODS[name]().get_params(deep=False)
    docs = parameter_docs(METHODS[name])
    output.emit(
        {parameter: {"default": defaults[parameter], "doc": doc} for parameter, doc in docs.items()}
    )
    table = Table("parameter", "default", "meaning", title=name, title_justify="left")
    for parameter, doc in docs.items():
        table.add_row(parameter, escape(str(defaults[parameter])), escape(doc))
    output.show(table)


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().splitlines()[0]
