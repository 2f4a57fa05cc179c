"""A jury beside a model that is given: the model itself is asked, and so are refits of it."""

import warnings
from functools import cache, partial

import numpy as np
from jax import Array
from scipy.stats import norm
from threadpoolctl import ThreadpoolController

from rocourse.models import (
    HasNetwork,
    Refittable,
    Shift,
    TrainingRows,
    bound,
    few_at_once,
    in_blocks,
    move_model,
)
from rocourse.models.jurors import refit_shifted
from rocourse.recourse._proposer import Context
from rocourse.recourse.jury._standing import Jury, standing
from rocourse.recourse.jury._task import Grid
from rocourse.recourse.search import Asked, Edits, Space, Ways, complete, cut_back
from rocourse.schema import Layout, Rows, compact, one_hot
from rocourse.schema.constraints import ConstraintLayer, expand

MEMBERS = 6
"""Refits that recourses have to convince."""


def asked_model(context: Context, data: TrainingRows, shift: Shift, seed: int) -> Asked | None:
    """The model that is given, with its refits on shifted rows; None for networks.

    Args:
        context: With the model.
        data: The training rows.
        shift: How far they may shift.
        seed: Decides the shifts.
    """
    if isinstance(context.trained, HasNetwork):
        return None
    model = context.trained
    if not isinstance(model, Refittable) or not (model.members or model.can_be_refitted):
        warnings.warn(
            "The model cannot be fitted again here, so promises rest on networks that imitate it; "
            "say how with adapt(model, schema, refit=function of (X, y, seed)), or give refits of "
            "yours as members=[...].",
            stacklevel=2,
        )
        return Asked(context.model, ())
    if model.members:
        moved = tuple(move_model(member, context.cut_off) for member in model.members)
        return Asked(context.model, moved)
    return Asked(context.model, refit_shifted(model, data, shift, count=MEMBERS, seed=seed))


def convince(
    asked: Asked,
    jury: Jury,
    edits: Edits,
    grid: Grid,
    level: np.ndarray,
    rows: Rows,
    proposed: Rows,
    target: np.ndarray,
    space: Space,
    *,
    max_changes: int,
    closed: np.ndarray | None = None,
) -> Rows:
    """What was proposed, completed until the model and its refits are sure, and cut back.

    Args:
        asked: The model and its refits.
        jury: Who is not to become less sure.
        edits: What may be done.
        grid: Where numbers may stop on their way back.
        level: The standard deviations by which all have to lead, of each row one.
        rows: The rows to change.
        proposed: What they may become.
        target: The class index wanted for each.
        space: What the rows may become at all.
        max_changes: The most edits of a row.
        closed: What is closed to each row, bool `[n, width]`; None: nothing.
    """
    layout = space.layout
    row, x = one_hot(rows, layout), one_hot(proposed, layout)
    bind = partial(bound, _limits_of, (space.constraints,), layout)
    low, high, allowed = in_blocks(bind, rows.continuous, rows.categories)
    cut, actions = layout.n_continuous, space.constraints.actions
    if closed is not None:
        numbers, shut = closed[:, :cut], closed[:, cut:]
        low, high = np.where(numbers, row[:, :cut], low), np.where(numbers, row[:, :cut], high)
        allowed = allowed & ~shut
    # What follows others, and sums, are seen to when proposals are settled.
    most = None if actions is None else int(actions.max_features)
    stops = np.asarray(grid.step), np.asarray(grid.first)
    ways = Ways(edits, *stops, low, high, allowed, layout, most)

    def families(x: np.ndarray, target: np.ndarray) -> np.ndarray:
        return standings(jury, compact(x, layout), target, layout)[1:]

    # Calls are many and small: several threads would mostly wait for each other.
    with _pools().limit(limits=1):
        x = complete(asked, ways, row, x, target, level, max_changes=max_changes)
        return compact(cut_back(asked, families, ways, row, x, target, level), layout)


@cache
def _pools() -> ThreadpoolController:
    """Finding the pools takes longer than a search."""
    return ThreadpoolController()


def asked_chance(asked: Asked, rows: Rows, target: np.ndarray, layout: Layout) -> np.ndarray:
    """The share of refits that keep rows, were leads normal, `[n]`."""
    chance: np.ndarray = norm.cdf(asked.sureness(one_hot(rows, layout), target))
    return chance


def standings(jury: Jury, rows: Rows, target: np.ndarray, layout: Layout) -> np.ndarray:
    """As `standing`, of compact rows: `[4, n]`."""
    bind = partial(bound, _standing_of, (jury,), layout)
    (found,) = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return found.T


def _limits_of(
    constraints: tuple[ConstraintLayer], layout: Layout, continuous: Array, categories: Array
) -> tuple[Array, ...]:
    limits = constraints[0].limits(expand(continuous.T, categories.T, layout))
    return limits.low.T, limits.high.T, limits.allowed.T


def _standing_of(
    jury: tuple[Jury], layout: Layout, continuous: Array, categories: Array, target: Array
) -> tuple[Array]:
    def some(values: Array, codes: Array, wanted: Array) -> Array:
        return standing(jury[0], expand(values, codes, layout), wanted)

    return (few_at_once(some, continuous.T, categories.T, target).T,)
