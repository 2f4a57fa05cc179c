"""What a single edit can put in the place of a change: of other features, or of the same."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import available_cores, bound, own_device
from rocourse.recourse._proposer import Swaps
from rocourse.recourse.jury._search import Told, known_of, listed_edits, told_of_edits
from rocourse.recourse.jury._standing import Jury
from rocourse.recourse.jury._task import Task, task_of
from rocourse.recourse.search import Edits, Grid, Space, begun, edited, owned_columns
from rocourse.schema import Rows
from rocourse.schema.constraints import expand, harden

# Rows that are asked about at once: what all edits make of them stays in a core's cache.
_AT_ONCE = 64
# Up to here one by one: a few applicants do not take a whole block's time.
_FEW = 16
# Other features that may take the place of a change, each by its best edit, and further values of
# the same feature.
_OTHER_FEATURES, _OTHER_VALUES = 5, 3
# Features that together may take the place of a change.
_TOGETHER = 3


def jury_swaps(
    jury: Jury,
    edits: Edits,
    grid: Grid,
    level: np.ndarray,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    closed: np.ndarray,
    feature: np.ndarray,
    starts: Rows,
) -> Swaps:
    """The starts with one edit each, where the model is content with it.

    Edits of other features come first, of each feature one: options that differ in what they ask
    for are worth more than shades of one.

    Args:
        jury: Whom to convince.
        edits: What may be done.
        grid: Where numbers may stop.
        level: The standard deviations by which all have to lead, of each row one.
        rows: The rows, at least one, that the starts come from.
        target: The class index wanted for each.
        space: What the rows may become.
        closed: What is closed to each row, bool `[n, width]`.
        feature: The one whose change is to be done without, of each row.
        starts: Where the edit is made.
    """
    parts = (jury, edits, grid, space.constraints)
    columns = (
        rows.continuous,
        rows.categories,
        target.astype(np.int32),
        level.astype(np.float32),
        closed,
        feature.astype(np.int32),
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
    content, values, codes, alone, hopeful, *begin = (
        np.concatenate(part) for part in zip(*found, strict=True)
    )
    own = [np.flatnonzero(some) for some in content.T]
    dtype = rows.categories.dtype
    made = [
        (some, Rows(values[some, k], codes[some, k].astype(dtype)))
        for k, some in enumerate(own)
        if len(some)
    ]
    return Swaps(made, alone, hopeful, Rows(begin[0], begin[1].astype(dtype)))


def _swaps(
    task: Task,
    continuous: Array,
    categories: Array,
    target: Array,
    level: Array,
    closed: Array,
    feature: Array,
    start_values: Array,
    start_codes: Array,
) -> tuple[Array, ...]:
    task = Task(*task)
    layout = task.layout
    row = expand(continuous.T, categories.T, layout)
    actions = task.constraints.actions
    start = begun(actions, row, layout, start_values, start_codes)
    known = known_of(task, row, target, level, closed)
    told = told_of_edits(start.T, known, task)
    found = listed_edits(told, _places(told, level, feature, task), known, task)
    content = jnp.isfinite(found.rates) & (found.standings[0] > 0.0).T
    whose = jnp.asarray(task.edits.feature)[found.places]
    # Where there are too few, others are listed: of the feature itself they come last.
    last = jnp.arange(whose.shape[1]) >= whose.shape[1] - _OTHER_VALUES
    content &= (whose == feature[:, None]) == last
    owned = owned_columns(layout)

    def made(place: Array) -> tuple[Array, Array]:
        x = edited(start, place, task.edits, owned)
        if actions is not None:
            x = actions.moved(x, row)
        return x[: layout.n_continuous].T, harden(x[layout.n_continuous :], layout).T

    values, codes = jax.vmap(made, in_axes=1, out_axes=1)(found.places)
    # The model may be content without the change, if less surely.
    content = jnp.concatenate([content, told.here[:1].T > 0.0], axis=1)
    cut = layout.n_continuous
    values = jnp.concatenate([values, start[:cut].T[:, None]], axis=1)
    codes = jnp.concatenate([codes, harden(start[cut:], layout).T[:, None]], axis=1)
    alone, hopeful, first = _further(told, start, row, feature, task)
    return content, values, codes, alone, hopeful, *made(first)


def _places(told: Told, level: Array, feature: Array, task: Task) -> Array:
    """The best edit of each of some other features, then the best of the same, `[n, listed]`.

    Best is the cheapest that makes all but the trees sure; else what gains most for its price, the
    model's consent first.
    """
    content, sure = told.standings[0] > 0.0, jnp.all(told.standings >= level, axis=0)
    rate = told.gains / told.price
    # Three classes one above the other, and no two edits alike: of each feature one is the best.
    worth = 0.5 + 0.5 * rate / (1.0 + jnp.abs(rate)) + content
    worth = jnp.where(sure, 2.0 + 1.0 / (1.0 + told.price), worth)
    worth = worth - 1e-6 * np.arange(len(worth), dtype=np.float32)[:, None]
    worth = jnp.where(told.usable, worth, -jnp.inf)
    whose = jnp.asarray(task.edits.feature)
    best = (worth >= _most_of_features(worth, task)[whose]) & (whose[:, None] != feature)
    same = jnp.where(whose[:, None] == feature, worth, -jnp.inf)
    listed = [
        jax.lax.top_k(some.T, min(count, len(worth)))[1]
        for some, count in (
            (jnp.where(best, worth, -jnp.inf), _OTHER_FEATURES),
            (same, _OTHER_VALUES),
        )
    ]
    return jnp.concatenate(listed, axis=1)


def _further(
    told: Told, start: Array, row: Array, feature: Array, task: Task
) -> tuple[Array, Array, Array]:
    """Which features can take the place of the given alone, it included; whether others might.

    Others might if the model is brought round by the sum of what the best few of them do to it.

    Returns:
        The features, `[n, features]`; whether others might, and the edit of others to begin with.
    """
    owned = owned_columns(task.layout)
    best = _most_of_features(jnp.where(told.usable, told.standings[0], -jnp.inf), task)
    changed = owned @ jnp.abs(start - row) > 0.0
    alone = ((best > 0.0) & ~changed) | (np.arange(len(owned))[:, None] == feature)
    lead = told.here[0]
    gains = jnp.where(alone, 0.0, jnp.maximum(best - lead, 0.0))
    most, _ = jax.lax.top_k(gains.T, min(_TOGETHER, len(owned)))
    others = ~alone[jnp.asarray(task.edits.feature)]
    first = jnp.argmax(jnp.where(others, told.rates, -jnp.inf), axis=0)
    return alone.T, (lead <= 0.0) & (lead + jnp.sum(most, axis=1) > 0.0), first


def _most_of_features(values: Array, task: Task) -> Array:
    """The greatest value of each feature's edits, `[edits, n]` to `[features, n]`."""
    whose = jnp.asarray(task.edits.feature)[:, None]
    features = np.arange(len(owned_columns(task.layout)))
    return jax.vmap(lambda one: jnp.max(jnp.where(whose == one, values, -jnp.inf), axis=0))(
        features
    )
