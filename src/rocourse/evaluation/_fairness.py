"""What recourse costs whom: cost, coverage, certainty and what is kept, by groups of people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.errors import DataError
from rocourse.evaluation._segments import FEW, difference_interval, families, segments
from rocourse.schema import Recourse

# Draws of people with replacement.
_DRAWS = 2000
# People of a draw that are looked at together.
_AT_ONCE = 4_000_000

FOUR_FIFTHS = 0.8
"""The ratio of approvals below which the four-fifths rule (29 CFR 1607.4 D) sees adverse impact."""

MEASURES = ("refused", "coverage", "promised", "certified", "certainty", "cost", "kept")
"""What is told of each group; all but the first of those who are refused."""


class Difference(NamedTuple):
    """A group's figure less that of everyone else, and its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether zero lies outside of the interval."""
        return not self.low <= 0.0 <= self.high


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """What recourse is like for a group of people; None where there is nobody to tell it of.

    Attributes:
        people: How many they are.
        number_refused: How many of them are refused.
        refused: The share of them that is refused.
        ratio: The share of them that is approved, to that of the group of the same columns with the
            highest: the four-fifths rule. Groups of few people do not set it, unless all are.
        coverage: The share of the refused who are advised something.
        promised: The share of the refused who are promised something; None where nobody promises.
        certified: The share of the refused whose advice is certified; None without certificates.
        certainty: The mean chance that advice is honoured by the next model, as estimated.
        cost: The mean cost of advice.
        kept: The share of advice that judges honour.
        differences: Of these from everyone else's, by name.
    """

    people: int
    number_refused: int
    refused: float | None
    ratio: float | None
    coverage: float | None
    promised: float | None
    certified: float | None
    certainty: float | None
    cost: float | None
    kept: float | None
    differences: Mapping[str, Difference]

    @property
    def adverse(self) -> bool:
        """Whether the four-fifths rule sees adverse impact."""
        return self.ratio is not None and self.ratio < FOUR_FIFTHS

    @property
    def small(self) -> bool:
        """Whether those who are refused are few, and what is told of them is mostly chance."""
        return self.number_refused < FEW

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        apart = {name: one._asdict() for name, one in self.differences.items()}
        return {**asdict(self), "small": self.small, "differences": apart}


def fairness(
    recourse: Recourse,
    columns: Mapping[str, Sequence[Any] | pd.Series],
    *,
    kept: np.ndarray | None = None,
    promises: bool = True,
    seed: int = 0,
) -> dict[str, GroupFigures]:
    """What recourse is like for groups of people, each beside everyone else.

    Differences of shares have Newcombe's intervals; those of means are drawn again 2,000 times
    (bootstrap, percentiles).

    Args:
        recourse: Of all people, for the favourable class: who needs no change is granted it.
        columns: What to tell people by, any columns of theirs; several by themselves and crossed.
        kept: The share of judges that honours each advice, `[n]`.
        promises: Whether the method promises anything.
        seed: Of the draws.
    """
    for name, column in columns.items():
        if len(column) != len(recourse):
            raise DataError(
                f"The column {name!r} must have one value for each of {len(recourse)} rows, but "
                f"has {len(column)}; give one each."
            )
    refused = np.asarray(recourse.status != "not_needed")
    advised = recourse.advised
    certified = None if recourse.certificate is None else recourse.certificate.holds
    # Each of whom it is told, and what.
    shares: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "refused": (np.ones(len(recourse), bool), refused),
        "coverage": (refused, advised),
    }
    if promises:
        shares["promised"] = (refused, np.asarray(recourse.status == "found"))
    if certified is not None:
        shares["certified"] = (refused, certified & advised)
    means: dict[str, tuple[np.ndarray, np.ndarray]] = {"cost": (advised, recourse.cost)}
    if recourse.robustness is not None:
        means["certainty"] = (advised, recourse.robustness)
    if kept is not None:
        means["kept"] = (advised, np.asarray(kept, float))
    found = {}
    ratios = _ratios(columns, ~refused)
    for name, places in segments(columns).items():
        own = np.zeros(len(recourse), bool)
        own[places] = True
        figures: dict[str, float | None] = dict.fromkeys(MEASURES)
        apart: dict[str, Difference] = {}
        for told, parts in ((shares, _of_shares), (means, _of_means(seed))):
            for measure, (among, values) in told.items():
                mine, others = values[among & own], values[among & ~own]
                figures[measure] = float(mine.mean()) if len(mine) else None
                if (difference := parts(mine, others)) is not None:
                    apart[measure] = difference
        counts = {"people": len(places), "number_refused": int(refused[places].sum())}
        figures["ratio"] = ratios[name]
        found[name] = GroupFigures(**counts, **figures, differences=apart)  # type: ignore[arg-type]
    return found


def _ratios(
    columns: Mapping[str, Sequence[Any] | pd.Series], approved: np.ndarray
) -> dict[str, float | None]:
    """The share approved of each group to the highest among the groups of the same columns."""
    told: dict[str, float | None] = {}
    for groups in families(columns):
        shares = {name: float(approved[places].mean()) for name, places in groups.items()}
        many = [name for name, places in groups.items() if len(places) >= FEW] or list(groups)
        best = max(shares[name] for name in many)
        told |= {name: share / best if best else None for name, share in shares.items()}
    return told


def _of_shares(mine: np.ndarray, others: np.ndarray) -> Difference | None:
    counts = int(mine.sum()), len(mine), int(others.sum()), len(others)
    interval = difference_interval(*counts)
    return interval and Difference(float(mine.mean() - others.mean()), *interval)


def _of_means(seed: int) -> Callable[[np.ndarray, np.ndarray], Difference | None]:
    def difference(mine: np.ndarray, others: np.ndarray) -> Difference | None:
        if len(mine) < 2 or len(others) < 2:
            return None
        rng = np.random.default_rng(seed)
        drawn = _drawn_means(mine, rng) - _drawn_means(others, rng)
        low, high = np.quantile(drawn, [0.025, 0.975])
        return Difference(float(mine.mean() - others.mean()), float(low), float(high))

    return difference


def _drawn_means(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    step = max(1, _AT_ONCE // len(values))
    parts = [
        values[rng.integers(0, len(values), (min(step, _DRAWS - start), len(values)))].mean(axis=1)
        for start in range(0, _DRAWS, step)
    ]
    return np.concatenate(parts)
