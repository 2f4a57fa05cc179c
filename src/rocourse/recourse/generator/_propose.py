"""What a trained generator asks of rows, compiled, and how one is trained for a model."""

from functools import partial

import jax
import numpy as np
from jax import Array

from rocourse.errors import ConfigError
from rocourse.models import TrainingRows, bound, few_at_once, in_blocks
from rocourse.models.training import (
    GeneratorTask,
    TrainingPlan,
    build_generator,
    hard_recourses,
    train,
)
from rocourse.networks import GeneratorBuilder, Predictor, RecourseGenerator
from rocourse.recourse._proposer import Context, Fitting
from rocourse.schema import Rows
from rocourse.schema.constraints import ConstraintLayer, expand


def train_generator(
    context: Context,
    data: TrainingRows,
    fitting: Fitting,
    task: GeneratorTask,
    *,
    epochs: int,
    learning_rate: float | None,
) -> RecourseGenerator:
    """Trains a generator for a model that stays as it is."""
    changes = {} if learning_rate is None else {"learning_rate": learning_rate}
    plan = TrainingPlan("generator", fitting.trainer(epochs=epochs, **changes), task)
    trained = train(
        data, plan, seed=context.seed, predictor=network_of(context), history=fitting.history
    )
    assert trained.generator is not None  # the plan has one
    return trained.generator


def untrained_generator(context: Context, build: GeneratorBuilder) -> RecourseGenerator:
    """A generator of the right shapes, for weights to be filled in."""
    network = network_of(context)
    return build_generator(network, context.schema.layout, build, key=jax.random.key(0))


def network_of(context: Context) -> Predictor:
    """The network that a generator sees through."""
    if context.network is None:
        raise ConfigError(
            "A generator must have a network to learn through, but the model has none; fit the "
            "method anew, so that one is trained for it."
        )
    return context.network


def propose_rows(
    network: Predictor,
    generator: RecourseGenerator,
    rows: Rows,
    target: np.ndarray,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> Rows:
    """What the generator asks of each row for its target class, as compact rows.

    `random`, `[n_random]`, makes it draw; None asks for the most likely proposals.
    """
    shared = None if random is None else random[:, None]
    bind = partial(bound, _propose, (network, generator, constraints, shared))
    wanted = target.astype(np.int32, copy=False)
    continuous, categories = in_blocks(bind, rows.continuous, rows.categories, wanted)
    return Rows(continuous, categories)


def _propose(
    model: tuple[Predictor, RecourseGenerator, ConstraintLayer, Array | None],
    continuous: Array,
    categories: Array,
    target: Array,
) -> tuple[Array, Array]:
    network, generator, constraints, random = model

    def some(values: Array, codes: Array, wanted: Array) -> tuple[Array, Array]:
        x = expand(values, codes, constraints.layout)
        values, chosen = hard_recourses(network, generator, x, wanted, constraints, random)
        return values, chosen.astype(codes.dtype)

    values, codes = few_at_once(some, continuous.T, categories.T, target)
    return values.T, codes.T
