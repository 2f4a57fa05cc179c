"""How sure is sure enough: levels set by models that took no part in the search."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

# Standard deviations that may be asked for.
LEVELS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
# A share of promises can be said of no fewer rows.
_LEAST_PROMISES = 10
# Of promises to as many people but for this share, the cheaper ones are taken.
_COVERAGE_TO_GIVE = 0.05
# Where shifts are made up, the share that is asked of them for lower ones too.
_MADE_UP_SHARE = 0.95
# Where nothing can be promised, of advice that witnesses keep as often but for this share, the
# cheaper is given.
_SURENESS_TO_GIVE = 0.02


class Trial(NamedTuple):
    """What a search at one level came to, for rows of one target class."""

    chance: np.ndarray
    """The jury's own idea of the chance that a retrained model keeps an attempt, `[n]`."""
    kept: np.ndarray
    """The share of witnesses of the model's own kind that keep it, `[n]`."""
    kept_by_all: np.ndarray
    """The share of witnesses of all families that do, each family counting as much, `[n]`."""


class Trials(NamedTuple):
    """The searches at all levels: from these, any share of promises can be calibrated for."""

    chance: np.ndarray
    """As of `Trial`, `[classes, levels, n]`."""
    kept: np.ndarray
    kept_by_all: np.ndarray
    rows: np.ndarray
    """How many of the `n` there are, of each class one: the rest are zeros."""
    witnesses: np.ndarray
    """How many witnesses of the model's own kind there were."""
    made_up: np.ndarray
    """Whether their shifts are made up, for want of groups that show how far the world moves."""

    def of(self, target: int) -> dict[float, Trial]:
        """Those for one class, by level; none where there were no rows."""
        n = int(self.rows[target])
        if not n:
            return {}
        return {
            level: Trial(*(part[target, i, :n] for part in self[:3]))
            for i, level in enumerate(LEVELS)
        }


class Calibration(NamedTuple):
    """What the witnesses made of the trials.

    Attributes:
        levels: The standard deviations to ask for, of each class one.
        thresholds: The least chance, as the jury sees it, that is promised, of each class one.
        coverage: The share of the trial's rows that are promised, of each class one.
        expected: The share of those promises that witnesses keep, of each class one; 0 without.
        chances: The jury's idea of a chance, ascending, of each class: `[classes, points]`.
        shares: What witnesses make of it, `[classes, points]`.
    """

    levels: np.ndarray
    thresholds: np.ndarray
    coverage: np.ndarray
    expected: np.ndarray
    chances: np.ndarray
    shares: np.ndarray


_POINTS = 101
_NEVER = 2.0


def jury_chance(standings: np.ndarray) -> np.ndarray:
    """The share of retrained models that keep rows, were leads normal, of standings `[4, n]`.

    By the family that keeps the fewest: what one kind of model alone is sure of breaks first when
    the world moves.
    """
    chance: np.ndarray = ndtr(standings[1:].min(axis=0))
    return chance


def run_trials(
    trial: Callable[[int, float], Trial | None],
    n_classes: int,
    witnesses: int,
    *,
    made_up: bool = False,
) -> Trials:
    """Searches for each class at each level.

    Args:
        trial: Runs a search for rows of a target class at a level; None if there are no rows.
        n_classes: How many classes there are.
        witnesses: How many judge each trial.
        made_up: Whether their shifts are made up.
    """
    made = [[trial(c, level) for level in LEVELS] for c in range(n_classes)]
    rows = [0 if each[0] is None else len(each[0].chance) for each in made]
    parts = [np.zeros((n_classes, len(LEVELS), max(rows))) for _ in Trial._fields]
    for c, each in enumerate(made):
        for i, one in enumerate(each):
            for part, values in zip(parts, one or (), strict=False):
                part[c, i, : rows[c]] = values
    chance, kept, kept_by_all = parts
    return Trials(
        chance, kept, kept_by_all, np.array(rows), np.array([witnesses]), np.array([made_up])
    )


def calibrate(trials: Trials, *, kept: float, refits: bool = False) -> Calibration:
    """The levels and thresholds at which the promised share of promises is kept.

    Of each class, the level is the one at which models of all families would keep the share for
    the most rows, or a lower and cheaper one at which they would for nearly as many: a promise
    that only one kind of model keeps is half a promise. What is then promised is what retrained
    models of the model's own kind keep.

    Args:
        trials: What came of searches at all levels.
        kept: The share of promises to be kept.
        refits: Whether the model is given, and refits of it were asked. Those among the witnesses
            are few, and cannot show what a share near to one takes: where shifts are made up, its
            level is at least what normal leads need.
    """
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from sklearn.isotonic import IsotonicRegression

    n_classes, witnesses = len(trials.rows), int(trials.witnesses[0])
    least = 0.0
    kept = asked_share(kept, trials)
    if trials.made_up[0]:
        least = float(ndtri(kept)) if refits and kept > _MADE_UP_SHARE else least
    levels, thresholds = np.full(n_classes, 1.0), np.full(n_classes, _NEVER)
    coverage, expected = np.zeros(n_classes), np.zeros(n_classes)
    grid = np.linspace(0.0, 1.0, _POINTS)
    shares = np.tile(grid, (n_classes, 1))
    for c in range(n_classes):
        seen = trials.of(c)
        if not seen:
            continue
        sure = {level: trial for level, trial in seen.items() if level >= min(least, LEVELS[-1])}
        levels[c] = _level(sure, kept, witnesses)
        chosen = seen[levels[c]]
        thresholds[c] = promised_threshold(chosen, kept, witnesses)
        promised = chosen.chance >= thresholds[c]
        if promised.any():
            coverage[c], expected[c] = promised.mean(), chosen.kept[promised].mean()
        said = np.concatenate([each.chance for each in seen.values()])
        told = np.concatenate([each.kept for each in seen.values()])
        smooth = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        shares[c] = smooth.fit(said, told).predict(grid)
    chances = np.tile(grid, (n_classes, 1))
    return Calibration(levels, thresholds, coverage, expected, chances, shares)


def asked_share(kept: float, trials: Trials) -> float:
    """What witnesses must keep, for a share of promises to be kept.

    Where their shifts are made up, the world may move in a way of its own: half of what may be
    broken is kept in reserve, until a share of .95 is asked of them.
    """
    if not trials.made_up[0]:
        return kept
    return max(kept, min(_MADE_UP_SHARE, 1.0 - (1.0 - kept) / 2.0))


def _level(trials: Mapping[float, Trial], kept: float, witnesses: int) -> float:
    """The level at which the most rows can be promised and all families keep the share of them.

    Or a lower one, at which that goes for nearly as many.
    """
    covered = {}
    for level, trial in trials.items():
        promised = trial.chance >= promised_threshold(trial, kept, witnesses)
        covered[level] = min(float(promised.mean()), _reach(trial.kept_by_all, kept))
    best = max(covered.values())
    if not best:
        # The share is out of reach: about the surest advice is the best that can be given.
        sure = {level: float(trial.kept_by_all.mean()) for level, trial in trials.items()}
        least = max(sure.values()) - _SURENESS_TO_GIVE
        return next(level for level in trials if sure[level] >= least)
    return next(level for level in trials if covered[level] >= best * (1.0 - _COVERAGE_TO_GIVE))


def _reach(kept_by: np.ndarray, kept: float) -> float:
    """The greatest share of rows of which, on average, the share is kept."""
    best_first = np.sort(kept_by)[::-1]
    enough = np.flatnonzero(np.cumsum(best_first) / np.arange(1, len(best_first) + 1) >= kept)
    return float((enough[-1] + 1) / len(best_first)) if len(enough) else 0.0


def promised_threshold(trial: Trial, kept: float, witnesses: int) -> float:
    """The least chance that can be promised, so that the share of promises is kept.

    Conformal risk control over witnesses: of `K` of them, as exchangeable with the next model as
    the simulated shifts are with the next year, the share broken by the next one is at most
    `(K · mean broken + 1) / (K + 1)` on average. More than any chance, where no threshold does.
    """
    order = np.argsort(-trial.chance, kind="stable")
    chances, counts = trial.chance[order], np.arange(1, len(order) + 1)
    broken = 1.0 - np.cumsum(trial.kept[order]) / counts
    bounds = 1.0 - (witnesses * broken + 1.0) / (witnesses + 1.0)
    # Rows of one chance are promised together or not at all.
    last_of_chance = np.append(chances[1:] < chances[:-1], True)
    enough = np.flatnonzero(
        (bounds >= kept) & (counts >= min(_LEAST_PROMISES, len(order))) & last_of_chance
    )
    return float(chances[enough[-1]]) if len(enough) else _NEVER
