"""What a person can do, as a schema states it: limits of change, their costs and times."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._features import Categorical, Continuous, Feature, positioned
from rocourse.schema._layout import Rows
from rocourse.schema._limits import Together
from rocourse.schema._moves import may_follow
from rocourse.schema._pricing import Pricing
from rocourse.schema._reach import Numbers, reach, within
from rocourse.schema._rules import COLUMN, NumberRule
from rocourse.schema._together import JointRules
from rocourse.schema._validation import read_raw

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Actions:
    """What is stated beyond what may change, in which direction and within which bounds.

    Attributes:
        features: The features of the schema.
        joint: The rules over several features, if there are any.
        pricing: What changes cost, and how long they take.
    """

    features: tuple[Feature, ...]
    joint: JointRules | None
    pricing: Pricing

    @classmethod
    def of(
        cls, features: tuple[Feature, ...], max_features: int | None, together: Iterable[Together]
    ) -> "Actions":
        """What a schema states."""
        rules = tuple(together)
        any_joint = max_features is not None or bool(rules)
        joint = JointRules.of(features, max_features, rules) if any_joint else None
        return cls(features, joint, Pricing.of(features, rules))

    @cached_property
    def limited(self) -> bool:
        """Whether anything is stated at all."""
        return self.joint is not None or any(
            feature.change is not None
            if isinstance(feature, Continuous)
            else feature.moves is not None
            for feature in self.features
        )

    def transitions(self) -> list[Mask]:
        """Which category may follow which, of each categorical feature, `[before, after]`."""
        return [may_follow(feature) for feature in self.pricing.categorical]

    def numbers(self, df: pd.DataFrame) -> Numbers:
        """The continuous features of rows in raw units, gaps as their fills, float64 `[n, C]`."""
        features = self.pricing.continuous
        columns = [read_raw(df[feature.name], feature) for feature in features]
        return np.array(columns, np.float64).reshape(len(features), len(df)).T.copy()

    def reach(self, raw: Numbers) -> tuple[Numbers, Numbers]:
        """The lowest and the highest values that numbers may become by themselves, `[n, C]`.

        Args:
            raw: The numbers that the rows have, `[n, C]`.
        """
        ends = [reach(feature, raw[:, k]) for k, feature in enumerate(self.pricing.continuous)]
        low, high = (
            (np.array(part).reshape(len(ends), len(raw)).T for part in zip(*ends, strict=True))
            if ends
            else (raw, raw)
        )
        return low, high

    def settle(self, df: pd.DataFrame, rows: Rows, settled: Rows) -> Rows:
        """What is left of changes when the rules over several features are kept as well."""
        if self.joint is None:
            return settled
        return self.joint.settle(self.numbers(df), rows, settled)

    def breaches(self, raw: Numbers, rows: Rows, attempts: Rows) -> Mask:
        """Which attempts break a rule of the schema, bool `[n]`: a last look, after settling.

        Args:
            raw: The numbers that the rows have, `[n, C]`.
            rows: The rows.
            attempts: What they become.
        """
        broken = np.zeros(len(rows), dtype=bool)
        for feature, k in positioned(self.features):
            if isinstance(feature, Categorical):
                before, after = rows.categories[:, k], attempts.categories[:, k]
                changed, wrong = before != after, ~may_follow(feature)[before, after]
                if feature.direction is not None:
                    wrong |= (after < before) if feature.direction == "up" else (after > before)
            else:
                codes = attempts.continuous[:, k].astype(np.float64)
                changed = rows.continuous[:, k] != attempts.continuous[:, k]
                wrong = ~within(feature, raw[:, k], NumberRule(feature, COLUMN).unscale(codes))
            broken |= changed & (wrong | feature.immutable)
        return broken if self.joint is None else broken | self.joint.broken(raw, rows, attempts)
