"""RBR as a whole: what its recourses promise, compiled and with a model on the host."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocourse.methods.search._feasible import Space
from rocourse.methods.search._rbr import draw_ball, rbr_recourses
from rocourse.methods.search._rbr_boundary import WalkPlan
from rocourse.methods.search._rbr_reference import (
    learn_reference,
    margins_of,
    max_distance,
    nearest,
)
from rocourse.methods.search._rbr_search import RbrSettings
from scipy.spatial.distance import cdist, pdist

from rocourse.networks import probabilities
from rocourse.schema import Categorical, Continuous, Rows, Schema, one_hot

FREE = Schema(
    features=(
        Continuous("income", low=0.0, high=1.0),
        Continuous("debt", low=0.0, high=1.0),
        Continuous("age", low=0.0, high=1.0),
        Categorical("job", categories=("none", "part", "full")),
        Categorical("region", categories=("north", "south")),
    ),
)
TIED = Schema(
    features=(
        Continuous("income", low=0.0, high=1.0),
        Continuous("debt", low=0.0, high=1.0),
        Continuous("age", low=0.0, high=1.0, direction="up"),
        Categorical("job", categories=("none", "part", "full")),
        Categorical("region", categories=("north", "south"), immutable=True),
    ),
)
LAYOUT = FREE.layout
# Small, so that one compilation serves most tests.
SETTINGS = RbrSettings(neighbours=40, samples=50, walk=WalkPlan(shortlist=20, finalists=8))


class Network(eqx.Module):
    """Income, job and region against debt, with a bend."""

    weights: jax.Array
    bend: jax.Array

    def __call__(self, x):
        return jnp.tanh(x @ self.bend) + x @ self.weights - self.threshold()

    def threshold(self):
        return jnp.linspace(0.2, 0.6, self.weights.shape[1])


class Host:
    """A model that can only be called on arrays."""

    def __init__(self, network, n_classes):
        self._network = network
        self._n_classes = n_classes
        self.calls = 0

    @property
    def n_classes(self):
        return self._n_classes

    def probabilities(self, x):
        self.calls += len(x)
        assert isinstance(x, np.ndarray)
        return np.asarray(jax.vmap(lambda row: probabilities(self._network(row)))(x))

    def slopes(self, x, target):
        raise NotImplementedError


class Native(Host):
    """A model whose network is at hand."""

    @property
    def predictor(self):
        return self._network


def make_network(n_logits, seed=0):
    rng = np.random.default_rng(seed)
    bend = jnp.asarray(rng.normal(size=(LAYOUT.width, n_logits)), jnp.float32)
    slopes = np.array([2.0, -2.0, 0.0, -0.5, 0.0, 0.5, 0.2, -0.2])
    weights = slopes[:, None] + (rng.normal(size=(LAYOUT.width, n_logits)) if n_logits > 1 else 0.0)
    return Network(jnp.asarray(weights, jnp.float32), bend)


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    categories = np.stack([rng.integers(0, size, n) for size in LAYOUT.group_sizes], axis=1)
    return Rows(rng.uniform(size=(n, 3)).astype(np.float32), categories.astype(np.int16))


def make_models(n_classes=2):
    network = make_network(1 if n_classes == 2 else n_classes)
    return Native(network, n_classes), Host(network, n_classes)


def predict(model, rows):
    return np.argmax(model.probabilities(one_hot(rows, LAYOUT)), axis=1)


def search(model, rows, target, *, schema=FREE, settings=SETTINGS, training=None, seed=0):
    space = Space.from_schema(schema)
    reference = learn_reference(model, training or make_rows(200, 1), LAYOUT, seed=seed)
    return rbr_recourses(model, rows, target, space, reference, settings, seed=seed)


@pytest.fixture(scope="module")
def models():
    return make_models()


@pytest.fixture(scope="module")
def rows():
    return make_rows(40, 2)


@pytest.fixture(scope="module")
def target(models, rows):
    return 1 - predict(models[0], rows)


def test_recourses_are_valid_in_both_directions(models, rows, target):
    assert set(target) == {0, 1}
    found = search(models[0], rows, target)
    assert (predict(models[0], found) == target).all()
    assert found.categories.dtype == rows.categories.dtype


def test_without_the_repair_recourses_are_nearer_and_fewer_are_valid(models, rows, target):
    # Against a strong adversary the search hardly leaves the boundary point.
    wary = SETTINGS._replace(epsilon_op=1.0, epsilon_pe=1.0, slack=0.0)
    repaired = search(models[0], rows, target, settings=wary)
    plain = search(models[0], rows, target, settings=wary._replace(repair=False))
    valid = predict(models[0], plain) == target
    assert 0 < valid.mean() < 1
    # The repair leaves alone what needs none.
    assert plain[valid] == repaired[valid]

    def distance(found):
        return np.abs(one_hot(found, LAYOUT) - one_hot(rows, LAYOUT)).sum(axis=1).mean()

    assert distance(plain) < distance(repaired)


@pytest.mark.parametrize("schema", [FREE, TIED], ids=["free", "tied"])
def test_a_model_on_the_host_gets_the_same_recourses(models, rows, target, schema):
    compiled, host = (search(model, rows[:20], target[:20], schema=schema) for model in models)
    np.testing.assert_allclose(compiled.continuous, host.continuous, atol=1e-4)
    np.testing.assert_array_equal(compiled.categories, host.categories)


def test_a_row_gets_the_same_recourse_alone_and_among_others(models, rows, target):
    together = search(models[0], rows, target)
    for i in (0, 1, 35):
        assert search(models[0], rows[i : i + 1], target[i : i + 1]) == together[i : i + 1]


def test_the_same_seed_gives_the_same_recourses(models, rows, target):
    first, second, other = (search(models[0], rows, target, seed=seed) for seed in (3, 3, 4))
    assert first == second
    assert first != other


def test_recourses_keep_to_the_limits(models, rows, target):
    found = search(models[0], rows, target, schema=TIED)
    assert (found.categories[:, 1] == rows.categories[:, 1]).all()
    assert (found.continuous[:, 2] >= rows.continuous[:, 2]).all()
    assert ((found.continuous >= 0) & (found.continuous <= 1)).all()
    assert (predict(models[0], found) == target).mean() > 0.9


def test_any_class_of_several_can_be_the_target(rows):
    model, _ = make_models(3)
    predicted = predict(model, rows)
    target = (predicted + 1) % 3
    found = search(model, rows, target)
    assert (predict(model, found) == target).all()


def test_a_class_that_no_training_row_has_leaves_rows_near_where_they_were(models, rows, target):
    network = eqx.tree_at(lambda n: n.weights, models[0].predictor, jnp.full((8, 1), -50.0))
    model = Native(network, 2)
    found = search(model, rows, np.ones(len(rows), int))
    assert np.isfinite(found.continuous).all()
    # Nothing to walk to: the budget is the slack alone.
    moved = np.abs(one_hot(found, LAYOUT) - one_hot(rows, LAYOUT)).sum(axis=1)
    assert (moved <= SETTINGS.slack + 1e-4).all()


def test_no_rows_give_no_rows(models, rows, target):
    for model in models:
        assert len(search(model, rows[:0], target[:0])) == 0


def test_rows_are_left_as_they_were(models, rows, target):
    before = (rows.continuous.copy(), rows.categories.copy())
    search(models[0], rows, target)
    np.testing.assert_array_equal(rows.continuous, before[0])
    np.testing.assert_array_equal(rows.categories, before[1])


def test_any_number_of_rows_and_any_radius_is_traced_once_a_block_size(target):
    traces = []

    class Counted(Network):
        def __call__(self, x):
            traces.append(1)
            return super().__call__(x)

    plain = make_network(1)
    model = Native(Counted(plain.weights, plain.bend), 2)
    rows = make_rows(100, 3)
    wanted = 1 - predict(model, rows)
    training = make_rows(200, 1)
    search(model, rows[:1], wanted[:1], training=training)
    search(model, rows[:2], wanted[:2], training=training)
    seen = len(traces)
    for n in (1, 7, 32, 33, 100):
        settings = SETTINGS._replace(slack=0.1 * n, radius=0.1, sigma=0.5)
        search(model, rows[:n], wanted[:n], settings=settings, training=training)
        # Learning predicts the training rows, outside of the search.
        seen += 1
    assert len(traces) == seen


def test_greatest_distance_is_that_of_all_pairs():
    x = np.random.default_rng(0).normal(size=(50, 6))
    np.testing.assert_allclose(max_distance(x), pdist(x).max())
    assert max_distance(x[:1]) == 0.0


def test_reference_holds_at_most_as_many_rows_as_asked_for(models):
    reference = learn_reference(models[0], make_rows(100, 0), LAYOUT, most=30, seed=0)
    assert len(reference.continuous) == len(reference.probabilities) == 30


def test_nearest_are_those_of_the_target_class_by_l1_distance(models, rows, target):
    training = make_rows(300, 1)
    reference = learn_reference(models[0], training, LAYOUT, seed=0)
    index, margins = nearest(reference, rows.continuous, rows.categories, target, count=10)
    distance = cdist(one_hot(rows, LAYOUT), one_hot(training, LAYOUT), "cityblock")
    predicted = predict(models[0], training)
    for i, wanted in enumerate(target):
        expected = np.sort(distance[i][predicted == wanted])[:10]
        np.testing.assert_allclose(np.sort(distance[i][index[i]]), expected, rtol=1e-5)
        assert (predicted[index[i]] == wanted).all()
    assert (margins > 0).all()


def test_missing_neighbours_are_marked(models, rows, target):
    training = make_rows(30, 1)
    reference = learn_reference(models[0], training, LAYOUT, seed=0)
    _, margins = nearest(reference, rows.continuous, rows.categories, target, count=1000)
    counts = np.bincount(predict(models[0], training), minlength=2)
    np.testing.assert_array_equal(np.isfinite(margins).sum(axis=1), counts[target])


def test_margins_are_positive_where_the_target_class_leads():
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]], np.float32)
    margins = margins_of(shares, np.array([0, 1, 2]))
    np.testing.assert_allclose(margins[:2], [np.log(3.5), np.log(0.75)], rtol=1e-5)
    assert np.isfinite(margins[2])
    assert margins[2] < 0


def test_samples_are_uniform_in_the_ball():
    points = draw_ball(3, 20_000, seed=0)
    lengths = np.linalg.norm(points, axis=1)
    assert lengths.max() <= 1 + 1e-6
    # Volume grows with the cube of the radius.
    for radius in (0.3, 0.6, 0.9):
        np.testing.assert_allclose((lengths < radius).mean(), radius**3, atol=0.01)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.02)
