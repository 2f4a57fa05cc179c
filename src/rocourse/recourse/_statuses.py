"""What is asked for, and said of attempts: whether they are advice, and how certain they are."""

from typing import Any, NamedTuple

import numpy as np

from rocourse._wording import show
from rocourse.errors import DataError


class Chances(NamedTuple):
    """What is known of the next model: all None where the method has no idea."""

    promised: np.ndarray | None
    """Whether the method promises that the next model honours an attempt, bool `[n]`."""
    after: np.ndarray | None
    """The chance that it does, `[n]`."""
    before: np.ndarray | None
    """The chance of the row as it is, `[n]`; None where nothing is promised."""


class Judged(NamedTuple):
    """What is said of attempts for rows that need a change."""

    status: np.ndarray
    """`[n]`."""
    probability: np.ndarray
    """Of the target class, float64 `[n]`."""
    robustness: np.ndarray | None
    """The chance that the next model gives it; None where the method has no idea, `[n]`."""


NO_IDEA = Chances(None, None, None)


def one_each(desired: Any, n: int) -> np.ndarray:
    """The class that each of `n` rows is to get, where one or as many are named."""
    named = np.asarray(desired)
    if named.shape not in ((), (n,)):
        raise DataError(
            f"desired must be a class for all rows or one for each of {n}, but got "
            f"{show(desired)}; name one, or as many as there are rows."
        )
    return np.broadcast_to(named, (n,))


def statuses(needed: np.ndarray, honoured: np.ndarray, chances: Chances) -> np.ndarray:
    """The status of each row.

    Args:
        needed: Whether a change is needed, `[n]`.
        honoured: Whether the model honours what was found, `[n]`.
        chances: Of the next model.
    """
    found = np.full(len(needed), "found_unsure")
    found[slice(None) if chances.promised is None else chances.promised] = "found"
    if chances.before is not None and chances.after is not None:
        # Advice that is worse than none is never given.
        honoured = honoured & (chances.after >= chances.before)
    return np.where(needed, np.where(honoured, found, "not_found"), "not_needed")
