"""Compiled prediction and generation on blocks of a few fixed sizes."""

from collections.abc import Callable, Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.methods._recourses import hard_recourses
from rocourse.networks import Predictor, RecourseGenerator, probabilities
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import ConstraintLayer, expand

# Any number of rows runs in blocks of these sizes, the last one filled up: at most four shapes are
# ever compiled for a model.
_BLOCK_SIZES = (1, 32, 512, 4096)


def predict_probabilities(predictor: Predictor, rows: Rows, layout: Layout) -> np.ndarray:
    """Class probabilities of compact rows, float32 `[n, n_classes]`."""

    def run(continuous: Array, categories: Array) -> tuple[Array]:
        return (_predict(predictor, continuous, categories, layout),)

    (result,) = in_blocks(run, rows.continuous, rows.categories)
    return result


def propose_rows(
    predictor: Predictor,
    generator: RecourseGenerator,
    rows: Rows,
    target: np.ndarray,
    constraints: ConstraintLayer,
    random: Array | None = None,
) -> Rows:
    """What the generator asks of each row for its target class, as compact rows.

    `random`, `[n_random]`, makes it draw; None asks for the most likely proposals.
    """

    def run(continuous: Array, categories: Array, wanted: Array) -> tuple[Array, Array]:
        return _propose(predictor, generator, continuous, categories, wanted, constraints, random)

    continuous, categories = in_blocks(run, rows.continuous, rows.categories, target)
    return Rows(continuous, categories.astype(rows.categories.dtype))


@eqx.filter_jit
def _predict(predictor: Predictor, continuous: Array, categories: Array, layout: Layout) -> Array:
    def one(values: Array, codes: Array) -> Array:
        return probabilities(predictor(expand(values, codes, layout)))

    return jax.vmap(one)(continuous, categories)


@eqx.filter_jit
def _propose(
    predictor: Predictor,
    generator: RecourseGenerator,
    continuous: Array,
    categories: Array,
    target: Array,
    constraints: ConstraintLayer,
    random: Array | None,
) -> tuple[Array, Array]:
    x = jax.vmap(lambda c, k: expand(c, k, constraints.layout))(continuous, categories)
    return hard_recourses(predictor, generator, x, target, constraints, random)


def in_blocks(run: Callable[..., tuple[Array, ...]], *columns: np.ndarray) -> list[np.ndarray]:
    """Runs compiled code on arrays of any length, `[n, ...]`, in blocks of a few fixed sizes."""
    parts = []
    for start, stop, size in _blocks(len(columns[0])):
        indices = np.resize(np.arange(start, stop), size)
        outputs = run(*(jnp.asarray(column[indices]) for column in columns))
        parts.append([np.asarray(output)[: stop - start] for output in outputs])
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _blocks(n: int) -> Iterator[tuple[int, int, int]]:
    largest = _BLOCK_SIZES[-1]
    for start in range(0, n, largest):
        stop = min(start + largest, n)
        yield start, stop, next(size for size in _BLOCK_SIZES if size >= stop - start)
