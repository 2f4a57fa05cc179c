"""Trials: searches at each level for training rows, judged by witnesses."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from rocourse.models import BatchModel, TrainingRows, class_scores
from rocourse.models.jurors import Jurors
from rocourse.networks import Predictor
from rocourse.recourse._proposer import Context
from rocourse.recourse.jury._calibration import LEVELS, Trial, jury_chance
from rocourse.recourse.jury._standing import Jury, jurors_leads, standings
from rocourse.recourse.search import Asked, leads
from rocourse.schema import Layout, Rows, one_hot

# Apart from the seeds of whatever else is drawn.
_ROWS = 0x524F5753
# More rows than this sharpen a level little.
_CALIBRATION_ROWS = 160

Search = Callable[[np.ndarray, Context, Rows, np.ndarray], Rows]
"""From a level of each row, the context, rows and targets to what is proposed."""


class Witnesses(NamedTuple):
    """Who says what a recourse is worth, without a part in the search."""

    jurors: Jurors
    alike: list[list[Predictor]] | tuple[BatchModel, ...]
    """Trained as the model was; or refits of a model that is given."""

    def keep(self, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Which of those like the model keep which encoded rows, bool `[models, n]`."""
        if isinstance(self.alike, tuple):
            return np.asarray(leads(self.alike, x, wanted) > 0.0)
        return np.array([class_scores(each, x).argmax(axis=0) == wanted for each in self.alike])


def prepare_trials(
    search: Search,
    jury: Jury,
    asked: Asked | None,
    witnesses: Witnesses,
    context: Context,
    data: TrainingRows,
) -> Callable[[int, float], Trial | None]:
    """Searches at all levels at once, for rows that the model does not give each class.

    Returns:
        What each target class and level came to; None where there are no such rows.
    """
    asking = [_without_class(context, data, target) for target in range(data.n_classes)]
    parts = [
        (rows, np.full(len(rows), target), np.full(len(rows), level))
        for target, rows in enumerate(asking)
        if rows is not None
        for level in LEVELS
    ]
    if not parts:
        return lambda target, level: None
    rows = Rows.concatenate([part[0] for part in parts])
    wanted, levels = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    schema, layout = data.schema, data.schema.layout
    attempts = schema.settle(schema.decode(rows), rows, search(levels, context, rows, wanted))
    chance = chance_of(jury, asked, attempts, wanted, layout)
    votes = _votes(witnesses.jurors, attempts, wanted, layout)
    networks, *others = [family.mean(axis=0) for family in votes]
    alike = witnesses.keep(one_hot(attempts, layout), wanted)
    # Large networks are few, and small ones not quite what will be trained: each count half.
    own_kind = 0.5 * (networks + np.mean(alike, axis=0))
    by_all = np.mean([own_kind, *others], axis=0)

    def trial(target: int, level: float) -> Trial | None:
        own = (wanted == target) & (levels == level)
        return Trial(chance[own], own_kind[own], by_all[own]) if own.any() else None

    return trial


def chance_of(
    jury: Jury, asked: Asked | None, rows: Rows, target: np.ndarray, layout: Layout
) -> np.ndarray:
    """The chance that retrained models keep rows, as the jury, or who is asked besides, sees it."""
    if asked is None:
        return jury_chance(standings(jury, rows, target, layout))
    # The share of refits, were leads normal.
    chance: np.ndarray = ndtr(asked.sureness(one_hot(rows, layout), target))
    return chance


def _without_class(context: Context, data: TrainingRows, target: int) -> Rows | None:
    """Training rows that the model does not give the class, some of them if there are many."""
    others = np.flatnonzero(context.verdicts(context.predict(data.rows)) != target)
    if not len(others):
        return None
    rng = np.random.default_rng([context.seed, _ROWS, target])
    count = min(len(others), _CALIBRATION_ROWS)
    return data.rows.take(np.sort(rng.choice(others, count, replace=False)))


def _votes(jurors: Jurors, rows: Rows, target: np.ndarray, layout: Layout) -> list[np.ndarray]:
    """Which juror gives which row its target, of each family: bool `[jurors, n]`."""
    return [leads > 0.0 for leads in jurors_leads(jurors, rows, target, layout)]
