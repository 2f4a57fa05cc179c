"""A generator of the user's own is trained, attacked, stored and served like ours."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from tests.loans import fit

import rocourse
from rocourse.errors import ArtifactError
from rocourse.estimators import CFModel, CounterNet, RobustCFModel, RoCourseNet
from rocourse.networks import propose


class Linear(eqx.Module):
    """The plainest generator there is, with noise on its output while it learns."""

    layer: eqx.nn.Linear
    shape: object = eqx.field(static=True)
    n_random: int = eqx.field(static=True)

    def __init__(self, shape, *, key):
        width = shape.layout.width
        self.layer = eqx.nn.Linear(width + shape.n_classes, width, key=key)
        self.shape = shape
        self.n_random = width

    def __call__(self, request, random=None):
        raw = self.layer(jnp.concatenate([request.x, request.target]))
        if random is not None:
            raw = raw + 0.1 * (random - 0.5)
        return propose(raw, request, self.shape.layout, kind="edit")


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(60)


@pytest.mark.parametrize("cls", [CounterNet, RoCourseNet, CFModel, RobustCFModel])
def test_it_learns_to_give_valid_recourses(cls, loans, rows):
    # Long enough for any seed; after a third of it, some have learned one direction only.
    longer = {"trainer__epochs": 40, "proposer__epochs": 40}
    model = fit(cls, loans, proposer__network=Linear, **longer)
    assert isinstance(model.state_, Linear)
    recourse = model.recourse(rows)
    assert recourse.valid.mean() > 0.8
    assert (recourse.frame()["region"].to_numpy() == rows["region"].to_numpy()).all()


def test_the_attack_reaches_it(loans):
    """From the same weights, for the same predictor, the attacked judge finds it worse."""
    params = {"proposer__network": Linear, "proposer__epochs": 1}
    plain = fit(CFModel, loans, **params)
    robust = fit(RobustCFModel, loans, attack__schedule="constant", **params)
    for a, b in zip(jax.tree.leaves(plain.network_), jax.tree.leaves(robust.network_), strict=True):
        np.testing.assert_array_equal(a, b)
    assert robust.history_[-1]["l2"] > plain.history_[-1]["l2"]


def test_its_weights_are_stored_and_its_code_is_supplied(loans, rows, tmp_path):
    model = fit(CFModel, loans, proposer__network=Linear, trainer__epochs=2, proposer__epochs=2)
    path = rocourse.save(model, tmp_path / "model")
    with pytest.raises(ArtifactError, match="without its 'generator'.*pass it as generator="):
        rocourse.load(path)
    loaded = rocourse.load(path, generator=Linear)
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())
