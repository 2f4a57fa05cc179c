"""Compiled code, with a model bound to it, on any number of rows: blocks of a few fixed sizes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models._compilation import OPTIONS, available_cores, own_device, usual_device

Run = Callable[..., tuple[Array, ...]]

# Any number of rows runs in blocks of one of these sizes, the last one filled up: at most five
# shapes are ever compiled for a model, and one for a call.
_BLOCK_SIZES = (1, 32, 512, 4096, 16384)
# What is computed at once. The hidden layers of so many rows stay in a core's own cache.
_COLUMNS_AT_ONCE = 512
# What a call takes besides, in rows.
_CALL = 32


def few_at_once(function: Callable[..., Any], *columns: Array) -> Any:
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
    if n > _COLUMNS_AT_ONCE:
        # Several small blocks are less work than large ones of which the last is mostly filling.
        large = [size for size in _BLOCK_SIZES if size >= _COLUMNS_AT_ONCE]
        size = min(large, key=lambda size: -(-n // size) * (size + _CALL))
    for start in range(0, n, size):
        yield start, min(start + size, n), size


def _filled(part: np.ndarray, size: int) -> np.ndarray:
    if len(part) == size:
        return part
    return part[np.resize(np.arange(len(part)), size)]


# What was bound last, with the networks themselves: while they are held, no other has their id.
_BOUND: OrderedDict[Hashable, tuple[tuple[Any, ...], Callable[..., Any]]] = OrderedDict()
_MOST_BOUND = 16


def bound(
    function: Callable[..., Any],
    model: Any,
    *fixed: Hashable,
    device: jax.Device,
    prepare: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A compiled function with its model given, for one device.

    The last ones are kept: binding a model takes longer than an answer does.

    Args:
        function: Takes the model, what is fixed, and arrays.
        model: What has arrays of its own; a tuple of such things is known by its parts.
        *fixed: What is compiled in.
        device: Where it runs.
        prepare: From the parts to the model that the function takes; None: as it is.
    """
    parts = model if isinstance(model, tuple) else (model,)
    key = (function, prepare, tuple(map(id, parts)), fixed, device)
    held = _BOUND.get(key)
    if held is None:
        ready = model if prepare is None else prepare(*parts)
        held = parts, _bind(function, ready, *fixed, device=device)
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
