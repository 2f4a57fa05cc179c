"""From encoded rows to what a generator proposes for them."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks import Predictor, Proposal, RecourseGenerator, Request
from rocourse.schema.constraints import ConstraintLayer, harden, soften

Finished = TypeVar("Finished")


def predict_classes(predictor: Predictor, x: Array) -> Array:
    """The class index each encoded row is given, `[n]`."""
    logits = predictor(x.T)
    if logits.shape[0] == 1:
        return (logits[0] > 0.0).astype(jnp.int32)
    return jnp.argmax(logits, axis=0).astype(jnp.int32)


def choose_targets(predictor: Predictor, x: Array, *, key: Array) -> Array:
    """The class to train each row's recourse for: the other of two, any other of many."""
    predicted = predict_classes(predictor, x)
    if predictor.n_classes == 2:
        return 1 - predicted
    step = jax.random.randint(key, predicted.shape, 1, predictor.n_classes)
    return (predicted + step) % predictor.n_classes


def propose_all(
    predictor: Predictor,
    generator: RecourseGenerator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None,
    finish: Callable[[Proposal], Finished],
) -> Finished:
    """Asks the generator about each encoded row, `[n, width]`, and finishes what it proposes.

    `random` holds random numbers for each row, `[n, n_random]`, for all alike, `[n_random]`, or
    none.
    """
    z, p = predictor.embed(x.T)

    def ask(row: Array, label: Array, z: Array, p: Array, numbers: Array | None) -> Finished:
        wanted = jax.nn.one_hot(label, predictor.n_classes)
        request = Request(row, wanted, z, p, constraints.limits(row))
        return finish(generator(request, numbers))

    own = 0 if random is not None and random.ndim == 2 else None
    return jax.vmap(ask, in_axes=(0, 0, 1, 1, own))(x, target, z, p, random)


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

    def soft(proposal: Proposal) -> tuple[Array, Array]:
        row = soften(proposal.continuous, proposal.logits, constraints.layout)
        return row, jnp.asarray(proposal.penalty, row.dtype)

    return propose_all(predictor, generator, x, target, constraints, random, soft)


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

    def hard(proposal: Proposal) -> tuple[Array, Array]:
        return proposal.continuous, harden(proposal.logits, constraints.layout)

    return propose_all(predictor, generator, x, target, constraints, random, hard)
