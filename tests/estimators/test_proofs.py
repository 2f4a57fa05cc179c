"""`prove` on fitted models: what they say of rows is what trying everything says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.loans import make_loans, make_schema

from rocourse.errors import DataError
from rocourse.schema import Schema


def narrowed(model, rows):
    """A record that nothing was found for, under a schema in which only debts may fall."""
    schema = model.schema_.constrain(immutable=["income", "age", "job"], decrease_only=["debt"])
    recourse = model.recourse(rows, desired=1)
    nothing = np.where(recourse.status == "not_needed", "not_needed", "not_found")
    return replace(recourse, schema=schema, attempts=recourse.original_rows, status=nothing)


@pytest.mark.parametrize("name", ["rocourse", "vanillacf", "counternet"])
def test_a_record_is_completed_by_proofs_and_by_what_was_missed(name, fitted):
    model = fitted(name)
    rows = make_loans(400, seed=0).drop(columns="grade")[:60]
    recourse = narrowed(model, rows)
    told = model.prove(recourse)
    assert (recourse.status == "not_found").sum() > 10
    np.testing.assert_array_equal(told.status == "not_needed", recourse.status == "not_needed")
    smallest = 0.005 * model.schema_["debt"].span
    for place in np.flatnonzero(recourse.status == "not_found"):
        row = rows.iloc[place]
        debts = [debt for debt in range(row["debt"]) if row["debt"] - debt >= smallest]
        table = pd.DataFrame([dict(row) | {"debt": debt} for debt in [row["debt"], *debts]])
        exists = (model.predict(table.astype(rows.dtypes)) == 1).any()
        proof = told.proofs[place]
        if told.status[place] == "not_found":
            assert proof.none_exists == (not exists)
            assert proof.text == "none exists" or exists
        else:
            assert exists and proof is None
    changed = told.frame()
    assert (changed["income"] == rows["income"]).all() and (changed["debt"] <= rows["debt"]).all()
    found = told.advised
    assert (model.predict(changed[found]) == 1).all()
    loosened = [proof.loosen for proof in told.proofs if proof and proof.loosen]
    assert loosened and {rule[0] for one in loosened for rule in one.rules} <= set(rows.columns)


def test_schema_of_a_record_is_what_the_proof_is_about(fitted):
    model = fitted("vanillacf")
    rows = make_loans(400, seed=0).drop(columns="grade")[60:90]
    nobody = Schema(
        tuple(replace(f, immutable=True, direction=None) for f in model.schema_.features),
        make_schema(make_loans(400, seed=0)).target,
    )
    told = model.prove(replace(narrowed(model, rows), schema=nobody), loosen=False)
    unfound = told.status == "not_found"
    assert unfound.any()
    assert all(proof.none_exists for proof in told.proofs if proof)
    assert (model.predict(rows[unfound]) != 1).all()


def test_what_is_no_record_is_refused(fitted):
    with pytest.raises(DataError, match=r"write model\.prove\(model\.recourse\(rows\)\)"):
        fitted("vanillacf").prove(make_loans(20, seed=0))
