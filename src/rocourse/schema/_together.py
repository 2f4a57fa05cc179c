"""Rules over several features: how many may change, which move together, limits of sums.

Whatever is proposed for a row, staying as it is always keeps them: numbers follow changes, and a
limit that a row breaks already is only kept from being broken further.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._features import Continuous, Feature
from rocourse.schema._layout import Rows
from rocourse.schema._limits import Follows, Linear, Together
from rocourse.schema._reach import ROUNDING, Mask, Numbers, code_within, reach, within
from rocourse.schema._rules import COLUMN, NumberRule

FOLLOWING = 1e-6
"""Share of its range by which a number may miss what it follows: the rounding of float32 codes."""

# Changes that are taken back for one rule may break another.
_REPAIRS = 3


@dataclass(frozen=True, eq=False)
class JointRules:
    """The rules of a schema over several features, of which C are continuous.

    Attributes:
        features: The continuous features.
        max_features: The most that may change.
        follow: By how much each number moves with each, in raw units, `[C, C]`.
        factors: Those of each sum that is limited, `[sums, C]`.
        at_most: The most that each sum may be.
    """

    features: tuple[Continuous, ...]
    max_features: int | None
    follow: Numbers
    factors: Numbers
    at_most: Numbers

    @classmethod
    def of(
        cls, features: Iterable[Feature], max_features: int | None, together: Iterable[Together]
    ) -> "JointRules":
        """The rules that a schema states, all of which were checked."""
        numbers = tuple(feature for feature in features if isinstance(feature, Continuous))
        place = {feature.name: k for k, feature in enumerate(numbers)}
        follow = np.zeros((len(numbers), len(numbers)))
        sums: list[Numbers] = []
        most: list[float] = []
        for rule in together:
            row = np.zeros(len(numbers))
            for name, factor in rule.leaders if isinstance(rule, Follows) else rule.factors:
                row[place[name]] = factor
            if isinstance(rule, Follows):
                follow[place[rule.feature]] = row
                continue
            if rule.at_most is not None:
                sums.append(row)
                most.append(rule.at_most)
            if rule.at_least is not None:
                sums.append(-row)
                most.append(-rule.at_least)
        factors = np.array(sums).reshape(-1, len(numbers))
        return cls(numbers, max_features, follow, factors, np.array(most))

    @property
    def followers(self) -> Mask:
        """Which numbers follow others, bool `[C]`."""
        return np.asarray(self.follow.any(axis=1))

    @property
    def misses(self) -> Numbers:
        """By how much each number may miss what it follows, `[C]`."""
        return np.array([self._miss(k) for k in range(len(self.features))])

    def settle(self, raw: Numbers, rows: Rows, settled: Rows) -> Rows:
        """What is left of changes when these rules are kept as well.

        Args:
            raw: The numbers that the rows have, `[n, C]`.
            rows: The rows.
            settled: What they become by the rules of single features.
        """
        here, categories = rows.continuous.astype(np.float64), settled.categories.copy()
        codes = np.where(self.followers, here, settled.continuous)
        if self.max_features is not None:
            _leave_dearest(self.max_features, here, codes, rows.categories, categories)
        for _ in range(_REPAIRS):
            self._move_followers(raw, here, codes)
            if not self._shrink_sums(raw, here, codes):
                break
        self._move_followers(raw, here, codes)
        broken = self._broken_numbers(raw, here, codes)
        codes[broken] = here[broken]
        return Rows(codes.astype(np.float32), categories)

    def broken(self, raw: Numbers, rows: Rows, attempts: Rows) -> Mask:
        """Which attempts break one of these rules, bool `[n]`."""
        here, codes = rows.continuous.astype(np.float64), attempts.continuous.astype(np.float64)
        broken = self._broken_numbers(raw, here, codes)
        if self.max_features is not None:
            changed = (codes != here) & ~self.followers
            count = changed.sum(axis=1) + (rows.categories != attempts.categories).sum(axis=1)
            broken |= count > self.max_features
        return broken

    def values(self, raw: Numbers, here: Numbers, codes: Numbers) -> Numbers:
        """The numbers that people end up with, `[n, C]`: their own where nothing changes."""
        values = raw.copy()
        for k, rule in enumerate(self._rules):
            values[:, k] = np.where(codes[:, k] != here[:, k], rule.unscale(codes[:, k]), raw[:, k])
        return values

    @property
    def _rules(self) -> list[NumberRule]:
        return [NumberRule(feature, COLUMN) for feature in self.features]

    def _move_followers(self, raw: Numbers, here: Numbers, codes: Numbers) -> None:
        """Moves what follows; where that cannot be, takes back what it follows, in part maybe."""
        for k in _places(self.followers):
            leaders = _places(self.follow[k])
            unfit, share = self._follow(k, raw, here, codes)
            for leader in leaders if unfit.any() else ():
                values = self.values(raw, here, codes)[:, leader]
                own = raw[:, leader]
                self._shrink(leader, unfit, own + share * (values - own), raw, here, codes)
            unfit, _ = self._follow(k, raw, here, codes)
            for leader in leaders:
                codes[unfit, leader] = here[unfit, leader]
            codes[unfit, k] = here[unfit, k]

    def _follow(self, k: int, raw: Numbers, here: Numbers, codes: Numbers) -> tuple[Mask, Numbers]:
        """Moves one follower, and tells where it cannot and what share of the way it could go."""
        rule, own = NumberRule(self.features[k], COLUMN), raw[:, k]
        leaders = _places(self.follow[k])
        moved = (codes[:, leaders] != here[:, leaders]).any(axis=1)
        way = (self.values(raw, here, codes) - raw) @ self.follow[k]
        low, high = reach(rule.feature, own)
        everywhere = np.full(own.shape, np.inf)
        followed = code_within(rule, own + way, -everywhere, everywhere)
        # By a bound it may end where it was.
        stays = ~moved | (rule.unscale(followed) == own)
        codes[:, k] = np.where(stays, here[:, k], followed)
        values = self.values(raw, here, codes)[:, k]
        fits = within(rule.feature, own, values) & (np.abs(values - own - way) <= self._miss(k))
        room = np.where(way > 0.0, high - own, low - own)
        share = np.clip(np.divide(room, way, out=np.zeros_like(way), where=way != 0.0), 0.0, 1.0)
        stayed = (values == own) & (np.abs(way) <= self._miss(k))
        return moved & ~(fits | stayed), share

    def _miss(self, k: int) -> float:
        """By how much a follower may miss what it follows: half of its step, or rounding."""
        feature = self.features[k]
        step = 1.0 if feature.integer else 0.0
        if feature.change is not None and feature.change.step is not None:
            step = feature.change.step
        return 0.5 * step + FOLLOWING * feature.span

    def _shrink(
        self, k: int, where: Mask, goal: Numbers, raw: Numbers, here: Numbers, codes: Numbers
    ) -> None:
        """Takes a number back towards what the row has, to a goal on the way or beyond it."""
        rule, own = NumberRule(self.features[k], COLUMN), raw[:, k]
        low, high = np.minimum(own, goal), np.maximum(own, goal)
        shorter = code_within(rule, goal, low, high)
        values = rule.unscale(shorter)
        fits = within(rule.feature, own, values) & (values >= low) & (values <= high)
        fits &= ~rule.unnoticed(own, values) & (rule.scale(values) == shorter)
        codes[:, k] = np.where(where, np.where(fits, shorter, here[:, k]), codes[:, k])

    def _shrink_sums(self, raw: Numbers, here: Numbers, codes: Numbers) -> bool:
        """Takes changes back that carry sums over their limits; whether there were any."""
        found = False
        effects = self.factors + self.factors @ self.follow
        for factors, most, effect in zip(self.factors, self.at_most, effects, strict=True):
            slack = self._slack(factors)
            for k in _places(np.where(self.followers, 0.0, effect)):
                values = self.values(raw, here, codes)
                excess = values @ factors - np.maximum(most, raw @ factors)
                way = values[:, k] - raw[:, k]
                where = (excess > slack) & (way * effect[k] > 0.0)
                if not where.any():
                    continue
                found = True
                # At most all of the way back.
                share = np.clip(excess[where] / (way[where] * effect[k]), 0.0, 1.0)
                goal = raw[:, k].copy()
                goal[where] += (1.0 - share) * way[where]
                self._shrink(k, where, goal, raw, here, codes)
                self._move_followers(raw, here, codes)
        return found

    def _slack(self, factors: Numbers) -> float:
        spans = np.array([feature.span for feature in self.features])
        return float(ROUNDING * np.abs(factors) @ spans)

    def _broken_numbers(self, raw: Numbers, here: Numbers, codes: Numbers) -> Mask:
        values = self.values(raw, here, codes)
        broken = np.zeros(len(raw), dtype=bool)
        for k in _places(self.followers):
            way = (values - raw) @ self.follow[k]
            broken |= np.abs(values[:, k] - raw[:, k] - way) > self._miss(k)
            broken |= (values[:, k] != raw[:, k]) & ~within(
                self.features[k], raw[:, k], values[:, k]
            )
        for factors, most in zip(self.factors, self.at_most, strict=True):
            broken |= values @ factors > np.maximum(most, raw @ factors) + self._slack(factors)
        return broken


def _places(array: npt.NDArray[Any]) -> list[int]:
    return np.flatnonzero(array).tolist()


def _leave_dearest(
    count: int, here: Numbers, codes: Numbers, before: npt.NDArray[Any], after: npt.NDArray[Any]
) -> None:
    """Takes changes back, but for the dearest ones."""
    cut = codes.shape[1]
    costs = np.concatenate([np.abs(codes - here), 2.0 * (before != after)], axis=1)
    order = np.argsort(-costs, axis=1, kind="stable")
    back = np.argsort(order, axis=1, kind="stable") >= count
    codes[back[:, :cut]] = here[back[:, :cut]]
    after[back[:, cut:]] = before[back[:, cut:]]


def check_max_features(count: object) -> None:
    """Refuses what is no number of features."""
    if count is None:
        return
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SchemaError(
            f"max_features must be a whole number from 1 on or None, but got {show(count)}; give "
            "the most features that a recourse may change."
        )


def check_together(rules: object, features: tuple[Feature, ...]) -> tuple[Together, ...]:
    """The rules, of which each names continuous features of a schema, and fits the others."""
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        raise SchemaError(f"together must be a list, but got {show(rules)}; put it in a list.")
    given = list(rules)
    checked: list[Together] = []
    followers = {rule.feature for rule in given if isinstance(rule, Follows)}
    for rule in given:
        if not isinstance(rule, (Follows, Linear)):
            raise SchemaError(
                f"A rule of together must be Follows or Linear, but got {show(rule)}; use one of "
                "them."
            )
        pairs = rule.leaders if isinstance(rule, Follows) else rule.factors
        for name in [name for name, _ in pairs]:
            _number_named(name, features)
            if isinstance(rule, Follows) and name in followers:
                raise SchemaError(
                    f"What {rule.feature!r} follows must follow nothing itself, but {name!r} does; "
                    "name what that follows."
                )
        if isinstance(rule, Follows):
            if _number_named(rule.feature, features).immutable:
                raise SchemaError(
                    f"Feature {rule.feature!r} follows others, so it must not be immutable; drop "
                    "one of the two, or make immutable what it follows."
                )
            if any(isinstance(one, Follows) and one.feature == rule.feature for one in checked):
                raise SchemaError(
                    f"Feature {rule.feature!r} must follow others by one rule, but got two; join "
                    "them."
                )
        checked.append(rule)
    return tuple(checked)


def _number_named(name: str, features: tuple[Feature, ...]) -> Continuous:
    names = [feature.name for feature in features]
    if name not in names:
        raise SchemaError(
            f"together must name features, but got {show(name)}{did_you_mean(name, names)}; name "
            f"one of {listed(names)}."
        )
    feature = features[names.index(name)]
    if not isinstance(feature, Continuous):
        raise SchemaError(
            f"together must name continuous features, but {name!r} is categorical; leave it out."
        )
    return feature
