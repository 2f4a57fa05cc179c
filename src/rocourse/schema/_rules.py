"""The rule of each feature: what its values may be, how they are scaled, how a proposal is settled.

Tables, single rows, the service and the audit all ask here. A rule is written once, over a handful
of operations that exist twice: on the float64 column of a table (`COLUMN`) and on one Python number
(`SINGLE`), for which NumPy would take longer than all the rest. Codes are float64 as well, each a
number that float32 holds.
"""

import math
import struct
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rocourse.schema._dates import MOMENTS_PER_DAY, SECONDS_PER_DAY, to_days
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._gaps import is_gap
from rocourse.schema._moves import may_follow
from rocourse.schema._reach import multiples, settle_within
from rocourse.schema._values import ValueIndex, plain
from rocourse.schema._written import to_written

NEGLIGIBLE_CHANGE = 0.005
"""Share of a feature's range below which a change is no change, since nobody would notice it."""

# Share of the range by which a value may lie outside it unnoticed: the rounding of a trip through a
# float32 column or a text file.
_RANGE_TOLERANCE = 1e-6

# Of a column or of a single number, as the operations are.
Numbers = Any
Codes = Any
Mask = Any


class Fault(Enum):
    """What is wrong with a value of a feature, in the order in which it is looked for."""

    NO_NUMBER = auto()
    MISSING = auto()
    INFINITE = auto()
    FRACTION = auto()
    BELOW_BOUNDS = auto()
    ABOVE_BOUNDS = auto()
    OUTSIDE_RANGE = auto()
    """Of the training rows: no error by itself, for such a number can be clipped."""
    UNKNOWN_CATEGORY = auto()


class Operations(NamedTuple):
    """What a rule computes with."""

    clip: Callable[[Any, float, float], Any]
    where: Callable[[Any, Any, Any], Any]
    round: Callable[[Any], Any]
    is_whole: Callable[[Any], Any]
    to_float32: Callable[[Any], Any]
    """The nearest numbers that float32 holds."""


# Functions with names, of which a schema that is sent to another process can speak.
def _are_whole(values: Any) -> Any:
    return values == np.floor(values)


def _all_to_float32(values: Any) -> Any:
    return values.astype(np.float32).astype(np.float64)


COLUMN = Operations(
    clip=np.clip,
    where=np.where,
    round=np.rint,
    is_whole=_are_whole,
    to_float32=_all_to_float32,
)

_FLOAT32 = struct.Struct("f")


def _clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


def _where(condition: bool, yes: Any, no: Any) -> Any:
    return yes if condition else no


def _round(value: float) -> float:
    return float(round(value))


def _to_float32(value: float) -> float:
    # In a third of the time that np.float32 takes.
    nearest: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    return nearest


SINGLE = Operations(
    clip=_clip,
    where=_where,
    round=_round,
    is_whole=float.is_integer,
    to_float32=_to_float32,
)


def to_number(value: object) -> float | None:
    """The number that a single value is, infinite beyond floats; None if it is none, as a flag."""
    if type(value) not in (float, int):
        value = plain(value)
    # Types and not `isinstance`: a flag is no number here.
    if type(value) is float:
        return value
    if type(value) is not int:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def faults_of_any_number(numbers: Numbers) -> Iterator[tuple[Fault, Mask]]:
    """What is wrong with numbers of whatever feature, fault by fault: whether each has it."""
    yield Fault.MISSING, np.isnan(numbers)
    yield Fault.INFINITE, np.isinf(numbers)


def fractions(numbers: Numbers) -> Mask:
    """Which numbers are not whole."""
    return numbers != np.floor(numbers)


def _steps_per_unit(feature: Continuous) -> float:
    """A power of ten: how many steps a unit has that all float32 codes of the range tell apart.

    0 where float64 could not hold such numbers.
    """
    digits = -math.ceil(math.log10(feature.span) - 24 * math.log10(2.0))
    greatest = max(abs(feature.low), abs(feature.high))
    # Beyond the first, float64 no longer holds every whole number, beyond the second no number.
    beyond = digits + math.log10(max(greatest, feature.span)) > 15 or abs(digits) > 300
    return 0.0 if beyond else 10.0**digits


def _moments_per_day(feature: Continuous) -> float:
    """How finely times are told: to the second, or the millisecond within a day; else 0."""
    if not feature.date or feature.integer:
        return 0.0
    return SECONDS_PER_DAY if feature.span >= 1.0 else MOMENTS_PER_DAY


def _reader(feature: Continuous) -> Callable[[object], float | None]:
    if feature.written is not None:
        return partial(to_written, feature.written)
    return to_days if feature.date else to_number


class NumberRule:
    """The rule of a continuous feature.

    Args:
        feature: The feature.
        operations: Whether it is for columns or for single numbers.
    """

    def __init__(self, feature: Continuous, operations: Operations) -> None:
        self.feature, self.name = feature, feature.name
        self.whole = feature.integer
        self.read = _reader(feature)
        """The number that a single value is, None if it is none."""
        self.fill = feature.fill if feature.missing == "impute" else None
        """What a gap is read as; None where gaps are refused."""
        self._moments = _moments_per_day(feature)
        self._low, self._high, self._span = feature.low, feature.high, feature.span
        self._least, self._most = feature.limits
        slack = _RANGE_TOLERANCE * feature.span
        self._range = feature.low - slack, feature.high + slack
        least, most = feature.bounds
        # Where nothing can be wrong: in the range, with some slack, and within the bounds.
        self._first = self._range[0] if least is None else max(self._range[0], least)
        self._last = self._range[1] if most is None else min(self._range[1], most)
        self._negligible = NEGLIGIBLE_CHANGE * feature.span
        self._clip, self._where, self._round, self._is_whole, self._to_float32 = operations
        # A time has no decimals of days.
        self._per_unit = 0.0 if feature.date else _steps_per_unit(feature)
        self._grid = None if feature.change is None else feature.change.grid
        self._of_columns = operations is COLUMN

    def sound(self, numbers: Numbers) -> Mask:
        """Which numbers have no fault."""
        inside = (numbers >= self._first) & (numbers <= self._last)
        return inside & self._is_whole(numbers) if self.whole else inside

    def faults(self, numbers: Numbers) -> Iterator[tuple[Fault, Mask]]:
        """What is wrong with numbers, fault by fault: whether each has it."""
        yield from faults_of_any_number(numbers)
        if self.whole:
            yield Fault.FRACTION, fractions(numbers)
        least, most = self.feature.bounds
        if least is not None:
            yield Fault.BELOW_BOUNDS, numbers < least
        if most is not None:
            yield Fault.ABOVE_BOUNDS, numbers > most
        # Two comparisons instead of a difference, which could overflow.
        low, high = self._range
        yield Fault.OUTSIDE_RANGE, (numbers < low) | (numbers > high)

    def number(self, value: object) -> float | None:
        """The number that a single value is, NaN for a gap; None if it is none."""
        number = self.read(value)
        return math.nan if number is None and is_gap(value) else number

    def fault(self, value: object) -> Fault | None:
        """What is wrong with a single value."""
        number = self.number(value)
        if number is None:
            return Fault.NO_NUMBER
        if self.sound(number) or (number != number and self.fill is not None):
            return None
        return next(fault for fault, broken in self.faults(number) if broken)

    def scale(self, numbers: Numbers) -> Codes:
        """Min-max scaling to [0, 1]; numbers outside the range are clipped."""
        # Clipped first: the distance of a wild number from `low` may overflow.
        inside = self._clip(numbers, self._low, self._high)
        return self._to_float32((inside - self._low) / self._span)

    def unscale(self, codes: Codes) -> Numbers:
        """The numbers of codes: inside range and bounds exactly, and whole if that is asked for.

        Of all numbers with a code the one with fewer digits, if there is one: 170000 would else
        come back as 169999.99.
        """
        numbers = self._unscale(codes)
        if not self.whole and self._per_unit:
            numbers = self._with_code(codes, self._neat(numbers), numbers)
        if self._grid is None:
            return numbers
        # A value that was never moved need not be a multiple of the step.
        counts = self._round(numbers * self._grid[1] / self._grid[0])
        return self._with_code(codes, multiples(counts, self._grid), numbers)

    def _with_code(self, codes: Codes, rounded: Numbers, numbers: Numbers) -> Numbers:
        """Rounded numbers where they have the same codes, else the numbers."""
        # Zero is added so that no number is -0.0.
        neat = self._clip(rounded + 0.0, self._least, self._most)
        # The ends of the range have codes of their own.
        between = (codes > 0.0) & (codes < 1.0)
        return self._where(between & (self.scale(neat) == codes), neat, numbers)

    def _unscale(self, codes: Codes) -> Numbers:
        # Rounding to float32 could carry a number over a limit, so the limits are applied here, in
        # raw units.
        shares = self._clip(codes, 0.0, 1.0)
        numbers = self._low + shares * self._span
        # `low + span` may differ from `high` in the last digit.
        numbers = self._where(shares == 1.0, self._high, numbers)
        if self.whole:
            numbers = self._round(numbers)
        elif self._moments:
            numbers = self._round(numbers * self._moments) / self._moments
        return self._clip(numbers, self._least, self._most)

    def _neat(self, numbers: Numbers) -> Numbers:
        if self._per_unit >= 1.0:
            return self._round(numbers * self._per_unit) / self._per_unit
        unit = 1.0 / self._per_unit
        return self._round(numbers / unit) * unit

    def settle(self, raw: Numbers, here: Codes, proposed: Codes) -> Codes:
        """The proposed codes as they will be carried out, or those of the row itself.

        Args:
            raw: What the row has.
            here: Its codes.
            proposed: Any numbers, NaN among them.
        """
        feature = self.feature
        if feature.immutable:
            return here
        if feature.change is not None:
            return self._settle_within(raw, here, proposed)
        # NaN alone differs from itself.
        nothing = proposed != proposed
        codes = self.near(self._where(nothing, here, proposed))
        # As many digits as there are: what a person is told differs by less than is noticed.
        values = self._unscale(codes)
        unstable = self.scale(values) != codes
        stay = nothing | unstable | self.unnoticed(raw, values)
        if feature.direction == "up":
            stay = stay | (values < raw)
        elif feature.direction == "down":
            stay = stay | (values > raw)
        return self._where(stay, here, codes)

    def near(self, codes: Codes) -> Codes:
        """The codes of numbers that may be, nearest to any codes."""
        # float32 cannot name every raw value and float64 not every code, so one trip through raw
        # units may land beside the fixed point. In practice the second one never moves; a code that
        # still would is given up by `settle`.
        for _ in range(2):
            codes = self.scale(self._unscale(codes))
        return codes

    def unnoticed(self, raw: Numbers, values: Numbers) -> Mask:
        """Which values are so near to what the row has that nobody would notice."""
        # Measured from the end of the range if the original lies beyond it: the model saw the end,
        # and a code next to it looks free of charge although it stands for a leap.
        inside = self._clip(raw, self._low, self._high)
        return abs(values - inside) < self._negligible

    def _settle_within(self, raw: Numbers, here: Codes, proposed: Codes) -> Codes:
        if self._of_columns:
            return settle_within(self, raw, here, proposed)
        single = (np.array([part], dtype=np.float64) for part in (raw, here, proposed))
        return float(settle_within(NumberRule(self.feature, COLUMN), *single)[0])


class CategoryRule:
    """The rule of a categorical feature.

    Args:
        feature: The feature.
        operations: Whether it is for columns or for single codes.
    """

    def __init__(self, feature: Categorical, operations: Operations) -> None:
        self.feature, self.name = feature, feature.name
        self._size = len(feature.categories)
        self._where = operations.where
        self._may_follow = None if feature.moves is None else may_follow(feature)
        self.code = ValueIndex(feature.categories).find
        """The position of the category that a single value denotes, or None."""
        imputes = feature.missing == "impute" and feature.fill is not None
        self.fill = self.code(feature.fill) if imputes else None
        """The code that a gap is read as; None where gaps are refused or a category."""
        self.gap = feature.gap if self.fill is None else self.fill
        """The code of a gap; None where gaps are refused."""

    def fault(self, value: object) -> Fault | None:
        """What is wrong with a single value."""
        if self.code(value) is not None:
            return None
        if is_gap(value):
            return Fault.MISSING if self.gap is None else None
        return Fault.UNKNOWN_CATEGORY

    def settle(self, here: Codes, proposed: Codes) -> Codes:
        """The proposed codes where they are categories that may be chosen, else the row's own."""
        feature = self.feature
        if feature.immutable:
            return here
        # A gap is no category to choose.
        stay = (proposed < 0) | (proposed >= self._size)
        if feature.direction is not None and feature.gap is not None:
            # Nobody knows which way it would be.
            stay = stay | (here == feature.gap)
        if feature.direction == "up":
            stay = stay | (proposed < here)
        elif feature.direction == "down":
            stay = stay | (proposed > here)
        chosen = self._where(stay, here, proposed)
        if self._may_follow is None:
            return chosen
        return self._where(self._may_follow[here, chosen], chosen, here)


Rule = NumberRule | CategoryRule


def rule_of(feature: Feature) -> Rule:
    """The rule of a feature, for single values."""
    if isinstance(feature, Categorical):
        return CategoryRule(feature, SINGLE)
    return NumberRule(feature, SINGLE)
