"""Jurors: families of small models, asked by compiled code as their libraries would answer."""

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from rocourse.models import Shift, TrainingRows
from rocourse.models.jurors import family_leads, lead, train_jurors, tree_scores
from rocourse.models.jurors._networks import network_scores, train_networks
from rocourse.models.jurors._trees import train_trees
from rocourse.schema import Continuous, Rows, Schema

STILL = Shift(noise=0.0, flip=0.0, tilt=0.0, label_tilt=0.0)


def table(n, *, n_classes=2, width=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, width)).astype(np.float32)
    # Whole numbers among them, which fall on thresholds.
    x[:, 0] = np.round(4 * x[:, 0]) / 4
    score = x[:, 0] + x[:, 1] * x[:, 2]
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return x, np.digitize(score, edges).astype(np.int32)


def training_rows(n, n_classes=2):
    x, labels = table(n, n_classes=n_classes)
    schema = Schema(tuple(Continuous(f"x{i}", low=0.0, high=1.0) for i in range(x.shape[1])))
    nothing = np.zeros((n, 0), schema.layout.category_dtype)
    return TrainingRows(Rows(x, nothing), labels, n_classes, schema), x


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [60, 500])
def test_trees_answer_as_scikit_learn_does(n, n_classes):
    x, labels = table(n, n_classes=n_classes)
    trees = train_trees([x, x[::-1]], [labels, labels[::-1]], n_classes, seed=3)
    expected = HistGradientBoostingClassifier(
        max_iter=40,
        learning_rate=0.15,
        max_leaf_nodes=8,
        max_depth=4,
        min_samples_leaf=max(2, min(20, n // 20)),
        early_stopping=False,
        random_state=3,
    ).fit(x, labels)
    asked, _ = table(400, seed=9)
    asked = np.concatenate([asked, x])
    scores = np.asarray(tree_scores(trees, jnp.asarray(asked.T)))[0]
    shares = np.exp(scores) / np.exp(scores).sum(axis=0)
    np.testing.assert_allclose(shares.T, expected.predict_proba(asked), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_networks_learn_what_there_is_to_learn(n_classes):
    x, labels = table(600, n_classes=n_classes)
    networks = train_networks([x, x[:100]], [labels, labels[:100]], n_classes, seed=0)
    scores = np.asarray(network_scores(networks, jnp.asarray(x.T)))
    assert (scores.argmax(axis=1) == labels).mean(axis=1)[0] > 0.95
    assert (scores.argmax(axis=1) == labels).mean(axis=1)[1] > 0.85


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lines_are_logistic_regressions_of_the_rows_drawn(n_classes):
    data, x = training_rows(400, n_classes)
    jurors = train_jurors(data, STILL, networks=2, others=2, seed=0)
    target = np.full(len(x), n_classes - 1)
    _, leads, _ = family_leads(jurors, jnp.asarray(x.T), jnp.asarray(target))
    whole = LogisticRegression(max_iter=300).fit(x, data.labels)
    # Rows are drawn with replacement, so the verdicts are nearly those of all rows.
    agreed = (np.asarray(leads) > 0) == (whole.predict(x) == n_classes - 1)
    assert agreed.mean() > 0.93


def test_every_family_of_a_jury_is_right_about_most_rows_and_its_members_differ():
    data, x = training_rows(400)
    shift = Shift(tilt=0.5, label_tilt=0.5, concept_tilt=0.7)
    jurors = train_jurors(data, shift, networks=4, others=4, seed=1)
    families = family_leads(jurors, jnp.asarray(x.T), jnp.asarray(data.labels))
    for leads in map(np.asarray, families):
        assert leads.shape == (4, 400)
        assert (leads > 0).mean() > 0.7
        assert (leads.std(axis=0) > 0).all()


def test_equal_seeds_give_equal_jurors():
    data, x = training_rows(80)
    one, other = (train_jurors(data, Shift(), networks=2, others=2, seed=5) for _ in range(2))
    for a, b in zip(
        *(
            family_leads(jurors, jnp.asarray(x.T), jnp.asarray(data.labels))
            for jurors in (one, other)
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_a_rare_class_is_in_every_jurors_rows():
    data, x = training_rows(200)
    rare = data._replace(labels=(np.arange(200) < 6).astype(np.int32))
    jurors = train_jurors(rare, Shift(label_tilt=3.0), networks=6, others=6, seed=0)
    for leads in family_leads(jurors, jnp.asarray(x.T), jnp.ones(200, int)):
        assert np.isfinite(np.asarray(leads)).all()


def test_a_rare_class_is_in_every_jurors_rows_where_there_are_too_many_of_others():
    data, _ = training_rows(20_000, n_classes=3)
    rare = np.flatnonzero(data.labels == 2)[:3]
    data = data.take(np.concatenate([np.flatnonzero(data.labels < 2), rare]))
    jurors = train_jurors(data, Shift(), networks=1, others=6, seed=0)
    assert jurors.lines.weight.shape[:2] == (6, 3)
    assert jurors.trees.baseline.shape == (6, 3)


def test_the_lead_is_over_the_best_other_class():
    scores = jnp.asarray([[[1.0, 5.0], [3.0, 0.0], [2.0, 4.0]]])
    np.testing.assert_allclose(lead(scores, jnp.asarray([1, 2])), [[1.0, -1.0]])
