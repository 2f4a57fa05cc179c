"""What a single edit can put in the place of a change: the best few, asked about at once."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import available_cores, bound, own_device
from rocourse.recourse.jury._search import known_of, listed_edits
from rocourse.recourse.jury._standing import Jury
from rocourse.recourse.jury._task import Grid, Task, task_of
from rocourse.recourse.search import Edits, Space, begun, edited, owned_columns
from rocourse.schema import Rows
from rocourse.schema.constraints import expand, harden

# Rows that are asked about at once: what all edits make of them stays in a core's cache.
_AT_ONCE = 64
# Up to here one by one: a few applicants do not take a whole block's time.
_FEW = 16


def jury_swaps(
    jury: Jury,
    edits: Edits,
    grid: Grid,
    level: np.ndarray,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    closed: np.ndarray,
    starts: Rows,
) -> list[tuple[np.ndarray, Rows]]:
    """The starts with one edit each, the best first, where the model is content with it.

    Args:
        jury: Whom to convince.
        edits: What may be done.
        grid: Where numbers may stop.
        level: The standard deviations by which all have to lead, of each row one.
        rows: The rows, at least one, that the starts come from.
        target: The class index wanted for each.
        space: What the rows may become.
        closed: What is closed to each row, bool `[n, width]`.
        starts: Where the edit is made.

    Returns:
        Several times: which rows, and what they become.
    """
    parts = (jury, edits, grid, space.constraints)
    columns = (
        rows.continuous,
        rows.categories,
        target.astype(np.int32),
        level.astype(np.float32),
        closed,
        starts.continuous,
        starts.categories,
    )
    size = 1 if len(rows) <= _FEW else _AT_ONCE
    ask = bound(_swaps, parts, device=own_device(), prepare=task_of)

    def block(start: int) -> tuple[np.ndarray, ...]:
        where = np.arange(start, min(start + size, len(rows)))
        found = ask(*(column[np.resize(where, size)] for column in columns))
        return tuple(np.asarray(part)[: len(where)] for part in found)

    blocks = range(0, len(rows), size)
    if len(blocks) > 1 and size > 1:
        # What has to be compiled is compiled before there are threads.
        first = block(0)
        with ThreadPoolExecutor(available_cores()) as threads:
            found = [first, *threads.map(block, blocks[1:])]
    else:
        found = [block(start) for start in blocks]
    content, values, codes = (np.concatenate(part) for part in zip(*found, strict=True))
    own = [np.flatnonzero(some) for some in content.T]
    dtype = rows.categories.dtype
    return [
        (some, Rows(values[some, k], codes[some, k].astype(dtype)))
        for k, some in enumerate(own)
        if len(some)
    ]


def _swaps(
    task: Task,
    continuous: Array,
    categories: Array,
    target: Array,
    level: Array,
    closed: Array,
    start_values: Array,
    start_codes: Array,
) -> tuple[Array, Array, Array]:
    task = Task(*task)
    layout = task.layout
    row = expand(continuous.T, categories.T, layout)
    actions = task.constraints.actions
    start = begun(actions, row, layout, start_values, start_codes)
    found = listed_edits(start.T, known_of(task, row, target, level, closed), task)
    content = jnp.isfinite(found.rates) & (found.standings[0] > 0.0).T
    owned = owned_columns(layout)

    def made(place: Array) -> tuple[Array, Array]:
        x = edited(start, place, task.edits, owned)
        if actions is not None:
            x = actions.moved(x, row)
        return x[: layout.n_continuous].T, harden(x[layout.n_continuous :], layout).T

    values, codes = jax.vmap(made, in_axes=1, out_axes=1)(found.places)
    return content, values, codes
