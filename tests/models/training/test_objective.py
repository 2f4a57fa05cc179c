"""The losses against scikit-learn and closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from rocourse.models.training._objective import class_loss, proximity_loss, weighted_mean


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("logit", [-30.0, -0.4, 0.0, 2.0, 30.0])
def test_binary_losses_equal_scikit_learns(logit, label):
    probability = 1 / (1 + np.exp(-logit))
    squared = class_loss(jnp.array([logit]), jnp.int32(label), kind="mse")
    # Of both classes at once, as scikit-learn knows them then; of each the same.
    told = brier_score_loss([label, 1 - label], [probability, 1 - probability], pos_label=1)
    np.testing.assert_allclose(squared, told, atol=1e-7)
    entropy = class_loss(jnp.array([logit]), jnp.int32(label), kind="cross_entropy")
    np.testing.assert_allclose(
        entropy, np.logaddexp(0, -logit if label else logit), rtol=1e-5, atol=1e-7
    )


def test_multi_class_losses_equal_their_closed_forms():
    logits = np.array([0.3, -1.2, 2.0])
    shares = np.exp(logits) / np.exp(logits).sum()
    squared = class_loss(jnp.asarray(logits), jnp.int32(1), kind="mse")
    np.testing.assert_allclose(squared, np.mean((shares - [0, 1, 0]) ** 2), rtol=1e-5)
    entropy = class_loss(jnp.asarray(logits), jnp.int32(1), kind="cross_entropy")
    np.testing.assert_allclose(entropy, log_loss([1], [shares], labels=[0, 1, 2]), rtol=1e-5)


@pytest.mark.parametrize(
    ("shares", "label", "loss"),
    [
        ([0.3, 0.7], 1, 0.0),
        ([0.7, 0.3], 1, 0.565),
        ([0.5, 0.5], 0, 0.165),
        ([0.45, 0.55], 1, 0.065),
    ],
)
def test_hinge_asks_for_a_lead_of_0_165_over_the_other_class(shares, label, loss):
    logit = np.log(shares[1] / shares[0])
    found = class_loss(jnp.array([logit]), jnp.int32(label), kind="hinge")
    np.testing.assert_allclose(found, loss, atol=1e-6)


def test_hinge_of_many_classes_looks_at_the_runner_up():
    shares = np.array([0.5, 0.2, 0.3])
    found = [class_loss(jnp.log(shares), jnp.int32(label), kind="hinge") for label in range(3)]
    np.testing.assert_allclose(found, [0.0, 0.465, 0.365], atol=1e-6)


def test_proximity_is_the_mean_over_features():
    a, b = jnp.array([0.0, 1.0, 0.0, 0.5]), jnp.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(proximity_loss(a, b, kind="l1"), 2.5 / 4)
    np.testing.assert_allclose(proximity_loss(a, b, kind="mse"), 2.25 / 4)
    np.testing.assert_allclose(proximity_loss(a, b, kind="l1_sum"), 2.5)


def test_weighted_mean_ignores_filling_rows():
    mean = weighted_mean(jnp.array([1.0, 3.0, 100.0]), jnp.array([1.0, 1.0, 0.0]))
    np.testing.assert_allclose(mean, 2.0)
