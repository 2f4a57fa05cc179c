"""What refusals are compared with: means of several accepted people, that are accepted too."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.errors import ArtifactError
from rocourse.reasons import Background, make_background
from rocourse.schema import Categorical, Continuous, Rows, Schema

SCHEMA = Schema(
    [
        Continuous("income", 0, 100),
        Categorical("job", categories=("none", "part", "full")),
        Continuous("children", 0, 8, integer=True),
    ]
)


def random_rows(n, seed):
    rng = np.random.default_rng(seed)
    return Rows(rng.random((n, 2)).astype(np.float32), rng.integers(0, 3, (n, 1)).astype(np.int16))


def rich(rows):
    return (rows.continuous[:, 0] > 0.6).astype(int)


@settings(max_examples=30)
@given(st.integers(0, 400), st.integers(0, 2**31))
def test_every_row_stands_for_five_people_or_more_and_all_of_them_are_counted(n, seed):
    rows = random_rows(n, seed)
    kept = make_background(rich, rows, SCHEMA, [0, 1], seed=seed)
    for target in (0, 1):
        people = int((rich(rows) == target).sum())
        found, weights = kept.of(target)
        assert len(found) <= 16 and (len(found) > 0) == (people >= 5)
        if people >= 5:
            assert kept.people[kept.classes == target].sum() <= people
            assert weights.sum() == pytest.approx(1.0)
    assert (kept.people >= 5).all()


def test_rows_are_means_that_a_person_could_have():
    rows = random_rows(300, 1)
    kept, _ = make_background(rich, rows, SCHEMA, [1], seed=0).of(1)
    assert (rich(kept) == 1).all()
    children = kept.continuous[:, 1] * 8
    np.testing.assert_allclose(children, children.round(), atol=1e-6)
    accepted = rows.continuous[rich(rows) == 1, 0]
    assert accepted.min() < kept.continuous[:, 0].min()
    assert kept.continuous[:, 0].max() < accepted.max()


def test_means_that_are_refused_are_left_out():
    """Accepted at both ends: what lies between is refused."""
    rows = random_rows(400, 2)

    def extreme(part):
        return (np.abs(part.continuous[:, 0] - 0.5) > 0.3).astype(int)

    kept, _ = make_background(extreme, rows, SCHEMA, [1], seed=0).of(1)
    assert len(kept) and (extreme(kept) == 1).all()


def test_it_goes_to_disk_and_back():
    kept = make_background(rich, random_rows(100, 3), SCHEMA, [0, 1], seed=0)
    header, tensors = kept.to_state()
    again = Background.from_state(json.loads(json.dumps(header)), tensors)
    assert again.rows == kept.rows
    np.testing.assert_array_equal(again.classes, kept.classes)
    np.testing.assert_array_equal(again.people, kept.people)
    assert Background.from_state(None, {}) is None
    with pytest.raises(ArtifactError, match="of version 1, but they are of 7"):
        Background.from_state({"version": 7}, tensors)
