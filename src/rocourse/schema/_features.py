"""Features and target: the parts of a schema, each valid from the moment it exists."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

import numpy as np

from rocourse._wording import listed, show
from rocourse.errors import SchemaError
from rocourse.schema._dates import in_words, to_days
from rocourse.schema._favourable import clear_favourable, suggested
from rocourse.schema._gaps import MISSING, Missing
from rocourse.schema._limits import Change, Moves
from rocourse.schema._values import Kind, Scalar, find, plain, same_kind
from rocourse.schema._written import style

Direction = Literal["up", "down"]

# Above this, float64 no longer holds every whole number, so rounding could not be exact.
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True)
class Continuous:
    """A number, scaled to [0, 1] over its range.

    Attributes:
        name: Column name.
        low: Smallest value of the training rows.
        high: Largest value of the training rows.
        integer: Whether only whole numbers make sense.
        immutable: Whether a recourse must leave the feature alone.
        direction: `"up"` if a recourse may only raise the value, `"down"` if it may only lower it.
        bounds: Lowest and highest value that rows and recourses may have; None for no limit on that
            side.
        unit: Word that follows the value in texts, such as "months".
        change: How far and in which steps it may change, at what cost; None: as it likes.
        date: Whether the numbers are days since 1970-01-01, shown and given as dates; `low`,
            `high`, `bounds` and `fill` may then be ISO texts.
        missing: What becomes of missing values: `"error"` refuses them, `"impute"` reads them as
            `fill`, `"drop"` leaves them out of training and refuses them later.
        fill: What a missing value is read as; None to learn it from the training rows.
        written: How numbers are written where they come as text, told by what becomes of 1234.5:
            "$1,234.5", "1234.5%", "1 234,5 €"; None: text is refused.
    """

    name: str
    low: float
    high: float
    integer: bool = False
    immutable: bool = False
    direction: Direction | None = None
    bounds: tuple[float | None, float | None] = (None, None)
    unit: str = ""
    change: Change | None = None
    date: bool = False
    missing: Missing = "error"
    fill: float | None = None
    written: str | None = None

    def __post_init__(self) -> None:
        what = _check_common(self)
        _check_flag(self.date, f"{what}: date")
        low, high = self._read(self.low, f"{what}: low"), self._read(self.high, f"{what}: high")
        if low == high:
            raise SchemaError(
                f"{what} must vary, but its range is constant (low and high are both "
                f"{self.word(low)}); drop the column, or give the range it can take."
            )
        if low > high:
            raise SchemaError(
                f"{what} must have low < high, but got low={self.word(low)} and "
                f"high={self.word(high)}; swap them."
            )
        if not math.isfinite(high - low):
            raise SchemaError(
                f"{what} must have a range that a float can hold, but got {low} to {high}; rescale "
                "the column."
            )
        _set(self, "low", low)
        _set(self, "high", high)
        _check_flag(self.integer, f"{what}: integer")
        if self.integer and not (low.is_integer() and high.is_integer()):
            raise SchemaError(
                f"{what} is integer, so its range must be whole numbers, but got {low} to {high}; "
                "round the range or set integer=False."
            )
        if self.integer and max(abs(low), abs(high)) > _LARGEST_WHOLE:
            raise SchemaError(
                f"{what} is integer, so its range must lie within ±2**53, but got {_brief(low)} to "
                f"{_brief(high)}; set integer=False or make it a category."
            )
        _set(self, "bounds", self._checked_bounds(what))
        if not isinstance(self.unit, str):
            raise SchemaError(
                f"{what}: unit must be text, but got {show(self.unit)}; write unit='' for none."
            )
        if self.change is not None:
            _check_kind(self.change, Change, f"{what}: change")
            self.change.check(what, low, high, integer=self.integer, date=self.date)
        self._check_fill(what)
        self._check_written(what)

    def _checked_bounds(self, what: str) -> tuple[float | None, float | None]:
        if not isinstance(self.bounds, (tuple, list)) or len(self.bounds) != 2:
            raise SchemaError(
                f"{what}: bounds must be a pair (lowest, highest), but got {show(self.bounds)}; "
                "use None for a side without limit."
            )
        least, most = (
            None
            if bound is None
            else self._read(bound, f"{what}: a bound", remedy="use None for no limit")
            for bound in self.bounds
        )
        if least is not None and most is not None and least > most:
            raise SchemaError(
                f"{what}: bounds must be (lowest, highest), but got ({self.word(least)}, "
                f"{self.word(most)}); swap them."
            )
        if (least is not None and least > self.high) or (most is not None and most < self.low):
            raise SchemaError(
                f"{what}: bounds must overlap the range {self.word(self.low)} to "
                f"{self.word(self.high)}, but got ({self.word(least)}, {self.word(most)}); widen "
                "the bounds or correct the range."
            )
        if self.integer:
            first = math.ceil(self.low if least is None else max(self.low, least))
            last = math.floor(self.high if most is None else min(self.high, most))
            if first > last:
                raise SchemaError(
                    f"{what} is integer, so its bounds must leave a whole number, but got "
                    f"({self.word(least)}, {self.word(most)}); widen the bounds."
                )
        return least, most

    def _check_fill(self, what: str) -> None:
        if self.missing == "category":
            raise SchemaError(
                f"{what} is a number, so missing must be 'error', 'impute' or 'drop', but got "
                "'category'; choose one of them, or make the feature categorical."
            )
        if self.fill is None:
            return
        fill = self._read(self.fill, f"{what}: fill", remedy="use None to learn it")
        least, most = self.bounds
        if (least is not None and fill < least) or (most is not None and fill > most):
            raise SchemaError(
                f"{what}: fill must lie within the bounds, but got {self.word(fill)}; move it."
            )
        if self.integer and not fill.is_integer():
            raise SchemaError(
                f"{what} is integer, so its fill must be a whole number, but got {fill}; round it."
            )
        _set(self, "fill", fill)

    def _check_written(self, what: str) -> None:
        if self.written is None:
            return
        try:
            style(self.written)
        except (ValueError, TypeError):
            raise SchemaError(
                f"{what}: written must be 1234.5 as the column writes it, such as '$1,234.5', but "
                f"got {show(self.written)}; write it so, or None."
            ) from None
        if self.date:
            raise SchemaError(
                f"{what} must be dates or written numbers, but got both; leave out written."
            )

    def _read(self, value: object, what: str, *, remedy: str = "give a finite number") -> float:
        days = to_days(value) if self.date else None
        return _number(value, what, remedy=remedy) if days is None else days

    def word(self, value: float | None) -> str:
        """A value as messages show it."""
        if value is None:
            return "None"
        return in_words(value, whole=self.integer) if self.date else _brief(value)

    @property
    def span(self) -> float:
        """Width of the range."""
        return self.high - self.low

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest value of a recourse: within range and bounds, whole if integer."""
        least, most = self.bounds
        first = self.low if least is None else max(self.low, least)
        last = self.high if most is None else min(self.high, most)
        if self.integer:
            return float(math.ceil(first)), float(math.floor(last))
        return first, last


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of a fixed set of values, encoded as a one-hot group.

    Attributes:
        name: Column name.
        categories: The values, all text, all numbers or all flags; their order is the order for
            `direction`.
        immutable: Whether a recourse must leave the feature alone.
        direction: `"up"` if a recourse may only move to a later category, `"down"` if only to an
            earlier one.
        labels: Human words for the categories, used in texts only.
        missing: What becomes of missing values: `"error"` refuses them, `"impute"` reads them as
            `fill`, `"category"` makes them a category of their own, which advice may leave (unless
            the feature is immutable or limited to one direction) but never asks for, `"drop"`
            leaves them out of training and refuses them later.
        fill: The category that a missing value is read as; None to learn it from the training rows.
        kind: What the categories are; derived, so that (True, False) and (1, 0) are different sets.
        moves: Which category may follow which, and at what cost; None: any.
    """

    name: str
    categories: tuple[Scalar, ...]
    immutable: bool = False
    direction: Direction | None = None
    labels: tuple[str, ...] | None = None
    missing: Missing = "error"
    fill: Scalar | None = None
    kind: Kind = field(init=False, repr=False)
    moves: Moves | None = None

    def __post_init__(self) -> None:
        what = _check_common(self)
        # Beside gaps of their own, one category is a choice.
        least = 1 if self.missing == "category" else 2
        categories, kind = same_kind(self.categories, f"{what}: categories", least=least)
        _set(self, "categories", categories)
        _set(self, "kind", kind)
        if self.moves is not None:
            _check_kind(self.moves, Moves, f"{what}: moves")
            _set(self, "moves", self.moves.of(categories, what))
        if self.fill is not None:
            fill = find(self.fill, categories)
            if fill is None:
                raise SchemaError(
                    f"{what}: fill must be one of the categories {listed(categories)}, but got "
                    f"{show(self.fill)}; name one of them, or None to learn it."
                )
            _set(self, "fill", fill)
        if self.labels is None:
            return
        if isinstance(self.labels, str) or not all(isinstance(label, str) for label in self.labels):
            raise SchemaError(
                f"{what}: labels must be a list of texts, but got {show(self.labels)}; write a "
                "list."
            )
        if len(self.labels) != len(categories):
            raise SchemaError(
                f"{what}: labels must name each of the {len(categories)} categories, but got "
                f"{len(self.labels)}: {listed(self.labels)}; give one label per category."
            )
        _set(self, "labels", tuple(self.labels))

    @property
    def gap(self) -> int | None:
        """The code of missing values that are a category of their own: the last one."""
        return len(self.categories) if self.missing == "category" else None

    @property
    def size(self) -> int:
        """How many codes there are: of the categories and, perhaps, of missing values."""
        return len(self.categories) + (self.missing == "category")


Feature = Continuous | Categorical


def positioned(features: Iterable[Feature]) -> Iterator[tuple[Feature, int]]:
    """Each feature with its column in `Rows.continuous` or `Rows.categories`."""
    numbers, groups = count(), count()
    for feature in features:
        yield feature, next(numbers if isinstance(feature, Continuous) else groups)


@dataclass(frozen=True, slots=True)
class Target:
    """The column that is predicted.

    Attributes:
        name: Column name.
        classes: Its values, kept sorted.
        favourable: The class an applicant wants. Unless it is stated, 1 of 0 and 1, or True, where
            the name does not say that this is bad (`default`, `deny`); else None, not known.
        kind: What the classes are; derived.
    """

    name: str
    classes: tuple[Scalar, ...]
    favourable: Scalar | None = None
    kind: Kind = field(init=False, repr=False)

    def __post_init__(self) -> None:
        what = f"Target {_name(self.name)!r}"
        classes, kind = same_kind(self.classes, f"{what}: classes")
        classes = tuple(sorted(classes))
        _set(self, "classes", classes)
        _set(self, "kind", kind)
        if self.favourable is None:
            _set(self, "favourable", clear_favourable(self.name, classes))
            return
        favourable = find(self.favourable, classes)
        if favourable is None:
            raise SchemaError(
                f"{what}: favourable must be one of the classes {listed(classes)}, but got "
                f"{show(self.favourable)}; name the class an applicant wants."
            )
        _set(self, "favourable", favourable)

    def wanted(self) -> Scalar:
        """The class an applicant wants, where it has to be known.

        Raises:
            SchemaError: Nobody has stated it.
        """
        if self.favourable is None:
            raise SchemaError(
                f"Target {self.name!r} must have a favourable class for this, but got only its "
                f"classes {listed(self.classes)}; state it, as with "
                f"schema.constrain(favourable={show(suggested(self.name, self.classes))})."
            )
        return self.favourable


def _set(instance: Any, attribute: str, value: object) -> None:
    # Frozen instances are normalised once, while they are being made.
    object.__setattr__(instance, attribute, value)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"A column name must be text, but got {show(name)}; rename the column.")
    return name


def _check_common(feature: "Continuous | Categorical") -> str:
    what = f"Feature {_name(feature.name)!r}"
    _check_flag(feature.immutable, f"{what}: immutable")
    if feature.missing not in MISSING:
        raise SchemaError(
            f"{what}: missing must be one of {listed(MISSING)}, but got {show(feature.missing)}; "
            "choose one of them."
        )
    if feature.direction not in (None, "up", "down"):
        raise SchemaError(
            f"{what}: direction must be 'up', 'down' or None, but got {show(feature.direction)}; "
            "choose one of them."
        )
    if feature.immutable and feature.direction is not None:
        raise SchemaError(
            f"{what} must be either immutable or limited to one direction, but got both (direction "
            f"{feature.direction!r}); drop one of the two."
        )
    return what


def _check_kind(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise SchemaError(
            f"{what} must be a {kind.__name__} or None, but got {show(value)}; write "
            f"{kind.__name__}(...)."
        )


def _check_flag(value: object, what: str) -> None:
    if not isinstance(value, bool):
        raise SchemaError(
            f"{what} must be True or False, but got {show(value)}; write one of them."
        )


def _number(value: object, what: str, *, remedy: str = "give a finite number") -> float:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise SchemaError(f"{what} must be a number, but got {show(value)}; {remedy}.")
    try:
        number = float(number)
    except OverflowError:
        number = np.inf
    if not math.isfinite(number):
        raise SchemaError(f"{what} must be finite, but got {number}; {remedy}.")
    return number


def _brief(value: float | None) -> str:
    if value is None:
        return "None"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
