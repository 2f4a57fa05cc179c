"""Training: epochs over shuffled batches, held-out figures, stopping."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.model_selection import train_test_split

from rocourse.errors import TrainingError
from rocourse.methods._batch import Batch, make_batch
from rocourse.methods._config import (
    AttackConfig,
    PredictorConfig,
    RecourseConfig,
    ScheduleConfig,
)
from rocourse.methods._state import build_generator, build_predictor
from rocourse.methods._step import (
    Moving,
    PredictionProbe,
    Rates,
    RecourseProbe,
    StepConfig,
    StepLosses,
    TrainState,
    new_state,
    probe_prediction,
    probe_recourses,
    train_step,
)
from rocourse.networks import GeneratorBuilder, Predictor, RecourseGenerator
from rocourse.schema import Rows
from rocourse.schema.constraints import ConstraintLayer

EpochRecord = dict[str, float]
EpochCallback = Callable[[EpochRecord], None]

# Held-out rows beyond this many sharpen the figures little and cost an attack on all of them.
_PROBE_ROWS = 512
# Probe batches are filled up to a multiple of this, so that subsets of like size share a shape.
_PROBE_STRIDE = 64
# Fewer rows than this leave nothing to hold out.
_LEAST_ROWS_TO_SPLIT = 20


class Trained(NamedTuple):
    """The weights that were kept, from which epoch, and the record of all epochs."""

    predictor: Predictor
    generator: RecourseGenerator | None
    history: list[EpochRecord]
    best_epoch: int


class TrainingPlan(NamedTuple):
    """What to train and how.

    `moving` says which networks: both (CounterNet, RoCourseNet), the predictor alone (the base of
    the post-hoc methods), or a generator for a predictor that stays as it is (CF Model, VAE-CF).
    """

    moving: Moving
    predictor: PredictorConfig
    schedule: ScheduleConfig
    build: GeneratorBuilder | None = None
    recourse: RecourseConfig | None = None

    def step(self) -> StepConfig:
        """What the compiled step is compiled for: the same for all weights and rates."""
        if self.recourse is None:
            return StepConfig(self.moving, replace(self.predictor, lambda_1=1.0), None, None)
        objective = replace(self.recourse.objective, lambda_2=1.0, lambda_3=1.0)
        return StepConfig(
            self.moving,
            replace(self.predictor, lambda_1=1.0),
            objective,
            _any_rate(self.recourse.attack),
        )

    def rates(self) -> Rates:
        """The weights and rates that the compiled step is given."""
        objective = None if self.recourse is None else self.recourse.objective
        attack = None if self.recourse is None else self.recourse.attack
        values = (
            self.predictor.lambda_1,
            0.0 if objective is None else objective.lambda_2,
            0.0 if objective is None else objective.lambda_3,
            self.schedule.learning_rate,
            0.0 if attack is None else attack.rate,
        )
        return Rates(*(jnp.float32(value) for value in values))


def _any_rate(attack: AttackConfig | None) -> AttackConfig | None:
    return None if attack is None else replace(attack, rate=1.0)


def train(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    constraints: ConstraintLayer,
    plan: TrainingPlan,
    *,
    seed: int,
    predictor: Predictor | None = None,
    on_epoch: EpochCallback | None = None,
) -> Trained:
    """Trains on compact rows and class indices.

    The predictor that is trained alone is the one that joint training with this seed arrives at.

    Args:
        rows: Compact rows.
        labels: Class indices, `[n]`.
        n_classes: How many classes there are.
        constraints: What recourses may ask for.
        plan: What to train and how.
        seed: Decides starting weights, held-out rows, batches and the attacker's draws.
        predictor: Where training starts from; needed where the predictor does not move.
        on_epoch: Called after each epoch with its record.
    """
    network_key, step_key, probe_key = jax.random.split(jax.random.key(seed), 3)
    predictor_key, generator_key = jax.random.split(network_key)
    shuffler = np.random.default_rng(seed)
    training, held_out = _hold_out(labels, plan.schedule.validation_fraction, seed)
    probe_batch = _probe_batch(rows, labels, held_out if len(held_out) else training)

    layout, epochs = constraints.layout, plan.schedule.epochs
    step, rates = plan.step(), plan.rates()
    if predictor is None:
        predictor = build_predictor(layout, n_classes, plan.predictor, key=predictor_key)
    generator = None
    if plan.build is not None:
        generator = build_generator(predictor, layout, plan.build, key=generator_key)
    state = new_state(predictor, generator, step)

    history: list[EpochRecord] = []
    best, best_score, best_epoch = state, math.inf, 0
    for epoch in range(1, epochs + 1):
        epsilon = 0.0 if plan.recourse is None else plan.recourse.epsilon_at(epoch, epochs)
        state, losses = _run_epoch(
            state,
            rows,
            labels,
            shuffler.permutation(training),
            epsilon,
            constraints,
            step,
            rates,
            plan.schedule.batch_size,
            key=jax.random.fold_in(step_key, epoch),
        )
        record = {"epoch": epoch, "epsilon": epsilon, **losses}
        record |= _probe(state, probe_batch, constraints, plan, key=probe_key)
        _require_finite(record)
        history.append(record)
        if on_epoch is not None:
            on_epoch(record)
        # Without patience the last weights are kept: the attack finds an untrained predictor easy
        # to defend, so that a search for the best of all epochs would favour early ones.
        patience = plan.schedule.patience
        score = -epoch if patience is None else _score(record, plan)
        if score < best_score:
            best, best_score, best_epoch = state, score, epoch
        elif patience is not None and epoch - best_epoch >= patience:
            break
    return Trained(best.predictor, best.generator, history, best_epoch)


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


def _run_epoch(
    state: TrainState,
    rows: Rows,
    labels: np.ndarray,
    order: np.ndarray,
    epsilon: float,
    constraints: ConstraintLayer,
    step: StepConfig,
    rates: Rates,
    batch_size: int,
    *,
    key: jax.Array,
) -> tuple[TrainState, EpochRecord]:
    # Few rows make a smaller batch, of a power of two so that tables of like size share a shape.
    size = min(batch_size, 1 << (len(order) - 1).bit_length())
    starts = range(0, len(order), size)
    keys = jax.random.split(key, len(starts))
    radius = jnp.float32(epsilon)
    losses = []
    for start, batch_key in zip(starts, keys, strict=True):
        batch = make_batch(rows, labels, order[start : start + size], size)
        state, batch_losses = train_step(
            state, batch, radius, constraints, step, rates, key=batch_key
        )
        losses.append(batch_losses)
    columns = zip(*jax.device_get(losses), strict=True)
    means = {
        name: float(np.mean(column))
        for name, column in zip(StepLosses._fields, columns, strict=True)
        if column[0] is not None
    }
    return state, means


def _probe_batch(rows: Rows, labels: np.ndarray, indices: np.ndarray) -> Batch:
    indices = indices[:_PROBE_ROWS]
    size = _PROBE_STRIDE * math.ceil(len(indices) / _PROBE_STRIDE)
    return make_batch(rows, labels, indices, size)


def _probe(
    state: TrainState,
    batch: Batch,
    constraints: ConstraintLayer,
    plan: TrainingPlan,
    *,
    key: jax.Array,
) -> EpochRecord:
    """Figures on held-out rows, by the names of the history."""
    step, recourse = plan.step(), plan.recourse
    found: PredictionProbe | RecourseProbe
    if recourse is None:
        found = probe_prediction(state.predictor, batch, constraints, step)
    else:
        assert state.generator is not None
        attack = recourse.attack or recourse.probe
        found = probe_recourses(
            state.predictor,
            state.generator,
            batch,
            jnp.float32(recourse.epsilon),
            constraints,
            step._replace(attack=_any_rate(attack)),
            plan.rates()._replace(inner=jnp.float32(attack.rate)),
            key=key,
        )
    return {
        f"held_out_{name}" if name.endswith(("l1", "l2", "l3")) else name: float(value)
        for name, value in found._asdict().items()
    }


def _require_finite(record: EpochRecord) -> None:
    for name, value in record.items():
        if not math.isfinite(value):
            raise TrainingError(
                f"Training must stay finite: {name} was not finite in epoch {record['epoch']}, got "
                f"{value}; lower 'learning_rate' or 'inner_rate'."
            )


def _score(record: EpochRecord, plan: TrainingPlan) -> float:
    """What stopping watches: the plan's own objective on held-out rows, under the full ε."""
    score = 0.0
    if plan.moving != "generator":
        score += plan.predictor.lambda_1 * record["held_out_l1"]
    if plan.recourse is not None:
        objective = plan.recourse.objective
        judged = "held_out_l2" if plan.recourse.attack is None else "held_out_robust_l2"
        score += objective.lambda_2 * record[judged] + objective.lambda_3 * record["held_out_l3"]
    return score
