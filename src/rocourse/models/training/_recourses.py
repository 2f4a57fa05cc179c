"""From encoded rows, as columns, to what a generator proposes for them."""

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks import Predictor, Proposal, RecourseGenerator, Request, takes_columns
from rocourse.schema.constraints import ConstraintLayer, harden, soften


def predict_classes(predictor: Predictor, x: Array) -> Array:
    """The class index each encoded column is given, `[n]`."""
    logits = predictor(x)
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
) -> Proposal:
    """Asks the generator about each encoded column of `[width, n]`.

    `random` holds random numbers, as columns `[n_random, n]`, or the same for all, `[n_random, 1]`.
    """
    z, p = predictor.embed(x)
    wanted = jax.nn.one_hot(target, predictor.n_classes, axis=0)
    request = Request(x, wanted, z, p, constraints.limits(x))
    if random is not None:
        random = jnp.broadcast_to(random, (len(random), x.shape[1]))
    if takes_columns(generator):
        proposal = generator(request, random)
    else:
        proposal = jax.vmap(generator, in_axes=-1, out_axes=-1)(request, random)
    return proposal._replace(penalty=jnp.broadcast_to(proposal.penalty, target.shape))


def soft_recourses(
    predictor: Predictor,
    generator: RecourseGenerator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> tuple[Array, Array]:
    """Recourses with softmax categories, `[width, n]`, and the proposals' penalties, `[n]`."""
    proposal = propose_all(predictor, generator, x, target, constraints, random)
    soft = soften(proposal.continuous, proposal.logits, constraints.layout)
    return soft, jnp.asarray(proposal.penalty, soft.dtype)


def hard_recourses(
    predictor: Predictor,
    generator: RecourseGenerator,
    x: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> tuple[Array, Array]:
    """Recourses as compact columns: values `[n_continuous, n]`, categories `[n_groups, n]`."""
    proposal = propose_all(predictor, generator, x, target, constraints, random)
    return proposal.continuous, harden(proposal.logits, constraints.layout)
