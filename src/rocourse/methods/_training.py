"""Training: epochs over shuffled batches, held-out figures, stopping."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.model_selection import train_test_split

from rocourse.errors import TrainingError
from rocourse.methods._config import TrainingConfig
from rocourse.methods._state import build_networks
from rocourse.methods._step import (
    Batch,
    ProbeResult,
    StepConfig,
    StepLosses,
    TrainState,
    new_state,
    probe,
    train_step,
)
from rocourse.networks import Generator, Predictor
from rocourse.schema import Rows
from rocourse.schema.constraints import ConstraintLayer

EpochCallback = Callable[[dict[str, float]], None]

# Held-out rows beyond this many sharpen the figures little and cost an attack on all of them.
_PROBE_ROWS = 512
# Probe batches are filled up to a multiple of this, so that subsets of like size share a shape.
_PROBE_STRIDE = 64
# Fewer rows than this leave nothing to hold out.
_LEAST_ROWS_TO_SPLIT = 20


class Trained(NamedTuple):
    """The weights that were kept, from which epoch, and the record of all epochs."""

    predictor: Predictor
    generator: Generator
    history: list[dict[str, float]]
    best_epoch: int


def train(
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    constraints: ConstraintLayer,
    config: TrainingConfig,
    *,
    seed: int,
    on_epoch: EpochCallback | None = None,
) -> Trained:
    """Trains predictor and generator together on compact rows and class indices."""
    network_key, step_key, probe_key = jax.random.split(jax.random.key(seed), 3)
    shuffler = np.random.default_rng(seed)
    training, held_out = _hold_out(labels, config.validation_fraction, seed)
    probe_rows = held_out if len(held_out) else training
    probe_batch = _probe_batch(rows, labels, probe_rows)

    step = StepConfig(config.network, config.objective, config.attack, config.learning_rate)
    probe_step = step._replace(attack=config.attack or config.probe)
    predictor, generator = build_networks(
        constraints.layout, n_classes, config.network, key=network_key
    )
    state = new_state(predictor, generator, step)

    history: list[dict[str, float]] = []
    best, best_score, best_epoch = state, math.inf, 0
    full_epsilon = jnp.float32(config.epsilon)
    for epoch in range(1, config.epochs + 1):
        epsilon = config.epsilon_at(epoch)
        state, losses = _run_epoch(
            state,
            rows,
            labels,
            shuffler.permutation(training),
            epsilon,
            constraints,
            step,
            config.batch_size,
            key=jax.random.fold_in(step_key, epoch),
        )
        found = probe(
            state.predictor,
            state.generator,
            probe_batch,
            full_epsilon,
            constraints,
            probe_step,
            key=probe_key,
        )
        record = _record(epoch, epsilon, losses, found)
        _require_finite(record)
        history.append(record)
        if on_epoch is not None:
            on_epoch(record)
        # Without patience the last weights are kept: the attack finds an untrained predictor easy
        # to defend, so that a search for the best of all epochs would favour early ones.
        score = -epoch if config.patience is None else _score(record, config)
        if score < best_score:
            best, best_score, best_epoch = state, score, epoch
        elif config.patience is not None and epoch - best_epoch >= config.patience:
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
    batch_size: int,
    *,
    key: jax.Array,
) -> tuple[TrainState, dict[str, float]]:
    # Few rows make a smaller batch, of a power of two so that tables of like size share a shape.
    size = min(batch_size, 1 << (len(order) - 1).bit_length())
    starts = range(0, len(order), size)
    keys = jax.random.split(key, len(starts))
    radius = jnp.float32(epsilon)
    losses = []
    for start, batch_key in zip(starts, keys, strict=True):
        batch = _batch(rows, labels, order[start : start + size], size)
        state, batch_losses = train_step(state, batch, radius, constraints, step, key=batch_key)
        losses.append(batch_losses)
    columns = zip(*jax.device_get(losses), strict=True)
    means = {
        name: float(np.mean(column))
        for name, column in zip(StepLosses._fields, columns, strict=True)
    }
    return state, means


def _batch(rows: Rows, labels: np.ndarray, indices: np.ndarray, size: int) -> Batch:
    """The rows at `indices`, filled up to `size` with copies of weight zero."""
    weight = np.zeros(size, np.float32)
    weight[: len(indices)] = 1.0
    filled = np.resize(indices, size)
    parts = (rows.continuous[filled], rows.categories[filled], labels[filled], weight)
    return Batch(*(jnp.asarray(part) for part in parts))


def _probe_batch(rows: Rows, labels: np.ndarray, indices: np.ndarray) -> Batch:
    indices = indices[:_PROBE_ROWS]
    size = _PROBE_STRIDE * math.ceil(len(indices) / _PROBE_STRIDE)
    return _batch(rows, labels, indices, size)


def _record(
    epoch: int, epsilon: float, losses: dict[str, float], found: ProbeResult
) -> dict[str, float]:
    record: dict[str, float] = {"epoch": epoch, "epsilon": epsilon, **losses}
    for name, value in found._asdict().items():
        record[f"held_out_{name}" if name.endswith(("l1", "l2", "l3")) else name] = float(value)
    return record


def _require_finite(record: dict[str, float]) -> None:
    for name, value in record.items():
        if not math.isfinite(value):
            raise TrainingError(
                f"Training must stay finite: {name} was not finite in epoch {record['epoch']}, got "
                f"{value}; lower 'learning_rate' or 'inner_rate'."
            )


def _score(record: dict[str, float], config: TrainingConfig) -> float:
    """What stopping watches: the method's own objective on held-out rows, under the full ε."""
    objective = config.objective
    judged = "held_out_l2" if config.attack is None else "held_out_robust_l2"
    return (
        objective.lambda_1 * record["held_out_l1"]
        + objective.lambda_2 * record[judged]
        + objective.lambda_3 * record["held_out_l3"]
    )
