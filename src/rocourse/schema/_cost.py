"""What a recourse costs."""

import numpy as np
import numpy.typing as npt

from rocourse.errors import DataError
from rocourse.schema._layout import Layout, Rows, check_layout


def proximity(a: Rows, b: Rows, layout: Layout) -> npt.NDArray[np.float64]:
    """L1 distance in the encoded space, row by row; a changed category counts 2.

    Args:
        a: n encoded rows.
        b: n encoded rows.
        layout: Shape of their schema.

    Returns:
        float64 [n].
    """
    check_layout(a, layout)
    check_layout(b, layout)
    _check_length(a, b)
    moved = np.abs(a.continuous.astype(np.float64) - b.continuous).sum(axis=1)
    # A changed category takes a one away from one place of its group and puts it in another.
    return np.asarray(moved + 2.0 * (a.categories != b.categories).sum(axis=1), dtype=np.float64)


def features_changed(a: Rows, b: Rows) -> npt.NDArray[np.int64]:
    """Number of raw features that differ, row by row.

    Args:
        a: n encoded rows.
        b: n encoded rows.

    Returns:
        int64 [n].
    """
    _check_length(a, b)
    changed = (a.continuous != b.continuous).sum(axis=1) + (a.categories != b.categories).sum(
        axis=1
    )
    return np.asarray(changed, dtype=np.int64)


def _check_length(a: Rows, b: Rows) -> None:
    if len(a) != len(b):
        raise DataError(
            f"Rows to compare must be equally many, but got {len(a)} and {len(b)}; pair them up."
        )
