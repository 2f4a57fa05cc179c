"""Advice that is searched for until a certificate holds.

What has to be convinced is asked for more and more, in steps that are fixed beforehand: the
candidates of a row are then few and do not depend on what is certified, so that bounds by draws
hold for all of them together (Bonferroni).
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rocourse.schema import (
    Certificate,
    ClippedWarning,
    EachWishes,
    OutOfRange,
    Recourse,
    Rows,
    wishes_of_rows,
)

if TYPE_CHECKING:
    from rocourse.recourse.answer import Advisor

Certify = Callable[[Recourse], Certificate]
"""Says what is proved of each recourse; its certificates have a level that is asked for."""

TIMES = tuple(float(times) for times in 1.25 ** np.arange(8))
"""How many times as much is asked of those who are to be convinced, one search after the other."""


def certified(
    advisor: "Advisor",
    certify: Certify,
    frame: pd.DataFrame,
    desired: Any,
    out_of_range: OutOfRange,
    wishes: EachWishes,
    options: int,
) -> Recourse:
    """The record of a table, each row the first advice that is certified.

    Where none is, it is what is given else, without a promise.

    Args:
        advisor: A fitted model and its proposer, one that can ask for more.
        certify: What has to hold.
        frame: The rows.
        desired: The class asked for; see `Advisor.targets`.
        out_of_range: What is done about values that training rows do not have.
        wishes: Of all rows, or of each.
        options: The most options for a row. The first is searched for, all are certified.
    """
    found = advisor.table(frame, desired, out_of_range=out_of_range, wishes=wishes, options=options)
    told = certify(found)
    asked = None if wishes is None else wishes_of_rows(wishes, len(frame))
    for times in TIMES[1:]:
        left = np.flatnonzero(found.advised & ~_held(told))
        if not len(left):
            break
        surer = replace(advisor, state=advisor.proposer.surer(advisor.state, times))
        with warnings.catch_warnings():
            # They were told of the first time.
            warnings.simplefilter("ignore", ClippedWarning)
            again = surer.table(
                frame.iloc[left],
                found.desired[left],
                out_of_range=out_of_range,
                wishes=None if asked is None else [asked[k] for k in left],
                options=options,
            )
        said = certify(again)
        better = np.flatnonzero(again.advised & _held(said))
        told = told.with_rows(left[better], said[better])
        found = _with_rows(found, left[better], again[better])
    others = tuple(_stated(other, certify(other)) for other in found.others)
    return replace(_stated(found, told), others=others)


def _held(told: Certificate) -> np.ndarray:
    assert told.holds is not None  # a level is asked for
    return told.holds


def _stated(recourse: Recourse, told: Certificate) -> Recourse:
    """The record with its certificate; what is not certified is not promised."""
    unsure = (recourse.status == "found") & ~_held(told)
    status = np.where(unsure, "found_unsure", recourse.status)
    return replace(recourse, status=status, certificate=told)


def _with_rows(recourse: Recourse, where: np.ndarray, other: Recourse) -> Recourse:
    """The record with other advice for the rows at some places."""

    def put(own: np.ndarray, new: np.ndarray) -> np.ndarray:
        merged = own.copy()
        merged[where] = new
        return merged

    pairs = zip(recourse.others, other.others, strict=True)
    robustness = recourse.robustness
    if robustness is not None and other.robustness is not None:
        robustness = put(robustness, other.robustness)
    return replace(
        recourse,
        attempts=Rows(
            put(recourse.attempts.continuous, other.attempts.continuous),
            put(recourse.attempts.categories, other.attempts.categories),
        ),
        status=put(recourse.status.astype("U16"), other.status),
        probability=put(recourse.probability, other.probability),
        robustness=robustness,
        others=tuple(_with_rows(own, where, new) for own, new in pairs),
    )
