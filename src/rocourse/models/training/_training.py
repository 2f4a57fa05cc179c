"""Training: epochs over shuffled batches, held-out figures, stopping."""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from sklearn.model_selection import train_test_split

from rocourse._collector import paused_collector
from rocourse.errors import TrainingError
from rocourse.models._compilation import own_device
from rocourse.models.training._batch import stack_batches
from rocourse.models.training._config import Rates, StepConfig
from rocourse.models.training._history import EpochRecord, History
from rocourse.models.training._plan import Moving, TrainingPlan, TrainingRows
from rocourse.models.training._state import build_generator, build_predictor
from rocourse.models.training._step import (
    Figures,
    StepLosses,
    TrainState,
    for_both_purposes,
    new_state,
    visit_batches,
)
from rocourse.networks import GeneratorBuilder, Predictor, RecourseGenerator
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import ConstraintLayer

# Batches in one call of compiled code: enough for what is around them not to count.
_BATCHES_A_CALL = 32
# Held-out rows beyond this many sharpen the figures little and cost an attack on all of them.
_MEASURED_ROWS = 512
# Fewer rows than this leave nothing to hold out.
_LEAST_ROWS_TO_SPLIT = 20


class TrainedNetworks(NamedTuple):
    """The weights that were kept."""

    predictor: Predictor
    generator: RecourseGenerator | None
    held_out: np.ndarray
    """The rows that were not learned from, as indices."""


def train(
    data: TrainingRows,
    plan: TrainingPlan,
    *,
    seed: int,
    predictor: Predictor | None = None,
    history: History | None = None,
) -> TrainedNetworks:
    """Trains networks.

    The predictor that is trained alone is the one that joint training with this seed arrives at.

    Args:
        data: Rows to learn from.
        plan: What to train and how.
        seed: Decides starting weights, held-out rows, batches and the attacker's draws.
        predictor: Where training starts from; needed where the predictor does not move.
        history: Told of each epoch, and which one's weights were kept.
    """
    history = History() if history is None else history
    trainer, task = plan.trainer, plan.generator
    constraints = ConstraintLayer.from_schema(data.schema, data.usual)
    shuffler = np.random.default_rng(seed)
    training, held_out = _hold_out(data.labels, trainer.validation_fraction, seed)

    with jax.default_device(own_device()):
        with paused_collector():
            state, learning_key, measuring_key = _begin(
                jax.device_put(np.uint32(seed)),
                constraints.layout,
                data.n_classes,
                None if task is None else task.build,
                plan.moving,
                (trainer.encoder_widths, trainer.head_widths),
                predictor,
            )
        size = _batch_size(len(training), trainer.batch_size)
        course = _Course(
            data.rows, data.labels, constraints, size, StepConfig.of(plan), Rates.of(plan)
        )
        measured = (held_out if len(held_out) else training)[:_MEASURED_ROWS]
        attack = None if task is None else task.attack
        probe = None if task is None else task.probe

        best, best_score, best_epoch = state, math.inf, 0
        epochs = trainer.epochs
        for epoch in range(1, epochs + 1):
            epsilon = 0.0 if attack is None else attack.epsilon_at(epoch, epochs)
            order = shuffler.permutation(training)
            # The first epoch traces.
            with paused_collector() if epoch == 1 else nullcontext():
                state, losses = course.learn(state, order, epoch, epsilon, key=learning_key)
            record = {"epoch": epoch, "epsilon": epsilon, **losses}
            radius = 0.0 if probe is None else probe.epsilon
            record |= course.measure(state, measured, radius, key=measuring_key)
            _require_finite(record)
            history.add(record)
            # Without patience the last weights are kept: the attack finds an untrained predictor
            # easy to defend, so that a search for the best of all epochs would favour early ones.
            patience = trainer.patience
            score = -epoch if patience is None else _score(record, plan)
            if score < best_score:
                best, best_score, best_epoch = state, score, epoch
            elif patience is not None and epoch - best_epoch >= patience:
                break
        history.keep(best_epoch)
        return TrainedNetworks(best.predictor, best.generator, held_out)


# Compiled as a whole: one operation after the other, all that is random takes seconds to compile.
@eqx.filter_jit
def _begin(
    seed: jax.Array,
    layout: Layout,
    n_classes: int,
    build: GeneratorBuilder | None,
    moving: Moving,
    widths: tuple[tuple[int, ...], tuple[int, ...]],
    predictor: Predictor | None,
) -> tuple[TrainState, jax.Array, jax.Array]:
    """Starting weights where none are given, fresh optimisers, keys for learning and measuring."""
    network_key, learning_key, measuring_key = jax.random.split(jax.random.key(seed), 3)
    predictor_key, generator_key = jax.random.split(network_key)
    if predictor is None:
        predictor = build_predictor(layout, n_classes, *widths, key=predictor_key)
    generator = None
    if build is not None:
        generator = build_generator(predictor, layout, build, key=generator_key)
    return new_state(predictor, generator, moving), learning_key, measuring_key


def _hold_out(labels: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    everyone = np.arange(len(labels))
    if fraction == 0.0 or len(labels) < _LEAST_ROWS_TO_SPLIT:
        return everyone, everyone[:0]
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    n_held_out = math.ceil(len(labels) * fraction)
    stratify = labels if counts.min() >= 2 and n_held_out >= len(counts) else None
    training, held_out = train_test_split(
        everyone, test_size=n_held_out, random_state=seed, stratify=stratify
    )
    return training, held_out


def _batch_size(n_rows: int, most: int) -> int:
    # Few rows make a smaller batch, of a power of two so that tables of like size share a shape.
    return min(most, 1 << (n_rows - 1).bit_length())


class _Course(NamedTuple):
    """What stays the same from epoch to epoch."""

    rows: Rows
    labels: np.ndarray
    constraints: ConstraintLayer
    size: int
    """Rows in a batch."""
    step: StepConfig
    rates: Rates

    def learn(
        self, state: TrainState, order: np.ndarray, epoch: int, epsilon: float, *, key: jax.Array
    ) -> tuple[TrainState, EpochRecord]:
        """Goes through the rows once; the mean losses by the names of the history."""
        n_batches = math.ceil(len(order) / self.size)
        sums: list[StepLosses] = []
        for first, some in self._calls(order):
            state, losses, _ = self._visit(
                state, some, epsilon, place=(epoch, first), learning=True, key=key
            )
            sums.append(losses)
        columns = zip(*jax.device_get(sums), strict=True)
        means = {
            name: float(np.sum(column)) / n_batches
            for name, column in zip(StepLosses._fields, columns, strict=True)
            if column[0] is not None
        }
        return state, means

    def measure(
        self, state: TrainState, indices: np.ndarray, epsilon: float, *, key: jax.Array
    ) -> EpochRecord:
        """Figures on held-out rows under the full ε, by the names of the history."""
        sums: list[Figures] = []
        for first, some in self._calls(indices):
            _, _, figures = self._visit(
                state, some, epsilon, place=(0, first), learning=False, key=key
            )
            sums.append(figures)
        columns = zip(*jax.device_get(sums), strict=True)
        return {
            f"held_out_{name}" if name.endswith(("l1", "l2", "l3")) else name: float(np.sum(column))
            / len(indices)
            for name, column in zip(sums[0]._fields, columns, strict=True)
            if column[0] is not None
        }

    def _calls(self, indices: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The rows of each call of compiled code, with the number of its first batch."""
        rows = _BATCHES_A_CALL * self.size
        for first in range(0, len(indices), rows):
            yield first // self.size, indices[first : first + rows]

    def _visit(
        self,
        state: TrainState,
        indices: np.ndarray,
        epsilon: float,
        *,
        place: tuple[int, int],
        learning: bool,
        key: jax.Array,
    ) -> tuple[TrainState, StepLosses, Figures]:
        where, count, radius, teach = jax.device_put(
            (
                np.asarray(place, np.int32),
                np.int32(math.ceil(len(indices) / self.size)),
                np.float32(epsilon),
                np.bool_(learning),
            )
        )
        return visit_batches(
            state,
            stack_batches(self.rows, self.labels, indices, self.size, _BATCHES_A_CALL),
            where,
            count,
            teach if for_both_purposes(self.step) else learning,
            radius,
            self.constraints,
            self.step,
            self.rates,
            key=key,
        )


def _require_finite(record: EpochRecord) -> None:
    for name, value in record.items():
        if not math.isfinite(value):
            raise TrainingError(
                f"Training must stay finite: {name} was not finite in epoch {record['epoch']}, got "
                f"{value}; lower the learning rate of the trainer or of the attack."
            )


def _score(record: EpochRecord, plan: TrainingPlan) -> float:
    """What stopping watches: the plan's own objective on held-out rows, attacked or not."""
    score = 0.0
    if plan.moving != "generator":
        score += plan.prediction_weight * record["held_out_l1"]
    task = plan.generator
    if task is not None:
        robust = task.attack is not None and task.probe is not None
        judged = "held_out_robust_l2" if robust else "held_out_l2"
        score += task.objective.validity_weight * record[judged]
        score += task.objective.proximity_weight * record["held_out_l3"]
    return score
