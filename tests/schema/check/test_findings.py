"""What a look at a table finds, kind by kind, and what it must not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import frames, schemas

from rocourse.datasets import load
from rocourse.errors import DataError, SchemaError
from rocourse.schema import Schema, TableCheck
from rocourse.schema.check import settled

N = 400
TWO_CODES = "--missing-code 'past days=-999' --missing-code 'past days=999999'"


def table(**columns):
    rng = np.random.default_rng(0)
    income = rng.normal(3000, 700, N).round(2)
    return pd.DataFrame(
        {
            "income": income,
            "debt": rng.integers(100, 9000, N),
            "job": rng.choice(["full", "none", "part"], N),
            **columns,
            "paid": (income + rng.normal(0, 700, N) > 2600).astype(int),
        }
    )


def found(frame, target="paid", **options):
    check = Schema.check(frame, target, **options)
    return {(finding.kind, name): finding for finding in check.findings for name in finding.columns}


def values(kind):
    rng = np.random.default_rng(1)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
    numbers = rng.integers(1000, 9000, N).astype(str).astype(object)
    return {
        "text id": [f"C-{k:05}" for k in rng.permutation(N)],
        "row number": np.arange(1, N + 1),
        "iso": days.strftime("%Y-%m-%d"),
        "times": days,
        "german date": days.strftime("%d.%m.%Y"),
        "mixed dates": np.where(
            np.arange(N) % 3, days.strftime("%Y-%m-%d"), days.strftime("%d/%m/%Y")
        ),
        "spelled": rng.choice(["yes", "Yes ", "no"], N),
        "answers": rng.choice(["yes", "TRUE", "no", "0", "unknown"], N),
        "month": days.strftime("%b-%Y"),
        "yyyymmdd": days.strftime("%Y%m%d").astype(int),
        "prose": [f"Customer called about matter {k} and was not pleased" for k in range(N)],
        "titles": [f"title {k % 150}" for k in range(N)],
        "euros": [f"{k},50 €" for k in rng.integers(100, 900, N)],
        "plain text": numbers,
        "bad": np.where(np.arange(N) == 17, "12,5k", numbers),
        "always": ["x"] * N,
        "empty": [None] * N,
        "nearly": np.where(np.arange(N) == 3, 7, 0),
        "spike": np.where(np.arange(N) == 5, 9_999_999.0, rng.normal(50, 10, N)),
        "codes": rng.integers(1, 5, N),
        "minus": np.where(np.arange(N) % 40 == 0, -1, rng.integers(20, 90, N)),
        "zeros": np.where(np.arange(N) % 20 == 0, 0, rng.integers(150, 350, N)),
        "two codes": np.choose(
            np.minimum(np.arange(N) % 20, 2), [-999, 999999, rng.integers(1, 90, N)]
        ),
        "often nines": np.where(np.arange(N) % 15 == 0, 9999, rng.integers(100, 6000, N)),
        "far below": np.where(np.arange(N) % 40 == 0, -999, rng.integers(-30, 30, N)),
        "streets": [f"{k % 39} Elm" for k in range(N)],
        "terms": np.where(np.arange(N) == 3, "12 Mon", rng.choice(["12", "24", "36"], N)),
        "question": np.where(np.arange(N) % 9 == 0, "?", rng.choice(["a", "b"], N)),
    }[kind]


@pytest.mark.parametrize(
    ("name", "content", "kind", "severity", "option"),
    [
        ("customer", "text id", "id", "error", "--drop customer"),
        ("Unnamed: 0", "row number", "id", "error", "--drop 'Unnamed: 0'"),
        ("opened", "iso", "date", "warning", "--immutable opened"),
        ("opened", "times", "date", "warning", "--immutable opened"),
        ("opened", "german date", "date", "error", "--drop opened"),
        ("opened", "mixed dates", "date", "error", "--drop opened"),
        ("phone", "spelled", "spelling", "warning", ""),
        ("phone", "answers", "spelling", "warning", ""),
        ("opened", "month", "date", "warning", "--drop opened"),
        ("opened", "yyyymmdd", "date", "warning", "--drop opened"),
        ("remark", "prose", "free text", "error", "--drop remark"),
        ("title", "titles", "many categories", "error", "--drop title"),
        ("fee", "euros", "written numbers", "note", "--categorical fee"),
        ("fee", "plain text", "number as text", "error", "--drop fee"),
        ("fee", "bad", "bad cells", "error", "--drop fee"),
        ("bank", "always", "constant", "error", "--drop bank"),
        ("bank", "empty", "constant", "error", "--drop bank"),
        ("flag", "nearly", "nearly constant", "note", "--drop flag"),
        ("wealth", "spike", "outliers", "warning", ""),
        ("branch", "codes", "few numbers", "note", "--categorical branch"),
        ("tenure", "minus", "missing code", "warning", "--missing-code tenure=-1"),
        ("past days", "two codes", "missing code", "warning", TWO_CODES),
        ("debts", "often nines", "missing code", "warning", "--missing-code debts=9999"),
        ("heat", "far below", "missing code", "warning", "--missing-code heat=-999"),
        ("chol", "zeros", "missing code", "note", "--missing-code chol=0"),
        ("owner", "question", "missing code", "warning", "--missing-code 'owner=?'"),
        ("branch", "streets", "many categories", "warning", "--immutable branch"),
        ("Straße", "streets", "address", "warning", "--immutable 'Straße'"),
        ("home_zip", "codes", "address", "warning", "--immutable home_zip"),
        ("term", "terms", "bad cells", "error", "--categorical term"),
        ("Alter", "minus", "protected", "warning", "--immutable Alter"),
        ("MaritalStatus", "question", "protected", "warning", "--immutable MaritalStatus"),
    ],
)
def test_odd_columns_are_found_once_and_nothing_else_is(name, content, kind, severity, option):
    hits = found(table(**{name: values(content)}))
    finding = hits.pop((kind, name))
    assert (finding.severity, finding.option) == (severity, option)
    assert finding.sentence.endswith(".") and ". " not in finding.sentence
    about_it = {other for other, column in hits if column == name}
    assert about_it <= {"missing code", "outliers", "nearly constant", "few numbers"}
    # The columns that are as they should be are not suspected of anything.
    assert {column for _, column in hits} <= {name}


def test_bad_cells_are_named_by_row_and_value():
    frame = table(fee=values("bad")).set_index(pd.RangeIndex(1000, 1000 + N))
    finding = found(frame)["bad cells", "fee"]
    assert finding.rows == (1017,)
    assert "'12,5k' in row 1017" in finding.sentence


def test_a_question_mark_among_few_numbers_is_a_bad_cell_that_can_be_a_gap():
    cells = np.where(np.arange(N) % 30 == 0, "?", (np.arange(N) % 9).astype(str))
    hits = found(table(nuclei=cells))
    assert hits["bad cells", "nuclei"].option == "--missing-code 'nuclei=?'"
    # Said once.
    assert ("missing code", "nuclei") not in hits


def test_amounts_at_the_ends_of_a_range_are_no_codes():
    rng = np.random.default_rng(6)
    frame = table(
        hours=np.minimum(rng.integers(10, 140, N), 99),
        visits=rng.poisson(5, N),
        balance=rng.integers(-1000, 1000, N),
        percent=rng.integers(0, 100, N),
    )
    assert not any(kind == "missing code" for kind, _ in found(frame))


def test_missing_values_of_all_columns_are_told_at_once():
    frame = table()
    frame.loc[:40, "income"] = np.nan
    frame.loc[3, "job"] = None
    finding = found(frame)["missing", "income"]
    assert finding.columns == ("income", "job")
    assert dict(finding.counts) == {"income": 41, "job": 1}
    frame["paid"] = frame["paid"].astype(float)
    frame.loc[7, "paid"] = np.nan
    assert found(frame)["missing", "paid"].rows == (7,)
    assert ("mostly empty", "income") not in found(frame)
    frame.loc[: int(0.7 * N), "income"] = np.nan
    assert found(frame)["mostly empty", "income"].option == "--drop income"


def test_columns_and_rows_that_are_there_twice_are_found():
    frame = table()
    frame = frame.assign(pay=frame["income"], work=frame["job"].str.upper(), label=frame["paid"])
    hits = found(frame)
    assert "'income'" in hits["duplicate columns", "pay"].sentence
    assert "'job'" in hits["duplicate columns", "work"].sentence
    assert hits["target", "label"].severity == "error"
    again = pd.concat([table(), table().head(30)], ignore_index=True)
    (finding,) = (f for f in Schema.check(again, "paid").findings if f.kind == "duplicate rows")
    assert dict(finding.counts) == {"rows": int(again.duplicated().sum())} == {"rows": 30}


def test_different_numbers_in_the_same_order_are_no_duplicates():
    rng = np.random.default_rng(3)
    frame = table(a=rng.normal(size=N), b=rng.normal(size=N))
    assert not any(kind == "duplicate columns" for kind, _ in found(frame))


def test_columns_of_which_each_row_has_a_value_of_its_own_are_no_duplicates():
    few = table().head(30).assign(name=[f"Person {k}" for k in range(30)])
    assert few["debt"].is_unique
    assert not any(kind == "duplicate columns" for kind, _ in found(few))
    assert ("duplicate columns", "owed") in found(few.assign(owed=few["debt"]))


def test_answers_that_say_the_same_are_told():
    sentence = found(table(phone=values("answers")))["spelling", "phone"].sentence
    assert "'yes', 'TRUE'" in sentence or "'TRUE', 'yes'" in sentence
    assert "'unknown'" not in sentence


@pytest.mark.parametrize(
    "leak",
    [
        lambda paid, rng: np.where(paid == 1, 0.0, rng.uniform(10, 500, N)),
        lambda paid, rng: np.where(paid == 1, rng.choice(["ok", "fine"], N), "collections"),
        lambda paid, rng: np.where(paid == 1, rng.normal(size=N), np.nan),
    ],
)
def test_columns_that_give_the_target_away_are_found(leak):
    frame = table()
    frame["recovered"] = leak(frame["paid"].to_numpy(), np.random.default_rng(2))
    assert found(frame)["giveaway", "recovered"].severity == "warning"
    assert ("giveaway", "income") not in found(frame)


def test_a_rare_class_is_no_giveaway_of_a_constant_guess():
    frame = table(x=np.random.default_rng(5).normal(size=N))
    frame["paid"] = (np.arange(N) < 12).astype(int)
    assert not any(kind == "giveaway" for kind, _ in found(frame.sample(frac=1, random_state=0)))


@pytest.mark.parametrize(
    ("name", "labels", "stated", "severity"),
    [
        ("deny", ["no", "yes"], None, "error"),
        ("default", [0, 1], None, "error"),
        ("paid", [0, 1], None, None),
        ("paid", [1, 0], None, "warning"),
        ("paid", [1, 0], 1, "note"),
        ("deny", ["no", "yes"], "yes", "warning"),
        ("deny", ["yes", "no"], "no", None),
        ("status", ["bad", "good"], "bad", "warning"),
    ],
)
def test_the_class_that_people_want_is_looked_at(name, labels, stated, severity):
    frame = table().drop(columns="paid")
    frame[name] = np.where(np.arange(N) % 3 == 0, *labels)
    finding = found(frame, name, favourable=stated).get(("favourable", name))
    assert (finding.severity if finding else None) == severity


def test_rare_classes_and_targets_that_are_none_are_found():
    frame = table()
    frame["paid"] = (np.arange(N) < 5).astype(int)
    assert found(frame)["rare class", "paid"].severity == "warning"
    frame["paid"] = (np.arange(N) < 15).astype(int)
    assert found(frame)["rare class", "paid"].severity == "note"
    assert found(frame, "debt")["classes", "debt"].severity == "error"


def test_floats_and_amounts_that_are_all_different_are_no_ids():
    rng = np.random.default_rng(4)
    frame = table(
        amount=rng.choice(10**6, N, replace=False),
        rate=rng.normal(size=N),
        balance_id_free=rng.normal(1e5, 1e4, N).round(),
    )
    assert not any(kind == "id" for kind, _ in found(frame))


@pytest.mark.parametrize("name", ["german_credit", "student"])
def test_clean_tables_have_few_findings(name):
    dataset = load(name)
    for frame in dataset.subsets.values():
        check = Schema.check(frame, dataset.schema.target.name)
        assert check.of("error") == ()
        assert {finding.kind for finding in check.of("warning")} <= {"protected", "favourable"}
        assert len(check.findings) <= 4


def test_the_worst_comes_first_and_the_record_is_json():
    import json

    check = Schema.check(table(customer=values("text id"), age=values("minus")), "paid")
    assert [f.severity for f in check.findings] == sorted(
        (f.severity for f in check.findings), key=("error", "warning", "note").index
    )
    data = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert (data["format"], data["rows"], data["columns"]) == ("rocourse-check", N, 6)
    assert check.fixes == {"drop": ["customer"], "immutable": ["age"]}


def test_what_the_user_has_said_is_settled():
    ages = np.random.default_rng(1).integers(20, 90, N)
    check = Schema.check(table(title=values("titles"), age=ages, sex="f"), "paid")
    heard = settled(check, decided=["title"], constrained=["age"])
    assert [f.columns for f in heard.of("error")] == [("sex",)]
    assert [f.columns for f in heard.of("warning")] == [("sex",)]
    assert settled(check, constrained=["age", "sex"]).of("warning") == ()
    assert settled(check, handled=["protected"]).of("warning") == ()


def test_what_cannot_be_looked_at_is_refused():
    with pytest.raises(SchemaError, match="did you mean 'paid'"):
        Schema.check(table(), "payd")
    with pytest.raises(DataError, match="at least one"):
        Schema.check(table().head(0), "paid")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_table_can_be_looked_at(data):
    frame = data.draw(frames(data.draw(schemas()), min_rows=1, max_rows=8))
    before = frame.copy()
    check = Schema.check(frame, data.draw(st.sampled_from([None, *frame.columns])))
    assert isinstance(check, TableCheck) and check.rows == len(frame)
    pd.testing.assert_frame_equal(frame, before)
