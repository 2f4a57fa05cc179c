"""From encoded rows to what a generator proposes for them."""

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks import Predictor, RecourseGenerator, Request
from rocourse.schema.constraints import ConstraintLayer, harden, soften


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


def make_request(
    predictor: Predictor, row: Array, target: Array, constraints: ConstraintLayer
) -> Request:
    """What a generator is asked for one encoded row."""
    z, p = predictor.embed(row)
    wanted = jax.nn.one_hot(target, predictor.n_classes)
    return Request(row, wanted, z, p, constraints.limits(row))


def soft_recourses(
    predictor: Predictor,
    generator: RecourseGenerator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> tuple[Array, Array]:
    """Recourses with softmax categories, `[n, width]`, and the proposals' penalties, `[n]`.

    `random` holds the generator's random numbers, `[n, n_random]`.
    """

    def propose(row: Array, label: Array, numbers: Array | None) -> tuple[Array, Array]:
        proposal = generator(make_request(predictor, row, label, constraints), numbers)
        soft = soften(proposal.continuous, proposal.logits, constraints.layout)
        return soft, jnp.asarray(proposal.penalty, soft.dtype)

    axis = None if random is None else 0
    return jax.vmap(propose, in_axes=(0, 0, axis))(x, target, random)


def hard_recourses(
    predictor: Predictor,
    generator: RecourseGenerator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> tuple[Array, Array]:
    """Recourses as compact rows: values `[n, n_continuous]`, categories `[n, n_groups]`.

    `random`, `[n_random]`, is shared by all rows: what a row is told must not depend on the others.
    """

    def propose(row: Array, label: Array) -> tuple[Array, Array]:
        proposal = generator(make_request(predictor, row, label, constraints), random)
        return proposal.continuous, harden(proposal.logits, constraints.layout)

    return jax.vmap(propose)(x, target)
