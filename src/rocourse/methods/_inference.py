"""Compiled prediction and generation on blocks of a few fixed sizes."""

from collections.abc import Callable, Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.methods._step import hard_recourses
from rocourse.networks import Generator, Predictor, probabilities
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import ConstraintLayer, expand

# Any number of rows runs in blocks of these sizes, the last one filled up: at most four shapes are
# ever compiled for a model.
_BLOCK_SIZES = (1, 32, 512, 4096)


def predict_probabilities(predictor: Predictor, rows: Rows, layout: Layout) -> np.ndarray:
    """Class probabilities of compact rows, float32 `[n, n_classes]`."""

    def run(continuous: Array, categories: Array, _: Array) -> tuple[Array]:
        return (_predict(predictor, continuous, categories, layout),)

    (result,) = _in_blocks(run, rows, np.zeros(len(rows), np.int32))
    return result


def propose_rows(
    predictor: Predictor,
    generator: Generator,
    rows: Rows,
    target: np.ndarray,
    constraints: ConstraintLayer,
) -> Rows:
    """What the generator asks of each row for its target class, as compact rows."""

    def run(continuous: Array, categories: Array, wanted: Array) -> tuple[Array, Array]:
        return _propose(predictor, generator, continuous, categories, wanted, constraints)

    continuous, categories = _in_blocks(run, rows, target)
    return Rows(continuous, categories.astype(rows.categories.dtype))


@eqx.filter_jit
def _predict(predictor: Predictor, continuous: Array, categories: Array, layout: Layout) -> Array:
    def one(values: Array, codes: Array) -> Array:
        return probabilities(predictor(expand(values, codes, layout)))

    return jax.vmap(one)(continuous, categories)


@eqx.filter_jit
def _propose(
    predictor: Predictor,
    generator: Generator,
    continuous: Array,
    categories: Array,
    target: Array,
    constraints: ConstraintLayer,
) -> tuple[Array, Array]:
    x = jax.vmap(lambda c, k: expand(c, k, constraints.layout))(continuous, categories)
    return hard_recourses(predictor, generator, x, target, constraints)


def _in_blocks(
    run: Callable[[Array, Array, Array], tuple[Array, ...]], rows: Rows, target: np.ndarray
) -> list[np.ndarray]:
    parts = []
    for start, stop, size in _blocks(len(rows)):
        indices = np.resize(np.arange(start, stop), size)
        block = (rows.continuous[indices], rows.categories[indices], target[indices])
        outputs = run(*(jnp.asarray(part) for part in block))
        parts.append([np.asarray(output)[: stop - start] for output in outputs])
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _blocks(n: int) -> Iterator[tuple[int, int, int]]:
    largest = _BLOCK_SIZES[-1]
    for start in range(0, n, largest):
        stop = min(start + largest, n)
        yield start, stop, next(size for size in _BLOCK_SIZES if size >= stop - start)
