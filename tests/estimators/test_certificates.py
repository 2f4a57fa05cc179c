"""`certify` on fitted models: levels are those of the model that decides, and travel as JSON."""

import json

import numpy as np
import pytest
from scipy.stats import beta, binom
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.loans import fit, make_schema

import rocourse
from rocourse.errors import ConfigError, DataError
from rocourse.estimators import RoCoursePanel, VanillaCF
from rocourse.schema import CERTIFICATES


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(60)


@pytest.fixture(scope="module")
def model(fitted):
    return fitted("rocourse")


@pytest.fixture(scope="module")
def advice(model, rows):
    return model.recourse(rows, desired=1)


def moved(network, delta, rng):
    """Each weight and bias of a network somewhere within δ."""
    return [
        tuple(
            np.asarray(part, np.float64) + rng.uniform(-delta, delta, part.shape)
            for part in (layer.weight, layer.bias)
        )
        for layer in network.layers
    ]


def logits(layers, x):
    for weight, bias in layers[:-1]:
        x = x @ weight.T + bias
        x = np.where(x > 0, x, 0.01 * x)
    return (x @ layers[-1][0].T + layers[-1][1])[:, 0]


def test_committees_whose_networks_move_within_the_level_give_the_class(model, advice):
    from rocourse.schema import one_hot

    told = model.certify(advice)
    np.testing.assert_array_equal(np.isnan(told.level), ~advice.advised)
    assert (told.level[advice.advised] > 0).all() and told.holds is None
    exact = model.certify(advice[:6], exact=True)
    few = np.flatnonzero(advice.advised[:6])
    assert (exact.level[few] >= told.level[few]).all()
    rng = np.random.default_rng(0)
    places = np.flatnonzero(advice.advised)[:5]
    for place in places:
        x = one_hot(advice.attempts.take([place]), model.schema_.layout).astype(float)
        for _ in range(40):
            drawn = [moved(one, told.level[place], rng) for one in model.model_.networks]
            assert np.mean([logits(one, x) for one in drawn]) > 0


def test_a_level_that_is_asked_for_holds_or_not(model, advice):
    levels = model.certify(advice).level
    middle = float(np.nanmedian(levels))
    told = model.certify(advice, at=middle)
    np.testing.assert_array_equal(told.holds, levels >= middle)
    exact = model.certify(advice[:10], at=middle, exact=True)
    assert (exact.holds >= told.holds[:10]).all()
    assert (exact.level[exact.holds] >= middle).all()


def test_a_stored_model_has_the_same_certificate_and_names_itself(model, advice, tmp_path):
    assert model.promising(0.7).certify(advice).model is None
    model.save(tmp_path / "model")
    loaded = rocourse.load(tmp_path / "model")
    told, again = model.certify(advice), loaded.certify(advice)
    np.testing.assert_allclose(told.level, again.level, rtol=1e-5)
    header = json.loads((tmp_path / "model" / "model.json").read_text())
    assert told.model == again.model == header["digest"]


def test_draws_from_the_box_agree_where_all_of_it_is_certified(model, advice):
    delta = float(np.nanmax(model.certify(advice).level))
    told = model.certify(advice, "sampled", delta=delta, at=0.9)
    assert told.parameters["draws"] == 29
    certified = model.certify(advice, at=delta).holds
    assert certified.any() and (told.details["honoured"][certified] == 29).all()
    assert told.level[certified] == pytest.approx(0.05 ** (1 / 29))
    again = model.certify(advice, "sampled", delta=delta, at=0.9)
    np.testing.assert_array_equal(told.level, again.level)
    wide = model.certify(advice, "sampled", delta=5.0, at=0.9)
    assert np.nanmin(wide.level) < 0.9


def test_witnesses_are_counted_by_the_exact_bound(loans, rows):
    panel = fit(RoCoursePanel, loans, witnesses=4)
    advice = panel.recourse(rows, desired=1)
    told = panel.certify(advice, "witnesses", at=0.5)
    honoured = np.rint(panel.robustness(advice) * 4)[advice.advised]
    np.testing.assert_array_equal(told.details["honoured"][advice.advised], honoured)
    expected = np.where(honoured > 0, beta.ppf(0.05, np.maximum(honoured, 1), 4 - honoured + 1), 0)
    np.testing.assert_allclose(told.level[advice.advised], expected)
    # Five that agree show a half.
    assert (told.details["more_witnesses"][advice.advised] >= 1).all()
    fresh = panel.certify(
        advice, "witnesses", X=loans.drop(columns="grade"), y=loans["grade"], count=2
    )
    assert fresh.parameters["witnesses"] == 2
    assert fresh.parameters["shift"]["noise"] == rocourse.Shift().noise


def test_a_model_of_the_users_is_refitted_by_witnesses_and_has_no_weights(loans, rows):
    X, y = loans.drop(columns="grade"), loans["grade"]
    forest = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", min_frequency=5),
        RandomForestClassifier(5, random_state=0),
    )
    explainer = VanillaCF(make_schema(loans), model=forest.fit(X, y)).fit(X, y)
    advice = explainer.recourse(rows.head(8), desired=1)
    told = explainer.certify(advice, "witnesses", X=X, y=y, count=3)
    assert set(told.details["honoured"][advice.advised]) <= {0, 1, 2, 3}
    with pytest.raises(ConfigError, match="networks are at hand.*witnesses"):
        explainer.certify(advice)


def test_records_are_json_with_both_sentences(model, advice):
    for kind, asked in {"delta": {}, "sampled": {"delta": 0.01, "at": 0.5}}.items():
        told = model.certify(advice, kind, **asked)
        records = json.loads(json.dumps(told.to_records(), allow_nan=False))
        assert len(records) == len(advice)
        first = int(np.flatnonzero(~advice.advised)[0])
        assert records[first] is None
        one = records[int(np.flatnonzero(advice.advised)[0])]
        assert {"kind", "level", "at", "confidence", "parameters", "model"} <= set(one)
        assert one["covers"].endswith(".") and one["leaves_out"].endswith(".")


def test_the_loss_that_refits_of_the_last_layer_may_give_away(model, advice, loans):
    X, y = loans.drop(columns="grade"), loans["grade"]
    told = model.certify(advice, "ellipsoid", X=X, y=y)
    assert told.parameters["rows"] == 400 and told.parameters["own_excess"] >= 0
    assert (told.level[advice.advised] >= 0).all() and (told.level[advice.advised] > 0).any()
    few = model.certify(advice, "ellipsoid", X=X, y=y, at=float(np.nanmedian(told.level)))
    assert 0 < few.holds.sum() < len(advice)
    with pytest.raises(ConfigError, match="pass X and y .--reference."):
        model.certify(advice, "ellipsoid")


def test_trees_of_a_forest_vote_as_the_library_says(loans, rows):
    X, y = loans.drop(columns="grade"), loans["grade"]
    prepared = make_pipeline(
        ColumnTransformer([("words", OneHotEncoder(), ["job", "region"])], remainder="passthrough"),
        RandomForestClassifier(15, random_state=0),
    ).fit(X, y)
    explainer = VanillaCF(make_schema(loans), model=prepared).fit(X, y)
    advice = explainer.recourse(rows.head(12), desired=1)
    told = explainer.certify(advice, "votes", at=0.9)
    seen = prepared[0].transform(advice.attempted()[X.columns])
    expected = np.sum([tree.predict(seen) == 1 for tree in prepared[-1].estimators_], axis=0)
    assert told.parameters == {"trees": 15}
    where = advice.advised
    np.testing.assert_array_equal(told.details["votes"][where], expected[where])
    chance = binom.sf(7, 15, beta.ppf(0.05, np.maximum(expected, 1), 15 - expected + 1))
    np.testing.assert_allclose(told.level[where], chance[where])
    np.testing.assert_array_equal(told.holds[where], chance[where] >= 0.9)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"kind": "deltas"}, "kind must be one of.*did you mean 'delta'"),
        ({"at": 0.0}, "at must be a number above 0"),
        ({"kind": "sampled", "delta": 0.1, "at": 1.0}, "at must be a number between 0 and 1"),
        ({"kind": "sampled"}, "delta must be a number above 0, but got None"),
        ({"confidence": 1.0}, "confidence must be a number between 0 and 1"),
        ({"delta": 0.1}, "delta goes with kind 'sampled'"),
        ({"kind": "sampled", "delta": 0.1, "exact": True}, "exact goes with kind 'delta'"),
        ({"kind": "witnesses"}, "pass X and y"),
        ({"kind": "votes"}, "must be of a forest"),
        ({"kind": "witnesses", "count": 0}, "count must be a whole number"),
    ],
)
def test_bad_questions_are_refused_in_a_sentence(model, advice, asked, sentence):
    with pytest.raises(ConfigError, match=sentence):
        model.certify(advice, **asked)


def test_recourses_of_other_rows_are_refused(model, graded_rocoursenet, graded_loans):
    other = graded_rocoursenet.recourse(graded_loans.drop(columns="grade").head(5), desired=2)
    with pytest.raises(DataError, match="must ask for one of the classes"):
        model.certify(other)


def test_of_many_classes_the_least_lead_counts(graded_rocoursenet, graded_loans):
    X, y = graded_loans.drop(columns="grade"), graded_loans["grade"]
    advice = graded_rocoursenet.recourse(X.head(30), desired=2)
    with pytest.raises(ConfigError, match="has 3 classes"):
        graded_rocoursenet.certify(advice, "ellipsoid", X=X, y=y)
    told = graded_rocoursenet.certify(advice)
    sampled = graded_rocoursenet.certify(
        advice, "sampled", delta=float(np.nanmax(told.level)), at=0.9
    )
    best = int(np.nanargmax(told.level))
    assert sampled.details["honoured"][best] == sampled.parameters["draws"]


def test_every_kind_is_documented():
    text = rocourse.RecourseClassifier.certify.__doc__
    assert all(f"`{kind}`" in text for kind in CERTIFICATES)


def surer(model, rows, kind="delta", **asked):
    """Advice that is searched for until it is certified, beside what is given else."""
    return model.recourse(rows, desired=1), model.certifying(kind, **asked).recourse(
        rows, desired=1
    )


def check_certified(model, before, after, at):
    """What is promised holds; what does not hold is what was advised before, without a promise."""
    told = model.certify(after)
    np.testing.assert_allclose(after.certificate.level, told.level)
    np.testing.assert_array_equal(after.certificate.holds, told.level >= at)
    held = after.certificate.holds
    assert (held | (after.status != "found")).all()
    first = model.certify(before).level >= at
    assert (held >= first).all()
    same = first | ~held
    for part in ("continuous", "categories"):
        own, new = (getattr(one.attempts, part) for one in (before, after))
        np.testing.assert_array_equal(own[same], new[same])
    changed = model.predict(after.frame())
    assert (changed[after.advised] == after.desired[after.advised]).all()
    assert after.cost[held].sum() >= before.cost[held].sum()


def test_a_search_goes_on_until_the_certificate_holds(model, rows, advice):
    at = float(np.nanquantile(model.certify(advice).level, 0.7))
    before, after = surer(model, rows, at=at)
    check_certified(model, before, after, at)
    short = model.recourse(rows, desired=1, certify="delta", at=at)
    np.testing.assert_array_equal(short.status, after.status)
    one = model.certifying("delta", at=at).recourse_one(dict(rows.iloc[3]), desired=1)
    assert one["changes"] == after.to_records()[3]["changes"]
    assert one["certificate"]["level"] == pytest.approx(after.certificate.level[3])


def test_a_panel_is_asked_for_more_too(fitted, rows):
    panel = fitted("rocourse-panel")
    at = float(np.nanquantile(panel.certify(panel.recourse(rows, desired=1)).level, 0.7))
    before, after = surer(panel, rows, at=at)
    check_certified(panel, before, after, at)
    assert after.certificate.holds.sum() > (panel.certify(before).level >= at).sum()


def test_options_are_certified_each(model, rows, advice):
    at = float(np.nanquantile(model.certify(advice).level, 0.5))
    found = model.certifying("delta", at=at).recourse(rows.head(8), desired=1, options=2)
    for option in found.options:
        np.testing.assert_allclose(option.certificate.level, model.certify(option).level)
        assert (option.certificate.holds | (option.status != "found")).all()
    for record in json.loads(json.dumps(found.to_records())):
        for option in record["options"]:
            assert option["certificate"]["kind"] == "delta"


def test_bounds_by_draws_hold_for_all_that_was_tried(model, rows, advice):
    delta = float(np.nanmedian(model.certify(advice).level))
    found = model.certifying("sampled", delta=3 * delta, at=0.9).recourse(rows, desired=1)
    told = found.certificate
    assert told.confidence == 0.95 and told.parameters["looks"] == 8
    # With a confidence of 1 - .05/8 for each, 49 that agree show nine in ten.
    assert told.parameters["draws"] == 49
    assert told.holds.any() and (told.level[told.holds] >= 0.9).all()


def test_certificates_travel_with_their_rows(model, rows, advice):
    found = model.recourse(rows, desired=1, certify="delta", at=1e-4)
    some = found[[5, 2]]
    np.testing.assert_array_equal(some.certificate.level, found.certificate.level[[5, 2]])
    for record, advised in zip(found.to_records(), found.advised, strict=True):
        told = record["certificate"]
        assert (told is None) == (not advised)
        if told is not None:
            assert set(told) >= {"kind", "level", "confidence", "parameters", "model", "covers"}


def test_what_cannot_be_searched_for_is_refused_in_a_sentence(model, fitted, rows):
    with pytest.raises(ConfigError, match="RoCourse or RoCoursePanel, but this is CounterNet"):
        fitted("counternet").recourse(rows, certify="delta", at=0.01)
    with pytest.raises(ConfigError, match="needs a level"):
        model.recourse(rows, certify="delta")
    with pytest.raises(ConfigError, match="at goes with certify"):
        model.recourse(rows, at=0.1)
