"""Networks that are joined into one."""

import jax
import numpy as np
import pytest

from rocourse.networks import Predictor, join


def network(seed, n_classes=2):
    return Predictor(5, n_classes, encoder=(7, 3), head=(4,), key=jax.random.key(seed))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_joined_network_gives_the_mean_of_the_logits(n, n_classes):
    x = jax.random.normal(jax.random.key(9), (5, 20))
    networks = [network(seed, n_classes) for seed in range(n)]
    expected = np.mean([np.asarray(part(x)) for part in networks], axis=0)
    joint = join(networks)
    np.testing.assert_allclose(joint(x), expected, rtol=1e-5, atol=1e-6)
    assert joint.encoder.widths == (7 * n, 3 * n)
    assert joint.head.widths == (4 * n,)
