"""`rocourse methods`: the methods, and the parameters of one of them."""

from typing import Annotated

import typer

from rocourse.console import Output, options

# As in docs/choose.md.
CHOICE = {
    "rocourse": "start here: advice that holds when the model is retrained, with a stated share",
    "rocoursenet": "the paper's method, or a generator that answers in microseconds",
    "rocourse-panel": "a panel of networks, and the oracle's bound",
    "vanillacf, counternet": "advice for the model as it is, at the least cost",
    "roar, rbr": "what is compared with in the literature",
}
"""When to take which method."""

EXAMPLES = options.examples("rocourse methods", "rocourse methods roar")


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show the parameters of this method.")
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the methods that `rocourse train --method` knows, or the parameters of one."""
    from rich.markup import escape
    from rich.table import Table

    from rocourse.console import find_method
    from rocourse.estimators import METHODS, describe_parameters
    from rocourse.options import plain

    output = Output(as_json=as_json, quiet=quiet)
    if name is None:
        lines = {method: _first_line(cls.__doc__) for method, cls in METHODS.items()}
        output.emit(lines)
        table = Table("method", "what it is")
        for method, line in lines.items():
            table.add_row(method, escape(line))
        choice = Table("take", "if you want")
        for method, wish in CHOICE.items():
            choice.add_row(method, escape(wish))
        output.show(choice, table)
        return
    found = find_method(name)
    described = {
        parameter.replace("__", "."): (default, doc)
        for parameter, (default, doc) in describe_parameters(found).items()
    }
    output.emit(
        {
            parameter: {"default": plain(default), "doc": doc}
            for parameter, (default, doc) in described.items()
        }
    )
    table = Table(title=name, title_justify="left")
    table.add_column("parameter", overflow="fold")
    table.add_column("default")
    table.add_column("meaning")
    for parameter, (default, doc) in described.items():
        table.add_row(parameter, escape(str(default)), escape(doc))
    output.show(table)


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().splitlines()[0]
