"""Whoever returns with a promise."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.making import make_issue, make_promise
from tests.limits import broken_limits, random_rows, random_schema
from tests.service.making import (
    FAVOURABLE,
    PATIENT,
    ROW,
    client_of,
    decide,
    detail,
    ledger_of,
    make_schema,
    make_table,
    plain_rows,
    promise_for,
    replace_model,
    serving,
    train,
)

from rocourse.artifacts import save
from rocourse.schema import Categorical, Change, Linear, Moves, Wishes
from rocourse.service import Settings, create_app
from rocourse.service._redemption import compare

SCHEMA = make_schema(make_table())


def redeem(client, id, row):
    return client.post("/v1/redemptions", json={"id": id, "row": row})


def events(client, id):
    return [event["status"] for event in client.get(f"/v1/recourses/{id}").json()["history"]]


@pytest.fixture
def promise(client, asked):
    """A fresh promise: the row, and its recourse with a number that must rise."""
    rows = plain_rows(asked)
    for row, decision in zip(rows, decide(client, *rows)["decisions"], strict=True):
        recourse = decision["recourse"]
        if recourse and "income" in {change["feature"] for change in recourse["changes"]}:
            if recourse["row"]["income"] > row["income"]:
                return row, recourse
    raise AssertionError("no row must earn more")


def test_who_made_the_change_is_approved(client, promise):
    _, recourse = promise
    answer = redeem(client, recourse["id"], recourse["row"]).json()
    assert answer["status"] == "redeemed"
    assert answer["fulfilled"] and answer["honoured"]
    assert answer["unmet"] == answer["drifted"] == []
    assert answer["decision"] == FAVOURABLE
    assert answer["probability"] == pytest.approx(recourse["probability"], abs=1e-5)
    assert answer["model"] == client.get("/v1/model").json()["digest"]
    assert events(client, recourse["id"]) == ["open", "redeemed"]


def test_what_is_missing_is_named_and_the_promise_stays_open(client, promise):
    row, recourse = promise
    answer = redeem(client, recourse["id"], row).json()
    assert answer["status"] == "open"
    assert not answer["fulfilled"] and not answer["honoured"]
    asked_for = {change["feature"]: change for change in recourse["changes"]}
    assert {unmet["feature"] for unmet in answer["unmet"]} == asked_for.keys()
    for unmet in answer["unmet"]:
        change = asked_for[unmet["feature"]]
        assert (unmet["promised"], unmet["presented"]) == (change["to"], change["from"])
    assert events(client, recourse["id"]) == ["open"]
    # And can be fulfilled later.
    assert redeem(client, recourse["id"], recourse["row"]).json()["status"] == "redeemed"


def test_going_further_than_asked_fulfils(client, promise):
    _, recourse = promise
    further = {**recourse["row"], "income": recourse["row"]["income"] + 2.0}
    answer = redeem(client, recourse["id"], further).json()
    assert answer["fulfilled"] and answer["unmet"] == answer["drifted"] == []
    assert answer["status"] == "redeemed"


def test_what_drifted_is_named_and_does_not_count_against_the_applicant(client, promise):
    _, recourse = promise
    aged = {**recourse["row"], "age": recourse["row"]["age"] + 1}
    if any(change["feature"] == "age" for change in recourse["changes"]):
        pytest.fail("the model asks for another age: nothing drifts")
    answer = redeem(client, recourse["id"], aged).json()
    assert answer["drifted"] == [
        {"feature": "age", "was": recourse["row"]["age"], "presented": aged["age"]}
    ]
    assert answer["fulfilled"] and answer["unmet"] == []


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        ("region", "other"),
        ("children", "other"),
        ("age", -2),
        ("income", 1e30),
        ("income", 400.0),
        ("years employed", 10**12),
    ],
)
def test_what_no_advice_could_have_asked_for_is_not_redeemed(client, promise, feature, value):
    """Another region, fewer years of age, more than anybody has: not the row that was promised."""
    _, recourse = promise
    presented = dict(recourse["row"])
    if value == "other":
        (value,) = {"region": {"north", "south"}, "children": {0, 1}}[feature] - {
            presented[feature]
        }
    presented[feature] = presented["age"] + value if feature == "age" else value
    answer = redeem(client, recourse["id"], presented).json()
    assert (answer["status"], answer["fulfilled"], answer["honoured"]) == ("open", False, False)
    [entry] = answer["forbidden"]
    assert (entry["feature"], entry["presented"]) == (feature, presented[feature])
    assert entry["rule"].startswith("must")
    assert events(client, recourse["id"]) == ["open"]
    # Nothing is lost by it.
    assert redeem(client, recourse["id"], recourse["row"]).json()["status"] == "redeemed"


def test_going_on_for_ever_in_the_direction_of_the_advice_is_not_redeemed():
    before = {**ROW, "income": 40.0}
    promised = {**before, "income": 30.0}
    for low, forbidden in ((25.0, []), (3.0, []), (0.0, ["income"]), (-1e30, ["income"])):
        found = compare(SCHEMA, before, promised, {**promised, "income": low})
        assert [entry["feature"] for entry in found.forbidden] == forbidden
        assert found.unmet == [] and found.fulfilled == (not forbidden)


def test_limits_of_change_and_sums_are_counted_from_the_row_in_the_ledger():
    schema = SCHEMA.constrain(
        change={"income": Change(max_increase=10.0)},
        moves={"job": Moves(forbidden={"part": ["none"]})},
        together=[Linear({"age": 1.0, "years employed": 1.0}, at_most=60.0)],
    )
    before = {**ROW, "age": 44, "years employed": 4}
    promised = {**before, "income": before["income"] + 8.0}

    def forbidden(**changes):
        found = compare(schema, before, promised, {**promised, **changes})
        return sorted({entry["feature"] for entry in found.forbidden})

    assert forbidden() == forbidden(income=before["income"] + 9.9) == []
    assert forbidden(income=before["income"] + 10.1) == ["income"]
    assert forbidden(job="full") == []
    assert forbidden(job="none") == ["job"]
    assert forbidden(age=55) == []
    assert forbidden(age=60) == ["age", "years employed"]


def test_wishes_hold_for_whoever_returns():
    before = {**ROW, "income": 31.0}
    promised = {**before, "income": 60.0}

    def forbidden(wishes, **changes):
        found = compare(SCHEMA, before, promised, {**promised, **changes}, Wishes(**wishes))
        return [(entry["feature"], "wish" in entry["rule"]) for entry in found.forbidden]

    assert forbidden({"lock": ["owner"]}) == []
    assert forbidden({"lock": ["owner"]}, owner=True) == [("owner", True)]
    assert forbidden({"only": ["income"]}, age=50) == [("age", True)]
    assert forbidden({"ranges": {"income": (None, 70.0)}}, income=69.0) == []
    assert forbidden({"ranges": {"income": (None, 70.0)}}, income=71.0) == [("income", True)]
    assert forbidden({"ranges": {"job": ("part", "full")}}, job="none") == [("job", True)]
    assert forbidden({"prefer": ["income"]}, owner=True) == []


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_what_is_forbidden_is_what_an_oracle_says(random):
    """Changes from one row to another, by the schema's JSON; steps and counts bind advice alone."""
    schema = random_schema(random)
    before, promised, presented = (
        {name: _plain(value) for name, value in row.items()}
        for row in random_rows(random, schema, 3).to_dict("records")
    )
    if any(value is None for row in (before, promised) for value in row.values()):
        return
    found = {entry["feature"] for entry in compare(schema, before, before, presented).forbidden}
    written = schema.to_dict()
    for feature in written["features"]:
        name = feature["name"]
        if before[name] == presented[name] or any(
            "linear" in r for r in written.get("together", [])
        ):
            continue
        if presented[name] is None:
            assert name in found
            continue
        alone = {**before, name: presented[name]}
        said = " ".join(text for text in broken_limits({**written, "together": []}, before, alone))
        for word in ("range", "step", "nobody would notice", "fraction"):
            said = said.replace(f"{name}: {word} ", "")
        beyond = feature["kind"] == "continuous" and not (
            feature["low"] - 0.09 * (feature["high"] - feature["low"])
            <= presented[name]
            <= feature["high"] + 0.09 * (feature["high"] - feature["low"])
        )
        if not beyond:
            assert (name in found) == (f"{name}:" in said), (said, alone)


def _plain(value):
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value != value else value


def test_who_fulfils_it_but_fell_behind_elsewhere_leaves_it_open(client, asked):
    # Refused for what changed besides, though the promised row itself would be approved.
    rows = plain_rows(asked)
    chances = [decision["probability"] for decision in decide(client, *rows)["decisions"]]
    promised, worst = (rows[chances.index(chosen)] for chosen in (max(chances), min(chances)))
    now = datetime.now(UTC)
    promise = make_promise(
        row={**promised, "age": promised["age"] - 1},
        recourse=promised,
        desired=FAVOURABLE,
        issued_at=now,
        expires_at=now + timedelta(days=1),
    )
    ledger_of(client).issue([make_issue(promise)])
    kept = {name: promised[name] for name in ("age", "region", "children")}
    fallen = {**worst, **kept}
    assert not decide(client, fallen)["decisions"][0]["favourable"]
    answer = redeem(client, promise.id, fallen).json()
    assert answer["fulfilled"] and not answer["honoured"]
    assert (answer["status"], answer["unmet"]) == ("open", [])
    assert answer["decision"] != FAVOURABLE
    assert {entry["feature"] for entry in answer["drifted"]} == {
        name for name in fallen if fallen[name] != promised[name]
    }
    assert events(client, promise.id) == ["open"]


def test_a_promise_is_redeemed_once(client, promise):
    row, recourse = promise
    assert redeem(client, recourse["id"], recourse["row"]).status_code == 200
    for presented in (recourse["row"], row):
        assert "redeemed" in detail(redeem(client, recourse["id"], presented), 409)
    assert events(client, recourse["id"]) == ["open", "redeemed"]


def test_a_promise_that_was_withdrawn_does_not_bind(client, promise):
    _, recourse = promise
    ledger_of(client).record(recourse["id"], "withdrawn", model="by hand")
    assert "withdrawn" in detail(redeem(client, recourse["id"], recourse["row"]), 409)


def test_an_id_that_was_never_given_is_unknown(client):
    id = "01890a5d-ac96-774b-bcce-b302099a8057"
    for response in (redeem(client, id, ROW), client.get(f"/v1/recourses/{id}")):
        assert detail(response, 404)


@pytest.mark.parametrize(
    "id",
    [
        "1",
        "01890A5D-AC96-774B-BCCE-B302099A8057",
        "01890a5dac96774bbcceb302099a8057",
        "01890a5d-ac96-774b-bcce-b302099a8057\n",
        "' OR 1=1 --",
        "<script>",
    ],
)
def test_what_is_no_id_is_refused(client, id):
    said = detail(redeem(client, id, ROW), 422)
    assert id.strip() not in said or id == "1"
    assert detail(client.request("GET", f"/v1/recourses/{id.strip()}x"), 422)


def test_a_change_of_mind_breaks_the_promise_until_it_is_rolled_back(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model") as client:
        _, recourse = promise_for(client, plain_rows(asked))
        first = client.get("/v1/model").json()["digest"]
        replace_model(tmp_path / "model", stored / "contrary")
        assert client.post("/v1/model/reload").json()["changed"]

        broken = redeem(client, recourse["id"], recourse["row"]).json()
        assert broken["status"] == "broken"
        assert broken["fulfilled"] and not broken["honoured"]
        assert broken["model"] != first
        # Who comes once more meets the same, and nothing is recorded twice.
        assert redeem(client, recourse["id"], recourse["row"]).json()["status"] == "broken"
        assert events(client, recourse["id"]) == ["open", "broken"]

        replace_model(tmp_path / "model", stored / "model")
        client.post("/v1/model/reload")
        kept = redeem(client, recourse["id"], recourse["row"]).json()
        assert (kept["status"], kept["model"]) == ("redeemed", first)
        history = client.get(f"/v1/recourses/{recourse['id']}").json()["history"]
        assert [event["status"] for event in history] == ["open", "broken", "redeemed"]
        assert [event["model"] for event in history] == [first, broken["model"], first]


def test_who_did_not_make_the_change_breaks_no_promise(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model") as client:
        row, recourse = promise_for(client, plain_rows(asked))
        replace_model(tmp_path / "model", stored / "contrary")
        client.post("/v1/model/reload")
        answer = redeem(client, recourse["id"], row).json()
        assert (answer["status"], answer["fulfilled"]) == ("open", False)
        assert events(client, recourse["id"]) == ["open"]


def test_an_expired_promise_does_not_bind(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model", valid_for=timedelta(microseconds=1)) as client:
        _, recourse = promise_for(client, plain_rows(asked))
        assert "expired" in detail(redeem(client, recourse["id"], recourse["row"]), 409)
        # It is told as it is, with the reason, though nothing had to be recorded.
        told = client.get(f"/v1/recourses/{recourse['id']}").json()
        assert told["status"] == "expired"
        assert [line["status"] for line in told["history"]] == ["open", "expired"]
        assert told["history"][-1]["at"] == told["expires_at"]
        assert [line["detail"] for line in told["history"]] == ["issued", "its time ran out"]
        assert [e.status for e in ledger_of(client).history(recourse["id"])] == ["open"]


def test_a_clock_that_jumps_ends_a_promise_for_as_long_as_it_is_wrong(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model") as client:
        backend, jump = client.app.state.backend, timedelta(0)
        backend.clock = lambda: datetime.now(UTC) + jump
        _, recourse = promise_for(client, plain_rows(asked))
        jump = timedelta(days=400)
        assert "expired" in detail(redeem(client, recourse["id"], recourse["row"]), 409)
        # Before it was made at all, it binds as well: clocks differ.
        jump = -timedelta(days=400)
        assert redeem(client, recourse["id"], recourse["row"]).json()["status"] == "redeemed"
        assert events(client, recourse["id"]) == ["open", "redeemed"]


@pytest.mark.parametrize("change", ["categories", "kind", "column", "class"])
def test_a_promise_of_another_schema_does_not_bind(tmp_path, stored, asked, change):
    with serving(tmp_path, stored / "model") as client:
        rows = plain_rows(asked)
        row, recourse = promise_for(client, [row for row in rows if row["job"] == "none"])
    table, presented, options = make_table(), dict(row), {}
    if change == "categories":
        table["job"] = table["job"].replace("none", "seeking")
        presented["job"] = "seeking"
    elif change == "kind":
        table["job"] = table["job"].map({"none": 0, "part": 1, "full": 2})
        presented["job"] = 0
        options = {"categorical": ["children", "job"]}
    elif change == "column":
        table = table.rename(columns={"income": "earnings"})
        presented["earnings"] = presented.pop("income")
    else:
        options = {"favourable": "denied"}
    shutil.rmtree(tmp_path / "model")
    save(train(table, **options), tmp_path / "model")
    settings = Settings(model=tmp_path / "model", ledger=str(tmp_path / "ledger.db"), **PATIENT)
    with client_of(create_app(settings)) as client:
        assert "of others" in detail(redeem(client, recourse["id"], presented), 409)
        assert events(client, recourse["id"]) == ["open"]


def test_returns_are_counted_by_what_came_of_them(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model") as client:
        _, recourse = promise_for(client, plain_rows(asked))
        redeem(client, recourse["id"], recourse["row"])
        redeem(client, recourse["id"], recourse["row"])
        text = client.get("/metrics").text
    assert 'rocourse_redemptions_total{status="redeemed"} 1.0' in text
    assert text.count("rocourse_redemptions_total{") == 1


def test_of_two_who_return_at_once_one_is_served(client, promise, monkeypatch):
    _, recourse = promise
    ledger, before = ledger_of(client), client.get("/metrics").text
    record = type(ledger).record

    def overtaken(*args, **options):
        # Another one was quicker by a moment.
        record(ledger, *args, **options)
        return record(ledger, *args, **options)

    monkeypatch.setattr(ledger, "record", overtaken)
    assert "redeemed" in detail(redeem(client, recourse["id"], recourse["row"]), 409)
    assert events(client, recourse["id"]) == ["open", "redeemed"]
    counted = [
        [line for line in text.splitlines() if line.startswith("rocourse_redemptions_total{")]
        for text in (before, client.get("/metrics").text)
    ]
    assert counted[0] == counted[1]


def rows_of(schema):
    """Rows around a schema's range."""
    return st.fixed_dictionaries(
        {
            feature.name: st.sampled_from(feature.categories)
            if isinstance(feature, Categorical)
            else st.integers(-5, 120)
            if feature.integer
            else st.floats(-50, 200).map(lambda value: round(value, 3))
            for feature in schema.features
        }
    )


bounded = settings(max_examples=150, deadline=None, derandomize=True)


@bounded
@given(rows_of(SCHEMA), rows_of(SCHEMA))
def test_the_promised_row_always_fulfils(before, promised):
    found = compare(SCHEMA, before, promised, promised)
    assert found.unmet == found.drifted == []


@bounded
@given(rows_of(SCHEMA), rows_of(SCHEMA))
def test_who_returns_unchanged_lacks_every_change(before, promised):
    found = compare(SCHEMA, before, promised, before)
    slack = {f.name: 1e-4 * (f.high - f.low) for f in SCHEMA.features if hasattr(f, "high")}
    missing = {
        name
        for name in SCHEMA.names
        if before[name] != promised[name]
        and (name not in slack or abs(before[name] - promised[name]) > slack[name])
    }
    assert {unmet["feature"] for unmet in found.unmet} == missing
    assert found.drifted == []


@bounded
@given(rows_of(SCHEMA), rows_of(SCHEMA), rows_of(SCHEMA))
def test_every_feature_is_judged_by_its_own_rule(before, promised, presented):
    found = compare(SCHEMA, before, promised, presented)
    unmet = {entry["feature"]: entry for entry in found.unmet}
    drifted = {entry["feature"]: entry for entry in found.drifted}
    assert not unmet.keys() & drifted.keys()
    for feature in SCHEMA.features:
        name = feature.name
        was, wanted, now = before[name], promised[name], presented[name]
        asked_for = wanted != was
        assert (name in drifted) == (not asked_for and now != was)
        if name in drifted:
            assert drifted[name] == {"feature": name, "was": was, "presented": now}
        if not asked_for:
            assert name not in unmet
        elif isinstance(feature, Categorical):
            assert (name in unmet) == (now != wanted)
        else:
            # How far short of it, in the direction that was asked for, as a share of the range.
            short = (wanted - now if wanted > was else now - wanted) / (feature.high - feature.low)
            if abs(short - 1e-4) > 1e-9:
                assert (name in unmet) == (short > 1e-4)
        if name in unmet:
            assert unmet[name] == {"feature": name, "promised": wanted, "presented": now}


@bounded
@given(rows_of(SCHEMA), rows_of(SCHEMA), st.floats(0, 1e6))
def test_a_number_may_go_further(before, promised, beyond):
    further = dict(promised)
    for feature in SCHEMA.features:
        name = feature.name
        if not isinstance(feature, Categorical) and before[name] != promised[name]:
            further[name] += beyond if promised[name] > before[name] else -beyond
    assert compare(SCHEMA, before, promised, further).unmet == []
