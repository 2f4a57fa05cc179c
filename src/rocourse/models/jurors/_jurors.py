"""The families of jurors, trained on shifted rows and asked together."""

import itertools
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from threadpoolctl import threadpool_limits

from rocourse.models._compilation import available_cores
from rocourse.models._cut_off import move_model, move_networks
from rocourse.models._interface import BatchModel, Refittable
from rocourse.models._shift import Shift, fit_logistic, join_rows, shift_rows, some_rows
from rocourse.models.jurors._networks import Networks, Numbers, network_scores, train_networks
from rocourse.models.jurors._trees import Trees, train_trees, tree_scores
from rocourse.models.training import Trainer, TrainingRows
from rocourse.networks import Predictor
from rocourse.schema import CutOff, one_hot

log = logging.getLogger("rocourse.models")

# More rows than this make a juror dearer, and hardly another one.
_MOST_ROWS = 5000
# A shift may leave a class with fewer rows than can be learned from; it is drawn again then.
_LEAST_CLASS_ROWS = 5
_MOST_DRAWS = 20


class Lines(NamedTuple):
    """Logistic regressions."""

    weight: Numbers
    """`[models, classes, width]`."""
    bias: Numbers
    """`[models, classes]`."""


class Jurors(NamedTuple):
    """Models of each family."""

    networks: Networks
    lines: Lines
    trees: Trees


def train_jurors(
    data: TrainingRows,
    shift: Shift,
    *,
    networks: int,
    others: int,
    seed: int,
    grown: bool = False,
) -> Jurors:
    """Models of each family, each trained on rows that were shifted anew.

    Args:
        data: The training rows.
        shift: How far they may shift.
        networks: How many networks.
        others: How many of each other family.
        seed: Decides the shifts and the starts.
        grown: Whether shifted rows come on top of those that there are, as many as a group has,
            as when the next period is added; else they take their place.
    """
    rng = np.random.default_rng(seed)
    families = [_shifted(data, shift, count, grown, rng) for count in (networks, others, others)]
    start = int(rng.integers(2**30))
    # Models of so few rows are done sooner by one thread than by several that wait for each other.
    with threadpool_limits(limits=1):
        jurors = Jurors(
            train_networks(*families[0], data.n_classes, seed=start),
            _train_lines(*families[1], data.n_classes),
            train_trees(*families[2], data.n_classes, seed=start),
        )
    return _moved(jurors, data.cut_off)


def train_alike(
    data: TrainingRows,
    shift: Shift,
    trainer: Trainer,
    *,
    count: int,
    seed: int,
    grown: bool = False,
) -> list[list[Predictor]]:
    """Models as a trainer makes them, of single networks, each on rows that were shifted anew.

    Args:
        data: The training rows.
        shift: How far they may shift.
        trainer: How the model was trained; of a committee's, one network is enough.
        count: How many.
        seed: Decides the shifts and the starts.
        grown: As of `train_jurors`.
    """
    rng = np.random.default_rng(seed)
    single = trainer(committee=1) if "committee" in trainer.get_params() else trainer
    return [
        move_networks(
            single.train(
                _one_shifted(data, shift, grown, rng), seed=int(rng.integers(2**31))
            ).networks,
            data.cut_off,
        )
        for _ in range(count)
    ]


def refit_shifted(
    model: Refittable,
    data: TrainingRows,
    shift: Shift,
    *,
    count: int,
    seed: int,
    grown: bool = False,
) -> tuple[BatchModel, ...]:
    """Refits of a model that is given, each on rows that were shifted anew.

    Args:
        model: The model.
        data: The training rows.
        shift: How far they may shift.
        count: How many.
        seed: Decides the shifts, and what is random about a fit.
        grown: As of `train_jurors`.
    """
    rng = np.random.default_rng(seed)
    layout = data.schema.layout
    # All is drawn before anything is fitted: refits do not depend on how many go together.
    drawn = [
        (_one_shifted(data, shift, grown, rng), int(rng.integers(2**31))) for _ in range(count)
    ]
    done = itertools.count(1)

    def fit(shifted: TrainingRows, start: int) -> BatchModel:
        refit = model.refitted(one_hot(shifted.rows, layout), shifted.labels, start)
        log.info("Refit %d of %d", next(done), count)
        return move_model(refit, data.cut_off)

    together = available_cores() if model.n_jobs < 0 else model.n_jobs
    # As of jurors: there are few rows to share. Each thread of a pool has a limit of its own.
    limit = partial(threadpool_limits, limits=1)
    with limit():
        if together == 1:
            return tuple(fit(*each) for each in drawn)
        with ThreadPoolExecutor(together, initializer=limit) as pool:
            return tuple(pool.map(lambda each: fit(*each), drawn))


def family_leads(jurors: Jurors, x: Array, target: Array) -> tuple[Array, ...]:
    """By how much each juror puts the target class before all others: `[jurors, n]` a family.

    Args:
        jurors: The jurors.
        x: Encoded rows as columns, `[width, n]`.
        target: Class indices, `[n]`.
    """
    scores = (
        network_scores(jurors.networks, x),
        line_scores(jurors.lines, x),
        tree_scores(jurors.trees, x),
    )
    return tuple(lead(family, target) for family in scores)


def line_scores(lines: Lines, x: Array) -> Array:
    """The score of each class for encoded rows as columns: `[models, classes, n]`."""
    return jnp.einsum("mcw,wn->mcn", lines.weight, x) + lines.bias[:, :, None]


def lead(scores: Array, target: Array) -> Array:
    """By how much the target leads over the best other class: `[models, ...]`.

    Args:
        scores: `[models, classes, ...]`; a single logit stands for two classes.
        target: Class indices, in a shape that goes with the last axes.
    """
    if scores.shape[1] == 1:
        return jnp.where(target == 1, scores[:, 0], -scores[:, 0])
    classes = jnp.arange(scores.shape[1]).reshape(-1, *(1,) * (scores.ndim - 2))
    wanted = classes == target
    mine = jnp.sum(jnp.where(wanted, scores, 0.0), axis=1)
    return mine - jnp.max(jnp.where(wanted, -jnp.inf, scores), axis=1)


def _moved(jurors: Jurors, cut_off: CutOff | None) -> Jurors:
    """The jurors with their scores shifted as the model's are, if there is a cut-off."""
    if cut_off is None:
        return jurors
    networks, lines, trees = jurors
    second = np.array([0.0, cut_off.shift], np.float32)
    return Jurors(
        networks._replace(bias=networks.bias + second),
        lines._replace(bias=lines.bias + second),
        trees._replace(baseline=trees.baseline + second[1:]),
    )


def _shifted(
    data: TrainingRows, shift: Shift, count: int, grown: bool, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    drawn = [_one_shifted(data, shift, grown, rng) for _ in range(count)]
    layout = data.schema.layout
    return [one_hot(each.rows, layout) for each in drawn], [each.labels for each in drawn]


def _one_shifted(
    data: TrainingRows, shift: Shift, grown: bool, rng: np.random.Generator
) -> TrainingRows:
    """Shifted rows in which every class that the rows have can be learned."""
    present = np.bincount(data.labels, minlength=data.n_classes)
    least = np.minimum(present, _LEAST_CLASS_ROWS)
    data = _drawn(data, least, rng)
    n_groups = 1 if data.groups is None else len(np.unique(data.groups))
    for _ in range(_MOST_DRAWS):
        shifted = shift_rows(data, shift, rng)
        if grown:
            shifted = join_rows(data, some_rows(shifted, len(data.rows) // n_groups, rng))
        if (np.bincount(shifted.labels, minlength=data.n_classes) >= least).all():
            return shifted
    return data


def _drawn(data: TrainingRows, least: np.ndarray, rng: np.random.Generator) -> TrainingRows:
    """Not too many of the rows, among them at least so many of each class."""
    drawn = some_rows(data, _MOST_ROWS, rng)
    counts = np.bincount(drawn.labels, minlength=data.n_classes)
    for label in np.flatnonzero(counts < least):
        drawn = join_rows(drawn, data.take(np.flatnonzero(data.labels == label)[: least[label]]))
    return drawn


def _train_lines(x: list[np.ndarray], labels: list[np.ndarray], n_classes: int) -> Lines:
    weights, biases = [], []
    for rows, classes in zip(x, labels, strict=True):
        fitted = fit_logistic(rows, classes)
        weight, bias = fitted.coef_, fitted.intercept_
        if n_classes == 2:
            weight = np.concatenate([np.zeros_like(weight), weight])
            bias = np.concatenate([np.zeros_like(bias), bias])
        weights.append(weight.astype(np.float32))
        biases.append(bias.astype(np.float32))
    return Lines(np.stack(weights), np.stack(biases))
