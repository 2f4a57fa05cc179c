"""Single rows as a table of codes, and back."""

from collections.abc import Sequence

import numpy as np

from rocourse.schema import Layout, RowCodes, Rows


def stacked(layout: Layout, codes: Sequence[RowCodes]) -> Rows:
    """The rows as one table."""
    n = len(codes)
    values = np.array([row.values for row in codes], np.float32)
    categories = np.array([row.categories for row in codes], layout.category_dtype)
    return Rows(values.reshape(n, layout.n_continuous), categories.reshape(n, layout.n_categorical))


def unstacked(rows: Rows) -> list[RowCodes]:
    """The rows of a table, each by itself."""
    return [
        RowCodes(tuple(values), tuple(codes))
        for values, codes in zip(rows.continuous.tolist(), rows.categories.tolist(), strict=True)
    ]
