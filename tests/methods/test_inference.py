"""Blocks of a few fixed sizes: what is compiled, and that nothing depends on them."""

import jax
import numpy as np
import pandas as pd
import pytest
from rocourse.methods import CounterNet, _inference
from rocourse.methods._inference import predict_probabilities, propose_rows

from rocourse.schema import Rows

from .conftest import make_loans, make_schema


@pytest.fixture(scope="module")
def model(loans):
    # A width that no other test uses: what is compiled for it is compiled here.
    return CounterNet(
        schema=make_schema(loans),
        encoder_widths=(9, 7),
        head_widths=(5,),
        generator_widths=(6,),
        batch_size=64,
        epochs=2,
        random_state=0,
    ).fit(loans.drop(columns="grade"), loans["grade"])


@pytest.fixture(scope="module")
def many(model):
    """More rows than two of the largest blocks."""
    frame = make_loans(17000, seed=5).drop(columns="grade")
    inside = {f.name: frame[f.name].clip(f.low, f.high) for f in model.schema_.continuous}
    return model.schema_.encode(frame.assign(**inside))


def test_one_shape_is_compiled_for_a_call_whatever_its_length(model, many, monkeypatch):
    shapes = []
    original = _inference.hard_recourses

    def counting(predictor, generator, x, *args):
        shapes.append(x.shape)
        return original(predictor, generator, x, *args)

    monkeypatch.setattr(_inference, "hard_recourses", counting)
    target = np.zeros(len(many), np.int64)
    for n in (17000, 8193, 4097, 16384, 5000):
        rows = many[:n]
        propose_rows(model.predictor_, model.generator_, rows, target[:n], model._constraints)
    assert len(shapes) == 1


def test_rows_are_told_the_same_in_blocks_of_any_size(model, many):
    target = np.arange(len(many)) % 2
    shares = predict_probabilities(model.predictor_, many, model.schema_.layout)
    told = propose_rows(model.predictor_, model.generator_, many, target, model._constraints)
    assert len(shares) == len(told) == len(many)
    for start, stop in ((0, 1), (8180, 8200), (16380, 16390), (0, 500), (3000, 9000)):
        part = many[start:stop]
        np.testing.assert_allclose(
            predict_probabilities(model.predictor_, part, model.schema_.layout),
            shares[start:stop],
            atol=1e-6,
        )
        again = propose_rows(
            model.predictor_, model.generator_, part, target[start:stop], model._constraints
        )
        np.testing.assert_allclose(again.continuous, told.continuous[start:stop], atol=1e-5)
        np.testing.assert_array_equal(again.categories, told.categories[start:stop])


def test_codes_keep_their_type(model, many):
    wide = Rows(many.continuous[:5], many.categories[:5].astype(np.int32))
    told = propose_rows(
        model.predictor_, model.generator_, wide, np.zeros(5, np.int64), model._constraints
    )
    assert told.categories.dtype == np.int32


def test_a_table_of_any_length_gives_one_answer_a_row(model, loans):
    table = pd.concat([loans.drop(columns="grade")] * 11, ignore_index=True)
    found = model.recourse(table)
    np.testing.assert_array_equal(found.status[:400], found.status[-400:])


@pytest.mark.parametrize("kept", [["income", "debt"], ["job", "region"]])
@pytest.mark.parametrize("n", [5, 600, 9000])
def test_features_may_be_all_numbers_or_all_categories(loans, kept, n):
    model = CounterNet(epochs=1, batch_size=64, random_state=0).fit(loans[kept], loans["grade"])
    table = pd.concat([loans[kept]] * (n // len(loans) + 1), ignore_index=True)[:n]
    shares = model.predict_proba(table)
    assert shares.shape == (n, 2)
    assert shares.flags.writeable
    assert len(model.recourse(table)) == n


def test_training_and_answers_work_where_floats_are_double(loans):
    with jax.enable_x64(True):
        model = CounterNet(
            schema=make_schema(loans),
            encoder_widths=(5, 4),
            epochs=1,
            measure_attack=True,
            random_state=0,
        ).fit(loans.drop(columns="grade"), loans["grade"])
        found = model.recourse(loans.drop(columns="grade").head(5))
    assert len(found) == 5
    assert np.isfinite(model.history_[0]["robust_validity"])
