"""One step of block-wise coordinate descent (the paper's Algorithm 2), compiled once a shape.

The same step trains every parametric method. What differs is data: the generator (any module with
the signature of `RecourseGenerator`), the objective, whether the predictor moves too (joint
training) or stands still (post hoc), and the attack whose shifted predictor judges the recourses.
"""

from typing import Literal, NamedTuple

import equinox as eqx
import jax
import optax
from jax import Array

from rocourse.methods._batch import Batch, expand_rows
from rocourse.methods._config import AttackConfig, ObjectiveConfig, PredictorConfig
from rocourse.methods._judge import mean_class_loss, shifted_predictor
from rocourse.methods._objective import class_loss, proximity_loss, weighted_mean
from rocourse.methods._recourses import (
    choose_targets,
    hard_recourses,
    predict_classes,
    soft_recourses,
)
from rocourse.networks import Predictor, RecourseGenerator, dropout_factors, random_count
from rocourse.schema.constraints import ConstraintLayer

Moving = Literal["both", "predictor", "generator"]


class TrainState(NamedTuple):
    """Weights and optimiser states of both blocks; no state where a block does not move."""

    predictor: Predictor
    generator: RecourseGenerator | None
    predictor_moments: optax.OptState | None
    generator_moments: optax.OptState | None


class StepConfig(NamedTuple):
    """What is fixed when the step is compiled; its weights and rates are not looked at."""

    moving: Moving
    predictor: PredictorConfig
    objective: ObjectiveConfig | None
    attack: AttackConfig | None


class Rates(NamedTuple):
    """Weights of the losses and learning rates: values of the compiled step, not part of it.

    A search over them compiles nothing anew.
    """

    lambda_1: Array
    lambda_2: Array
    lambda_3: Array
    learning: Array
    inner: Array


def optimizer(rate: Array | float) -> optax.GradientTransformation:
    """Adam, for both blocks."""
    # Flattened: one update of one long vector compiles several times faster than one a layer.
    return optax.flatten(optax.adam(rate))


class StepLosses(NamedTuple):
    """L1 (prediction), L2 (validity under the judge), L3 (proximity); None where none moved."""

    l1: Array | None
    l2: Array | None
    l3: Array | None


def new_state(
    predictor: Predictor, generator: RecourseGenerator | None, config: StepConfig
) -> TrainState:
    """Fresh optimiser states for given weights."""

    def moments(module: object, still: Moving) -> optax.OptState | None:
        if config.moving == still:
            return None
        # The state does not depend on the rate.
        return optimizer(0.0).init(eqx.filter(module, eqx.is_inexact_array))

    return TrainState(
        predictor, generator, moments(predictor, "generator"), moments(generator, "predictor")
    )


@eqx.filter_jit
def train_step(
    state: TrainState,
    batch: Batch,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    key: Array,
) -> tuple[TrainState, StepLosses]:
    """(1) θ on L1; (2) the worst-case θ' from the new θ; (3) θ_g alone on L2 and L3.

    Post-hoc training takes (1) in one run and (2), (3) in another.
    """
    predictor_key, *recourse_keys = jax.random.split(key, 4)
    x = expand_rows(batch, constraints.layout)
    l1 = l2 = l3 = None
    if config.moving != "generator":
        state, l1 = _move_predictor(state, x, batch, config, rates, key=predictor_key)
    if config.moving != "predictor":
        state, l2, l3 = _move_generator(
            state, x, batch, epsilon, constraints, config, rates, keys=recourse_keys
        )
    return state, StepLosses(l1, l2, l3)


def _move_predictor(
    state: TrainState, x: Array, batch: Batch, config: StepConfig, rates: Rates, *, key: Array
) -> tuple[TrainState, Array]:
    def prediction(predictor: Predictor) -> tuple[Array, Array]:
        l1 = prediction_loss(predictor, x, batch, config.predictor, key=key)
        return rates.lambda_1 * l1, l1

    gradient, l1 = eqx.filter_grad(prediction, has_aux=True)(state.predictor)
    updates, moments = optimizer(rates.learning).update(gradient, state.predictor_moments)
    predictor = eqx.apply_updates(state.predictor, updates)
    return state._replace(predictor=predictor, predictor_moments=moments), l1


def _move_generator(
    state: TrainState,
    x: Array,
    batch: Batch,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    keys: list[Array],
) -> tuple[TrainState, Array, Array]:
    target_key, attack_key, random_key = keys
    objective, predictor = config.objective, state.predictor
    assert state.generator is not None and objective is not None
    target = choose_targets(predictor, x, key=target_key)
    fixed, _ = soft_recourses(predictor, state.generator, x, target, constraints)
    judge = _judge_of(predictor, x, batch, fixed, target, config, rates, epsilon, key=attack_key)
    # All of a batch's random numbers come from one draw: they are slow to compile and to make.
    count = random_count(state.generator)
    random = jax.random.uniform(random_key, (x.shape[0], count)) if count else None

    def recourse(generator: RecourseGenerator) -> tuple[Array, tuple[Array, Array]]:
        proposed, penalties = soft_recourses(predictor, generator, x, target, constraints, random)
        l2 = mean_class_loss(judge, proposed, target, batch.weight, objective.validity)
        l3 = distance_loss(x, proposed, batch.weight, objective)
        penalty = weighted_mean(penalties, batch.weight)
        return rates.lambda_2 * l2 + rates.lambda_3 * l3 + penalty, (l2, l3)

    gradient, (l2, l3) = eqx.filter_grad(recourse, has_aux=True)(state.generator)
    updates, moments = optimizer(rates.learning).update(gradient, state.generator_moments)
    generator = eqx.apply_updates(state.generator, updates)
    return state._replace(generator=generator, generator_moments=moments), l2, l3


def _judge_of(
    predictor: Predictor,
    x: Array,
    batch: Batch,
    recourses: Array,
    target: Array,
    config: StepConfig,
    rates: Rates,
    epsilon: Array,
    *,
    key: Array,
) -> Predictor:
    """Who judges the recourses: the predictor, or what the configured attack makes of it."""
    assert config.objective is not None
    return shifted_predictor(
        predictor,
        x,
        batch,
        recourses,
        target,
        config.attack,
        loss=config.predictor.loss,
        validity=config.objective.validity,
        rate=rates.inner,
        epsilon=epsilon,
        key=key,
    )


class PredictionProbe(NamedTuple):
    """Held-out figures of an epoch that moved the predictor alone."""

    l1: Array
    accuracy: Array


class RecourseProbe(NamedTuple):
    """Held-out figures of one epoch; the attack uses the full ε whatever the schedule."""

    l1: Array
    l2: Array
    robust_l2: Array
    l3: Array
    accuracy: Array
    validity: Array
    robust_validity: Array


@eqx.filter_jit
def probe_prediction(
    predictor: Predictor, batch: Batch, constraints: ConstraintLayer, config: StepConfig
) -> PredictionProbe:
    """Judges the predictor on held-out rows."""
    x = expand_rows(batch, constraints.layout)
    hits = (predict_classes(predictor, x) == batch.label).astype(x.dtype)
    return PredictionProbe(
        l1=prediction_loss(predictor, x, batch, config.predictor, key=None),
        accuracy=weighted_mean(hits, batch.weight),
    )


@eqx.filter_jit
def probe_recourses(
    predictor: Predictor,
    generator: RecourseGenerator,
    batch: Batch,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    key: Array,
) -> RecourseProbe:
    """Judges the generator on held-out rows by the unshifted and by an attacked predictor."""
    target_key, attack_key = jax.random.split(key)
    objective, layout = config.objective, constraints.layout
    assert objective is not None
    x = expand_rows(batch, layout)
    target = choose_targets(predictor, x, key=target_key)
    soft, _ = soft_recourses(predictor, generator, x, target, constraints)
    judge = _judge_of(predictor, x, batch, soft, target, config, rates, epsilon, key=attack_key)
    continuous, categories = hard_recourses(predictor, generator, x, target, constraints)
    hard = expand_rows(batch._replace(continuous=continuous, categories=categories), layout)

    def share(hits: Array) -> Array:
        return weighted_mean(hits.astype(x.dtype), batch.weight)

    def validity_loss(by: Predictor) -> Array:
        return mean_class_loss(by, soft, target, batch.weight, objective.validity)

    return RecourseProbe(
        l1=prediction_loss(predictor, x, batch, config.predictor, key=None),
        l2=validity_loss(predictor),
        robust_l2=validity_loss(judge),
        l3=distance_loss(x, soft, batch.weight, objective),
        accuracy=share(predict_classes(predictor, x) == batch.label),
        validity=share(predict_classes(predictor, hard) == target),
        robust_validity=share(predict_classes(judge, hard) == target),
    )


def prediction_loss(
    predictor: Predictor, x: Array, batch: Batch, config: PredictorConfig, *, key: Array | None
) -> Array:
    """L1 over a batch; with a key, under dropout."""
    kept = None
    if key is not None and config.dropout > 0.0:
        random = jax.random.uniform(key, (x.shape[0], predictor.units))
        kept = dropout_factors(random, config.dropout)
    logits = jax.vmap(predictor, in_axes=(0, None if kept is None else 0))(x, kept)
    losses = jax.vmap(lambda row, label: class_loss(row, label, kind=config.loss))(
        logits, batch.label
    )
    return weighted_mean(losses, batch.weight)


def distance_loss(x: Array, recourses: Array, weight: Array, objective: ObjectiveConfig) -> Array:
    """L3 over a batch."""
    losses = jax.vmap(lambda a, b: proximity_loss(a, b, kind=objective.proximity))(x, recourses)
    return weighted_mean(losses, weight)
