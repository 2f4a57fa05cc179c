"""Every weight may move by δ: bounds against models in the box, corners and plain search."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recourse.proof.small_worlds import LAYOUT, random_network

from rocourse.certificates._attack import attacked_margins, broken_at
from rocourse.certificates._branches import holding, least_of
from rocourse.certificates._exact import exact_radii, holds
from rocourse.certificates._intervals import Layers, layers_of, least_margins, radii, rectified
from rocourse.certificates._program import solve
from rocourse.models import NetworkModel, sharpened
from rocourse.recourse.proof import margins_of
from rocourse.schema import CutOff, verdicts

# As networks in float32 have it.
SLOPE = float(np.float32(0.01))


def random_layers(rng, widths, *, networks=1, margins=1):
    sizes = list(zip(widths[:-1], widths[1:], strict=True))
    return Layers(
        tuple(rng.normal(0.0, 1.0, (networks, after, before)) for before, after in sizes),
        tuple(rng.normal(0.0, 0.5, (networks, after)) for _, after in sizes),
        rng.normal(0.0, 1.0, (networks, margins, widths[-1])) / networks,
        rng.normal(0.0, 0.5, margins),
    )


def moved_margin(layers, x, delta, draw):
    """The least margin of a model in the box, as plainly as it can be written.

    `draw` gives numbers in [-1, 1] of a shape; logits of each class and network have weights of
    their own, and are written as such.
    """
    networks, margins = layers.last.shape[:2]
    leads = layers.offset.copy()
    for k in range(networks):
        hidden = x
        for weight, bias in zip(layers.weights, layers.biases, strict=True):
            z = (weight[k] + delta * draw(weight[k].shape)) @ hidden
            z += bias[k] + delta * draw(bias[k].shape)
            hidden = np.where(z > 0, z, SLOPE * z)
        classes = 1 if margins == 1 else margins + 1
        weight = delta * draw((classes, len(hidden))) / networks
        bias = delta * draw((classes,)) / networks
        turned, shifted = (
            (weight, bias) if classes == 1 else (weight[0] - weight[1:], bias[0] - bias[1:])
        )
        leads += (layers.last[k] + turned) @ hidden + shifted
    return leads.min()


def least_margin(layers, x, delta):
    """By HiGHS alone: the least of a committee's sum is the sum of the networks' least."""
    margins = [
        sum(
            solve(layers.alone(k, margin), layers.last_turns, x, delta).bound
            for k in range(len(layers.last))
        )
        + offset
        - delta * layers.turns
        for margin, offset in enumerate(layers.offset)
    ]
    return min(margins)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 3]),
    st.sampled_from([1, 2]),
    st.sampled_from([(3, 4), (3, 4, 3), (4, 3, 3, 2)]),
)
def test_no_model_in_the_box_has_a_lower_margin(seed, networks, margins, widths):
    rng = np.random.default_rng(seed)
    layers = random_layers(rng, widths, networks=networks, margins=margins)
    x, delta = rng.normal(0.0, 1.0, widths[0]), rng.uniform(0.0, 0.6)
    bound = least_margins(layers, x[None], np.array([delta]))[0]
    for k in range(200):
        ends = k % 2

        def draw(shape, ends=ends):
            drawn = rng.uniform(-1.0, 1.0, shape)
            return np.sign(drawn) if ends else drawn

        assert moved_margin(layers, x, delta, draw) >= bound - 1e-9


def test_a_hundred_thousand_models_in_the_box_keep_to_the_bound():
    rng = np.random.default_rng(0)
    layers, x, delta = random_layers(rng, (3, 4, 3)), rng.normal(0.0, 1.0, 3), 0.2
    bound = least_margins(layers, x[None], np.array([delta]))[0]
    exact = least_margin(layers, x, delta)
    many = 100_000
    hidden = np.broadcast_to(x, (many, 3))
    parts = [(w[0], b[0]) for w, b in zip(layers.weights, layers.biases, strict=True)]
    for weight, bias in [*parts, (layers.last[0], layers.offset)]:
        # Half of them at corners, which are where little is left.
        drawn = (
            rng.uniform(-1.0, 1.0, (many, *weight.shape)),
            rng.uniform(-1.0, 1.0, (many, len(bias))),
        )
        turn = [
            np.where(np.arange(many).reshape(-1, *(1,) * (d.ndim - 1)) % 2, np.sign(d), d)
            for d in drawn
        ]
        z = ((weight + delta * turn[0]) @ hidden[..., None])[..., 0] + bias + delta * turn[1]
        hidden = np.where(z > 0, z, SLOPE * z)
    least = z.min()
    assert bound <= exact <= least


def test_one_hidden_layer_is_bounded_by_its_worst_corner_exactly():
    """A margin that is concave in each unit is least at a corner: all of them are tried."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        layers = random_layers(rng, (2, 2))
        # Zeros as well, and rows of any sign.
        x, delta = rng.choice([-1.3, -0.4, 0.0, 0.7], 2), rng.uniform(0.05, 0.8)
        least = np.inf
        for signs in product([-1.0, 1.0], repeat=9):
            parts = iter(np.split(np.array(signs), [4, 6, 8]))
            least = min(
                least, moved_margin(layers, x, delta, lambda s, p=parts: next(p).reshape(s))
            )
        bound = least_margins(layers, x[None], np.array([delta]))[0]
        assert bound == pytest.approx(least, abs=1e-9)


def test_the_least_of_a_program_and_of_a_search_is_that_of_looking_everywhere():
    """With two hidden layers and two units in the first, all values of these are looked at."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        layers = random_layers(rng, (3, 2, 3), networks=2)
        x, delta = rng.normal(0.0, 1.0, 3), rng.uniform(0.05, 0.6)
        least = layers.offset[0] - delta
        for k in range(2):
            reach = delta * (np.abs(x).sum() + 1)
            middle = layers.weights[0][k] @ x + layers.biases[0][k]
            axes = [
                np.unique(np.append(np.linspace(m - reach, m + reach, 801), 0.0)) for m in middle
            ]
            axes = [
                a[(a >= m - reach) & (a <= m + reach)] for a, m in zip(axes, middle, strict=True)
            ]
            z = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
            hidden = np.where(z > 0, z, SLOPE * z)
            told = hidden @ layers.weights[1][k].T + layers.biases[1][k]
            width = delta * (np.abs(hidden).sum(axis=1, keepdims=True) + 1)
            ends = [np.where(e > 0, e, SLOPE * e) for e in (told - width, told + width)]
            last = layers.last[k, 0]
            worst = np.minimum(*(last * e - delta / 2 * np.abs(e) for e in ends))
            least += worst.sum(axis=1).min()
        searched = least_of(layers, x[None], np.array([delta]), np.array([1e-4])).bound[0]
        for found in (least_margin(layers, x, delta), searched):
            # A grid is nowhere below the least, and near it.
            assert found <= least + 1e-9
            assert found >= least - 0.02
        assert least_margins(layers, x[None], np.array([delta]))[0] <= found + 1e-5


@pytest.mark.parametrize("margins", [1, 2])
@pytest.mark.parametrize("widths", [(3, 5, 4), (4, 6, 5, 4), (3, 4, 3, 3, 3)])
def test_a_search_finds_what_highs_does(widths, margins):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        layers = random_layers(rng, widths, networks=1 + seed % 2, margins=margins)
        x, delta = rng.normal(0.0, 1.0, (5, widths[0])), rng.uniform(0.02, 0.3, 5)
        told = least_of(layers, x, delta, np.full(5, 1e-3))
        programmed = [least_margin(layers, *each) for each in zip(x, delta, strict=True)]
        assert (abs(told.found - told.bound - 5e-4) <= 6e-4).all()
        # HiGHS is right to about a hundred thousandth of what it finds.
        slack = 1e-4 * (1.0 + np.abs(programmed))
        assert (told.bound <= programmed + slack).all()
        assert (told.found >= programmed - slack).all()


def test_what_a_search_finds_is_a_model_in_the_box():
    """Ways to push units are weights; an attack that begins with them mostly leaves as little."""
    rng = np.random.default_rng(7)
    layers = random_layers(rng, (4, 6, 5, 4), networks=2, margins=2)
    x, delta = rng.normal(0.0, 1.0, (40, 4)), np.full(40, 0.1)
    told = least_of(layers, x, delta, np.full(40, 1e-2))
    left = attacked_margins(layers, x, delta, told.ways)
    assert (left >= told.bound - 1e-9).all()
    # The rest was found by programs, at weights between the ends.
    assert (left <= told.found + 1e-9).mean() >= 0.4
    assert (left <= attacked_margins(layers, x, delta) + 1e-9).all()


def test_whether_a_row_holds_is_decided_wherever_its_margin_lies():
    rng = np.random.default_rng(11)
    layers = random_layers(rng, (3, 5, 4), networks=2)
    x, delta = rng.normal(0.0, 1.0, (4, 3)), 0.1
    programmed = np.array([least_margin(layers, row, delta) for row in x])
    for aside in (-1e-2, -1e-3, 1e-3, 1e-2):
        # Each row's margin is put next to zero.
        for row, least in zip(x, programmed, strict=True):
            moved = layers._replace(offset=layers.offset - least + aside)
            held, _ = holding(moved, row[None], np.array([delta]), np.array([1.0]))
            assert held[0] == (aside > 0.0) == holds(moved, row[None], delta)[0]


def test_what_a_program_finds_is_a_model_in_the_box():
    """Weights are made of its solution; their network has the margin that it tells."""
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        layers = random_layers(rng, (4, 5, 4, 3))
        x, delta = rng.normal(0.0, 1.0, 4), 0.15
        solved = solve(layers.alone(0, 0), layers.last_turns, x, delta)
        hidden = x
        for depth, (above, below) in enumerate(solved.hidden):
            wanted = above - below
            assert (np.minimum(above, below) < 1e-6).all()
            weight, bias = layers.weights[depth][0], layers.biases[depth][0]
            size = np.abs(hidden).sum() + 1.0
            share = (wanted - weight @ hidden - bias) / (delta * size)
            assert (np.abs(share) <= 1.0 + 1e-4).all()
            weight = weight + delta * share[:, None] * np.sign(hidden)
            hidden = rectified(weight @ hidden + bias + delta * share)
        last = layers.last[0, 0] - delta * np.sign(hidden)
        assert solved.bound == pytest.approx(last @ hidden, abs=1e-4)


def test_radii_are_the_largest_that_hold():
    rng = np.random.default_rng(3)
    layers = random_layers(rng, (3, 6, 4), networks=3)
    x = rng.normal(0.0, 1.0, (200, 3))
    margin = least_margins(layers, x, np.zeros(len(x)))
    found = radii(layers, x)
    assert ((found > 0) == (margin > 0)).all()
    granted = found > 0
    assert granted.any() and not granted.all()
    assert (least_margins(layers, x[granted], found[granted]) > 0).all()
    assert (least_margins(layers, x[granted], found[granted] * 1.001) <= 0).all()
    few = np.flatnonzero(granted)[:4]
    exact = exact_radii(layers, x[few])
    assert (exact >= found[few]).all()
    for row, radius in zip(x[few], exact, strict=True):
        assert least_margin(layers, row, radius) > 0 > least_margin(layers, row, radius * 1.006)


def test_a_stored_committee_moves_as_its_networks_do():
    """Zeros between networks are no weights, and a mean moves less than each of its parts."""
    rng = np.random.default_rng(5)
    networks = [random_network(rng, 2) for _ in range(3)]
    apart = NetworkModel.of(networks)
    joined = NetworkModel(apart.predictor, (apart.predictor,))
    x = rng.uniform(0.0, 1.0, (50, LAYOUT.width))
    told = [layers_of(margins_of(model, 1, None, LAYOUT)) for model in (apart, joined)]
    assert [len(layers.last) for layers in told] == [3, 3]
    np.testing.assert_allclose(radii(told[0], x), radii(told[1], x), rtol=1e-6)
    alone = layers_of(margins_of(NetworkModel.of(networks[:1]), 1, None, LAYOUT))
    assert len(alone.last) == 1


@pytest.mark.parametrize("favourable", [0, 1])
@pytest.mark.parametrize("granted", [0.3, 0.8])
def test_models_within_the_radius_decide_alike_at_any_cut_off_and_temperature(granted, favourable):
    """By the mean of the logits of networks that each moved by itself, as a probability."""
    rng = np.random.default_rng(9)
    networks = sharpened([random_network(rng, 2) for _ in range(3)], 1.7)
    model = NetworkModel.of(networks)
    x = rng.uniform(0.0, 1.0, (300, LAYOUT.width)).astype(np.float32)
    told = model.probabilities(x)
    threshold = float(np.quantile(told[:, favourable], 1.0 - granted))
    cut_off = CutOff(threshold, favourable)
    given = verdicts(told, cut_off)
    assert abs((given == favourable).mean() - granted) < 0.01 and abs(threshold - 0.5) > 0.02
    for target in (0, 1):
        found = radii(layers_of(margins_of(model, target, cut_off, LAYOUT)), x)
        np.testing.assert_array_equal(found > 0.0, given == target)
        for place in np.flatnonzero(given == target)[:10].tolist():
            for _ in range(20):
                logits = [moved_logit(one, x[place], found[place], rng) for one in networks]
                likely = 1.0 / (1.0 + np.exp(-np.mean(logits)))
                assert verdicts(np.array([1.0 - likely, likely]), cut_off) == target


def moved_logit(network, x, delta, rng):
    """The logit of a network, each weight and bias of which moved to an end of the box."""
    h = x.astype(np.float64)
    for layer in network.layers:
        weight, bias = (
            np.asarray(part, np.float64) + delta * rng.choice([-1.0, 1.0], part.shape)
            for part in (layer.weight, layer.bias)
        )
        z = weight @ h + bias
        h = np.where(z > 0.0, z, SLOPE * z)
    return z[0]


@pytest.mark.parametrize(("networks", "margins"), [(1, 1), (3, 1), (2, 2)])
def test_an_attack_on_one_hidden_layer_mostly_finds_the_least_margin(networks, margins):
    rng = np.random.default_rng(0)
    layers = random_layers(rng, (3, 5), networks=networks, margins=margins)
    x, delta = rng.normal(0.0, 1.0, (300, 3)), rng.uniform(0.0, 0.2, 300)
    least, found = least_margins(layers, x, delta), attacked_margins(layers, x, delta)
    assert (found >= least - 1e-9).all()
    assert np.isclose(found, least).mean() >= 0.6


@pytest.mark.parametrize("seed", range(6))
def test_no_attack_goes_below_what_highs_proves(seed):
    rng = np.random.default_rng(seed)
    layers = random_layers(rng, (3, 5, 4, 3), networks=1 + seed % 2)
    layers = layers._replace(offset=np.array([30.0]))
    x = rng.normal(0.0, 1.0, (1, 3))
    found = attacked_margins(layers, x, np.array([0.3]))[0]
    assert found >= least_margin(layers, x[0], 0.3) - 1e-5
    low = radii(layers, x)
    top = least_margins(layers, x, np.zeros(1))
    high = broken_at(layers, x, low, top)
    assert low[0] <= exact_radii(layers, x)[0] <= high[0] * (1 + 1e-9)
    assert attacked_margins(layers, x, high)[0] <= 0.0
