import pandas as pd
import pytest

from rocourse import evaluation
from rocourse.errors import ConfigError, DataError


def labelled(*labels) -> pd.DataFrame:
    return pd.DataFrame({"x": range(len(labels)), "y": labels})


def test_parts_are_disjoint_and_complete():
    frame = labelled(*[0, 1] * 20)
    train, test = evaluation.split(frame, "y", seed=0)
    assert (len(train), len(test)) == (30, 10)
    assert sorted([*train.index, *test.index]) == list(frame.index)


def test_parts_keep_the_label_rate():
    train, test = evaluation.split(labelled(*[0] * 36, *[1] * 4), "y", seed=3)
    assert (train["y"].sum(), test["y"].sum()) == (3, 1)


def test_the_seed_decides_the_parts():
    frame = labelled(*[0, 1] * 20)
    first, again, other = (evaluation.split(frame, "y", seed=seed)[1] for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first.index.equals(other.index)


@pytest.mark.parametrize("labels", [(0, 0, 0, 1), (0, 0, 1, 1, 2, 2)])
def test_a_split_that_cannot_be_stratified_is_made_all_the_same(labels):
    train, test = evaluation.split(labelled(*labels), "y", seed=0, test_size=0.25)
    assert len(train) + len(test) == len(labels)
    assert len(test) >= 1


def test_one_row_cannot_be_split():
    with pytest.raises(DataError, match="needs a row on each side, but there are 1 rows"):
        evaluation.split(labelled(0), "y", seed=0)


def test_no_rows_cannot_be_split():
    with pytest.raises(DataError, match="there are 0 rows"):
        evaluation.split(labelled(), "y", seed=0)


def test_a_missing_label_column_is_named():
    with pytest.raises(DataError, match="label column 'z'"):
        evaluation.split(labelled(0, 1), "z", seed=0)


@pytest.mark.parametrize("test_size", [0, 1, -0.5, 1.5])
def test_test_size_must_be_a_share(test_size):
    with pytest.raises(ConfigError, match="between 0 and 1"):
        evaluation.split(labelled(0, 1), "y", seed=0, test_size=test_size)
