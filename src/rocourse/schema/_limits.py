"""Limits of change: how far a number may move, which category may follow which, what goes together.

Each is valid in itself from the moment it exists; features and schemas check that it fits them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from rocourse._wording import listed, show
from rocourse.errors import SchemaError
from rocourse.schema._values import Scalar, find, plain

# Of a range: a finer step could not be told apart by the codes, which are float32.
_FINEST_STEP = 1e-6
# Above this, float64 no longer holds every whole number, so multiples would not be exact.
_LARGEST_WHOLE = 2.0**53

Transitions = tuple[tuple[Scalar, tuple[Scalar, ...]], ...]
Prices = tuple[tuple[Scalar, tuple[tuple[Scalar, float], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a number may change, what that costs and how long it takes; None: not limited.

    Attributes:
        max_increase: The most by which it may rise.
        max_decrease: The most by which it may fall.
        max_increase_share: The same as a share of the applicant's own value: 0.2 for 20%.
        max_decrease_share: As a share of the applicant's own value.
        step: New values are multiples of it; a value that does not change need not be one.
        weight: How hard a change is: cost for each unit of proximity.
        cost_per_unit: Cost for each unit of the feature, in place of `weight`.
        months: How long any change takes.
        months_per_unit: How long each unit of the feature takes, besides.

    Examples:
        >>> limited = schema.constrain(change={"Duration": Change(max_decrease=12, step=6)})
        >>> limited["Duration"].change.step
        6.0
    """

    max_increase: float | None = None
    max_decrease: float | None = None
    max_increase_share: float | None = None
    max_decrease_share: float | None = None
    step: float | None = None
    weight: float = 1.0
    cost_per_unit: float | None = None
    months: float | None = None
    months_per_unit: float | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if value is not None:
                object.__setattr__(self, part.name, _amount(value, f"Change: {part.name}"))
        if self.step == 0.0:
            raise SchemaError(
                "Change: step must be above 0, but got 0; give the distance between new values."
            )
        if self.cost_per_unit is not None and self.weight != 1.0:
            raise SchemaError(
                "Change must have a weight or a cost_per_unit, but got both; drop one of the two."
            )

    @property
    def grid(self) -> tuple[int, int] | None:
        """The step as a fraction, as it was written: 0.1 is 1/10 and no neighbour of it."""
        if self.step is None:
            return None
        return Fraction(repr(self.step)).as_integer_ratio()

    def check(self, what: str, low: float, high: float, *, integer: bool, date: bool) -> None:
        """Refuses what does not fit the feature."""
        shares = (self.max_increase_share, self.max_decrease_share)
        if date and shares != (None, None):
            raise SchemaError(
                f"{what} is a date, so its largest change must be days, but got a share; give "
                "max_increase or max_decrease."
            )
        if self.step is None:
            return
        if integer and not self.step.is_integer():
            raise SchemaError(
                f"{what} is integer, so its step must be a whole number, but got {self.step}; "
                "round it or set integer=False."
            )
        if not _FINEST_STEP * (high - low) <= self.step <= high - low:
            raise SchemaError(
                f"{what}: step must lie between a millionth of the range {low:g} to {high:g} and "
                f"the whole of it, but got {self.step:g}; correct the step or the range."
            )
        assert self.grid is not None  # there is a step
        if max(abs(low), abs(high)) * self.grid[1] > _LARGEST_WHOLE:
            raise SchemaError(
                f"{what}: step must have so few digits that its multiples up to {high:g} are "
                f"exact, but got {self.step!r}; round it."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """Which category may follow which, what that costs and how long it takes.

    Attributes:
        allowed: The categories that may follow one, by that one; those that are not named may be
            left for any.
        forbidden: The categories that must not follow one.
        cost: Cost of a change, by the category before and the one after; others cost 2 × `weight`.
        weight: How hard a change is.
        months: How long any change takes.

    Examples:
        >>> Moves(allowed={"rent": ["own"]}, months=6).months
        6.0
    """

    allowed: Transitions = ()
    forbidden: Transitions = ()
    cost: Prices = ()
    weight: float = 1.0
    months: float | None = None

    def __post_init__(self) -> None:
        for name in ("allowed", "forbidden"):
            pairs = [
                (before, _values(after, f"Moves: {name}"))
                for before, after in _items(getattr(self, name), f"Moves: {name}")
            ]
            object.__setattr__(self, name, tuple(pairs))
        prices = [
            (
                before,
                tuple(
                    (after, _amount(price, "Moves: a cost"))
                    for after, price in _items(table, "Moves: cost")
                ),
            )
            for before, table in _items(self.cost, "Moves: cost")
        ]
        object.__setattr__(self, "cost", tuple(prices))
        object.__setattr__(self, "weight", _amount(self.weight, "Moves: weight"))
        if self.months is not None:
            object.__setattr__(self, "months", _amount(self.months, "Moves: months"))

    def of(self, categories: tuple[Scalar, ...], what: str) -> "Moves":
        """The same in the words of a feature; what is no category of its is refused."""

        def known(value: object) -> Scalar:
            found = find(value, categories)
            if found is None:
                # In a file, what a table is looked up by is text, whatever the categories are.
                found = next((one for one in categories if str(one) == value), None)
            if found is None:
                raise SchemaError(
                    f"{what}: moves must name its categories {listed(categories)}, but got "
                    f"{show(value)}; use one of them."
                )
            return found

        def all_known(table: Transitions) -> Transitions:
            return tuple((known(before), tuple(map(known, after))) for before, after in table)

        return Moves(
            allowed=all_known(self.allowed),
            forbidden=all_known(self.forbidden),
            cost=tuple(
                (known(before), tuple((known(after), price) for after, price in table))
                for before, table in self.cost
            ),
            weight=self.weight,
            months=self.months,
        )


@dataclass(frozen=True, slots=True)
class Follows:
    """A number that moves with others, and is no action of its own.

    It moves by the sum of what its leaders move by, each times its factor: age with the years in a
    job, `Follows("age", "years_employed")`; a total with its parts, `Follows("income", ["wage",
    "rent"])`.

    Attributes:
        feature: The feature that follows.
        leaders: What it follows: a feature, several, or a factor for each.

    Examples:
        >>> Follows("total", ["salary", "rent"]).feature
        'total'
    """

    feature: str
    leaders: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        given: Any = self.leaders
        if isinstance(given, str):
            given = [given]
        if isinstance(given, Iterable) and not isinstance(given, Mapping):
            given = [(one, 1.0) if isinstance(one, str) else one for one in given]
        object.__setattr__(self, "leaders", _factors(given, f"Follows {self.feature!r}"))


@dataclass(frozen=True, slots=True)
class Linear:
    """A limit of a weighted sum of numbers: `Linear({"debt": 1, "income": -0.4}, at_most=0)`.

    A row that breaks it already may keep doing so, but by no more than it does.

    Attributes:
        factors: The factor of each feature.
        at_most: The most that the sum may be.
        at_least: The least that it may be.

    Examples:
        >>> Linear({"debt": 1, "income": -0.4}, at_most=0).at_most
        0.0
    """

    factors: tuple[tuple[str, float], ...]
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _factors(self.factors, "Linear"))
        for name in ("at_most", "at_least"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _number(value, f"Linear: {name}"))
        if self.at_most is None and self.at_least is None:
            raise SchemaError(
                "Linear must have a limit, but got neither at_most nor at_least; give one of them."
            )
        if None not in (self.at_most, self.at_least) and self.at_least > self.at_most:  # type: ignore[operator]
            raise SchemaError(
                f"Linear must have at_least ≤ at_most, but got {self.at_least:g} and "
                f"{self.at_most:g}; swap them."
            )


Together = Follows | Linear


def _factors(given: object, what: str) -> tuple[tuple[str, float], ...]:
    pairs = tuple(
        (_name(name, what), _number(factor, f"{what}: a factor"))
        for name, factor in _items(given, what)
    )
    if not pairs or any(factor == 0.0 for _, factor in pairs):
        raise SchemaError(
            f"{what} must name features with factors other than 0, but got {show(given)}; write, "
            'say, {"wage": 1.0}.'
        )
    if len(dict(pairs)) < len(pairs):
        raise SchemaError(f"{what} must name each feature once, but got {show(given)}; join them.")
    return pairs


def _items(given: object, what: str) -> list[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        return list(given.items())
    if isinstance(given, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in given
    ):
        return [(first, second) for first, second in given]
    raise SchemaError(f"{what} must be a dictionary, but got {show(given)}; write one.")


def _values(given: object, what: str) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError(f"{what} must list categories, but got {show(given)}; write a list.")
    return tuple(plain(value) for value in given)


def _name(name: object, what: str) -> str:
    if not isinstance(name, str):
        raise SchemaError(f"{what} must name features, but got {show(name)}; give a column name.")
    return name


def _number(value: object, what: str) -> float:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise SchemaError(f"{what} must be a number, but got {show(value)}; give one.")
    if not math.isfinite(number):
        raise SchemaError(f"{what} must be finite, but got {number}; leave it out for no limit.")
    return float(number)


def _amount(value: object, what: str) -> float:
    number = _number(value, what)
    if number < 0.0:
        raise SchemaError(f"{what} must not be negative, but got {number:g}; give its size.")
    return number
