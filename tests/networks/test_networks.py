"""Many rows as columns are what one row after the other is; networks that are joined into one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rocourse.networks import (
    Generator,
    GeneratorShape,
    HiddenStack,
    Predictor,
    Request,
    VAEGenerator,
    draw_dropout_factors,
    dropout_factors,
    join,
    probabilities,
    takes_columns,
)
from rocourse.schema import Layout
from rocourse.schema.constraints import ConstraintLayer, expand, harden, soften

LAYOUT = Layout(2, (3, 1, 4))
N = 7


def constraints():
    rng = np.random.default_rng(3)
    return ConstraintLayer(
        low=jnp.asarray([0.1, 0.0]),
        high=jnp.asarray([0.8, 1.0]),
        may_rise=jnp.asarray([True, False]),
        may_fall=jnp.asarray([True, True]),
        position=jnp.asarray(np.concatenate([np.arange(size) for size in LAYOUT.group_sizes])),
        category_may_rise=jnp.asarray(rng.random(8) < 0.5),
        category_may_fall=jnp.asarray(rng.random(8) < 0.5),
        layout=LAYOUT,
    )


def compact_columns():
    rng = np.random.default_rng(0)
    continuous = jnp.asarray(rng.random((2, N)), jnp.float32)
    return continuous, jnp.asarray(rng.integers(0, [[3], [1], [4]], (3, N)), jnp.int16)


def columns():
    return expand(*compact_columns(), LAYOUT)


def assert_same(together, one_by_one):
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(one_by_one), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def one_by_one(function, *arguments):
    return jax.vmap(function, in_axes=-1, out_axes=-1)(*arguments)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictor(n_classes):
    predictor = Predictor(LAYOUT.width, n_classes, encoder=(6, 4), head=(5,), key=jax.random.key(0))
    kept = dropout_factors(jax.random.uniform(jax.random.key(1), (predictor.units, N)), 0.3)
    for arguments in [(columns(),), (columns(), kept)]:
        assert_same(predictor(*arguments), one_by_one(predictor, *arguments))
        assert_same(predictor.embed(*arguments), one_by_one(predictor.embed, *arguments))
    logits = predictor(columns())
    assert_same(probabilities(logits), one_by_one(probabilities, logits))


def test_constraint_layer():
    x, layer = columns(), constraints()
    assert_same(layer.limits(x), one_by_one(layer.limits, x))
    assert_same(x, one_by_one(lambda c, k: expand(c, k, LAYOUT), *compact_columns()))
    logits = jax.random.normal(jax.random.key(5), (8, N))
    assert_same(
        soften(x[:2], logits, LAYOUT),
        one_by_one(lambda c, row: soften(c, row, LAYOUT), x[:2], logits),
    )
    hard = harden(logits, LAYOUT)
    assert_same(hard, one_by_one(lambda row: harden(row, LAYOUT), logits))
    expected = [np.argmax(part, axis=0) for part in np.split(np.asarray(logits), [3, 4])]
    np.testing.assert_array_equal(hard, expected)


def test_the_first_of_equal_categories_is_chosen():
    logits = jnp.asarray([1.0, 2.0, 2.0, 0.0, -1e9, -1e9, -1e9, -1e9])
    np.testing.assert_array_equal(harden(logits, LAYOUT), [1, 0, 0])


SHAPE = GeneratorShape(LAYOUT, 2, 4, 5)
GENERATORS = {
    "rebuild": lambda: Generator(
        SHAPE,
        inputs=("z", "p", "target"),
        widths=(6,),
        kind="rebuild",
        dropout=0.3,
        key=jax.random.key(2),
    ),
    "edit": lambda: Generator(
        SHAPE, inputs=("x",), widths=(6, 3), kind="edit", dropout=0.3, key=jax.random.key(2)
    ),
    "vae": lambda: VAEGenerator(
        SHAPE, widths=(6,), latent=3, kind="rebuild", kl_weight=0.5, key=jax.random.key(2)
    ),
}


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize("drawn", [False, True])
def test_generators(kind, drawn):
    generator = GENERATORS[kind]()
    # An untrained `edit` proposes no change, whatever it is asked.
    generator = eqx.tree_at(lambda g: g.output.weight, generator, replace_fn=lambda w: w + 0.1)
    assert takes_columns(generator)
    x = columns()
    request = Request(
        x,
        jnp.stack([jnp.zeros(N), jnp.ones(N)]),
        jax.random.normal(jax.random.key(3), (4, N)),
        jax.random.normal(jax.random.key(4), (5, N)),
        constraints().limits(x),
    )
    random = jax.random.uniform(jax.random.key(6), (generator.n_random, N)) if drawn else None
    together = generator(request, random)
    apart = one_by_one(generator, request, random)
    assert_same(together[:2], apart[:2])
    np.testing.assert_allclose(np.broadcast_to(together.penalty, N), apart.penalty, rtol=1e-5)


def test_dropout_drops_its_share_of_units_independently():
    factors = np.asarray(draw_dropout_factors((31, 20_000), 0.3, key=jax.random.key(0)))
    dropped = factors == 0.0
    np.testing.assert_allclose(factors[~dropped], 1 / 0.7, rtol=1e-6)
    np.testing.assert_allclose(dropped.mean(axis=1), 0.3, atol=0.015)
    correlation = np.corrcoef(dropped)
    assert np.abs(correlation - np.eye(31)).max() < 0.03


def test_weights_start_as_equinox_starts_them():
    """U(-1, 1)/√(inputs), weights and biases alike."""
    stack = HiddenStack(400, (300, 200), key=jax.random.key(0))
    for layer, inputs in zip(stack.layers, (400, 300), strict=True):
        for part in (layer.weight, layer.bias):
            scaled = np.asarray(part) * np.sqrt(inputs)
            assert np.abs(scaled).max() <= 1.0
            np.testing.assert_allclose(scaled.mean(), 0.0, atol=0.1)
            np.testing.assert_allclose(scaled.std(), 1 / np.sqrt(3), rtol=0.1)
    first, second = (np.asarray(layer.weight).ravel()[:1000] for layer in stack.layers)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.15


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
