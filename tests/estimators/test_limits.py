"""Limits of change hold for every method, and for every way of asking it."""

from random import Random

import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from tests.limits import broken_limits, random_rows, random_schema, stated_cost, under
from tests.loans import make_loans, make_schema, small
from tests.wishes import broken_wishes, random_wishes

from rocourse.estimators import METHODS
from rocourse.schema import Change, Linear, Wishes, features_changed

SCHEMAS, ROWS, WISHED = 12, 20, 6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_every_method_keeps_random_limits(method, fitted):
    model, found = fitted(method), 0
    for seed in range(SCHEMAS):
        random = Random(seed)
        schema = random_schema(random, numbers=3, groups=(3, 2))
        frame = random_rows(random, schema, ROWS)
        advisor, written = under(model, schema), schema.to_dict()
        recourse = advisor.table(frame, None, out_of_range="clip")
        rows = frame.to_dict("records")
        for advised in (recourse.frame(), recourse.attempted()):
            for before, after in zip(rows, advised.to_dict("records"), strict=True):
                assert broken_limits(written, before, after) == []
        for before, record in zip(
            rows[:2], advisor.each(rows[:2], None, out_of_range="clip"), strict=True
        ):
            after = before | {change["feature"]: change["to"] for change in record["changes"]}
            assert broken_limits(written, before, after) == []
        found += recourse.advised.sum()
    # The limits are no wall: many of the rows can be helped within them.
    assert found > 0


@pytest.mark.parametrize("method", ["vanillacf", "counternet", "vae-cf"])
def test_where_prices_are_stated_no_change_costs_something_and_is_of_no_use(method, fitted):
    model = fitted(method)
    schema = model.schema_.constrain(
        change={"income": Change(weight=4.0), "debt": Change(weight=0.5)}
    )
    frame = make_loans(40, seed=4).drop(columns="grade")
    recourse = under(model, schema).table(frame, None, out_of_range="clip")
    before, after = recourse.original_rows, recourse.attempts
    probability, useless = model.predict_proba, 0
    for place in range(len(frame)):
        row, advised = frame.iloc[[place]], recourse.attempted().iloc[[place]]
        wanted = list(model.classes_).index(recourse.desired[place])
        sure = probability(advised)[0, wanted]
        for feature in schema.names:
            if advised[feature].iloc[0] != row[feature].iloc[0]:
                without = advised.assign(**{feature: row[feature].to_numpy()})
                useless += probability(without)[0, wanted] > sure + 1e-5
    # One at a time, the dearest first: a change can become useless by what is taken back later.
    assert useless <= 1
    assert (features_changed(before, after) > 0).any()
    record = under(model, schema).each(frame.head(3).to_dict("records"), None, out_of_range="clip")
    expected = recourse.to_records()[:3]
    for one, other in zip(record, expected, strict=True):
        assert [change["feature"] for change in one["changes"]] == [
            change["feature"] for change in other["changes"]
        ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_wishes_and_options_keep_random_limits(method, fitted):
    model, found = fitted(method), 0
    for seed in range(WISHED):
        random = Random(seed)
        schema = random_schema(random, numbers=3, groups=(3, 2))
        frame = random_rows(random, schema, ROWS)
        wished = [random_wishes(random, schema)] * ROWS if seed % 2 else None
        recourse = under(model, schema).table(
            frame, None, out_of_range="clip", wishes=wished, options=3
        )
        rows, written = frame.to_dict("records"), schema.to_dict()
        groups = [feature.name for feature in schema.categorical]
        for option in recourse.options:
            attempts = option.attempted().to_dict("records")
            for place, (before, after) in enumerate(zip(rows, attempts, strict=True)):
                assert broken_limits(written, before, after) == []
                if not option.advised[place]:
                    continue
                found += 1
                assert option.cost[place] == pytest.approx(
                    stated_cost(written, before, after), abs=1e-4
                )
                if wished is not None and wished[place] is not None:
                    assert broken_wishes(wished[place], before, after, groups) == []
        for record in recourse.to_records():
            costs = [one["cost"] for one in record["options"] if one["status"] == "found"]
            if model.proposer_.promises and not (wished and wished[0] and wished[0].prefer):
                assert costs == sorted(costs)
    assert found > 0


@pytest.mark.parametrize("method", ["rocourse", "rocourse-panel"])
def test_searches_make_no_more_changes_than_they_may(method, fitted, loans):
    model, frame = fitted(method), loans.drop(columns="grade").head(60)
    schema = model.schema_.constrain(max_features=1)
    rows, wanted = schema.encode(frame), 1 - model.predict(frame)
    proposed = under(model, schema).propose(rows, wanted)
    assert features_changed(rows, proposed).max() == 1
    more = under(model, model.schema_).propose(rows, wanted)
    assert features_changed(rows, more).max() > 1


@pytest.mark.parametrize("method", ["rocourse", "rocourse-panel"])
def test_searches_leave_alone_what_is_dear(method, fitted, loans):
    model, frame = fitted(method), loans.drop(columns="grade").head(60)

    def changed(weight):
        schema = model.schema_.constrain(change={"income": Change(weight=weight)})
        recourse = under(model, schema).table(frame, None, out_of_range="clip")
        return (recourse.changes()["feature"] == "income").sum(), recourse.advised.sum()

    (cheap, found_cheap), (dear, found_dear) = changed(0.1), changed(50.0)
    assert dear < 0.8 * cheap
    assert found_dear >= 0.9 * found_cheap


@pytest.mark.parametrize("method", ["rocoursenet", "rbr"])
def test_of_many_changes_those_are_left_that_convince_the_model(method, fitted, loans):
    model, frame = fitted(method), loans.drop(columns="grade").head(100)
    found = {}
    for count in (1, 2, 5):
        schema = model.schema_.constrain(max_features=count)
        recourse = under(model, schema).table(frame, None, out_of_range="clip")
        assert recourse.features_changed.max() <= count
        found[count] = recourse.advised.mean()
    assert found[1] <= found[2] <= found[5]
    assert found[2] > 0.5


@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_a_jury_for_a_given_model_keeps_limits_wishes_and_apart_options(loans):
    columns = make_column_transformer((OneHotEncoder(), ["job", "region"]), remainder="passthrough")
    pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=6, random_state=0))
    features = loans.drop(columns="grade")
    judge = pipeline.fit(features, loans["grade"])
    cls = METHODS["rocourse"]
    model = cls(model=judge, schema=make_schema(loans), random_state=0, **small(cls))
    model.fit(features, loans["grade"])
    frame = features.head(20)
    wished = Wishes(lock=("debt",), ranges={"income": (20, None)})
    schema = model.schema_.constrain(
        max_features=2,
        change={"income": Change(max_increase_share=0.6, step=5), "age": Change(max_increase=3)},
        together=[Linear({"income": 1.0, "age": 1.0}, at_most=130)],
    )
    asked = under(model, schema)
    found = 0
    for wishes in (None, wished):
        recourse = asked.table(frame, 1, out_of_range="clip", wishes=wishes, options=3)
        for option in recourse.options:
            advised = option.frame()
            honoured = judge.predict(advised) == 1
            assert honoured[option.advised].all()
            rows = zip(frame.to_dict("records"), advised.to_dict("records"), strict=True)
            for place, (before, after) in enumerate(rows):
                assert broken_limits(schema.to_dict(), before, after) == []
                if wishes is not None and option.advised[place]:
                    assert broken_wishes(wishes, before, after) == []
            found += option.advised.sum()
    assert found > 10
