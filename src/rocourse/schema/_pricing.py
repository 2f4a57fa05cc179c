"""What a recourse costs by the schema, and how long it takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._layout import Rows
from rocourse.schema._limits import Follows, Together
from rocourse.schema._moves import move_prices
from rocourse.schema._rules import COLUMN, NumberRule

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pricing:
    """Costs and times of single changes. What follows others costs nothing and takes no time.

    Attributes:
        continuous: The continuous features.
        categorical: The categorical features.
        actions: Which numbers are no followers, bool `[C]`.
    """

    continuous: tuple[Continuous, ...]
    categorical: tuple[Categorical, ...]
    actions: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, features: Iterable[Feature], together: Iterable[Together]) -> "Pricing":
        """What a schema states."""
        features = tuple(features)
        numbers = tuple(feature for feature in features if isinstance(feature, Continuous))
        groups = tuple(feature for feature in features if isinstance(feature, Categorical))
        followers = {rule.feature for rule in together if isinstance(rule, Follows)}
        return cls(numbers, groups, np.array([one.name not in followers for one in numbers], bool))

    @cached_property
    def priced(self) -> bool:
        """Whether any change costs other than its proximity."""
        return (
            any(feature.change is not None for feature in self.continuous)
            or any(feature.moves is not None for feature in self.categorical)
            or not self.actions.all()
        )

    @cached_property
    def stated(self) -> bool:
        """Whether the schema states what some change costs."""
        changes = [feature.change for feature in self.continuous if feature.change is not None]
        moves = [feature.moves for feature in self.categorical if feature.moves is not None]
        return any(one.weight != 1.0 or one.cost_per_unit is not None for one in changes) or any(
            one.weight != 1.0 or one.cost for one in moves
        )

    @cached_property
    def timed(self) -> bool:
        """Whether any change is said to take time."""
        changes = [feature.change for feature in self.continuous if feature.change is not None]
        moves = [feature.moves for feature in self.categorical if feature.moves is not None]
        return any(
            one.months is not None or one.months_per_unit is not None for one in changes
        ) or any(one.months is not None for one in moves)

    def weights(self) -> Numbers:
        """Cost of each number's unit in the encoded space, `[C]`."""
        weights = [
            1.0
            if (change := feature.change) is None
            else change.weight
            if change.cost_per_unit is None
            else change.cost_per_unit * feature.span
            for feature in self.continuous
        ]
        return np.array(weights) * self.actions

    def move_prices(self) -> list[Numbers]:
        """What each move costs, of each categorical feature a table `[before, after]`."""
        return [move_prices(feature) for feature in self.categorical]

    def cost(self, before: Rows, after: Rows) -> Numbers:
        """Of each recourse, `[n]`."""
        costs: Numbers = self.costs(before, after).sum(axis=1)
        return costs

    def costs(self, before: Rows, after: Rows) -> Numbers:
        """Of each recourse and feature, numbers first, `[n, features]`."""
        moved = np.abs(before.continuous.astype(np.float64) - after.continuous)
        if not self.priced:
            groups = 2.0 * (before.categories != after.categories)
            return np.concatenate([moved, groups], axis=1)
        prices = [
            table[before.categories[:, k], after.categories[:, k]]
            for k, table in enumerate(self.move_prices())
        ]
        return np.column_stack([moved * self.weights(), *prices])

    def months(self, raw: Numbers, before: Rows, after: Rows) -> Numbers:
        """The longest of each recourse's changes, which run side by side, `[n]`.

        Args:
            raw: The numbers that the rows have, `[n, C]`.
            before: The rows.
            after: What they become.
        """
        longest = np.zeros(len(before))
        for k, feature in enumerate(self.continuous):
            change = feature.change
            if change is None or not self.actions[k]:
                continue
            codes = after.continuous[:, k].astype(np.float64)
            changed = codes != before.continuous[:, k]
            way = np.abs(NumberRule(feature, COLUMN).unscale(codes) - raw[:, k])
            months = (change.months or 0.0) + (change.months_per_unit or 0.0) * way
            longest = np.maximum(longest, np.where(changed, months, 0.0))
        for k, group in enumerate(self.categorical):
            if group.moves is not None and group.moves.months is not None:
                changed = after.categories[:, k] != before.categories[:, k]
                longest = np.maximum(longest, np.where(changed, group.moves.months, 0.0))
        return longest
