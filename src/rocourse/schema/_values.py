"""Values of categories and classes: text, whole numbers, numbers or flags, never a mixture.

Python holds `True == 1 == 1.0`, so a category set is told apart by its *kind* and not by equality
alone. Whole numbers and numbers do match each other (a CSV reader gives 1 or 1.0 for the same
column); flags match neither.
"""

import math
from collections.abc import Hashable, Iterable
from decimal import Decimal
from numbers import Real
from typing import Literal

import numpy as np

from rocourse._wording import counted, duplicates, listed, show
from rocourse.errors import SchemaError

Scalar = str | int | float | bool
Kind = Literal["text", "integer", "number", "flag"]

# Of the values that JSON has, for which no more needs to be asked.
_KINDS = {bool: "flag", str: "text", int: "number", float: "number"}


def plain(value: object) -> object:
    """The Python value of a numpy scalar; any other value as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _key(value: object) -> Hashable:
    kind = _KINDS.get(type(value))
    if kind is not None:
        return (kind, value)
    if isinstance(value, (bool, np.bool_)):
        return ("flag", bool(value))
    if isinstance(value, str):
        return ("text", str(value))
    if isinstance(value, (Real, Decimal)):
        return ("number", value)
    return ("other", repr(value))


def same_kind(
    values: Iterable[object], what: str, *, least: int = 2
) -> tuple[tuple[Scalar, ...], Kind]:
    """Turns values into plain Python ones of a single kind.

    Args:
        values: Distinct values.
        what: The subject of the error sentence, such as `Categories of feature 'Housing'`.
        least: How many there must be.

    Returns:
        The values in their order (all floats if any is one), and their kind.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SchemaError(f"{what} must be a list of values, but got {show(values)}; write a list.")
    scalars = tuple(plain(value) for value in values)
    for value in scalars:
        if not isinstance(value, (str, int, float)):
            raise SchemaError(
                f"{what} must be text, numbers or flags, but got {show(value)} "
                f"({type(value).__name__}); convert it to text."
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise SchemaError(f"{what} must be finite, but got {value}; leave it out.")
    if len(scalars) < least:
        raise SchemaError(
            f"{what} must be at least {'two values' if least == 2 else 'one value'}, but got "
            f"{counted(len(scalars), 'value')}{': ' + show(scalars[0]) if scalars else ''}; list "
            "all values that can occur."
        )
    kinds = {_kind(value) for value in scalars}
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        raise SchemaError(
            f"{what} must be all text, all numbers or all flags, but got a mixture: "
            f"{listed(scalars)}; convert them to text."
        )
    kind = kinds.pop()
    typed: tuple[Scalar, ...]
    if kind == "number":
        typed = tuple(float(value) for value in scalars)  # type: ignore[arg-type]
    else:
        typed = scalars  # type: ignore[assignment]
    if repeated := duplicates(typed):
        raise SchemaError(
            f"{what} must differ, but got {listed(repeated)} more than once; list it once."
        )
    return typed, kind


def _kind(value: object) -> Kind:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, str):
        return "text"
    return "integer" if isinstance(value, int) else "number"


def find(value: object, values: tuple[Scalar, ...]) -> Scalar | None:
    """The member of `values` that `value` denotes, or None."""
    wanted = _key(value)
    return next((known for known in values if _key(known) == wanted), None)


class ValueIndex:
    """Where each of some values stands, with 1 and 1.0 one value, but 1, True and '1' three.

    Args:
        values: Categories or classes.
    """

    def __init__(self, values: Iterable[Scalar]) -> None:
        self._positions = {_key(value): index for index, value in enumerate(values)}

    def find(self, value: object) -> int | None:
        """The position of the one that `value` denotes, or None."""
        return self._positions.get(_key(value))


def as_array(values: tuple[Scalar, ...], kind: Kind) -> np.ndarray:
    """The values as an array of the narrowest dtype that holds them exactly."""
    match kind:
        case "text":
            array = np.empty(len(values), dtype=object)
            array[:] = values
            return array
        case "integer":
            # Whole numbers beyond 64 bits are legal categories (account numbers): they stay Python
            # objects.
            fits = all(-(2**63) <= int(value) < 2**63 for value in values)
            return np.array(values, dtype=np.int64 if fits else object)
        case "number":
            return np.array(values, dtype=np.float64)
        case "flag":
            return np.array(values, dtype=np.bool_)
