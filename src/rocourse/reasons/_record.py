"""The record of reasons: what lowers each refused row's score, the most first."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from rocourse.schema import (
    Continuous,
    Feature,
    NumberRule,
    Schema,
    describe_value,
    gaps_of,
    jsonable,
)
from rocourse.schema.check import is_protected

Beside = Literal["higher", "lower", "other"]
"""A value beside those of accepted rows; of categories: not the one that most of them have."""

MOST_REASONS = 4
"""More would tell an applicant less, and regulators have said so."""

# Of all that lowers a row's score: what does less is no principal reason.
_LEAST_SHARE = 0.05
# Log-odds that are nothing but rounding.
_NOTHING = 1e-9
# Of a feature's range: numbers that are nearer than this are alike.
_ALIKE = 0.01


class Reason(NamedTuple):
    """One reason why a row is refused."""

    feature: str
    value: Any
    """As it was given, JSON-able; None: it was missing."""
    beside: Beside | None
    """How the value compares with accepted rows; None: about alike."""
    contribution: float
    """What it does to the log-odds; below 0."""
    share: float
    """Of all that lowers them."""
    immutable: bool
    """Whether advice never asks for it."""
    protected: bool
    """Whether it looks, by its name, like a protected attribute."""
    text: str
    """In words."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why rows are refused.

    Attributes:
        schema: Schema of the rows.
        original: The rows as they were given.
        predicted: The class that each row is given, `[n]`.
        desired: The class that is wanted, `[n]`.
        score: The log-odds of the desired class, `[n]`.
        base: Their mean over the background: rows like those that are given that class, `[n]`.
        contributions: What each feature does to them, `[n, features]` in the schema's order; a
            refused row's sum up to `score - base`. NaN of rows that are not refused.
        errors: Standard errors of the contributions; 0 where they are exact.
        usual: The background's means, encoded: of numbers the mean, of categories the most
            frequent code, `[n, features]`.
        encoded: The rows alike, `[n, features]`.
        most: How many reasons to tell at most.
        method: In a sentence how they were found.
    """

    schema: Schema
    original: pd.DataFrame
    predicted: np.ndarray
    desired: np.ndarray
    score: np.ndarray
    base: np.ndarray
    contributions: np.ndarray
    errors: np.ndarray
    usual: np.ndarray
    encoded: np.ndarray
    most: int
    method: str

    def __len__(self) -> int:
        return len(self.original)

    @property
    def refused(self) -> np.ndarray:
        """Whether each row is given another class than is wanted, bool `[n]`."""
        return np.asarray(self.predicted != self.desired)

    def principal(self) -> list[tuple[Reason, ...]]:
        """The principal reasons of each row, the weightiest first; none of rows not refused.

        Those that make up at least 5% of all that lowers the row's score, at most four.
        """
        return [self._of(i) if there else () for i, there in enumerate(self.refused.tolist())]

    def _of(self, i: int) -> tuple[Reason, ...]:
        values = self.contributions[i]
        lowering = np.minimum(values, 0.0).sum()
        order = np.argsort(values, kind="stable")[: self.most]
        kept = [
            k for k in order.tolist() if values[k] < 0.0 and values[k] <= _LEAST_SHARE * lowering
        ]
        return tuple(self._reason(i, k, values[k] / lowering) for k in kept)

    def _reason(self, i: int, k: int, share: float) -> Reason:
        feature = self.schema.features[k]
        value = self._value(i, k, feature)
        beside = None if value is None else self._beside(i, k, feature)
        return Reason(
            feature=feature.name,
            value=value,
            beside=beside,
            contribution=float(self.contributions[i, k]),
            share=float(share),
            immutable=feature.immutable,
            protected=is_protected(feature.name),
            text=_in_words(feature, value, beside),
        )

    def _value(self, i: int, k: int, feature: Feature) -> Any:
        """As it was given, JSON-able; None for a gap."""
        cells = self.original[feature.name].iloc[[i]]
        if not isinstance(feature, Continuous):
            missing = gaps_of(cells, feature.categories)[0]
            return None if missing else feature.categories[int(self.encoded[i, k])]
        rule = self.schema.rules[feature.name]
        assert isinstance(rule, NumberRule)
        number = rule.number(cells.iloc[0])
        return None if number is None or number != number else jsonable(feature, number)

    def _beside(self, i: int, k: int, feature: Feature) -> Beside | None:
        here, usual = self.encoded[i, k], self.usual[i, k]
        if not isinstance(feature, Continuous):
            return None if here == usual else "other"
        if abs(here - usual) <= _ALIKE:
            return None
        return "higher" if here > usual else "lower"

    def frame(self) -> pd.DataFrame:
        """One line per reason: row (index label), rank, feature, text, contribution, share."""
        lines = [
            (
                self.original.index[i],
                rank,
                reason.feature,
                reason.text,
                reason.contribution,
                reason.share,
            )
            for i, reasons in enumerate(self.principal())
            for rank, reason in enumerate(reasons, start=1)
        ]
        names = ["row", "rank", "feature", "text", "contribution", "share"]
        return pd.DataFrame(lines, columns=names)

    def to_records(self) -> list[dict[str, Any]]:
        """One JSON-able record per row."""
        rows = zip(
            self.original.index.tolist(),
            self.predicted.tolist(),
            self.desired.tolist(),
            self.score.tolist(),
            self.base.tolist(),
            self.principal(),
            strict=True,
        )
        return [
            {
                "index": index,
                "predicted": predicted,
                "desired": desired,
                "score": score,
                "base": base,
                "reasons": [reason._asdict() for reason in reasons],
            }
            for index, predicted, desired, score, base, reasons in rows
        ]


_BESIDE = {
    "higher": "higher than usual among accepted rows",
    "lower": "lower than usual among accepted rows",
    "other": "unlike most accepted rows",
}


def _in_words(feature: Feature, value: Any, beside: Beside | None) -> str:
    if value is None:
        return f"{feature.name}: not given"
    dated = isinstance(feature, Continuous) and feature.date
    text = f"{feature.name}: {value if dated else describe_value(feature, value)}"
    return text if beside is None else f"{text}, {_BESIDE[beside]}"
