"""The values that are asked for."""

import numpy as np

from rocourse.recourse.search import usual_values
from rocourse.schema import Continuous, Rows, Schema

CHOLESTEROL = np.random.default_rng(0).integers(100, 420, 300).astype(np.float64)


def test_nobody_is_told_to_reach_a_code():
    schema = Schema((Continuous("chol", low=0.0, high=603.0, integer=True),))
    values = np.concatenate([CHOLESTEROL, np.zeros(100)])[:, None] / 603.0
    rows = Rows(values.astype(np.float32), np.zeros((400, 0), schema.layout.category_dtype))
    edits, _ = usual_values(rows, schema, min_category_share=0.02)
    least, most = np.quantile(CHOLESTEROL, [0.01, 0.99]) / 603.0
    assert edits.value.min() >= least - 1e-3
    assert edits.value.max() <= most + 1e-3
    assert edits.low[0] >= least - 1e-3
    # Codes do not move the other end: 1% of all rows lie beyond it.
    assert edits.value.max() <= np.quantile(values, 0.99) + 1e-6
