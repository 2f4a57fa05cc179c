"""What wishes leave of what a schema allows: in codes for searches, in raw units for the answer."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._wording import listed, show
from rocourse.errors import ConfigError
from rocourse.schema._features import Categorical, Continuous, Feature, positioned
from rocourse.schema._layout import Rows
from rocourse.schema._reach import code_within
from rocourse.schema._rules import (
    COLUMN,
    NEGLIGIBLE_CHANGE,
    CategoryRule,
    NumberRule,
)
from rocourse.schema._schema import Schema
from rocourse.schema._validation import read_raw, told
from rocourse.schema._wished_ranges import accepted_categories, number_range
from rocourse.schema._wishes import Wishes

Flags = npt.NDArray[np.bool_]

# What a change of other features counts for where some are preferred.
_UNWANTED = 3.0


class Start(NamedTuple):
    """Rows as near to themselves as ranges allow."""

    rows: Rows
    moved: Flags
    """Which features had to move, numbers first, `[n, features]`."""
    reasons: npt.NDArray[np.object_]
    """Why a row cannot be moved into its ranges; empty where it can, `[n]`."""

    def of(self, some: Flags) -> "Start":
        """That of some of the rows."""
        return Start(self.rows.take(np.flatnonzero(some)), self.moved[some], self.reasons[some])


@dataclass(frozen=True, eq=False)
class Narrowing:
    """Wishes, read by a schema. Features are counted with numbers first, as in encoded rows.

    Attributes:
        schema: Whose features they are.
        locked: Which features must stay as they are, `[features]`.
        preferred: Which are preferred, `[features]`.
        least: The lowest raw value of each number, `[n_continuous]`.
        most: The highest.
        low: The lowest code of each number whose value is in its range, float32 `[n_continuous]`.
        high: The highest.
        accepted: Which categories will do, group after group, `[width - n_continuous]`.
    """

    schema: Schema
    locked: Flags
    preferred: Flags
    least: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]
    low: npt.NDArray[np.float32]
    high: npt.NDArray[np.float32]
    accepted: Flags

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """What a change of each feature counts for, `[features]`: less where it is preferred."""
        return np.where(self.preferred | ~self.preferred.any(), 1.0, _UNWANTED)

    @classmethod
    def of(cls, wishes: Wishes | None, schema: Schema) -> "Narrowing":
        """Reads wishes.

        Raises:
            SchemaError: They name no feature.
            ConfigError: They ask for what the schema does not allow.
        """
        wishes = wishes or Wishes()
        layout = schema.layout
        places = _places(schema)
        count, numbers = len(schema.features), layout.n_continuous
        locked, preferred = np.zeros(count, bool), np.zeros(count, bool)
        # Named, so that a feature that does not exist is refused.
        locked[[places[schema[name].name] for name in wishes.lock]] = True
        if wishes.only is not None:
            for name in wishes.only:
                _require_free(schema[name], "only")
            locked |= ~np.isin(np.arange(count), [places[name] for name in wishes.only])
        for name in wishes.prefer:
            _require_free(schema[name], "prefer")
            preferred[places[name]] = True
        raw, codes = np.tile([-np.inf, np.inf], (numbers, 1)), np.tile([0.0, 1.0], (numbers, 1))
        accepted = np.ones(layout.width - numbers, bool)
        for name, given in wishes.ranges.items():
            feature, rule = schema[name], schema.rules[name]
            if isinstance(rule, NumberRule):
                raw[places[name]], codes[places[name]] = number_range(rule, given)
            else:
                assert isinstance(feature, Categorical)
                group = layout.group_slices[places[name] - numbers]
                accepted[group.start - numbers : group.stop - numbers] = accepted_categories(
                    feature, given
                )
        low, high = codes.astype(np.float32).T
        return cls(schema, locked, preferred, raw[:, 0], raw[:, 1], low, high, accepted)

    def closing(self, columns: Flags) -> "Narrowing":
        """The same for searches, with numbers that must stay, and categories not to go to.

        Args:
            columns: Which, in the order of encoded rows, `[width]`.
        """
        cut = self.schema.layout.n_continuous
        locked = self.locked.copy()
        locked[:cut] |= columns[:cut]
        return replace(self, locked=locked, accepted=self.accepted & ~columns[cut:])

    def start(self, df: pd.DataFrame, rows: Rows) -> Start:
        """Moves rows into the ranges, as little as need be, where the schema allows it.

        Args:
            df: The rows as they were given.
            rows: The same, encoded.
        """
        continuous, categories = rows.continuous.copy(), rows.categories.copy()
        cut = self.schema.layout.n_continuous
        moved = np.zeros((len(rows), len(self.locked)), bool)
        reasons = np.full(len(rows), "", object)
        for feature, k in positioned(self.schema.features):
            if isinstance(feature, Continuous):
                outside, reached, codes = self._number_start(feature, k, df, rows)
                continuous[reached, k] = codes[reached]
                moved[reached, k] = True
            else:
                outside, reached, chosen = self._category_start(feature, k, rows)
                categories[reached, k] = chosen[reached]
                moved[reached, cut + k] = True
            for row in np.flatnonzero(outside & ~reached).tolist():
                here = df[feature.name].iloc[row]
                reasons[row] = self._unreachable(feature, k, here)
        start = Start(Rows(continuous, categories), moved, reasons)
        return self._lawful(start, df, rows) if self.schema.actions.limited else start

    def _lawful(self, start: Start, df: pd.DataFrame, rows: Rows) -> Start:
        """The start with what the schema ties to it; what it does not bear is not reached."""
        actions = self.schema.actions
        settled = self.schema.settle(df, rows, start.rows)
        fulfilled = self.fulfilled(df, rows, settled)
        good = np.asarray(fulfilled.all(axis=1))
        # What takes less than anyone would notice is no more when settled.
        fine = self.fulfilled(df, rows, start.rows).all(axis=1)
        fine &= ~actions.breaches(actions.numbers(df), rows, start.rows)
        continuous = np.where(good[:, None], settled.continuous, start.rows.continuous)
        categories = np.where(good[:, None], settled.categories, start.rows.categories)
        features = [feature for feature, _ in sorted(_placed(self.schema), key=lambda one: one[1])]
        cut = self.schema.layout.n_continuous
        for row in np.flatnonzero(~good & ~fine & (start.reasons == "")).tolist():
            first = int(np.argmin(fulfilled[row]))
            feature, k = features[first], first - cut if first >= cut else first
            start.reasons[row] = self._unreachable(feature, k, df[feature.name].iloc[row])
        return Start(Rows(continuous, categories), start.moved, start.reasons)

    def _number_start(
        self, feature: Continuous, k: int, df: pd.DataFrame, rows: Rows
    ) -> tuple[Flags, Flags, npt.NDArray[np.float64]]:
        least, most = self.least[k], self.most[k]
        here = rows.continuous[:, k].astype(np.float64)
        if least == -np.inf and most == np.inf:
            nowhere = np.zeros(len(rows), bool)
            return nowhere, nowhere, here
        rule = NumberRule(feature, COLUMN)
        raw = read_raw(df[feature.name], feature)
        below, above = raw < least, raw > most
        code = np.where(below, float(self.low[k]), float(self.high[k]))
        if feature.change is not None and feature.change.step is not None:
            ends, everywhere = np.where(below, least, most), np.ones_like(raw)
            outside = below | above
            ends = np.where(outside, ends, raw)
            code = code_within(rule, ends, least * everywhere, most * everywhere)
        settled = rule.settle(raw, here, code)
        # Where it takes less than anyone would notice, a wish is noticed all the same.
        slight = np.abs(code - here) <= NEGLIGIBLE_CHANGE
        settled = np.where((settled == here) & slight, code, settled)
        values = rule.unscale(settled)
        reached = (values >= least) & (values <= most) & (below | above)
        if feature.immutable or self.locked[k]:
            reached &= False
        elif feature.direction is not None:
            reached &= below if feature.direction == "up" else above
        return below | above, reached, settled

    def _category_start(
        self, feature: Categorical, k: int, rows: Rows
    ) -> tuple[Flags, Flags, npt.NDArray[Any]]:
        accepted = self._accepted(k)
        here = rows.categories[:, k]
        outside = ~accepted[here]
        nearest = np.array(here)
        if outside.any() and not self.locked[self.schema.layout.n_continuous + k]:
            rule = CategoryRule(feature, COLUMN)
            distance = np.full(len(here), np.inf)
            for code in np.flatnonzero(accepted).tolist():
                there = np.full_like(here, code)
                may = (rule.settle(here, there) == there) & (np.abs(here - there) < distance)
                nearest, distance = (
                    np.where(may, there, nearest),
                    np.where(may, np.abs(here - there), distance),
                )
        return outside, outside & accepted[nearest], nearest

    def _accepted(self, k: int) -> Flags:
        layout = self.schema.layout
        group = layout.group_slices[k]
        return self.accepted[group.start - layout.n_continuous : group.stop - layout.n_continuous]

    def _unreachable(self, feature: Feature, k: int, here: object) -> str:
        if isinstance(feature, Categorical):
            # What stands for a gap comes last, and is no category to wish for.
            fits = self._accepted(k)[: len(feature.categories)]
            chosen = [
                category for category, fit in zip(feature.categories, fits, strict=True) if fit
            ]
            wish = f"one of {listed(chosen)}" if len(chosen) > 1 else show(chosen[0])
        else:
            ends = (("at least", float(self.least[k])), ("at most", float(self.most[k])))
            wish = " and ".join(
                f"{words} {told(feature, end)}" for words, end in ends if math.isfinite(end)
            )
        return (
            f"Feature {feature.name!r} was wished to be {wish}, but is {show(here)} and may not be "
            "changed so."
        )

    def clipped(self, proposed: Rows, start: Rows) -> Rows:
        """Proposals within the ranges: numbers at their ends, categories as at the start."""
        if not len(proposed):
            return proposed
        continuous = np.clip(proposed.continuous, self.low, self.high)
        return Rows(continuous, self._fitting(proposed, start))

    def kept(self, df: pd.DataFrame, rows: Rows, attempts: Rows, start: Rows) -> Rows:
        """Attempts that keep to the wishes exactly: what does not is as it is at the start.

        Args:
            df: The rows as they were given.
            rows: The same, encoded.
            attempts: Settled proposals.
            start: Where `start` has moved the rows to.
        """
        continuous = attempts.continuous.copy()
        cut = self.schema.layout.n_continuous
        for feature, k in positioned(self.schema.features):
            if not isinstance(feature, Continuous):
                continue
            if self.locked[k]:
                continuous[:, k] = rows.continuous[:, k]
                continue
            least, most = self.least[k], self.most[k]
            if least == -np.inf and most == np.inf:
                continue
            inside = self._inside(feature, k, df, rows, attempts)
            continuous[:, k] = np.where(inside, continuous[:, k], start.continuous[:, k])
        categories = self._fitting(attempts, start)
        locked = self.locked[cut:]
        categories[:, locked] = rows.categories[:, locked]
        return Rows(continuous, categories)

    def fulfilled(self, df: pd.DataFrame, rows: Rows, attempts: Rows) -> Flags:
        """Which features of attempts are as they were wished to be, `[n, features]`.

        Args:
            df: The rows as they were given.
            rows: The same, encoded.
            attempts: What they become.
        """
        cut = self.schema.layout.n_continuous
        numbers = attempts.continuous == rows.continuous
        groups = attempts.categories == rows.categories
        stays = np.concatenate([numbers, groups], axis=1)
        fulfilled = stays | ~self.locked
        for feature, k in positioned(self.schema.features):
            if isinstance(feature, Continuous):
                if self.least[k] > -np.inf or self.most[k] < np.inf:
                    fulfilled[:, k] &= self._inside(feature, k, df, rows, attempts)
            else:
                fulfilled[:, cut + k] &= self._accepted(k)[attempts.categories[:, k]]
        return fulfilled

    def _inside(
        self, feature: Continuous, k: int, df: pd.DataFrame, rows: Rows, attempts: Rows
    ) -> Flags:
        """Which numbers of attempts lie in the range that was wished for, `[n]`."""
        codes = attempts.continuous[:, k]
        raw = read_raw(df[feature.name], feature)
        values = NumberRule(feature, COLUMN).unscale(codes.astype(np.float64))
        values = np.where(codes == rows.continuous[:, k], raw, values)
        return np.asarray((values >= self.least[k]) & (values <= self.most[k]))

    def _fitting(self, attempts: Rows, start: Rows) -> npt.NDArray[Any]:
        """The categories of attempts, or those of the start where they will not do."""
        categories = attempts.categories.copy()
        for k in range(self.schema.layout.n_categorical):
            accepted = self._accepted(k)
            if not accepted.all():
                codes = np.clip(categories[:, k], 0, len(accepted) - 1)
                categories[:, k] = np.where(accepted[codes], codes, start.categories[:, k])
        return categories


def _places(schema: Schema) -> dict[str, int]:
    """The place of each feature, numbers first."""
    return {feature.name: place for feature, place in _placed(schema)}


def _placed(schema: Schema) -> list[tuple[Feature, int]]:
    """The features with their places, numbers first."""
    cut = schema.layout.n_continuous
    return [
        (feature, k if isinstance(feature, Continuous) else cut + k)
        for feature, k in positioned(schema.features)
    ]


def _require_free(feature: Feature, part: str) -> None:
    if feature.immutable:
        raise ConfigError(
            f"{part} of wishes must name features that the schema lets change, but {feature.name!r}"
            " is immutable; leave it out."
        )
