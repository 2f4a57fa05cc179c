"""The written form of limits of change: what is not said is not written."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._limits import Change, Follows, Linear, Moves, Prices, Together, Transitions

T = TypeVar("T")


def change_to_dict(change: Change) -> dict[str, Any]:
    """A change in values that JSON knows."""
    return {
        part.name: getattr(change, part.name)
        for part in fields(Change)
        if getattr(change, part.name) != part.default
    }


def moves_to_dict(moves: Moves) -> dict[str, Any]:
    """Moves in values that JSON knows; tables are looked up by the text of a category."""

    def lists(table: Transitions) -> dict[str, Any]:
        return {str(before): list(after) for before, after in table}

    def prices(table: Prices) -> dict[str, Any]:
        return {str(before): {str(after): price for after, price in row} for before, row in table}

    said = {
        "allowed": lists(moves.allowed),
        "forbidden": lists(moves.forbidden),
        "cost": prices(moves.cost),
        "weight": None if moves.weight == 1.0 else moves.weight,
        "months": moves.months,
    }
    return {name: value for name, value in said.items() if value not in ({}, None)}


def together_to_dict(rule: Together) -> dict[str, Any]:
    """What goes together, in values that JSON knows."""
    if isinstance(rule, Follows):
        return {"follows": rule.feature, "leaders": dict(rule.leaders)}
    said = {"linear": dict(rule.factors), "at_most": rule.at_most, "at_least": rule.at_least}
    return {name: value for name, value in said.items() if value is not None}


def change_from_dict(data: object, what: str) -> Change:
    """The change that was written."""
    return _built(Change, data, f"{what}: change", {part.name for part in fields(Change)})


def moves_from_dict(data: object, what: str) -> Moves:
    """The moves that were written."""
    return _built(Moves, data, f"{what}: moves", {part.name for part in fields(Moves)})


def together_from_dict(data: object) -> tuple[Together, ...]:
    """What was written to go together."""
    if not isinstance(data, list):
        raise SchemaError(f"together must be a list, but got {show(data)}; list one object a rule.")
    return tuple(_rule(part) for part in data)


def _rule(data: object) -> Together:
    what = "A rule of together"
    if isinstance(data, Mapping) and "follows" in data:
        return _built(
            lambda follows, leaders: Follows(follows, leaders), data, what, {"follows", "leaders"}
        )
    if isinstance(data, Mapping) and "linear" in data:
        return _built(
            lambda linear, at_most=None, at_least=None: Linear(linear, at_most, at_least),
            data,
            what,
            {"linear", "at_most", "at_least"},
        )
    raise SchemaError(
        f"{what} must have the key 'follows' or 'linear', but got {show(data)}; add one of them."
    )


def _built(make: Callable[..., T], data: object, what: str, known: set[str]) -> T:
    if not isinstance(data, Mapping):
        raise SchemaError(f"{what} must be a JSON object, but got {show(data)}; write one.")
    for key in data:
        if key not in known:
            raise SchemaError(
                f"{what} must have no other keys than {listed(sorted(known), limit=12)}, but got "
                f"{show(key)}{did_you_mean(key, known)}; remove or rename it."
            )
    try:
        return make(**data)
    except TypeError:
        raise SchemaError(
            f"{what} must have all of its keys, but got only {listed(data)}; add the others."
        ) from None
