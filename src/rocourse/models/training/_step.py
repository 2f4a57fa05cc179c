"""One step of block-wise coordinate descent (the paper's Algorithm 2), compiled once a shape.

The same step trains every parametric method. What differs is data: the generator (any module with
the signature of `RecourseGenerator`), the objective, whether the predictor moves too (joint
training) or stands still (post hoc), and the attack whose shifted predictor judges the recourses.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array

from rocourse.attack import Attack
from rocourse.models._compilation import compiled
from rocourse.models.training._batch import Batch, expand_rows
from rocourse.models.training._config import Rates, StepConfig
from rocourse.models.training._judge import mean_class_loss, shifted_predictor
from rocourse.models.training._objective import class_losses, proximity_loss, weighted_mean
from rocourse.models.training._plan import Moving, Objective
from rocourse.models.training._recourses import (
    choose_targets,
    hard_recourses,
    predict_classes,
    soft_recourses,
)
from rocourse.networks import Predictor, RecourseGenerator, draw_dropout_factors, random_count
from rocourse.schema.constraints import ConstraintLayer, expand

Result = TypeVar("Result")


class TrainState(NamedTuple):
    """Weights and optimiser states of both blocks; no state where a block does not move."""

    predictor: Predictor
    generator: RecourseGenerator | None
    predictor_moments: optax.OptState | None
    generator_moments: optax.OptState | None


class StepLosses(NamedTuple):
    """L1 (prediction), L2 (validity under the judge), L3 (proximity); None where none moved."""

    l1: Array | None
    l2: Array | None
    l3: Array | None


class PredictionFigures(NamedTuple):
    """How a predictor does on rows that it does not learn from."""

    l1: Array
    accuracy: Array


class RecourseFigures(NamedTuple):
    """How predictor and generator do, by the unshifted and, with a probe, an attacked predictor."""

    l1: Array
    l2: Array
    robust_l2: Array | None
    l3: Array
    accuracy: Array
    validity: Array
    robust_validity: Array | None


Figures = PredictionFigures | RecourseFigures
_Visited = tuple[TrainState, StepLosses, Figures]


def optimizer(rate: Array | float) -> optax.GradientTransformation:
    """Adam, for both blocks."""
    # Flattened: one update of one long vector compiles several times faster than one a layer.
    return optax.flatten(optax.adam(rate))


def new_state(
    predictor: Predictor, generator: RecourseGenerator | None, moving: Moving
) -> TrainState:
    """Fresh optimiser states for given weights."""

    def moments(module: object, still: Moving) -> optax.OptState | None:
        if moving == still:
            return None
        # The state does not depend on the rate.
        return optimizer(0.0).init(eqx.filter(module, eqx.is_inexact_array))

    return TrainState(
        predictor, generator, moments(predictor, "generator"), moments(generator, "predictor")
    )


@compiled
def visit_batches(
    state: TrainState,
    batches: Batch,
    place: Array,
    count: Array,
    learning: Array | bool,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    key: Array,
) -> _Visited:
    """Learns from each of the first `count` of stacked batches, or only measures on it.

    Many batches a call keep Python off the hot path. How many there are is a value of the compiled
    code, not part of it: tables of any length share it.

    Args:
        state: Where training stands.
        batches: Batches with a further leading axis.
        place: The epoch, and the number of the first of them in it, for their random numbers.
        count: How many of them to use.
        learning: Whether to take a step on each; else the state stays as it is. As an array it is
            a value of the compiled code, which then serves both purposes: see `for_both_purposes`.
        epsilon: The attacker's radius.
        constraints: What recourses may ask for.
        config: What is compiled.
        rates: Weights and learning rates.
        key: For all epochs.

    Returns:
        The state, and sums over the batches: of their losses if learning, else of their figures
        times the weight of their rows.
    """
    for number in place:
        key = jax.random.fold_in(key, number)
    # All keys at once: making one is slow, making many hardly slower.
    keys = jax.random.split(key, (len(batches.weight), 4))
    arrays, rest = eqx.partition(state, eqx.is_array)

    def visit(i: Array, carry: _Visited) -> _Visited:
        arrays, losses, figures = carry
        state, more_losses, more_figures = visit_batch(
            eqx.combine(arrays, rest),
            Batch(*(part[i] for part in batches)),
            learning,
            epsilon,
            constraints,
            config,
            rates,
            keys=keys[i],
        )
        return (
            eqx.filter(state, eqx.is_array),
            jax.tree.map(jnp.add, losses, more_losses),
            jax.tree.map(jnp.add, figures, more_figures),
        )

    nothing = (arrays, _no_losses(config), _no_figures(config))
    arrays, losses, figures = jax.lax.fori_loop(0, count, visit, nothing)
    return eqx.combine(arrays, rest), losses, figures


def visit_batch(
    state: TrainState,
    batch: Batch,
    learning: Array | bool,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    keys: Array,
) -> _Visited:
    """(1) θ on L1; (2) the worst-case θ' from the new θ; (3) θ_g alone on L2 and L3.

    Post-hoc training takes (1) in one run and (2), (3) in another. Without learning, nothing moves,
    and what is measured takes the place of (3).
    """
    predictor_key, target_key, attack_key, random_key = keys
    x = expand_rows(batch, constraints.layout)
    losses, figures = _no_losses(config), _no_figures(config)
    measuring = not learning if isinstance(learning, bool) else ~learning

    if config.moving != "generator":
        before = state

        def move_predictor() -> tuple[TrainState, StepLosses]:
            moved, l1 = _move_predictor(before, x, batch, config, rates, key=predictor_key)
            return moved, losses._replace(l1=l1)

        state, losses = _when(learning, move_predictor, (before, losses))
    if config.moving == "predictor":
        figures = _when(
            measuring, lambda: _measure_prediction(state.predictor, x, batch, config), figures
        )
        return state, losses, figures

    assert state.generator is not None
    target = choose_targets(state.predictor, x, key=target_key)

    def soft() -> Array:
        assert state.generator is not None
        proposed, _ = soft_recourses(state.predictor, state.generator, x, target, constraints)
        return proposed

    def attacked(attack: Attack, recourses: Array, rate: Array) -> Predictor:
        assert config.objective is not None
        return shifted_predictor(
            state.predictor,
            x,
            batch,
            recourses,
            target,
            attack,
            loss=config.loss,
            validity=config.objective.validity,
            rate=rate,
            epsilon=epsilon,
            key=attack_key,
        )

    judge = state.predictor
    if config.attack is not None and learning is not False:
        rate = rates.attack
        if for_both_purposes(config):
            # One program, but each purpose may have a rate of its own.
            rate = jnp.where(learning, rates.attack, rates.probe)
        judge = attacked(config.attack, soft(), rate)

    def move_generator() -> tuple[TrainState, StepLosses]:
        moved, l2, l3 = _move_generator(
            state, x, batch, target, judge, constraints, config, rates, key=random_key
        )
        return moved, losses._replace(l2=l2, l3=l3)

    def measure() -> Figures:
        recourses, attacker = soft(), None
        if config.probe is not None:
            shared = for_both_purposes(config) and learning is not False
            attacker = judge if shared else attacked(config.probe, recourses, rates.probe)
        return _measure_recourses(state, x, batch, target, recourses, attacker, constraints, config)

    moved, losses = _when(learning, move_generator, (state, losses))
    return moved, losses, _when(measuring, measure, figures)


def for_both_purposes(config: StepConfig) -> bool:
    """Whether one program should learn and measure: where both attack, which is most of it."""
    return config.attack is not None and config.attack == config.probe


def _when(predicate: Array | bool, then: Callable[[], Result], otherwise: Result) -> Result:
    """`then()` where the predicate holds, else `otherwise`; what is not asked for is not run."""
    if predicate is False:
        return otherwise
    arrays, rest = eqx.partition(otherwise, eqx.is_array)

    def alike() -> Any:
        # Where floats are double by default, some of them come out wider than they went in.
        made = eqx.filter(then(), eqx.is_array)
        return jax.tree.map(lambda new, old: new.astype(old.dtype), made, arrays)

    chosen = alike() if predicate is True else jax.lax.cond(predicate, alike, lambda: arrays)
    result: Result = eqx.combine(chosen, rest)
    return result


def _no_losses(config: StepConfig) -> StepLosses:
    zero = jnp.zeros((), jnp.float32)
    prediction = None if config.moving == "generator" else zero
    recourse = None if config.moving == "predictor" else zero
    return StepLosses(prediction, recourse, recourse)


def _no_figures(config: StepConfig) -> Figures:
    zero = jnp.zeros((), jnp.float32)
    if config.moving == "predictor":
        return PredictionFigures(zero, zero)
    robust = None if config.probe is None else zero
    return RecourseFigures(zero, zero, robust, zero, zero, zero, robust)


def _move_predictor(
    state: TrainState, x: Array, batch: Batch, config: StepConfig, rates: Rates, *, key: Array
) -> tuple[TrainState, Array]:
    def prediction(predictor: Predictor) -> tuple[Array, Array]:
        l1 = prediction_loss(predictor, x, batch, config, key=key)
        return rates.prediction * l1, l1

    gradient, l1 = eqx.filter_grad(prediction, has_aux=True)(state.predictor)
    updates, moments = optimizer(rates.learning).update(gradient, state.predictor_moments)
    predictor = eqx.apply_updates(state.predictor, updates)
    return state._replace(predictor=predictor, predictor_moments=moments), l1


def _move_generator(
    state: TrainState,
    x: Array,
    batch: Batch,
    target: Array,
    judge: Predictor,
    constraints: ConstraintLayer,
    config: StepConfig,
    rates: Rates,
    *,
    key: Array,
) -> tuple[TrainState, Array, Array]:
    objective = config.objective
    assert state.generator is not None and objective is not None
    # All of a batch's random numbers come from one draw: they are slow to compile and to make.
    count = random_count(state.generator)
    random = jax.random.uniform(key, (count, x.shape[1])) if count else None

    def recourse(generator: RecourseGenerator) -> tuple[Array, tuple[Array, Array]]:
        proposed, penalties = soft_recourses(
            state.predictor, generator, x, target, constraints, random
        )
        l2 = mean_class_loss(judge, proposed, target, batch.weight, objective.validity)
        l3 = distance_loss(x, proposed, batch.weight, objective)
        penalty = weighted_mean(penalties, batch.weight)
        return rates.validity * l2 + rates.proximity * l3 + penalty, (l2, l3)

    gradient, (l2, l3) = eqx.filter_grad(recourse, has_aux=True)(state.generator)
    updates, moments = optimizer(rates.learning).update(gradient, state.generator_moments)
    generator = eqx.apply_updates(state.generator, updates)
    return state._replace(generator=generator, generator_moments=moments), l2, l3


def _measure_prediction(
    predictor: Predictor, x: Array, batch: Batch, config: StepConfig
) -> PredictionFigures:
    hits = (predict_classes(predictor, x) == batch.label).astype(x.dtype)
    rows = jnp.sum(batch.weight)
    return PredictionFigures(
        l1=rows * prediction_loss(predictor, x, batch, config, key=None),
        accuracy=rows * weighted_mean(hits, batch.weight),
    )


def _measure_recourses(
    state: TrainState,
    x: Array,
    batch: Batch,
    target: Array,
    soft: Array,
    attacker: Predictor | None,
    constraints: ConstraintLayer,
    config: StepConfig,
) -> RecourseFigures:
    predictor, generator, objective = state.predictor, state.generator, config.objective
    assert generator is not None and objective is not None
    continuous, categories = hard_recourses(predictor, generator, x, target, constraints)
    hard_x = expand(continuous, categories, constraints.layout)

    def share(hits: Array) -> Array:
        return weighted_mean(hits.astype(x.dtype), batch.weight)

    def honoured(by: Predictor) -> Array:
        return share(predict_classes(by, hard_x) == target)

    def validity_loss(by: Predictor) -> Array:
        return mean_class_loss(by, soft, target, batch.weight, objective.validity)

    figures = RecourseFigures(
        l1=prediction_loss(predictor, x, batch, config, key=None),
        l2=validity_loss(predictor),
        robust_l2=None if attacker is None else validity_loss(attacker),
        l3=distance_loss(x, soft, batch.weight, objective),
        accuracy=share(predict_classes(predictor, x) == batch.label),
        validity=honoured(predictor),
        robust_validity=None if attacker is None else honoured(attacker),
    )
    scaled: RecourseFigures = jax.tree.map(lambda figure: jnp.sum(batch.weight) * figure, figures)
    return scaled


def prediction_loss(
    predictor: Predictor, x: Array, batch: Batch, config: StepConfig, *, key: Array | None
) -> Array:
    """L1 over a batch; with a key, under dropout."""
    kept = None
    if key is not None and config.dropout > 0.0:
        kept = draw_dropout_factors((predictor.units, x.shape[1]), config.dropout, key=key)
    losses = class_losses(predictor(x, kept), batch.label, kind=config.loss)
    return weighted_mean(losses, batch.weight)


def distance_loss(x: Array, recourses: Array, weight: Array, objective: Objective) -> Array:
    """L3 over a batch."""
    return weighted_mean(proximity_loss(x, recourses, kind=objective.proximity), weight)
