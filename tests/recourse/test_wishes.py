"""Wishes and options, of every method: kept to the letter, by an oracle written apart."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loans import make_loans
from tests.strategies import broken_constraints
from tests.wishes import broken_wishes

from rocourse import Wishes
from rocourse.errors import ConfigError, RocourseError
from rocourse.estimators import METHODS
from rocourse.evaluation import diversity
from rocourse.recourse._candidates import Candidates, chosen
from rocourse.schema import Categorical, Continuous, Layout, Narrowing, Rows, Schema

ROWS = make_loans(40, seed=4).drop(columns="grade")
FREE = ("income", "debt", "age", "job")
JOBS = ("full", "none", "part")


@st.composite
def wishes(draw):
    """Wishes about the small loans, such as an applicant may have."""
    lock = draw(st.lists(st.sampled_from([*FREE, "region"]), max_size=2, unique=True))
    left = [name for name in FREE if name not in lock]
    ranges = {}
    for name, low, high in (("income", 12, 88), ("debt", 0, 38), ("age", 20, 68)):
        if draw(st.booleans()):
            ends = sorted(draw(st.tuples(st.integers(low, high), st.integers(low, high))))
            if name == "income":
                ends = [end + draw(st.sampled_from([0.0, 0.37])) for end in ends]
            ranges[name] = tuple(draw(st.sampled_from([end, None])) for end in ends)
    if draw(st.booleans()):
        ranges["job"] = draw(st.sets(st.sampled_from(JOBS), min_size=1))
    only = draw(st.none() | st.sets(st.sampled_from(left)).map(sorted))
    prefer = draw(st.lists(st.sampled_from(only or left), max_size=1)) if left else []
    return Wishes(lock, ranges, only, prefer if only != [] else ())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_random_wishes(method, fitted):
    model = fitted(method)

    @settings(max_examples=5, deadline=None)
    @given(st.lists(st.none() | wishes(), min_size=3, max_size=3))
    def check(kinds):
        each = [kinds[place % 3] for place in range(len(ROWS))]
        recourse = model.recourse(ROWS, wishes=each)
        advised = recourse.frame()
        assert broken_constraints(model.schema_, ROWS, advised) == []
        valid = model.predict(advised) == recourse.desired
        for place, wished in enumerate(each):
            if not recourse.advised[place]:
                continue
            assert valid[place]
            if wished is not None:
                found = broken_wishes(wished, ROWS.iloc[place], advised.iloc[place])
                assert found == []

    check()


@pytest.mark.parametrize("method", METHODS)
def test_options_are_valid_apart_and_undominated(method, fitted):
    model = fitted(method)
    recourse = model.recourse(ROWS, desired=1, options=4)
    alone = model.recourse(ROWS, desired=1)
    assert len(recourse.options) == 4
    np.testing.assert_array_equal(recourse.status == "not_needed", alone.status == "not_needed")
    np.testing.assert_array_equal(recourse.advised, alone.advised)
    assert diversity(recourse) > 0
    for option in recourse.options:
        assert broken_constraints(model.schema_, ROWS, option.frame()) == []
        assert (model.predict(option.frame())[option.advised] == 1).all()
    for place, record in enumerate(recourse.to_records()):
        options = record["options"]
        assert (options != []) == recourse.advised[place]
        if not options:
            continue
        assert options[0]["changes"] == record["changes"]
        asked = [
            {
                (change["feature"], change["to"] if change["feature"] == "job" else None)
                for change in option["changes"]
            }
            for option in options
        ]
        certain = [option["robustness"] or 0.0 for option in options]
        for i, one in enumerate(asked):
            for j, other in enumerate(asked):
                # None asks for all that another does, unless it is cheaper or surer.
                dearer = options[i]["proximity"] >= options[j]["proximity"]
                assert i == j or one != other
                if i != j and other < one and dearer:
                    surer = (options[i]["status"], -certain[i], -options[i]["probability"])
                    assert surer < (options[j]["status"], -certain[j], -options[j]["probability"])
        if model.proposer_.promises:
            assert [o["status"] for o in options] == sorted(o["status"] for o in options)
            found = [o["proximity"] for o in options if o["status"] == "found"]
            assert found == sorted(found)


@pytest.mark.parametrize("method", ["rocourse", "rocourse-panel", "rocoursenet", "vanillacf"])
def test_one_applicant_gets_what_a_table_says(method, fitted):
    model = fitted(method)
    wished = Wishes(lock=("debt",), prefer=("income",))
    rows = ROWS.head(6)
    table = model.recourse(rows, desired=1, wishes=wished, options=3).to_records()
    each = model.recourse_each(rows.to_dict("records"), desired=1, wishes=wished, options=3)
    for mine, theirs in zip(each, table, strict=True):
        assert mine.keys() - {"probability_before"} == theirs.keys() - {"index"}
        assert mine["status"] == theirs["status"]
        assert [o["changes"] for o in mine["options"]] == [o["changes"] for o in theirs["options"]]
    json.dumps(each, allow_nan=False)


def test_who_needs_more_is_told_how_to_be_granted_more(fitted):
    model = fitted("vanillacf")
    granted = ROWS[(model.predict(ROWS) == 1) & (ROWS["debt"] < 20)].head(5)
    recourse = model.recourse(granted, desired=1, wishes=Wishes(ranges={"debt": (30, None)}))
    assert set(recourse.status) <= {"found", "not_found"}
    assert recourse.advised.any()
    assert (recourse.frame()["debt"][recourse.advised] >= 30).all()


def test_who_is_granted_what_they_wish_for_is_asked_for_nothing_more(fitted):
    model = fitted("counternet")
    # Whoever is granted stays so with a little more debt.
    rows = ROWS[(model.predict(ROWS) == 1) & (ROWS["debt"] < 37)]
    nearly = rows.assign(debt=rows["debt"] + 1)
    enough = model.predict(nearly) == 1
    for place in np.flatnonzero(enough)[:5]:
        more = int(nearly["debt"].iloc[place])
        wished = Wishes(ranges={"debt": (more, None)})
        found = model.recourse(rows.iloc[[place]], desired=1, wishes=wished)
        assert found.to_records()[0]["changes"] == [
            {"feature": "debt", "from": more - 1, "to": more}
        ]


def test_a_wish_that_the_schema_does_not_let_come_true_is_not_found_with_the_reason(fitted):
    model = fitted("rocourse")
    old = ROWS[ROWS["age"] > 40].head(3)
    records = model.recourse(old, wishes=Wishes(ranges={"age": (None, 30)})).to_records()
    for record, age in zip(records, old["age"], strict=True):
        assert record["status"] == "not_found"
        assert record["reason"] == (
            f"Feature 'age' was wished to be at most 30, but is {age} and may not be changed so."
        )
    plain = model.recourse(old, wishes=Wishes(ranges={"age": (None, 69)})).to_records()
    assert [record["reason"] for record in plain] == [None] * 3


def test_the_reason_names_categories_that_were_wished_for_and_no_gap():
    job = Categorical("job", ("clerk", "nurse"), immutable=True, missing="category")
    schema = Schema((job, Continuous("since", 0.0, 9.0, date=True, integer=True, direction="up")))
    rows = pd.DataFrame({"job": ["clerk", None], "since": ["1970-01-05", "1970-01-05"]})
    wishes = Wishes(ranges={"job": ("nurse",)})
    start = Narrowing.of(wishes, schema).start(rows, schema.encode(rows))
    # What pandas makes of a missing text.
    gap = str(rows["job"].iloc[1])
    for reason, here in zip(start.reasons, ("'clerk'", gap), strict=True):
        assert reason.startswith(f"Feature 'job' was wished to be 'nurse', but is {here}")
    earlier = Wishes(ranges={"since": (None, "1970-01-03")})
    start = Narrowing.of(earlier, schema).start(rows, schema.encode(rows))
    assert "at most 1970-01-03" in start.reasons[0]


def test_preferred_features_are_changed_rather_than_others(fitted):
    model = fitted("rocourse")
    rows = make_loans(200, seed=7).drop(columns="grade")
    without = model.recourse(rows, desired=1)
    preferring = model.recourse(rows, desired=1, wishes=Wishes(prefer=("job",)))
    jobs = [
        sum(c["feature"] == "job" for r in found.to_records() for c in r["changes"])
        for found in (without, preferring)
    ]
    assert jobs[1] > jobs[0]
    np.testing.assert_array_equal(preferring.advised, without.advised)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lock": ["salary"]}, "no feature"),
        ({"lock": "debt"}, "list of features"),
        ({"ranges": {"income": (5, None)}}, "can only narrow"),
        ({"ranges": {"income": (50, 20)}}, "leave a value"),
        ({"ranges": {"income": ("much", None)}}, "pair of numbers"),
        ({"ranges": {"income": 20}}, "pair of numbers"),
        ({"ranges": {"job": ["boss"]}}, "must be some of"),
        ({"ranges": {"job": []}}, "at least one"),
        ({"prefer": ["region"]}, "immutable"),
        ({"only": ["region"]}, "immutable"),
        ({"only": ["debt"], "prefer": ["job"]}, "among those in only"),
        ({"lock": ["job"], "prefer": ["job"]}, "in both"),
        ({"locks": ["job"]}, "did you mean 'lock'"),
        ([{}, {}], "one for each of 40 rows"),
        ("debt", "must be Wishes"),
    ],
)
def test_wrong_wishes_get_one_sentence(given, said, fitted):
    with pytest.raises(RocourseError, match=said) as error:
        fitted("counternet").recourse(ROWS, wishes=given)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("options", [0, -1, 2.5, True, "3"])
def test_options_are_a_number(options, fitted):
    with pytest.raises(ConfigError, match="options must be a whole number"):
        fitted("counternet").recourse(ROWS, options=options)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_of_many_candidates_those_that_ask_for_other_things_at_a_fair_price_are_offered(seed, most):
    rng = np.random.default_rng(seed)
    layout, n = Layout(2, (3, 2)), 7
    changed = rng.random((n, 4)) < 0.5
    changed[~changed.any(axis=1), 0] = True
    codes = np.where(changed[:, 2:], rng.integers(1, (3, 2), (n, 2)), 0).astype(np.int32)
    costs = changed * rng.integers(1, 4, (n, 4)) * 1.0
    status = rng.choice(["found", "found_unsure"], n)
    chance = rng.integers(0, 3, n) / 2
    numbers = changed[:, :2] * 0.5
    pool = Candidates(
        np.zeros(n, int),
        Rows(numbers.astype(np.float32), codes),
        status,
        chance,
        chance,
        changed,
        costs,
        np.zeros((n, layout.width), bool),
    )
    places = chosen(pool, most, np.ones(4), layout, promises=True)

    # In plain Python: sort, leave out what is dominated, take new things first.
    order = sorted(range(n), key=lambda k: (status[k] != "found", costs[k].sum(), -chance[k], k))
    sets = {k: frozenset(np.flatnonzero(changed[k])) for k in order}

    def beats(j, k):
        if sets[j] == sets[k]:
            return order.index(j) < order.index(k)
        better = costs[j].sum() <= costs[k].sum() and chance[j] >= chance[k]
        return sets[j] < sets[k] and better and status[j] <= status[k]

    apart = [k for k in order if not any(beats(j, k) for j in order if j != k)]
    news = []
    for k in apart:
        if not any(sets[j] < sets[k] or sets[k] < sets[j] for j in news):
            news.append(k)
    limit = 2 * costs[order[0]].sum()
    classes = [
        [k for k in apart if (k in news) == new and (costs[k].sum() <= limit) == fair]
        for fair, new in ((True, True), (True, False), (False, True), (False, False))
    ]
    expected = [k for some in classes for k in some]
    if len(apart) >= most:
        assert sorted(expected[:most]) == sorted(places.tolist())
    else:
        assert set(apart) <= set(places.tolist())
    assert [order.index(k) for k in places] == sorted(order.index(k) for k in places)


def test_single_edits_that_take_the_place_of_changes_are_consented_to_and_leave_it_alone(fitted):
    model = fitted("rocourse")
    advisor = model._advisor
    recourse = model.recourse(ROWS, desired=1)
    own = np.flatnonzero(recourse.advised)
    rows, attempts = recourse.original_rows.take(own), recourse.attempts.take(own)
    layout, target = model.schema_.layout, np.ones(len(own), np.int32)
    differ = np.concatenate(
        [rows.continuous != attempts.continuous, rows.categories != attempts.categories], axis=1
    )
    feature = differ.argmax(axis=1)
    closed = np.zeros((len(own), layout.width), bool)
    values, codes = attempts.continuous.copy(), attempts.categories.copy()
    for k, f in enumerate(feature):
        if f < layout.n_continuous:
            closed[k, f], values[k, f] = True, rows.continuous[k, f]
        else:
            g = f - layout.n_continuous
            closed[k, layout.group_slices[g].start + attempts.categories[k, g]] = True
            codes[k, g] = rows.categories[k, g]
    starts = Rows(values, codes)
    what = (advisor.state, advisor.context, rows, target)
    swaps = advisor.proposer.swap(*what, closed=closed, feature=feature, starts=starts)
    assert swaps.found
    for places, proposed in swaps.found:
        shares = advisor.context.predict(proposed)
        # The search has no cut-off for "just so": float32 alone may tip the balance.
        assert (shares[:, 1] > 0.5 - 1e-4).all()
        for place, codes, values in zip(
            places, proposed.categories, proposed.continuous, strict=True
        ):
            begun = starts.take([place])
            moved = (values != begun.continuous[0]).sum() + (codes != begun.categories[0]).sum()
            assert moved <= 1
            f = feature[place]
            if f < layout.n_continuous:
                assert values[f] == rows.continuous[place, f]
            else:
                g = f - layout.n_continuous
                assert codes[g] != attempts.categories[place, g]
    assert swaps.closed[np.arange(len(own)), feature].all()


def test_wishes_go_through_json():
    wished = Wishes(("a",), {"b": (1, None), "c": {"x"}}, ("d",), ("d",))
    again = Wishes.from_dict(json.loads(json.dumps(wished.to_dict())))
    assert (again, hash(again)) == (wished, hash(wished))
    assert Wishes().to_dict() == {}
