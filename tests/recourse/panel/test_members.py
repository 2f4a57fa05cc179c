"""The panel's members, and the values that edits may ask for."""

import numpy as np
import pytest

from rocourse.recourse.panel._members import make_edits
from rocourse.schema import Layout, Rows

LAYOUT = Layout(2, (3, 2))


def random_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 2, n)], axis=1)
    return Rows(rng.random((n, 2)).astype(np.float32), codes.astype(LAYOUT.category_dtype))


def with_codes(codes):
    """Random rows, but for the first categorical feature."""
    rows = random_rows(len(codes))
    columns = rows.categories.copy()
    columns[:, 0] = codes
    return Rows(rows.continuous, columns)


def test_edits_ask_for_usual_values_only():
    codes = np.zeros(1000)
    codes[0] = 2
    rows = with_codes(codes)
    edits = make_edits(rows, LAYOUT, np.array([0.0, 0.1]), np.zeros(2), min_category_share=0.0)
    numbers = edits.value[edits.feature == 0]
    low, high = np.quantile(rows.continuous[:, 0], [0.01, 0.99])
    assert numbers.min() >= low - 1e-6 and numbers.max() <= high + 1e-6
    whole = 10 * edits.value[edits.feature == 1]
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-4)
    # The 1st percentile is 0.01 and the 99th 0.99: the whole tenths within are 0.1 to 0.9.
    assert (whole.min().round(), whole.max().round()) == (1, 9)
    # The category of a single row, and the one that no row has, are not asked for.
    assert edits.column[edits.feature == 2].tolist() == [2]


@pytest.mark.parametrize(
    ("share", "asked"), [(0.0, [2, 3, 4]), (0.05, [2, 4]), (0.2, [4]), (0.95, [4])]
)
def test_rare_categories_are_not_asked_for(share, asked):
    rows = with_codes(np.repeat([0, 1, 2], [100, 40, 860]))
    edits = make_edits(rows, LAYOUT, np.zeros(2), np.zeros(2), min_category_share=share)
    # The columns of the feature's categories follow those of the two numbers. The most frequent one
    # is asked for even if no category is frequent enough.
    assert edits.column[edits.feature == 2].tolist() == asked


@pytest.mark.parametrize(("share", "tail"), [(0.0, 0.01), (0.1, 0.05), (0.4, 0.2)])
def test_numbers_that_few_rows_exceed_are_not_asked_for(share, tail):
    rows = random_rows(2000)
    edits = make_edits(rows, LAYOUT, np.zeros(2), np.zeros(2), min_category_share=share)
    for number in range(2):
        asked = edits.value[edits.feature == number]
        ends = np.quantile(rows.continuous[:, number], [tail, 1.0 - tail])
        np.testing.assert_allclose([asked.min(), asked.max()], ends, atol=1e-6)
        np.testing.assert_allclose([edits.low[number], edits.high[number]], ends, atol=1e-6)
