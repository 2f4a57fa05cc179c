"""Blocks of a few fixed sizes: what is compiled, and that nothing depends on them."""

import numpy as np
import pandas as pd
import pytest
from tests.loans import make_loans
from tests.untrained import untrained
from tests.versions import enable_x64

from rocourse.attack import Attack
from rocourse.estimators import CounterNet
from rocourse.models import predict_rows
from rocourse.recourse.generator import _propose
from rocourse.recourse.generator._propose import propose_rows
from rocourse.schema import Rows, Schema
from rocourse.schema.constraints import ConstraintLayer


def narrow(frame, *, immutable=(), increase_only=(), **params):
    """Of widths that no other test uses: what is compiled for it is compiled here."""
    return CounterNet(
        Schema.infer(frame, target="grade", immutable=immutable, increase_only=increase_only),
        trainer__encoder_widths=(9, 7),
        trainer__head_widths=(5,),
        trainer__batch_size=64,
        proposer__widths=(6,),
        random_state=0,
        **params,
    )


@pytest.fixture(scope="module")
def model(loans):
    return untrained(narrow(loans, immutable=["region"], increase_only=["age"]))


@pytest.fixture(scope="module")
def many(model):
    """More rows than two of the largest blocks."""
    frame = make_loans(17000, seed=5).drop(columns="grade")
    inside = {f.name: frame[f.name].clip(f.low, f.high) for f in model.schema_.continuous}
    return model.schema_.encode(frame.assign(**inside))


def propose(model, rows, target):
    constraints = ConstraintLayer.from_schema(model.schema_)
    return propose_rows(model.network_, model.state_, rows, target, constraints)


def test_one_shape_is_compiled_for_a_call_whatever_its_length(model, many, monkeypatch):
    shapes = []
    original = _propose.hard_recourses

    def counting(predictor, generator, x, *args):
        shapes.append(x.shape)
        return original(predictor, generator, x, *args)

    monkeypatch.setattr(_propose, "hard_recourses", counting)
    target = np.zeros(len(many), np.int64)
    for n in (17000, 8193, 4097, 16384, 5000):
        before = len(shapes)
        propose(model, many[:n], target[:n])
        assert len(shapes) <= before + 1
    assert len(shapes) == 2


def test_rows_are_told_the_same_in_blocks_of_any_size(model, many):
    target = np.arange(len(many)) % 2
    shares = predict_rows(model.model_, many, model.schema_.layout)
    told = propose(model, many, target)
    assert len(shares) == len(told) == len(many)
    for start, stop in ((0, 1), (8180, 8200), (16380, 16390), (0, 500), (3000, 9000)):
        part = many[start:stop]
        np.testing.assert_allclose(
            predict_rows(model.model_, part, model.schema_.layout),
            shares[start:stop],
            atol=1e-6,
        )
        again = propose(model, part, target[start:stop])
        np.testing.assert_allclose(again.continuous, told.continuous[start:stop], atol=1e-5)
        np.testing.assert_array_equal(again.categories, told.categories[start:stop])


def test_codes_keep_their_type(model, many):
    wide = Rows(many.continuous[:5], many.categories[:5].astype(np.int32))
    told = propose(model, wide, np.zeros(5, np.int64))
    assert told.categories.dtype == np.int32


def test_a_table_of_any_length_gives_one_answer_a_row(model, loans):
    table = pd.concat([loans.drop(columns="grade")] * 11, ignore_index=True)
    found = model.recourse(table)
    np.testing.assert_array_equal(found.status[:400], found.status[-400:])


@pytest.mark.parametrize("n", [5, 600, 9000])
@pytest.mark.parametrize("kept", [["income", "debt"], ["job", "region"]], ids=" ".join)
def test_features_may_be_all_numbers_or_all_categories(loans, kept, n):
    model = untrained(narrow(loans[[*kept, "grade"]]))
    table = pd.concat([loans[kept]] * (n // len(loans) + 1), ignore_index=True)[:n]
    shares = model.predict_proba(table)
    assert shares.shape == (n, 2)
    assert shares.flags.writeable
    assert len(model.recourse(table)) == n


# Arrays of numbers are what scikit-learn's checks train on.
def test_categories_alone_are_trained_on(loans):
    kept = ["job", "region"]
    model = narrow(loans[[*kept, "grade"]], trainer__epochs=1).fit(loans[kept], loans["grade"])
    assert len(model.recourse(loans[kept])) == len(loans)


def test_training_and_answers_work_where_floats_are_double(loans):
    with enable_x64(True):
        model = narrow(
            loans, trainer__epochs=1, proposer__measured_attack=Attack(steps=2, unroll=1)
        ).fit(loans.drop(columns="grade"), loans["grade"])
        found = model.recourse(loans.drop(columns="grade").head(5))
    assert len(found) == 5
    assert np.isfinite(model.history_[0]["robust_validity"])
