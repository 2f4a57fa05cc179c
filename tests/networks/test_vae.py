"""VAE-CF's network against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from rocourse.networks import GeneratorShape, Request, VAEGenerator, normal_divergence
from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

LAYOUT = Layout(2, (3,))


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (1.3, 0.6), (-0.4, 1.45)])
def test_divergence_equals_the_integral_of_its_definition(mean, variance):
    one, other = stats.norm(mean, np.sqrt(variance)), stats.norm(0.0, 1.0)
    integral, _ = integrate.quad(
        lambda t: one.pdf(t) * (one.logpdf(t) - other.logpdf(t)), -12.0, 12.0
    )
    found = normal_divergence(jnp.array([mean]), jnp.array([variance]))
    np.testing.assert_allclose(found, integral, rtol=1e-5, atol=1e-6)


def test_divergence_of_independent_dimensions_is_the_sum():
    mean, variance = jnp.array([0.5, -1.0, 0.0]), jnp.array([0.7, 1.2, 1.0])
    parts = [normal_divergence(mean[i : i + 1], variance[i : i + 1]) for i in range(3)]
    np.testing.assert_allclose(normal_divergence(mean, variance), sum(parts), rtol=1e-6)


@pytest.fixture
def generator():
    return VAEGenerator(
        GeneratorShape(LAYOUT, 2, 4, 4),
        widths=(8, 6),
        latent=3,
        kind="rebuild",
        kl_weight=0.5,
        key=jax.random.key(0),
    )


@pytest.fixture
def request_for_a_row():
    limits = Limits(jnp.zeros(2), jnp.ones(2), jnp.ones(3, bool))
    x = jnp.array([0.2, 0.9, 0.0, 1.0, 0.0])
    return Request(x, jnp.array([0.0, 1.0]), jnp.zeros(4), jnp.zeros(4), limits)


def test_penalty_is_the_weighted_divergence_of_the_rows_code(generator, request_for_a_row):
    mean, variance = (np.asarray(part) for part in generator.code(request_for_a_row))
    assert ((variance > 0.5) & (variance < 1.5)).all()
    expected = 0.5 * 0.5 * np.sum(mean**2 + variance - np.log(variance) - 1.0)
    np.testing.assert_allclose(generator(request_for_a_row).penalty, expected, rtol=1e-5)


def test_codes_are_drawn_from_the_rows_normal_distribution(generator, request_for_a_row):
    """The decoder is called on mean + √variance · quantile: the median draw is the mean itself."""
    middle = generator(request_for_a_row, jnp.full(3, 0.5))
    likely = generator(request_for_a_row)
    np.testing.assert_allclose(middle.continuous, likely.continuous, atol=1e-6)
    np.testing.assert_allclose(middle.logits, likely.logits, atol=1e-6)
    mean, variance = generator.code(request_for_a_row)
    sigma = float(stats.norm.cdf(1.0))
    moved = generator(request_for_a_row, jnp.full(3, sigma))
    code = jnp.concatenate([mean + jnp.sqrt(variance), request_for_a_row.target])
    raw = generator.output(generator.decoder(code))
    np.testing.assert_allclose(moved.continuous, jax.nn.sigmoid(raw[:2]), atol=1e-5)


def test_ends_of_the_unit_interval_give_finite_proposals(generator, request_for_a_row):
    for end in (0.0, 1.0):
        proposal = generator(request_for_a_row, jnp.full(3, end))
        assert np.isfinite(proposal.continuous).all()
        assert np.isfinite(proposal.logits).all()
