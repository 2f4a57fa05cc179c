"""The demo's lender: its customers' records before and after a correction, and new applicants."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.datasets import Dataset
from rocourse.evaluation import split
from rocourse.schema import Change, Schema

# What the corrected file says of a person, by what the original said of them.
_RELABELLED = {
    "Status": {1: 4, 2: 1, 3: 2, 4: 3},
    "History": {0: 3, 1: 4, 2: 0, 3: 2, 4: 1},
    "Number people": {1: 2, 2: 1},
}
_CORRECTED_SO_FAR = 0.5


class Records(NamedTuple):
    """What the lender has; labels are a column of each table.

    Attributes:
        today: The customers as today's model learns from them: in part corrected.
        corrected: Whether each of them is.
        later: The same customers when all are corrected: what is retrained on.
        applicants: Other people, recorded by the corrected codes from the start.
    """

    today: pd.DataFrame
    corrected: npt.NDArray[np.bool_]
    later: pd.DataFrame
    applicants: pd.DataFrame


def lender_schema(dataset: Dataset) -> Schema:
    """What a lender would advise: its constraints go beyond the data set's.

    Nobody is told to wait until they have lived somewhere for longer, or to borrow more or for
    longer; a loan of less than half is not the one that was asked for; and the instalment's share
    of the income follows from amount, duration and income.
    """
    return dataset.actionable_schema.constrain(
        immutable=("Present residence", "Installment rate"),
        decrease_only=("Duration", "Credit amount"),
        change={
            "Duration": Change(max_decrease_share=0.5, step=3),
            "Credit amount": Change(max_decrease_share=0.5, step=100),
        },
    )


def draw_records(dataset: Dataset, *, seed: int) -> Records:
    """Draws who is a customer and who applies, and whose record is corrected already."""
    before, after = paired_people(dataset.subsets["org"], dataset.subsets["upt"])
    later, applicants = split(after, dataset.target, seed=seed)
    rng = np.random.default_rng(seed)
    corrected = rng.random(len(later)) < _CORRECTED_SO_FAR
    today = later.copy()
    today[~corrected] = before.loc[later.index[~corrected]]
    return Records(today, corrected, later, applicants)


def paired_people(
    original: pd.DataFrame, corrected: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The people who are found in both files, in the same order, by their row in the second.

    All but ten of the 1,000 are: those of whom other cells were corrected, too.
    """
    expected = original.assign(
        **{name: original[name].map(codes) for name, codes in _RELABELLED.items()}
    )
    pairs = _counted(expected).merge(_counted(corrected), on=[*original.columns, "copy"])
    after = corrected.loc[pairs["row_y"]]
    return original.loc[pairs["row_x"]].set_axis(after.index), after


def _counted(rows: pd.DataFrame) -> pd.DataFrame:
    """With the number of each row, and its place among those that are like it."""
    copies: Any = rows.groupby(list(rows.columns)).cumcount()
    return rows.assign(row=rows.index, copy=copies)
