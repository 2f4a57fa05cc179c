"""Any number of rows through functions that are compiled for a few block sizes."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import available_cores
from rocourse.options import Options
from rocourse.schema import Rows

LANES = 32
"""Rows that a search moves in step: enough to share the cost of a step, few enough for the cache.

Always as many, filled up if need be: a row goes through the same code, and gets the same answer to
the last digit, whether it comes alone or among others.
"""


class Query(NamedTuple):
    """Compact rows, and the class wanted for each."""

    continuous: Array
    """`[n, C]`."""
    categories: Array
    """`[n, K]`."""
    target: Array
    """Class indices, `[n]`."""

    @classmethod
    def of(cls, *columns: np.ndarray) -> "Query":
        """The query of one block, as `propose_in_blocks` hands it out."""
        return cls(*map(jnp.asarray, columns))


Columns = TypeVar("Columns")
Settings = TypeVar("Settings")


Run = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Array, Array]]


def propose_in_blocks(
    run: Run,
    rows: Rows,
    target: np.ndarray,
    *,
    sizes: Sequence[int] = (LANES,),
    side_by_side: bool = False,
) -> Rows:
    """Proposals for all rows, block by block.

    Args:
        run: From values `[size, C]`, categories `[size, K]` and targets `[size]` to the values and
            categories proposed.
        rows: Any number of rows.
        target: The class index wanted for each.
        sizes: The sizes of block that may be asked for, ascending.
        side_by_side: Whether blocks may run on several cores at once: compiled code may, a model of
            the user's need not bear it.
    """
    target = np.asarray(target, dtype=np.int32)

    def proposals(start: int) -> tuple[np.ndarray, np.ndarray]:
        stop = min(start + sizes[-1], len(rows))
        size = next(size for size in sizes if size >= stop - start)
        filled = np.resize(np.arange(start, stop), size)
        outputs = run(rows.continuous[filled], rows.categories[filled], target[filled])
        values, codes = (np.asarray(output)[: stop - start] for output in outputs)
        return values, codes.astype(rows.categories.dtype)

    starts = range(0, len(rows), sizes[-1])
    threads = min(available_cores(), len(starts) - 1) if side_by_side else 1
    if threads < 2:
        parts = [proposals(start) for start in starts]
    else:
        # One block by itself: what has to be compiled is compiled before there are threads.
        first = proposals(starts[0])
        with ThreadPoolExecutor(threads) as pool:
            parts = [first, *pool.map(proposals, starts[1:])]
    nothing = rows.continuous[:0], rows.categories[:0]
    continuous, categories = zip(nothing, *parts, strict=True)
    return Rows(np.concatenate(continuous), np.concatenate(categories))


def fill_lanes(columns: Columns) -> Columns:
    """Columns of at most `LANES` rows, filled up to as many by repeating rows."""
    return jax.tree.map(  # type: ignore[no-any-return]
        lambda column: column[np.resize(np.arange(len(column)), LANES)], columns
    )


def traced(settings: Settings) -> Settings:
    """Settings whose floats are values of the compiled code, so that tuning compiles nothing."""

    def trace(value: Any) -> Any:
        return jnp.float32(value) if isinstance(value, float) else value

    return jax.tree.map(trace, settings)  # type: ignore[no-any-return]


def settings_of(kind: type[Settings], options: Options) -> Settings:
    """What the options say, as settings of compiled code: numbers are floats where they must be."""
    fields: dict[str, Any] = kind.__annotations__
    said = {name: value for name, value in options.get_params(deep=False).items() if name in fields}
    return kind(
        **{name: float(said[name]) if fields[name] is float else said[name] for name in said}
    )
