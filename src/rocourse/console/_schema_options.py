"""The options that say what columns are and what advice may do to them."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from rocourse.console.options import NAMES, SCHEMA_PANEL

_RECEIVED = "columns"

_COLUMNS = {
    "categorical": "Column of numbers that are categories.",
    "integer": "Column of whole numbers written as decimals.",
    "immutable": f"Feature that advice must leave alone. {NAMES}",
    "increase_only": "Feature that advice may only raise.",
    "decrease_only": "Feature that advice may only lower.",
}


def with_schema_options(command: Callable[..., None]) -> Callable[..., None]:
    """Puts the options in the place of a command's parameter `columns`, which gets all of them.

    Typer reads options off a signature; so every command would have to list them, and to put
    together what was said.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        from rocourse.console._columns import ColumnOptions

        said = {option.name: given.pop(option.name) for option in _OPTIONS}
        command(**given, **{_RECEIVED: ColumnOptions(**said)})

    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        parameters += _OPTIONS if parameter.name == _RECEIVED else [parameter]
    shown: Any = run
    # By keyword, as Typer gives them: options with and without defaults may come in any order.
    shown.__signature__ = Signature([p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters])
    shown.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _option(name: str, kind: Any, metavar: str, explanation: str) -> Parameter:
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=metavar,
        rich_help_panel=SCHEMA_PANEL,
        help=explanation,
    )
    annotation = Annotated[kind, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


_OPTIONS = [
    *(_option(name, list[str] | None, "COL", text) for name, text in _COLUMNS.items()),
    _option(
        "bounds",
        list[str] | None,
        "COL=LOW:HIGH",
        "Hard limits of rows and advice; either side may be empty.",
    ),
    _option(
        "missing",
        list[str] | None,
        "[COL=]WORD",
        "What becomes of missing values: impute, category, drop or error, for the table or a "
        "column. Without it, numbers are imputed and categories get one of their own.",
    ),
    _option(
        "missing_code",
        list[str] | None,
        "[COL=]VALUE",
        "Value that stands for a missing one, such as -999 or ?, in a column or in all.",
    ),
    _option(
        "id",
        str | None,
        "COL",
        "Column that tells rows apart: no feature, but the first column of later outputs.",
    ),
    _option(
        "favourable",
        str | None,
        "CLASS",
        "The class that people want. Never guessed; 1 of 0 and 1, unless the target sounds bad.",
    ),
    _option(
        "max_change",
        list[str] | None,
        "COL=[+|-]SIZE[%]",
        "The most by which advice may raise (+) or lower (-) a number, or both; % of its own.",
    ),
    _option(
        "step", list[str] | None, "COL=SIZE", "Advised numbers are multiples of it, such as 100."
    ),
    _option("max_features", int | None, "N", "The most features that advice may change."),
]
