"""One step of block-wise coordinate descent (the paper's Algorithm 2), compiled once a shape."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from rocourse.attack import virtual_data_shift
from rocourse.methods._config import AttackConfig, NetworkConfig, ObjectiveConfig
from rocourse.methods._objective import class_loss, proximity_loss, weighted_mean
from rocourse.networks import Generator, Predictor, draw_dropout
from rocourse.schema import Layout
from rocourse.schema.constraints import ConstraintLayer, expand, harden, soften


class Batch(NamedTuple):
    """Compact rows with labels; rows of weight zero only fill the batch up."""

    continuous: Array
    categories: Array
    label: Array
    weight: Array


class TrainState(NamedTuple):
    """Weights and optimiser states of both blocks."""

    predictor: Predictor
    generator: Generator
    predictor_moments: optax.OptState
    generator_moments: optax.OptState


class StepConfig(NamedTuple):
    """What is fixed when the step is compiled."""

    network: NetworkConfig
    objective: ObjectiveConfig
    attack: AttackConfig | None
    learning_rate: float

    def optimizer(self) -> optax.GradientTransformation:
        """Adam, for both blocks."""
        # Flattened: one update of one long vector compiles several times faster than one a layer.
        return optax.flatten(optax.adam(self.learning_rate))


class StepLosses(NamedTuple):
    """L1 (prediction), L2 (validity under the judge) and L3 (proximity) of a batch."""

    l1: Array
    l2: Array
    l3: Array


def new_state(predictor: Predictor, generator: Generator, config: StepConfig) -> TrainState:
    """Fresh optimiser states for given weights."""
    optimizer = config.optimizer()
    return TrainState(
        predictor,
        generator,
        optimizer.init(eqx.filter(predictor, eqx.is_array)),
        optimizer.init(eqx.filter(generator, eqx.is_array)),
    )


@eqx.filter_jit
def train_step(
    state: TrainState,
    batch: Batch,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    *,
    key: Array,
) -> tuple[TrainState, StepLosses]:
    """(1) θ on L1; (2) the worst-case θ' from the new θ; (3) θ_g alone on L2 and L3."""
    predictor_key, target_key, attack_key, generator_key = jax.random.split(key, 4)
    objective, optimizer = config.objective, config.optimizer()
    x = expand_rows(batch, constraints.layout)

    def prediction(predictor: Predictor) -> tuple[Array, Array]:
        l1 = prediction_loss(predictor, x, batch, config, key=predictor_key)
        return objective.lambda_1 * l1, l1

    gradient, l1 = eqx.filter_grad(prediction, has_aux=True)(state.predictor)
    updates, predictor_moments = optimizer.update(gradient, state.predictor_moments)
    predictor = eqx.apply_updates(state.predictor, updates)

    target = choose_targets(predictor, x, key=target_key)
    fixed = soft_recourses(predictor, state.generator, x, target, constraints)
    judge = shifted_predictor(
        predictor, x, batch, fixed, target, config.attack, objective, epsilon, key=attack_key
    )

    kept = draw_dropout(
        config.network.dropout, x.shape[0], state.generator.hidden.units, key=generator_key
    )

    def recourse(generator: Generator) -> tuple[Array, tuple[Array, Array]]:
        proposed = soft_recourses(predictor, generator, x, target, constraints, kept)
        l2 = validity_loss(judge, proposed, target, batch.weight, objective)
        l3 = distance_loss(x, proposed, batch.weight, objective)
        return objective.lambda_2 * l2 + objective.lambda_3 * l3, (l2, l3)

    gradient, (l2, l3) = eqx.filter_grad(recourse, has_aux=True)(state.generator)
    updates, generator_moments = optimizer.update(gradient, state.generator_moments)
    generator = eqx.apply_updates(state.generator, updates)
    state = TrainState(predictor, generator, predictor_moments, generator_moments)
    return state, StepLosses(l1, l2, l3)


class ProbeResult(NamedTuple):
    """Held-out figures of one epoch; the attack uses the full ε whatever the schedule."""

    l1: Array
    l2: Array
    robust_l2: Array
    l3: Array
    accuracy: Array
    validity: Array
    robust_validity: Array


@eqx.filter_jit
def probe(
    predictor: Predictor,
    generator: Generator,
    batch: Batch,
    epsilon: Array,
    constraints: ConstraintLayer,
    config: StepConfig,
    *,
    key: Array,
) -> ProbeResult:
    """Judges the generator on held-out rows by the unshifted and by an attacked predictor."""
    target_key, attack_key = jax.random.split(key)
    objective, layout = config.objective, constraints.layout
    x = expand_rows(batch, layout)
    target = choose_targets(predictor, x, key=target_key)
    soft = soft_recourses(predictor, generator, x, target, constraints)
    judge = shifted_predictor(
        predictor, x, batch, soft, target, config.attack, objective, epsilon, key=attack_key
    )
    continuous, categories = hard_recourses(predictor, generator, x, target, constraints)
    hard = expand_rows(batch._replace(continuous=continuous, categories=categories), layout)

    def share(hits: Array) -> Array:
        return weighted_mean(hits.astype(x.dtype), batch.weight)

    return ProbeResult(
        l1=prediction_loss(predictor, x, batch, config, key=None),
        l2=validity_loss(predictor, soft, target, batch.weight, objective),
        robust_l2=validity_loss(judge, soft, target, batch.weight, objective),
        l3=distance_loss(x, soft, batch.weight, objective),
        accuracy=share(predict_classes(predictor, x) == batch.label),
        validity=share(predict_classes(predictor, hard) == target),
        robust_validity=share(predict_classes(judge, hard) == target),
    )


def expand_rows(batch: Batch, layout: Layout) -> Array:
    """Compact rows as encoded vectors, `[n, width]`."""
    return jax.vmap(lambda c, k: expand(c, k, layout))(batch.continuous, batch.categories)


def prediction_loss(
    predictor: Predictor, x: Array, batch: Batch, config: StepConfig, *, key: Array | None
) -> Array:
    """L1 over a batch; with a key, under dropout."""
    kept = None
    if key is not None:
        kept = draw_dropout(config.network.dropout, x.shape[0], predictor.units, key=key)
    logits = jax.vmap(predictor, in_axes=(0, None if kept is None else 0))(x, kept)
    kind = config.objective.loss
    losses = jax.vmap(lambda row, label: class_loss(row, label, kind=kind))(logits, batch.label)
    return weighted_mean(losses, batch.weight)


def validity_loss(
    judge: Predictor, recourses: Array, target: Array, weight: Array, objective: ObjectiveConfig
) -> Array:
    """L2 over a batch: how far the judge is from the target class on the recourses."""
    losses = jax.vmap(lambda row, label: class_loss(judge(row), label, kind=objective.loss))(
        recourses, target
    )
    return weighted_mean(losses, weight)


def distance_loss(x: Array, recourses: Array, weight: Array, objective: ObjectiveConfig) -> Array:
    """L3 over a batch."""
    losses = jax.vmap(lambda a, b: proximity_loss(a, b, kind=objective.proximity))(x, recourses)
    return weighted_mean(losses, weight)


def predict_classes(predictor: Predictor, x: Array) -> Array:
    """The class index each encoded row is given, `[n]`."""
    logits = jax.vmap(predictor)(x)
    if logits.shape[-1] == 1:
        return (logits[:, 0] > 0.0).astype(jnp.int32)
    return jnp.argmax(logits, axis=-1).astype(jnp.int32)


def choose_targets(predictor: Predictor, x: Array, *, key: Array) -> Array:
    """The class to train each row's recourse for: the other of two, any other of many."""
    predicted = predict_classes(predictor, x)
    if predictor.n_classes == 2:
        return 1 - predicted
    step = jax.random.randint(key, predicted.shape, 1, predictor.n_classes)
    return (predicted + step) % predictor.n_classes


def shifted_predictor(
    predictor: Predictor,
    x: Array,
    batch: Batch,
    recourses: Array,
    target: Array,
    attack: AttackConfig | None,
    objective: ObjectiveConfig,
    epsilon: Array,
    *,
    key: Array,
) -> Predictor:
    """The predictor that judges the recourses: attacked, or as it is where there is no attack."""
    if attack is None:
        return predictor
    movable = _movable(predictor, attack)
    weights, fixed = eqx.partition(predictor, movable)

    scale = np.ones(x.shape[1], np.float32)
    scale[batch.continuous.shape[1] :] = attack.category_scale

    def retrain_loss(moved: Predictor, shifted: Array) -> Array:
        judge = eqx.combine(moved, fixed)
        return validity_loss(judge, x + scale * (shifted - x), batch.label, batch.weight, objective)

    def attack_loss(moved: Predictor) -> Array:
        judge = eqx.combine(moved, fixed)
        return validity_loss(judge, recourses, target, batch.weight, objective)

    shift = virtual_data_shift(
        retrain_loss,
        attack_loss,
        weights,
        x,
        key=key,
        epsilon=epsilon,
        steps=attack.steps,
        unroll=attack.unroll,
        rate=attack.rate,
        optimizer=attack.optimizer,
        norm=attack.norm,
        attacker=attack.attacker,
    )
    judge: Predictor = eqx.combine(shift.params, fixed)
    return judge


def _movable(predictor: Predictor, attack: AttackConfig) -> Predictor:
    """Which weights the attacker may move, as a pytree of flags."""
    flags: Predictor = jax.tree.map(eqx.is_array, predictor)
    if attack.scope == "head":
        still = jax.tree.map(lambda _: False, flags.encoder)
        flags = eqx.tree_at(lambda p: p.encoder, flags, still)
    return flags


def generator_context(
    predictor: Predictor, generator: Generator, row: Array, target: Array
) -> Array:
    """What the generator sees of one row: z, p and, where it asks for it, the desired class."""
    z, p = predictor.embed(row)
    if not generator.sees_target:
        return jnp.concatenate([z, p])
    return jnp.concatenate([z, p, jax.nn.one_hot(target, predictor.n_classes)])


def soft_recourses(
    predictor: Predictor,
    generator: Generator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    kept: Array | None = None,
) -> Array:
    """Recourses with softmax categories, `[n, width]`; with factors `kept`, under dropout."""
    layout = constraints.layout

    def propose(row: Array, label: Array, row_kept: Array | None) -> Array:
        context = generator_context(predictor, generator, row, label)
        limits = constraints.limits(row)
        proposal = generator(row, context, limits, layout=layout, kept=row_kept)
        return soften(proposal.continuous, proposal.logits, layout)

    return jax.vmap(propose, in_axes=(0, 0, None if kept is None else 0))(x, target, kept)


def hard_recourses(
    predictor: Predictor,
    generator: Generator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
) -> tuple[Array, Array]:
    """Recourses as compact rows: values `[n, n_continuous]`, categories `[n, n_groups]`."""
    layout = constraints.layout

    def propose(row: Array, label: Array) -> tuple[Array, Array]:
        context = generator_context(predictor, generator, row, label)
        proposal = generator(row, context, constraints.limits(row), layout=layout)
        return proposal.continuous, harden(proposal.logits, layout)

    return jax.vmap(propose)(x, target)
