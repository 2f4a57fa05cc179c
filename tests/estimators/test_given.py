"""Post-hoc methods explain a model that is there already: ours, or anybody's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.loans import make_schema, small

import rocourse
from rocourse.errors import ArtifactError, ConfigError, DataError, SchemaError
from rocourse.estimators import METHODS, RBR, ROAR, CFModel, RoCourse, RoCoursePanel, VanillaCF
from rocourse.models import NetworkModel, predict_rows
from rocourse.models.adapters import adapt
from rocourse.schema import Schema, one_hot

SEARCHES = ["vanillacf", "vanillacf-random", "roar", "rbr"]
POST_HOC = [*SEARCHES, "cf-model", "robust-cf-model", "vae-cf", "robust-vae-cf"]


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(40)


@pytest.fixture(scope="module")
def forest(loans):
    """A pipeline on raw rows, text columns and all."""
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", min_frequency=5),
        RandomForestClassifier(30, random_state=0),
    )
    return model.fit(loans.drop(columns="grade"), loans["grade"])


@pytest.mark.parametrize("name", POST_HOC)
def test_a_model_of_ours_is_explained_as_it_is(name, counternet, loans, rows):
    cls = METHODS[name]
    model = cls(model=counternet, random_state=0, **small(cls))
    model.fit(loans.drop(columns="grade"), loans["grade"])
    assert model.model_ is counternet.model_
    assert model.schema_ == counternet.schema_
    np.testing.assert_array_equal(model.predict_proba(rows), counternet.predict_proba(rows))
    recourse = model.recourse(rows)
    assert recourse.valid.mean() > 0.8
    np.testing.assert_array_equal(
        counternet.predict(recourse.attempted()) == recourse.desired, recourse.valid
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_for_a_model_needs_no_labels(name, counternet, loans, rows):
    features = loans.drop(columns="grade")
    model = METHODS[name](model=counternet, random_state=0).fit(features, None)
    assert model.classes_.tolist() == [0, 1]
    assert model.history_ == [] and model.planned_epochs == 0
    assert model.recourse(rows).valid.any()


@pytest.mark.parametrize("name", SEARCHES)
def test_a_stored_explanation_of_our_model_stands_alone(name, counternet, loans, rows, tmp_path):
    model = METHODS[name](model=counternet, random_state=0).fit(loans.drop(columns="grade"), None)
    loaded = rocourse.load(rocourse.save(model, tmp_path / "model"))
    assert loaded.model is None
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())


@pytest.mark.parametrize("name", SEARCHES)
def test_a_forest_on_raw_rows_is_explained(name, forest, loans, rows):
    schema = make_schema(loans)
    options = {"proposer__neighbours": 200} if name in ("roar", "rbr") else {"proposer__steps": 40}
    model = METHODS[name](schema, model=forest, random_state=0, **options)
    model.fit(loans.drop(columns="grade"), loans["grade"])
    np.testing.assert_array_equal(model.predict(rows), forest.predict(rows))
    recourse = model.recourse(rows)
    assert recourse.valid.mean() > 0.5
    honoured = forest.predict(recourse.frame()) == recourse.desired
    assert honoured[recourse.status == "found"].all()


def test_a_foreign_model_is_stored_or_given_again(forest, loans, rows, tmp_path):
    pytest.importorskip("skops", reason="skops is missing")
    schema = make_schema(loans)
    model = ROAR(schema, model=forest, proposer__neighbours=200, random_state=0)
    model.fit(loans.drop(columns="grade"), loans["grade"])
    path = rocourse.save(model, tmp_path / "model")
    some, expected = rows.head(8), model.recourse(rows.head(8)).frame()
    for loaded in (rocourse.load(path), rocourse.load(path, model=forest)):
        pd.testing.assert_frame_equal(loaded.recourse(some).frame(), expected)


def test_a_model_that_was_stored_whole_takes_no_other(counternet, forest, tmp_path):
    path = rocourse.save(counternet, tmp_path / "model")
    with pytest.raises(ArtifactError, match="stored with its 'model'"):
        rocourse.load(path, model=forest)


def test_other_constraints_than_the_models_own_may_be_asked_for(counternet, loans, rows):
    held = tuple(
        replace(feature, immutable=True) if feature.name == "income" else feature
        for feature in counternet.schema_.features
    )
    schema = replace(counternet.schema_, features=held)
    model = VanillaCF(schema, model=counternet, random_state=0)
    recourse = model.fit(loans.drop(columns="grade"), None).recourse(rows)
    assert (recourse.frame()["income"].to_numpy() == rows["income"].to_numpy()).all()


def test_a_schema_that_encodes_otherwise_is_refused(counternet, loans):
    richer = loans.assign(income=loans["income"] * 2)
    model = VanillaCF(make_schema(richer), model=counternet)
    with pytest.raises(SchemaError, match="'income' must have the range or categories"):
        model.fit(richer.drop(columns="grade"), None)


@pytest.mark.parametrize("cls", [CFModel, RoCoursePanel])
def test_what_needs_a_network_is_given_one_that_imitates_the_forest(cls, forest, loans, rows):
    features, schema = loans.drop(columns="grade"), make_schema(loans)
    # A function cannot be fitted again.
    given = adapt(lambda frame: forest.predict_proba(frame)[:, 1], schema)
    model = cls(schema, model=given, random_state=0, **small(cls, trainer__epochs=30))
    if cls is RoCoursePanel:
        with pytest.warns(UserWarning, match="networks that imitate it; say how with adapt"):
            model.fit(features, loans["grade"])
    else:
        model.fit(features, loans["grade"])
    np.testing.assert_array_equal(model.predict(rows), forest.predict(rows))
    imitation = predict_rows(
        NetworkModel.of([model.network_]), model.schema_.encode(features), model.schema_.layout
    )
    assert (imitation.argmax(axis=1) == forest.predict(features)).mean() > 0.85
    recourse = model.recourse(rows)
    honoured = forest.predict(recourse.attempted()) == recourse.desired
    np.testing.assert_array_equal(honoured, recourse.status == "found")
    # The forest says what it likes beyond the rows it has seen.
    assert recourse.valid.mean() > 0.4


def test_a_panel_of_a_given_model_is_of_refits(forest, loans, rows, tmp_path):
    """Every refit and the forest have the margin that they have among their own rows, or all that
    edits could bring them; refits are as many as there are members beside the model."""
    features, schema = loans.drop(columns="grade"), make_schema(loans)
    model = RoCoursePanel(schema, model=forest, proposer__members=4, random_state=0)
    model.fit(features, loans["grade"])
    panel = model.state_
    assert len(panel.members) == 3 and model.network_ is None
    told = [forest.predict_proba(features)] + [
        member.probabilities(one_hot(schema.encode(features), schema.layout))
        for member in panel.members
    ]
    for shares, margins in zip(told, panel.margins, strict=True):
        leads = np.log(np.clip(shares[:, 1], 0.002, 1)) - np.log(np.clip(shares[:, 0], 0.002, 1))
        for c, own in ((0, -leads), (1, leads)):
            right = own[(loans["grade"].to_numpy() == c) & (own > 0)]
            assert margins[c] == pytest.approx(np.quantile(right, 0.6), abs=1e-4)
    recourse = model.recourse(rows)
    assert recourse.valid.mean() > 0.8
    attempts = one_hot(schema.encode(recourse.attempted()), schema.layout)
    wanted = recourse.desired.astype(int)
    votes = [member.probabilities(attempts).argmax(axis=1) == wanted for member in panel.members]
    before = one_hot(schema.encode(rows), schema.layout)
    unchanged = [member.probabilities(before).argmax(axis=1) == wanted for member in panel.members]
    assert np.mean(votes) > 0.8 > np.mean(unchanged)
    given = adapt(forest, schema, members=[forest, forest])
    owned = RoCoursePanel(schema, model=given, random_state=0).fit(features, loans["grade"])
    assert owned.state_.members == given.members
    path = rocourse.save(owned, tmp_path / "model")
    loaded = rocourse.load(path, model=given)
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), owned.recourse(rows).frame())


def test_labels_that_the_model_does_not_know_are_refused(forest, loans):
    model = RBR(make_schema(loans), model=forest)
    with pytest.raises(DataError, match="classes of the model, .0, 1.*got 7"):
        model.fit(loans.drop(columns="grade"), np.full(len(loans), 7))


def test_an_adapted_model_is_taken_as_it_is(loans, rows):
    numbers = loans[["income", "debt", "age"]]
    schema = Schema.infer(numbers.assign(grade=loans["grade"]), target="grade")
    linear = LogisticRegression(max_iter=1000).fit(numbers.to_numpy(), loans["grade"])
    judge = adapt(lambda frame: linear.predict_proba(frame.to_numpy())[:, 1], schema)
    model = VanillaCF(schema, model=judge, random_state=0).fit(numbers, None)
    assert model.model_ is judge
    assert model.recourse(rows[["income", "debt", "age"]]).valid.mean() > 0.9


def test_an_adapted_model_reads_rows_by_its_own_schema(loans):
    numbers = loans[["income", "debt", "age"]]
    schema = Schema.infer(numbers.assign(grade=loans["grade"]), target="grade")
    linear = LogisticRegression(max_iter=1000).fit(numbers.to_numpy(), loans["grade"])
    judge = adapt(lambda frame: linear.predict_proba(frame.to_numpy())[:, 1], schema)
    few = numbers[numbers["income"].between(30, 50)]
    model = ROAR(model=judge, random_state=0).fit(few, None)
    np.testing.assert_allclose(
        model.predict_proba(numbers), linear.predict_proba(numbers.to_numpy()), atol=1e-4
    )
    with pytest.raises(SchemaError, match="'income' must have the range"):
        ROAR(Schema.infer(few), model=judge).fit(few, None)


@pytest.mark.parametrize("name", ["cf-model", "roar"])
def test_labels_are_those_of_the_explained_model(name, loans):
    words = loans["grade"].map({0: "refused", 1: "approved"})
    features = loans.drop(columns="grade")
    base = METHODS["counternet"](random_state=0, **small(METHODS["counternet"], trainer__epochs=2))
    base.fit(features, words)
    cls = METHODS[name]
    with pytest.raises(DataError, match="classes of the model, .'approved', 'refused'.*got [01]"):
        cls(model=base, **small(cls)).fit(features, 1 - loans["grade"])
    with pytest.raises(DataError, match="one class a row: got 10 classes for 400 rows"):
        cls(model=base, **small(cls)).fit(features, words.head(10))
    model = cls(model=base, random_state=0, **small(cls)).fit(features.head(50), words.head(50))
    assert model.classes_.tolist() == ["approved", "refused"]


def test_one_number_of_unclear_meaning_is_refused(loans):
    words = loans.assign(grade=loans["grade"].map({0: "refused", 1: "approved"}))
    schema = Schema.infer(words, target="grade", favourable="approved")
    with pytest.raises(ConfigError, match="must say which class its one number"):
        adapt(lambda frame: np.full(len(frame), 0.3), schema)


def test_whole_numbers_are_whole_before_a_recourse_is_judged(loans):
    """Six features of three values each: what lies between them is never returned."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (300, 6)), columns=list("abcdef"))
    labels = (frame.sum(axis=1) + rng.normal(0, 0.5, 300) > 6).astype(int)
    schema = Schema.infer(frame.assign(y=labels), target="y")
    for name in SEARCHES:
        model = METHODS[name](
            schema,
            random_state=0,
            trainer__epochs=20,
            trainer__batch_size=64,
            trainer__learning_rate=0.01,
        )
        recourse = model.fit(frame, labels).recourse(frame.head(60))
        assert recourse.valid.mean() > 0.9, name


def test_labels_of_another_name_are_refused_with_the_cure(loans):
    X = loans.drop(columns="grade")
    labels = (loans["grade"] == loans["grade"].iloc[0]).astype(int)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(
        X, labels
    )
    named = labels.map({0: "no", 1: "yes"})
    with pytest.raises(DataError, match=r"adapt\(model, schema, classes="):
        VanillaCF(model=model).fit(X, named)
    schema = Schema.infer(X.assign(paid=named), target="paid", favourable="yes")
    told = VanillaCF(schema, model=adapt(model, schema, classes=["no", "yes"])).fit(X, named)
    np.testing.assert_array_equal(told.predict(X) == "yes", model.predict(X) == 1)


@pytest.fixture(scope="module")
def worded(loans):
    """Rows and words for labels 0 and 1, and a schema of these."""
    X = loans.drop(columns="grade")
    named = loans["grade"].map({0: "no", 1: "yes"})
    return X, named, Schema.infer(X.assign(paid=named), target="paid", favourable="yes")


def test_classes_in_the_wrong_order_are_refused_with_the_cure(worded, forest):
    X, named, schema = worded
    cure = r"as \['yes', 'no'\] it finds 'no' less likely .* classes=\['no', 'yes'\]\)"
    for model in (forest, lambda frame: forest.predict_proba(frame)):
        wrong = adapt(model, schema, classes=["yes", "no"])
        with pytest.raises(ConfigError, match=cure):
            VanillaCF(schema, model=wrong).fit(X, named)
        # Without labels nothing is known of their order.
        VanillaCF(schema, model=wrong).fit(X, None)


def test_the_order_is_no_matter_of_how_many_are_granted(worded, forest):
    """A model that refuses nearly all, of rows of whom most are good, agrees with few of them."""
    X, named, schema = worded
    kept = ((named == "yes") | (np.arange(len(named)) % 3 == 0)).to_numpy()

    def strict(frame):
        return 0.4 * forest.predict_proba(frame)[:, 1]

    explainer = VanillaCF(schema, model=adapt(strict, schema, classes=["no", "yes"]))
    explainer.fit(X[kept], named[kept])
    assert (explainer.predict(X[kept]) == named[kept]).mean() < 0.5


def test_a_model_that_knows_nothing_of_its_rows_is_taken_as_it_was_named(worded):
    X, named, schema = worded
    rng = np.random.default_rng(0)
    for order in (["no", "yes"], ["yes", "no"]):
        for _ in range(20):
            few = rng.permutation(len(X))[:20]
            weights = rng.normal(size=2)

            def drawn(frame, weights=weights):
                score = frame[["income", "debt"]].rank(pct=True).to_numpy() - 0.5
                return 1.0 / (1.0 + np.exp(-score @ weights))

            if named.iloc[few].nunique() == 2:
                given = adapt(drawn, schema, classes=order)
                VanillaCF(schema, model=given).fit(X.iloc[few], named.iloc[few])


def test_a_models_own_labels_are_never_in_the_wrong_order(loans, forest):
    """How badly it does on these rows is its owner's affair."""
    X = loans.drop(columns="grade")
    VanillaCF(make_schema(loans), model=forest).fit(X, 1 - loans["grade"])


def test_refits_do_not_depend_on_how_many_go_together(forest, loans, rows, caplog):
    X, schema = loans.drop(columns="grade"), make_schema(loans)
    caplog.set_level("INFO", logger="rocourse.models")
    told = []
    for n_jobs in (1, 2, -1):
        given = adapt(forest, schema, n_jobs=n_jobs)
        panel = RoCoursePanel(schema, model=given, proposer__members=3, random_state=0)
        panel.fit(X, loans["grade"])
        x = one_hot(panel.schema_.encode(rows), panel.schema_.layout)
        told.append([member.probabilities(x) for member in panel.state_.members])
    np.testing.assert_array_equal(told[0], told[1])
    np.testing.assert_array_equal(told[0], told[2])
    assert caplog.messages == ["Refit 1 of 2", "Refit 2 of 2"] * 3
    for wrong in (0, -2, 1.5, True):
        with pytest.raises(ConfigError, match="n_jobs must be a whole number above 0, or -1"):
            adapt(forest, schema, n_jobs=wrong)


@pytest.mark.parametrize("cls", [RoCoursePanel, RoCourse])
def test_refits_are_monotone_where_the_model_is_and_know_its_cut_off(cls, loans):
    """Of a model with labels 0 and 1 for a target of words, granted from .7 on."""
    X = loans[["income", "debt", "age"]]
    named = loans["grade"].map({0: "no", 1: "yes"})
    schema = Schema.infer(X.assign(paid=named), target="paid", favourable="yes")
    trees = HistGradientBoostingClassifier(max_iter=15, monotonic_cst=[1, -1, 0], random_state=0)
    model = trees.fit(X, loans["grade"])
    given = adapt(model, schema, classes=["no", "yes"])
    advisor = cls(schema, model=given, threshold=0.7, random_state=0, **small(cls))
    advisor.fit(X, named)
    members = advisor.proposer_.refits(advisor.state_)
    x = one_hot(schema.encode(X), schema.layout)
    right = (loans["grade"] == 1).to_numpy()
    for member in members:
        told = member.probabilities(x)[:, 1]
        assert told[right].mean() > told[~right].mean() + 0.1
        for column, way in ((0, 1.0), (1, -1.0)):
            steps = np.repeat(x[:20], 9, axis=0)
            steps[:, column] = np.tile(np.linspace(0.0, 1.0, 9), 20)
            along = member.probabilities(steps)[:, 1].reshape(20, 9)
            assert (way * np.diff(along, axis=1) >= -1e-6).all()
    before = model.predict_proba(X)[:, 1]
    recourse = advisor.recourse(X, desired="yes")
    np.testing.assert_array_equal(recourse.status == "not_needed", before >= 0.7)
    assert recourse.advised.sum() > 20
    granted = model.predict_proba(recourse.attempted()[recourse.advised])[:, 1]
    assert (granted >= 0.7 - 1e-6).all()


@pytest.mark.parametrize("cls", [RoCoursePanel, RoCourse])
def test_a_model_of_encoded_columns_is_refused_with_the_cure(cls, loans):
    X, schema = loans.drop(columns="grade"), make_schema(loans)
    columns = pd.get_dummies(X).astype(float)
    model = LogisticRegression(max_iter=500).fit(columns, loans["grade"])
    with pytest.raises(ConfigError, match="Pipeline"):
        cls(schema, model=model).fit(X, loans["grade"])
