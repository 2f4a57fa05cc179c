"""One contract for all methods: what any of them promises about its recourses."""

import copy
import inspect
import warnings

import jax
import numpy as np
import pandas as pd
import pytest
from tests.loans import SMALL, fit, make_schema, small

from rocourse.attack import Attack
from rocourse.errors import ConfigError, DataError, SchemaError, TrainingError
from rocourse.estimators import METHODS, CounterNet, RoCourseNet, describe_parameters
from rocourse.recourse import Advisor
from rocourse.recourse.generator._one_row import RowEngine
from rocourse.schema import Schema


@pytest.fixture(params=METHODS, scope="module")
def model(request, fitted):
    return fitted(request.param)


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(100)


# That of the small models: what is compiled for it serves both purposes.
BRIEF = Attack(steps=SMALL["attack__steps"], unroll=SMALL["attack__unroll"])


def brief_epochs(cls, epochs):
    """So many epochs for whatever a method trains."""
    known = cls().get_params()
    return {name: epochs for name in ("trainer__epochs", "proposer__epochs") if name in known}


def test_every_method_has_the_same_skeleton():
    for name, cls in METHODS.items():
        assert cls.method == name
        assert list(inspect.signature(cls.fit).parameters) == [
            "self",
            "X",
            "y",
            "groups",
            "on_epoch",
        ]
        assert list(inspect.signature(cls.recourse).parameters) == [
            "self",
            "X",
            "desired",
            "wishes",
            "options",
            "certify",
            "at",
        ]
        parameters = inspect.signature(cls.__init__).parameters
        assert list(parameters)[:2] == ["self", "schema"]
        hyper = list(parameters.values())[2:]
        assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in hyper)


def test_predictions_are_probabilities_and_better_than_chance(model, loans):
    features = loans.drop(columns="grade")
    shares = model.predict_proba(features)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (model.predict(features) == loans["grade"]).mean() > 0.8


def test_recourse_flips_most_predictions_and_says_where_it_does_not(model, rows):
    recourse = model.recourse(rows)
    assert recourse.valid.mean() > 0.8
    np.testing.assert_array_equal(recourse.desired, 1 - model.predict(rows))
    judged = model.predict(recourse.attempted()) == recourse.desired
    if not model.proposer_.promises:
        np.testing.assert_array_equal(judged, recourse.status == "found")
    assert judged[recourse.advised].all()


def test_recourse_satisfies_the_constraints_after_decoding(model, rows):
    advice = model.recourse(rows).frame()
    assert (advice["region"].to_numpy() == rows["region"].to_numpy()).all()
    assert (advice["age"].to_numpy() >= rows["age"].to_numpy()).all()
    assert advice["age"].dtype == rows["age"].dtype
    assert advice["debt"].dtype == rows["debt"].dtype
    assert set(advice["job"]) <= {"none", "part", "full"}
    for feature in model.schema_.features[:3]:
        assert advice[feature.name].between(feature.low, feature.high).all()


def test_nobody_is_asked_for_what_hardly_anybody_has(model, rows, loans):
    recourse = model.recourse(rows)
    advice, usual = recourse.attempted(), model.usual_
    for i, feature in enumerate(model.schema_.continuous):
        changed = advice[feature.name].to_numpy() != rows[feature.name].to_numpy()
        raw = feature.low + feature.span * np.array([usual.low[i], usual.high[i]])
        assert raw[0] >= loans[feature.name].quantile(0.01) - 1e-6 * feature.span
        assert raw[1] <= loans[feature.name].quantile(0.99) + 1e-6 * feature.span
        slack = 1e-6 * feature.span
        assert advice[feature.name][changed].between(raw[0] - slack, raw[1] + slack).all()


def test_input_is_not_mutated(model, rows):
    before = rows.copy(deep=True)
    model.recourse(rows)
    model.predict(rows)
    pd.testing.assert_frame_equal(rows, before)


def test_batch_gives_what_single_rows_give(model, rows):
    batch = model.recourse(rows.head(8))
    for i in range(8):
        single = model.recourse(rows.iloc[[i]])
        pd.testing.assert_frame_equal(single.frame(), batch.frame().iloc[[i]], rtol=1e-4)
        assert single.status[0] == batch.status[i]


def test_one_applicant_is_told_what_a_table_of_one_row_is_told(model, rows):
    for position, applicant in enumerate(rows.head(12).to_dict("records")):
        for desired in (None, 1):
            expected = model.recourse(rows.iloc[[position]], desired=desired).to_records()[0]
            found = model.recourse_one(applicant, desired=desired)
            assert found.keys() == expected.keys()
            for name in ("status", "predicted", "desired", "features_changed"):
                assert found[name] == expected[name]
            for name in ("probability", "proximity"):
                assert found[name] == pytest.approx(expected[name], abs=1e-4)
            for change, other in zip(found["changes"], expected["changes"], strict=True):
                assert change["feature"] == other["feature"]
                assert change["from"] == other["from"]
                if isinstance(other["to"], str):
                    assert change["to"] == other["to"]
                else:
                    assert change["to"] == pytest.approx(other["to"], rel=1e-4)


def test_one_applicant_is_answered_without_a_table_where_no_value_needs_its_checks(
    model, rows, monkeypatch
):
    tables = []
    original = Advisor.table

    def counting(self, frame, *args, **options):
        tables.append(len(frame))
        return original(self, frame, *args, **options)

    monkeypatch.setattr(Advisor, "table", counting)
    applicant = rows.iloc[0].to_dict()
    model.recourse_one(applicant)
    assert tables == []
    with pytest.warns(UserWarning, match="income"):
        model.recourse_one(applicant | {"income": 1e4})
    assert tables == [1]


def test_generators_answer_one_applicant_in_a_call_of_their_own(model, rows, monkeypatch):
    looks = []
    original = RowEngine.look

    def counting(self, *args):
        looks.append(args)
        return original(self, *args)

    monkeypatch.setattr(RowEngine, "look", counting)
    model.recourse_one(rows.iloc[0].to_dict())
    quick = {"rocoursenet", "counternet", "rocoursenet-random", "cf-model", "robust-cf-model"}
    assert (looks != []) == (model.method in quick)


def test_one_applicant_may_want_one_class_of_many(graded_rocoursenet, graded_loans):
    features = graded_loans.drop(columns="grade").head(10)
    for desired in (None, 0, 1):
        table = graded_rocoursenet.recourse(features, desired=desired).to_records()
        for record, applicant in zip(table, features.to_dict("records"), strict=True):
            found = graded_rocoursenet.recourse_one(applicant, desired=desired)
            for name in ("status", "predicted", "desired", "features_changed"):
                assert found[name] == record[name]


def test_one_applicant_may_name_the_features_in_any_order(loans):
    features = loans.drop(columns="grade")
    model = CounterNet(**small(CounterNet, trainer__epochs=1)).fit(features, loans["grade"])
    applicant = dict(reversed(features.iloc[0].to_dict().items()))
    assert model.recourse_one(applicant)["status"] in ("found", "not_found")
    with pytest.warns(UserWarning, match="income"):
        model.recourse_one(applicant | {"income": 1e4})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"job": "king"}, "'job' must hold one of its categories"),
        ({"income": float("inf")}, "'income' must hold finite numbers"),
        ({"income": "much"}, "'income' must hold numbers"),
        ({"debt": 1.5}, "'debt' must hold whole numbers"),
    ],
)
def test_an_applicant_that_breaks_a_rule_is_refused_as_a_table_is(fitted, rows, changed, message):
    applicant = rows.iloc[0].to_dict() | changed
    for name in ("rocoursenet", "roar"):
        with pytest.raises(DataError, match=message):
            fitted(name).recourse_one(applicant)


def test_what_is_told_beside_the_features_is_not_looked_at(fitted, rows):
    applicant = rows.iloc[0].to_dict()
    model = fitted("rocoursenet")
    assert model.recourse_one(applicant | {"shoe": 43}) == model.recourse_one(applicant)
    more = rows.assign(shoe=43)
    assert model.recourse(more).to_records() == model.recourse(rows).to_records()


def test_an_applicant_without_a_feature_or_with_a_strange_wish_is_refused(fitted, rows):
    applicant = rows.iloc[0].to_dict()
    with pytest.raises(DataError, match="desired class must be one of"):
        fitted("rocoursenet").recourse_one(applicant, desired="wealth")
    del applicant["age"]
    with pytest.raises(DataError, match="'age' is in the schema but missing"):
        fitted("rocoursenet").recourse_one(applicant)


def test_one_applicant_is_answered_by_the_newest_weights_and_after_a_copy(loans, rows):
    applicant = rows.iloc[0].to_dict()
    model = fit(CounterNet, loans, trainer__epochs=1)
    model.recourse_one(applicant)
    again = copy.deepcopy(model).recourse_one(applicant)
    assert again == model.recourse_one(applicant)
    model.set_params(trainer__epochs=4).fit(loans.drop(columns="grade"), loans["grade"])
    expected = model.recourse(rows.iloc[[0]]).probability[0]
    assert model.recourse_one(applicant)["probability"] == pytest.approx(expected, abs=1e-4)


def test_columns_are_taken_by_name(model, rows):
    shuffled = rows[rows.columns[::-1]]
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(rows))
    pd.testing.assert_frame_equal(model.recourse(shuffled).frame(), model.recourse(rows).frame())


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_same_seed_gives_the_same_model_and_recourses(cls, loans, rows):
    brief = brief_epochs(cls, 3)
    first, second = (fit(cls, loans, **brief) for _ in range(2))
    learned, again = first.to_state()[1], second.to_state()[1]
    assert learned.keys() == again.keys()
    for name, tensor in learned.items():
        np.testing.assert_array_equal(tensor, again[name])
    pd.testing.assert_frame_equal(
        first.recourse(rows).frame(), second.recourse(rows).frame(), check_exact=True
    )


def test_other_seed_gives_another_model(loans):
    first = fit(CounterNet, loans, trainer__epochs=1)
    second = CounterNet(
        schema=make_schema(loans), random_state=1, **small(CounterNet, trainer__epochs=1)
    )
    second.fit(loans.drop(columns="grade"), loans["grade"])
    assert not np.array_equal(first.network_.output.weight, second.network_.output.weight)


def test_state_round_trip_gives_the_same_answers(model, rows):
    header, tensors = model.to_state()
    twin = type(model).from_state(header, tensors)
    np.testing.assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))
    pd.testing.assert_frame_equal(
        twin.recourse(rows).frame(), model.recourse(rows).frame(), check_exact=True
    )


def test_desired_class_that_a_row_has_already_needs_no_recourse(model, rows):
    predicted = model.predict(rows)
    recourse = model.recourse(rows, desired=1)
    np.testing.assert_array_equal(recourse.status == "not_needed", predicted == 1)
    assert (recourse.features_changed[predicted == 1] == 0).all()


def test_unknown_desired_class_is_refused(model, rows):
    with pytest.raises(DataError, match="desired class must be one of .0, 1.*got 7"):
        model.recourse(rows, desired=7)


def test_history_records_every_epoch(model):
    assert model.planned_epochs == len(model.history_) == model.n_iter_
    assert [record["epoch"] for record in model.history_] == list(range(1, model.n_iter_ + 1))
    for record in model.history_:
        assert np.isfinite(record["held_out_l1"])
        assert all(np.isfinite(value) for value in record.values())
    losses = [record["l1"] for record in model.history_ if "l1" in record]
    assert losses[-1] < losses[0]
    if model.proposer_.takes_attack:
        measured = {"l2", "l3", "validity", "accuracy"}
        if model.attack_ is not None:
            measured.add("robust_validity")
        assert measured <= model.history_[-1].keys()


@pytest.mark.parametrize("method", ["counternet", "cf-model", "vae-cf"])
def test_robust_validity_is_measured_on_demand_and_changes_nothing_else(method, loans):
    cls = METHODS[method]
    without = fit(cls, loans, **brief_epochs(cls, 3))
    with_attack = fit(cls, loans, **brief_epochs(cls, 3), proposer__measured_attack=BRIEF)
    robust = {"robust_validity", "held_out_robust_l2"}
    for plain, attacked in zip(without.history_, with_attack.history_, strict=True):
        generator_trains = "l2" in plain
        assert attacked.keys() - plain.keys() == (robust if generator_trains else set())
        for name, value in plain.items():
            np.testing.assert_allclose(attacked[name], value, rtol=1e-4, atol=1e-6)


def test_the_attack_that_is_measured_may_be_another_than_the_one_trained_against(loans):
    """Training goes its way whatever it is measured by; measuring nothing at all finds none."""
    told = [
        fit(RoCourseNet, loans, trainer__epochs=3, proposer__measured_attack=attack)
        for attack in (None, BRIEF(epsilon=0.0, learning_rate=1e-9))
    ]
    own, harmless = (model.history_ for model in told)
    for mine, other in zip(own, harmless, strict=True):
        assert other["robust_validity"] == pytest.approx(other["validity"], abs=1e-6)
        for name in mine.keys() - {"robust_validity", "held_out_robust_l2"}:
            np.testing.assert_allclose(mine[name], other[name], rtol=1e-4, atol=1e-6)


def test_the_measured_attack_must_be_an_attack(loans):
    with pytest.raises(ConfigError, match="'measured_attack' of GeneratorProposer must be an obj"):
        fit(CounterNet, loans, proposer__measured_attack="yes")


def test_epsilon_grows_linearly_or_is_constant(rocoursenet, loans):
    np.testing.assert_allclose(
        [record["epsilon"] for record in rocoursenet.history_], 0.1 * np.arange(1, 13) / 12
    )
    constant = fit(RoCourseNet, loans, attack__schedule="constant", trainer__epochs=2)
    assert [record["epsilon"] for record in constant.history_] == [0.1, 0.1]


def test_patience_stops_training_and_keeps_the_best_weights(loans):
    model = fit(
        CounterNet, loans, trainer__patience=1, trainer__epochs=60, trainer__learning_rate=0.2
    )
    assert len(model.history_) < 60
    assert model.best_epoch_ <= len(model.history_) - 1


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_all_features_immutable_means_not_found_not_an_error(cls, loans, rows):
    schema = Schema.infer(loans, target="grade", immutable=list(rows.columns))
    model = cls(schema=schema, random_state=0, **small(cls, **brief_epochs(cls, 2)))
    recourse = model.fit(loans.drop(columns="grade"), loans["grade"]).recourse(rows)
    assert (recourse.status == "not_found").all()
    assert (recourse.features_changed == 0).all()
    pd.testing.assert_frame_equal(recourse.frame(), rows)


def test_three_classes_reach_the_desired_class_of_each_row(graded_rocoursenet, graded_loans):
    features = graded_loans.drop(columns="grade")
    predicted = graded_rocoursenet.predict(features)
    assert (predicted == graded_loans["grade"]).mean() > 0.6
    recourse = graded_rocoursenet.recourse(features)
    assert (recourse.desired == 2).all(), "the favourable class is asked for by default"
    desired = (predicted + 1) % 3
    each = graded_rocoursenet.recourse(features, desired=desired)
    np.testing.assert_array_equal(each.desired, desired)
    assert each.valid.mean() > 0.6
    np.testing.assert_array_equal(
        graded_rocoursenet.predict(each.attempted()) == desired, each.valid
    )


# One of each kind; joint training has a test of its own above, and an attack changes no shape.
@pytest.mark.parametrize("name", ["cf-model", "vae-cf", "vanillacf", "roar", "rbr"])
def test_every_kind_of_method_reaches_one_class_of_many(name, graded_loans):
    model = fit(METHODS[name], graded_loans, trainer__epochs=20)
    features = graded_loans.drop(columns="grade").head(60)
    desired = (model.predict(features) + 1) % 3
    recourse = model.recourse(features, desired=desired)
    np.testing.assert_array_equal(recourse.desired, desired)
    assert recourse.valid.mean() > 0.5
    np.testing.assert_array_equal(model.predict(recourse.attempted()) == desired, recourse.valid)


@pytest.mark.parametrize(
    ("plain", "robust"),
    [
        ("counternet", "rocoursenet"),
        ("counternet", "rocoursenet-random"),
        ("cf-model", "robust-cf-model"),
        ("vae-cf", "robust-vae-cf"),
    ],
)
def test_robust_twin_adds_an_attack_and_changes_nothing_else(plain, robust):
    without, with_attack = METHODS[plain]().get_params(), METHODS[robust]().get_params()
    assert without.pop("attack") is None
    attack = with_attack.pop("attack")
    assert attack == (Attack(shift="random") if robust.endswith("random") else Attack())
    assert {name: with_attack[name] for name in without} == without
    added = {name.removeprefix("attack__") for name in with_attack.keys() - without.keys()}
    assert added == attack.get_params().keys()


def test_post_hoc_methods_explain_the_predictor_that_joint_training_arrives_at(fitted, rows):
    expected = fitted("counternet").predict_proba(rows)
    # These train a steadier one, unless told not to (test_trainers.py).
    for name in METHODS.keys() - {"rocourse", "rocourse-panel"}:
        np.testing.assert_allclose(fitted(name).predict_proba(rows), expected, atol=1e-5)


def test_parameters_are_listed_with_their_meaning():
    for cls in METHODS.values():
        described, params = describe_parameters(cls), cls().get_params()
        assert {name: default for name, (default, _) in described.items()} == params
        for name, (_, doc) in described.items():
            # Those of trainer, proposer and attack are told where these are documented.
            part, _, option = name.partition("__")
            owner = type(params[part]) if option and "__" not in option else cls
            told = option or name
            if "__" not in told:
                assert f"    {told}: {doc.split()[0]}" in owner.__doc__


def test_text_labels_work(loans):
    words = loans["grade"].map({0: "refused", 1: "approved"})
    model = CounterNet(random_state=0, **small(CounterNet, trainer__epochs=2))
    model.fit(loans.drop(columns="grade"), words)
    assert set(model.predict(loans.drop(columns="grade"))) <= {"approved", "refused"}


def test_fewer_rows_than_a_batch_make_a_smaller_batch(loans):
    # Of 45 rows to learn from, one of 64: the small models' own.
    few = loans.head(50)
    model = fit(CounterNet, few, trainer__epochs=2, trainer__batch_size=1000)
    assert len(model.recourse(few.drop(columns="grade"))) == 50


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"trainer__epochs": 0},
            "'epochs' of JointTrainer must be a whole number of at least 1: got 0",
        ),
        (
            {"proposer__network": "magic"},
            "'network' of GeneratorProposer must be one of 'rebuild', 'edit', or a function: got "
            "'magic'",
        ),
        (
            {"trainer__dropout": 1.0},
            "'dropout' of JointTrainer must be at least 0 and below 1: got 1.0",
        ),
        ({"proposer__proximity_weight": -1.0}, "'proximity_weight' .* of at least 0: got -1.0"),
        (
            {"attack__learning_rate": 0.0},
            "'learning_rate' of Attack must be a number above 0: got 0.0",
        ),
        ({"attack__norm": "l1"}, "'norm' of Attack must be one of 'linf', 'l2': got 'l1'"),
        (
            {"trainer__encoder_widths": ()},
            "'encoder_widths' of JointTrainer must be a non-empty tuple",
        ),
        (
            {"attack__epsilon": float("nan")},
            "'epsilon' of Attack must be a number of at least 0: got nan",
        ),
        (
            {"attack__category_scale": -1.0},
            "'category_scale' of Attack must be a number of at least 0: got -1.0",
        ),
        (
            {"proposer__target_input": 1},
            "'target_input' of GeneratorProposer must be True or False: got 1",
        ),
        (
            {"trainer__patience": 0},
            "'patience' of JointTrainer must be a whole number of at least 1, or None: got 0",
        ),
    ],
)
def test_option_with_an_impossible_value_is_refused(params, message, loans):
    with pytest.raises(ConfigError, match=message):
        RoCourseNet(**params).fit(loans.drop(columns="grade"), loans["grade"])


def test_training_that_diverges_is_an_error_not_a_model(loans):
    model = CounterNet(
        random_state=0, **small(CounterNet, trainer__learning_rate=1e30, trainer__epochs=3)
    )
    with pytest.raises(TrainingError, match="not finite in epoch .*lower the learning rate of"):
        model.fit(loans.drop(columns="grade"), loans["grade"])
    assert not hasattr(model, "network_") and not hasattr(model, "state_")


def test_target_with_other_classes_than_the_schemas_is_refused(loans, graded_loans):
    model = CounterNet(schema=make_schema(loans))
    with pytest.raises(SchemaError, match="'grade'.*classes .0, 1.*got .0, 1, 2"):
        model.fit(graded_loans.drop(columns="grade"), graded_loans["grade"])


def test_one_class_only_is_refused(loans):
    with pytest.raises(DataError, match="at least two classes.*got only one class"):
        CounterNet().fit(loans.drop(columns="grade"), np.zeros(len(loans), int))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_target_that_is_not_a_class_is_refused(value, loans):
    labels = loans["grade"].astype(float)
    labels.iloc[3] = value
    with pytest.raises(DataError, match="target must .* got (NaN|inf)"):
        CounterNet().fit(loans.drop(columns="grade"), labels)


def test_training_stays_finite_with_every_attacker(loans):
    for params in (
        {"attack__optimizer": "sgd", "attack__norm": "l2"},
        {"attack__shift": "random"},
        {
            "attack__scope": "head",
            "trainer__loss": "cross_entropy",
            "proposer__proximity_loss": "l1",
        },
        {"proposer__network": "rebuild", "proposer__target_input": False},
        {"attack__category_scale": 4.0},
    ):
        model = fit(RoCourseNet, loans, trainer__epochs=2, **params)
        for leaf in jax.tree.leaves((model.network_, model.state_)):
            assert np.isfinite(leaf).all()
            assert leaf.dtype == np.float32


def test_values_outside_the_range_are_clipped_with_a_warning_or_refused(counternet, rows, loans):
    rich = rows.head(2).assign(income=[1e6, 20.0])
    with pytest.warns(UserWarning, match="income"):
        recourse = counternet.recourse(rich)
    kept = recourse.features_changed == 0
    assert recourse.frame()["income"].iloc[0] == 1e6 or not kept[0]
    strict = fit(CounterNet, loans, trainer__epochs=1, out_of_range="error")
    with warnings.catch_warnings(), pytest.raises(DataError, match="income"):
        strict.predict(rich)
