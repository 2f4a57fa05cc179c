"""Recourses for a model that is given: the model itself is asked, and so are refits of it."""

import warnings
from functools import cache, partial

import numpy as np
from jax import Array
from threadpoolctl import ThreadpoolController

from rocourse.models import (
    BatchModel,
    Refittable,
    Shift,
    TrainingRows,
    bound,
    has_network,
    in_blocks,
    move_model,
)
from rocourse.models.jurors import refit_shifted
from rocourse.recourse._proposer import Context
from rocourse.recourse.search import (
    Asked,
    Edits,
    Families,
    Grid,
    Space,
    Ways,
    complete,
    cut_back,
    usual_stops,
)
from rocourse.schema import Layout, Rows, compact, one_hot
from rocourse.schema.constraints import ConstraintLayer, expand

MEMBERS = 6
"""Refits that recourses have to convince."""


def has_refits(model: BatchModel) -> bool:
    """Whether a model is given and can be fitted again, or comes with refits."""
    if has_network(model) or not isinstance(model, Refittable):
        return False
    return bool(model.members) or model.can_be_refitted


def refits_of(
    context: Context, data: TrainingRows, shift: Shift, seed: int, *, count: int = MEMBERS
) -> tuple[BatchModel, ...]:
    """Refits of the model that is given on shifted rows, or those that its owner has.

    Where there are none, a warning says so, and what is fitted rests on networks that imitate it.

    Args:
        context: With the model.
        data: The training rows.
        shift: How far they may shift.
        seed: Decides the shifts.
        count: How many refits.
    """
    model = context.trained
    if not has_refits(model):
        warnings.warn(
            "The model cannot be fitted again here, so recourses and promises rest on networks "
            "that imitate it; say how with adapt(model, schema, refit=function of (X, y, seed)), "
            "or give refits of yours as members=[...].",
            stacklevel=2,
        )
        return ()
    assert isinstance(model, Refittable)
    if model.members:
        return tuple(move_model(member, context.cut_off) for member in model.members)
    return refit_shifted(model, data, shift, count=count, seed=seed)


def convince(
    asked: Asked,
    families: Families,
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
        families: Who else is not to become less sure.
        edits: What may be done.
        grid: Where numbers may stop on their way back.
        level: How sure all have to be, of each row one.
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
    ranges = (grid.step, grid.first, edits.low, edits.high, space.step)
    stops = usual_stops(asked, *(np.asarray(part, np.float64) for part in ranges))
    ways = Ways(edits, stops, low, high, allowed, layout, most)

    # Calls are many and small: several threads would mostly wait for each other.
    with _pools().limit(limits=1):
        x = complete(asked, ways, row, x, target, level, max_changes=max_changes)
        return compact(cut_back(asked, families, ways, row, x, target, level), layout)


@cache
def _pools() -> ThreadpoolController:
    """Finding the pools takes longer than a search."""
    return ThreadpoolController()


def _limits_of(
    constraints: tuple[ConstraintLayer], layout: Layout, continuous: Array, categories: Array
) -> tuple[Array, ...]:
    limits = constraints[0].limits(expand(continuous.T, categories.T, layout))
    return limits.low.T, limits.high.T, limits.allowed.T
