"""Compiled prediction and generation on blocks of a few fixed sizes, and on single rows."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.methods._compilation import OPTIONS, available_cores, own_device, usual_device
from rocourse.methods._recourses import hard_recourses
from rocourse.networks import LEAK, Predictor, RecourseGenerator, probabilities
from rocourse.schema import Layout, RowCodes, Rows
from rocourse.schema.constraints import ConstraintLayer, expand

Run = Callable[..., tuple[Array, ...]]

# Any number of rows runs in blocks of one of these sizes, the last one filled up: at most five
# shapes are ever compiled for a model, and one for a call.
_BLOCK_SIZES = (1, 32, 512, 4096, 16384)
# What is computed at once. The hidden layers of so many rows stay in a core's own cache.
_COLUMNS_AT_ONCE = 512


def predict_probabilities(predictor: Predictor, rows: Rows, layout: Layout) -> np.ndarray:
    """Class probabilities of compact rows, float32 `[n, n_classes]`."""
    bind = partial(bound, _predict, (predictor,), layout)
    (result,) = in_blocks(bind, rows.continuous, rows.categories)
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
    shared = None if random is None else random[:, None]
    bind = partial(bound, _propose, (predictor, generator, constraints, shared))
    wanted = target.astype(np.int32, copy=False)
    continuous, categories = in_blocks(bind, rows.continuous, rows.categories, wanted)
    return Rows(continuous, categories)


def _predict(
    model: tuple[Predictor], layout: Layout, continuous: Array, categories: Array
) -> tuple[Array]:
    (predictor,) = model

    def some(values: Array, codes: Array) -> Array:
        return probabilities(predictor(expand(values, codes, layout)))

    return (_few_at_once(some, continuous.T, categories.T).T,)


def _propose(
    model: tuple[Predictor, RecourseGenerator, ConstraintLayer, Array | None],
    continuous: Array,
    categories: Array,
    target: Array,
) -> tuple[Array, Array]:
    predictor, generator, constraints, random = model

    def some(values: Array, codes: Array, wanted: Array) -> tuple[Array, Array]:
        x = expand(values, codes, constraints.layout)
        values, chosen = hard_recourses(predictor, generator, x, wanted, constraints, random)
        return values, chosen.astype(codes.dtype)

    values, codes = _few_at_once(some, continuous.T, categories.T, target)
    return values.T, codes.T


def _few_at_once(function: Callable[..., Any], *columns: Array) -> Any:
    """Applies a function of columns, `[..., n]`, to a few hundred of them at a time."""
    n = columns[0].shape[-1]
    if n <= _COLUMNS_AT_ONCE:
        return function(*columns)

    def split(array: Array) -> Array:
        parts = array.reshape(*array.shape[:-1], n // _COLUMNS_AT_ONCE, _COLUMNS_AT_ONCE)
        return jnp.moveaxis(parts, -2, 0)

    def join(array: Array) -> Array:
        array = jnp.moveaxis(array, 0, -2)
        return array.reshape(*array.shape[:-2], n)

    parts = jax.lax.map(lambda some: function(*some), tuple(split(array) for array in columns))
    return jax.tree.map(join, parts)


def in_blocks(bind: Callable[..., Run], *columns: np.ndarray) -> list[np.ndarray]:
    """Runs compiled code on arrays of any length, `[n, ...]`, in blocks of one fixed size.

    Blocks run side by side on the cores: each of them uses one.

    Args:
        bind: Takes the `device` and gives the compiled code.
        *columns: The arrays.
    """
    blocks = list(_blocks(len(columns[0])))
    run = bind(device=own_device() if len(blocks) == 1 else usual_device())

    def one(block: tuple[int, int, int]) -> list[np.ndarray]:
        start, stop, size = block
        parts = (column[start:stop] for column in columns)
        outputs = run(*(_filled(part, size) for part in parts))
        return [np.asarray(output)[: stop - start] for output in outputs]

    if len(blocks) == 1:
        parts = [one(blocks[0])]
    else:
        with ThreadPoolExecutor(min(len(blocks), available_cores())) as threads:
            parts = list(threads.map(one, blocks))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _blocks(n: int) -> Iterator[tuple[int, int, int]]:
    size = next((size for size in _BLOCK_SIZES if size >= n), _BLOCK_SIZES[-1])
    for start in range(0, n, size):
        yield start, min(start + size, n), size


def _filled(part: np.ndarray, size: int) -> np.ndarray:
    if len(part) == size:
        return part
    return part[np.resize(np.arange(len(part)), size)]


# Of two classes, the unfavourable one: softmax of (0, z) is the sigmoid of z.
_NO_LOGIT = np.zeros(1, np.float32)

Networks = tuple[Predictor, RecourseGenerator, ConstraintLayer]


class Answer(NamedTuple):
    """What the networks say about one row."""

    predicted: int
    target: int
    proposed: RowCodes


class RowEngine:
    """The networks of one model, ready to be asked about one row at a time."""

    def __init__(self, networks: Networks, layout: Layout) -> None:
        self._layout = layout
        self._answer = bound(_answer, networks, device=own_device())
        self._layers = [
            (np.asarray(layer.weight), np.asarray(layer.bias)) for layer in networks[0].layers
        ]
        self._starts = layout.n_continuous + np.cumsum((0, *layout.group_sizes))[:-1]

    def answer(self, row: RowCodes, wanted: int) -> Answer:
        """Prediction and proposal for a row; -1 wants the other class of two."""
        asked = np.asarray([wanted], np.int32)
        found = np.asarray(self._answer(*self._arrays(row), asked)).tolist()
        cut = 2 + self._layout.n_continuous
        codes = RowCodes(tuple(found[2:cut]), tuple(int(code) for code in found[cut:]))
        return Answer(int(found[0]), int(found[1]), codes)

    def probabilities(self, row: RowCodes) -> np.ndarray:
        """Class probabilities of a row, `[n_classes]`.

        By NumPy: for so few numbers a call of compiled code takes several times as long.
        """
        x = np.zeros(self._layout.width, np.float32)
        x[: len(row.values)] = row.values
        x[self._starts + row.categories] = 1.0
        *hidden, (weight, bias) = self._layers
        for w, b in hidden:
            x = w @ x + b
            x = np.maximum(x, LEAK * x)
        logits = weight @ x + bias
        if len(logits) == 1:
            logits = np.concatenate([_NO_LOGIT, logits])
        raised = np.exp(logits - logits.max())
        shares: np.ndarray = raised / raised.sum()
        return shares

    def _arrays(self, row: RowCodes) -> tuple[np.ndarray, np.ndarray]:
        values = np.asarray(row.values, np.float32).reshape(1, -1)
        return values, np.asarray(row.categories, self._layout.category_dtype).reshape(1, -1)


def _answer(networks: Networks, continuous: Array, categories: Array, wanted: Array) -> Array:
    """All in one vector of float32, since fetching many arrays takes longer than making them."""
    predictor, generator, constraints = networks
    x = expand(continuous.T, categories.T, constraints.layout)
    predicted = jnp.argmax(probabilities(predictor(x)), axis=0)
    target = jnp.where(wanted < 0, 1 - predicted, wanted)
    values, codes = hard_recourses(predictor, generator, x, target, constraints)
    parts = (predicted, target, values[:, 0], codes[:, 0])
    return jnp.concatenate([part.astype(jnp.float32) for part in parts])


# What was bound last, with the networks themselves: while they are held, no other has their id.
_BOUND: OrderedDict[Hashable, tuple[tuple[Any, ...], Callable[..., Any]]] = OrderedDict()
_MOST_BOUND = 16


def bound(
    function: Callable[..., Any], model: Any, *fixed: Hashable, device: jax.Device
) -> Callable[..., Any]:
    """A compiled function with its model given, for one device.

    The last ones are kept: binding a model takes longer than an answer does.
    """
    parts = model if isinstance(model, tuple) else (model,)
    key = (function, tuple(map(id, parts)), fixed, device)
    held = _BOUND.get(key)
    if held is None:
        held = parts, _bind(function, model, *fixed, device=device)
        _BOUND[key] = held
        while len(_BOUND) > _MOST_BOUND:
            # Several threads may do so at a time.
            with suppress(KeyError):
                _BOUND.popitem(last=False)
    return held[1]


def _bind(
    function: Callable[..., Any], model: Any, *fixed: Hashable, device: jax.Device
) -> Callable[..., Any]:
    """Takes the model's arrays apart from its structure, once for many calls."""
    arrays, arrays_tree = jax.tree.flatten(eqx.filter(model, eqx.is_array))
    rest, rest_tree = jax.tree.flatten(eqx.filter(model, eqx.is_array, inverse=True))
    run = _compiled(function, arrays_tree, tuple(rest), rest_tree, fixed)
    return partial(run, jax.device_put(arrays, device))


# Models of one structure share the compiled function.
@lru_cache(maxsize=256)
def _compiled(
    function: Callable[..., Any],
    arrays_tree: Any,
    rest: tuple[Hashable, ...],
    rest_tree: Any,
    fixed: tuple[Hashable, ...],
) -> Callable[..., Any]:
    def run(arrays: list[Array], *data: Array) -> Any:
        model = eqx.combine(
            jax.tree.unflatten(arrays_tree, arrays), jax.tree.unflatten(rest_tree, rest)
        )
        return function(model, *fixed, *data)

    return jax.jit(run, compiler_options=OPTIONS)
