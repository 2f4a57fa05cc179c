"""What rules over several features leave of boxes: fewer changes, followers and sums."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rocourse.recourse.proof._boxes import Boxes
from rocourse.schema import Layout, Rows, Schema, one_hot

# By how much of its range a number of float32 codes may be beside what it stands for.
_ROUNDING = 2e-6


@dataclass(frozen=True, eq=False)
class Joint:
    """The rules of a schema over several features, for n rows; numbers in raw units.

    Attributes:
        max_features: The most features that may change.
        follow: By how much each number moves with each, `[C, C]`.
        miss: By how much a follower may miss what it follows, `[C]`.
        factors: Those of each sum that is limited, `[sums, C]`.
        most: The most of each sum, `[n, sums]`.
        raw: The numbers that rows have, `[n, C]`.
        here: Their codes.
        own: Their categories, bool `[n, width - C]`.
        lows: The least of each number's range, `[C]`.
        spans: The length of the range, `[C]`.
        layout: Of the rows.
    """

    max_features: int
    follow: np.ndarray
    miss: np.ndarray
    factors: np.ndarray
    most: np.ndarray
    raw: np.ndarray
    here: np.ndarray
    own: np.ndarray
    lows: np.ndarray
    spans: np.ndarray
    layout: Layout

    @classmethod
    def of(cls, schema: Schema, frame: pd.DataFrame, rows: Rows) -> "Joint | None":
        """The rules that a schema states; None: none."""
        rules, layout = schema.actions.joint, schema.layout
        if rules is None:
            return None
        raw = schema.actions.numbers(frame)
        spans = np.array([feature.span for feature in schema.continuous])
        slack = _ROUNDING * np.abs(rules.factors) @ spans
        return cls(
            len(schema.features) if rules.max_features is None else rules.max_features,
            rules.follow,
            rules.misses + _ROUNDING * (np.abs(rules.follow) @ spans + spans),
            rules.factors,
            np.maximum(rules.at_most, raw @ rules.factors.T) + slack,
            raw,
            rows.continuous.astype(np.float64),
            one_hot(rows, layout)[:, layout.n_continuous :] > 0.5,
            np.array([feature.low for feature in schema.continuous]),
            spans,
            layout,
        )

    @property
    def follows(self) -> np.ndarray:
        """Which numbers follow others, bool `[C]`."""
        return np.asarray(self.follow.any(axis=1))

    def left(self, boxes: Boxes, owner: np.ndarray) -> tuple[Boxes, np.ndarray]:
        """The boxes without what the rules forbid, and which of them hold anything still.

        Args:
            boxes: Of some rows.
            owner: The row of each.
        """
        boxes, kept = self._with_few_changes(boxes, owner)
        low, high = self._values(boxes, owner)
        raw = self.raw[owner]
        rise, fall = np.maximum(self.follow, 0.0), np.minimum(self.follow, 0.0)
        most = raw + (high - raw) @ rise.T + (low - raw) @ fall.T + self.miss
        least = raw + (low - raw) @ rise.T + (high - raw) @ fall.T - self.miss
        first, last = (np.clip((end - self.lows) / self.spans, 0.0, 1.0) for end in (least, most))
        boxes = boxes._replace(
            low=np.where(self.follows, np.maximum(boxes.low, first), boxes.low),
            high=np.where(self.follows, np.minimum(boxes.high, last), boxes.high),
        )
        kept &= (boxes.low <= boxes.high).all(axis=1)
        low, high = self._values(boxes, owner)
        rise, fall = np.maximum(self.factors, 0.0), np.minimum(self.factors, 0.0)
        kept &= (low @ rise.T + high @ fall.T <= self.most[owner]).all(axis=1)
        return boxes, kept

    def _with_few_changes(self, boxes: Boxes, owner: np.ndarray) -> tuple[Boxes, np.ndarray]:
        """Where as many features are changed for sure as may be, all others stay."""
        here, own, cut = self.here[owner], self.own[owner], self.layout.n_continuous
        moved = ((here < boxes.low) | (here > boxes.high)) & ~self.follows
        stays = boxes.allowed & own
        groups = [
            stays[:, part.start - cut : part.stop - cut].any(axis=1)
            for part in self.layout.group_slices
        ]
        stay = np.array(groups, bool).reshape(len(groups), len(owner)).T
        count = moved.sum(axis=1) + (~stay).sum(axis=1)
        full = (count >= self.max_features)[:, None]
        fixed = full & ~moved & ~self.follows
        held = full & np.repeat(stay, self.layout.group_sizes, axis=1)
        boxes = Boxes(
            np.where(fixed, here, boxes.low),
            np.where(fixed, here, boxes.high),
            np.where(held, own, boxes.allowed),
        )
        return boxes, np.asarray(count <= self.max_features)

    def _values(self, boxes: Boxes, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest numbers of boxes, `[boxes, C]` both."""
        low, high = (self.lows + end * self.spans for end in (boxes.low, boxes.high))
        # What stays is what people have, also beyond the range.
        here, raw = self.here[owner], self.raw[owner]
        inside = (boxes.low <= here) & (here <= boxes.high)
        low = np.where(inside, np.minimum(low, raw), low)
        return low, np.where(inside, np.maximum(high, raw), high)
