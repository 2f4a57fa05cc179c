"""How far each applicant's numbers may go, in raw units, and proposals pulled into that."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rocourse.schema._features import Continuous

if TYPE_CHECKING:
    from rocourse.schema._rules import NumberRule

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ROUNDING = 1e-9
"""Share of the range by which sums and differences of float64 may miss a limit."""


def reach(feature: Continuous, raw: Numbers) -> tuple[Numbers, Numbers]:
    """The lowest and the highest value that each number may become; the former may be above.

    Args:
        feature: With its range, bounds, direction and limits of change.
        raw: What the rows have.
    """
    least, most = feature.limits
    low, high = np.full(raw.shape, least), np.full(raw.shape, most)
    if feature.immutable or feature.direction == "up":
        low = np.maximum(low, raw)
    if feature.immutable or feature.direction == "down":
        high = np.minimum(high, raw)
    change = feature.change
    if change is None:
        return low, high
    size = np.abs(raw)
    if change.max_increase is not None:
        high = np.minimum(high, raw + change.max_increase)
    if change.max_increase_share is not None:
        high = np.minimum(high, raw + change.max_increase_share * size)
    if change.max_decrease is not None:
        low = np.maximum(low, raw - change.max_decrease)
    if change.max_decrease_share is not None:
        low = np.maximum(low, raw - change.max_decrease_share * size)
    return low, high


def within(feature: Continuous, raw: Numbers, values: Numbers) -> Mask:
    """Which values are within the reach of what the rows have, and on the grid if there is one."""
    low, high = reach(feature, raw)
    slack = ROUNDING * feature.span
    inside = (values >= low - slack) & (values <= high + slack)
    return inside & on_grid(feature, values)


def on_grid(feature: Continuous, values: Numbers) -> Mask:
    """Which values are whole, if that is asked for, and multiples of the step."""
    fine = np.ones(values.shape, dtype=bool)
    if feature.integer:
        fine &= values == np.floor(values)
    grid = None if feature.change is None else feature.change.grid
    if grid is not None:
        fine &= values == multiples(np.rint(values * grid[1] / grid[0]), grid)
    return fine


def multiples(counts: Any, grid: tuple[int, int]) -> Any:
    """So many times a step that is a fraction: the nearest floats to the exact products."""
    numerator, denominator = grid
    # Both sides of the division are whole and exact, and it is rounded once.
    return counts * numerator / denominator


def settle_within(rule: "NumberRule", raw: Numbers, here: Numbers, proposed: Numbers) -> Numbers:
    """As `NumberRule.settle`, of a feature with limits of change: as far as the limits allow.

    Args:
        rule: The feature's, for columns.
        raw: What the rows have.
        here: Their codes.
        proposed: Any numbers, NaN among them.
    """
    feature = rule.feature
    nothing = np.isnan(proposed)
    wanted = rule.unscale(rule.near(np.where(nothing, here, proposed)))
    low, high = reach(feature, raw)
    codes = code_within(rule, np.clip(wanted, low, high), low, high)
    values = rule.unscale(codes)
    # What asks for no change is not to be rounded to a multiple of the step.
    unnoticed = rule.unnoticed(raw, values) | rule.unnoticed(raw, wanted)
    kept = within(feature, raw, values) & (rule.scale(values) == codes)
    return np.where(nothing | unnoticed | ~kept, here, codes)


def code_within(rule: "NumberRule", values: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """The codes of values, on the grid, that stand for numbers within limits if there are any."""
    feature = rule.feature
    grid = None if feature.change is None else feature.change.grid
    if grid is None and feature.integer:
        grid = (1, 1)
    if grid is not None:
        step = grid[0] / grid[1]
        # A limit that is on the grid may be beside it by the rounding of a sum.
        first, last = np.ceil(low / step - 1e-6), np.floor(high / step + 1e-6)
        values = multiples(np.clip(np.rint(values / step), first, last), grid)
    codes: Numbers = rule.scale(values)
    # Rounding to float32 could carry a number over a limit: its neighbour is inside.
    reached = rule.unscale(codes)
    step_back = np.where(reached > high, -np.inf, np.inf)
    neighbours = np.nextafter(codes.astype(np.float32), step_back.astype(np.float32))
    beyond = (reached > high) | (reached < low)
    return np.where(beyond, np.clip(neighbours, 0.0, 1.0).astype(np.float64), codes)
