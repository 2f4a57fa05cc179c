"""Rows through a few lanes: a row that is done leaves its lane to the next one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import available_cores
from rocourse.schema import Rows

Fixed = TypeVar("Fixed")
State = TypeVar("State")

Step = Callable[[Fixed, State], tuple[State, Array]]
"""From what is fixed of each lane's row and its state to its next state and who is done."""


class Size(NamedTuple):
    """A compiled size: rows in a call, at most, and those that move in step."""

    rows: int
    edited: int
    """While edits are made; of each row all edits are asked about."""
    pruned: int
    """While changes are taken back; of each row one change is asked about."""


ALONE = Size(rows=3, edited=1, pruned=1)
"""One by one, edits side by side: what a single applicant takes is not a whole block's time."""
FEW = Size(rows=32, edited=1, pruned=8)
"""What a service is asked for at a time: the edits of one row fill a step, one change of it does
not."""
MANY = Size(rows=512, edited=64, pruned=64)
"""In step: enough to share the cost of a step, few enough for the cache."""

Run = Callable[..., tuple[Array, Array]]


def through_lanes(
    step: Step[Fixed, State], fixed: Fixed, start: State, count: Array, lanes: int
) -> State:
    """Steps each row until it is done.

    What comes of a row does not depend on the rows beside it.

    Args:
        step: What moves all lanes by one step.
        fixed: What stays of each row, arrays `[rows, ...]`.
        start: The state that each row starts from, arrays `[rows, ...]`.
        count: How many of the rows there are; the rest are filling.
        lanes: How many move at a time.
    """
    size = len(jax.tree.leaves(start)[0])

    def load(table: Any, places: Array) -> Any:
        return jax.tree.map(lambda all_: all_[jnp.minimum(places, size - 1)], table)

    def busy(carry: tuple[Any, ...]) -> Array:
        return jnp.any(carry[0] < size)

    def move(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        places, waiting, own, state, results = carry
        state, done = step(own, state)
        done = done & (places < size)
        left = jnp.where(done, places, size)
        results = jax.tree.map(
            lambda all_, mine: all_.at[left].set(mine, mode="drop"), results, state
        )
        after = waiting + jnp.cumsum(done) - 1
        places = jnp.where(done, jnp.where(after < count, after, size), places)

        def refilled(table: Any, held: Any) -> Any:
            def chosen(new: Array, old: Array) -> Array:
                return jnp.where(done.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

            return jax.tree.map(chosen, load(table, places), held)

        waiting = waiting + jnp.sum(done)
        return places, waiting, refilled(fixed, own), refilled(start, state), results

    first = jnp.arange(lanes)
    places = jnp.where(first < count, first, size)
    carry = (places, jnp.int32(lanes), load(fixed, places), load(start, places), start)
    results: State = jax.lax.while_loop(busy, move, carry)[-1]
    return results


def propose_in_lanes(run: Callable[[Size], Run], rows: Rows, *columns: np.ndarray) -> Rows:
    """Proposals for any number of rows, side by side on the cores.

    Args:
        run: Gives compiled code for a size: from how many rows there are, values `[size, C]`,
            categories `[size, K]` and further columns `[size]` to the values and categories
            proposed.
        rows: Any number of rows.
        *columns: What else is known of each, `[n]`.
    """
    n = len(rows)
    if not n:
        return rows
    size = next((size for size in (ALONE, FEW) if n <= size.rows), MANY)
    compiled = run(size)
    # As many calls as fill the cores evenly. For a few rows, threads take longer than they save.
    cores = available_cores() if size is MANY and n > size.pruned else 1
    calls = -(-n // size.rows)
    calls = min(-(-calls // cores) * cores, n)
    parts = np.array_split(np.arange(n), calls)

    def proposals(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        filled = np.zeros(size.rows, int)
        filled[: len(part)] = part
        known = (rows.continuous, rows.categories, *columns)
        outputs = compiled(np.int32(len(part)), *(column[filled] for column in known))
        values, codes = (np.asarray(output)[: len(part)] for output in outputs)
        return values, codes.astype(rows.categories.dtype)

    if len(parts) == 1:
        done = [proposals(parts[0])]
    else:
        # What has to be compiled is compiled before there are threads.
        proposals(parts[0][:0])
        with ThreadPoolExecutor(min(cores, len(parts))) as threads:
            done = list(threads.map(proposals, parts))
    continuous, categories = zip(*done, strict=True)
    return Rows(np.concatenate(continuous), np.concatenate(categories))
