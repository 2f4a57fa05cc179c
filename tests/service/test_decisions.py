"""Decisions over HTTP, beside what the model itself says."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pytest
from tests.service.making import (
    FAVOURABLE,
    PATIENT,
    ROW,
    TARGET,
    client_of,
    decide,
    detail,
    ledger_of,
    plain_rows,
    promise_for,
    serving,
)

from rocourse.service import Settings, add_key, create_app

# Blocks of rows are computed by code that is compiled for their size.
CLOSE = {"rel": 1e-5, "abs": 1e-6}


def promises_in(ledger):
    now = datetime.now(UTC)
    return {promise.id: promise for page in ledger.binding_promises(at=now) for promise in page}


def essence(decision):
    """What must not depend on whom a row was decided with, numbers apart."""
    recourse = decision["recourse"]
    kept = decision["subject"], decision["decision"], decision["favourable"]
    if recourse is None:
        return kept, None
    changes = [(change["feature"], type(change["to"])) for change in recourse["changes"]]
    return kept, (recourse["status"], changes, recourse["robustness"])


def figures(decision):
    recourse = decision["recourse"] or {"probability": 0.0, "cost": 0.0, "changes": []}
    moved = [c["to"] for c in recourse["changes"] if isinstance(c["to"], float)]
    return [decision["probability"], recourse["probability"], recourse["cost"], *moved]


def test_decisions_and_probabilities_are_those_of_the_model(client, model, asked):
    rows = asked.drop(columns=TARGET)
    answer = decide(client, *plain_rows(asked))
    chance = model.predict_proba(rows)[:, list(model.classes_).index(FAVOURABLE)]
    np.testing.assert_allclose([d["probability"] for d in answer["decisions"]], chance, rtol=1e-5)
    assert [d["decision"] for d in answer["decisions"]] == model.predict(rows).tolist()
    for decision in answer["decisions"]:
        assert decision["favourable"] == (decision["decision"] == FAVOURABLE)
    assert answer["model"] == client.get("/v1/model").json()["digest"]


def test_recourses_are_those_of_the_model(client, model, asked):
    recourse = model.recourse(asked.drop(columns=TARGET), desired=FAVOURABLE)
    shares = model.robustness(recourse)
    decisions = decide(client, *plain_rows(asked))["decisions"]
    assert {record["status"] for record in recourse.to_records()} >= {"found", "not_needed"}
    for record, share, decision in zip(recourse.to_records(), shares, decisions, strict=True):
        given = decision["recourse"]
        if record["status"] == "not_needed":
            assert given is None
            continue
        assert given["status"] == record["status"]
        assert given["probability"] == pytest.approx(record["probability"], **CLOSE)
        assert given["cost"] == pytest.approx(record["proximity"], **CLOSE)
        assert [c["feature"] for c in given["changes"]] == [c["feature"] for c in record["changes"]]
        for mine, its in zip(given["changes"], record["changes"], strict=True):
            if isinstance(its["to"], float):
                assert mine["to"] == pytest.approx(its["to"], **CLOSE)
            else:
                assert mine["to"] == its["to"]
        honoured = round(share * 3)
        assert given["robustness"] == {"witnesses": 3, "honoured": honoured, "share": honoured / 3}


def test_who_makes_the_change_is_approved(client, asked):
    decisions = decide(client, *plain_rows(asked))["decisions"]
    found = [d["recourse"] for d in decisions if d["recourse"]]
    again = decide(client, *[recourse["row"] for recourse in found])["decisions"]
    assert found
    for recourse, decision in zip(found, again, strict=True):
        assert decision["favourable"]
        assert decision["recourse"] is None
        assert decision["probability"] == pytest.approx(recourse["probability"], **CLOSE)


def test_what_is_not_to_change_comes_back_as_it_was_sent(client, asked):
    rows = plain_rows(asked)
    seen = set()
    for row, decision in zip(rows, decide(client, *rows)["decisions"], strict=True):
        recourse = decision["recourse"]
        if recourse is None:
            continue
        changed = {change["feature"]: change for change in recourse["changes"]}
        assert recourse["row"].keys() == row.keys()
        for name, value in recourse["row"].items():
            # Whole numbers stay whole, and flags stay flags.
            assert type(value) is type(row[name]), name
            if name in changed:
                assert changed[name]["from"] == row[name] != value == changed[name]["to"]
                assert changed[name]["text"].startswith(f"{name}: ")
            else:
                assert value == row[name]
        assert not {"region", "children"} & changed.keys()
        seen |= changed.keys()
    assert seen >= {"income", "years employed"}


def test_the_ledger_holds_exactly_the_promises_that_were_answered(tmp_path, stored, asked):
    rows = plain_rows(asked)
    with serving(tmp_path, stored / "model", valid_for=timedelta(days=30)) as client:
        answer = decide(client, *rows, subject="A-1017")
        held = promises_in(ledger_of(client))
        history = {id: ledger_of(client).history(id) for id in held}
        schema = client.app.state.backend.decider.schema_digest
    given = {
        decision["recourse"]["id"]: (row, decision)
        for row, decision in zip(rows, answer["decisions"], strict=True)
        if decision["recourse"] and decision["recourse"]["status"] == "found"
    }
    assert held.keys() == given.keys() and given
    for id, (row, decision) in given.items():
        promise, recourse = held[id], decision["recourse"]
        assert (promise.row, promise.recourse) == (row, recourse["row"])
        assert (promise.subject, promise.desired) == ("A-1017", FAVOURABLE)
        assert (promise.model, promise.schema_version) == (answer["model"], schema)
        assert promise.probability_before == decision["probability"]
        assert promise.probability_after == recourse["probability"]
        assert promise.robustness == recourse["robustness"]["share"]
        assert promise.months == recourse["months"]
        assert promise.expires_at - promise.issued_at == timedelta(days=30)
        issued = datetime.fromisoformat(recourse["issued_at"])
        assert abs(promise.issued_at - issued) < timedelta(milliseconds=1)
        assert [event.status for event in history[id]] == ["open"]


def test_a_promise_can_be_read(client, asked):
    row, recourse = promise_for(client, plain_rows(asked))
    read = client.get(f"/v1/recourses/{recourse['id']}").json()
    assert (read["row"], read["recourse"]) == (row, recourse["row"])
    assert read["issued_at"] == recourse["issued_at"]
    assert read["expires_at"] == recourse["expires_at"]
    assert read["status"] == "open"
    assert [event["status"] for event in read["history"]] == ["open"]


def test_a_row_outside_the_training_range_is_decided_on(client):
    # Far outside, and whole numbers that no machine integer holds.
    for row in (
        {**ROW, "income": 1e9, "age": 150},
        {**ROW, "income": -1e30, "years employed": -5},
        {**ROW, "years employed": 10**29, "age": -(10**29)},
    ):
        (decision,) = decide(client, row)["decisions"]
        assert 0.0 <= decision["probability"] <= 1.0
        if decision["recourse"]:
            changes = decision["recourse"]["changes"]
            changed = {change["feature"] for change in changes}
            for change in changes:
                was = row[change["feature"]]
                assert (change["from"], type(change["from"])) == (was, type(was))
            kept = {name: value for name, value in row.items() if name not in changed}
            assert kept.items() <= decision["recourse"]["row"].items()


class TestIdempotency:
    def test_a_request_that_is_sent_again_is_answered_with_the_same_text(self, client, asked):
        body = {"applicants": [{"row": row} for row in plain_rows(asked)]}
        headers = {"Idempotency-Key": "again"}
        first = client.post("/v1/decisions", json=body, headers=headers)
        known = promises_in(ledger_of(client))
        second = client.post("/v1/decisions", json=body, headers=headers)
        assert first.status_code == second.status_code == 200
        assert first.text == second.text
        assert promises_in(ledger_of(client)) == known

    def test_the_order_of_fields_makes_no_other_request(self, client):
        turned = dict(reversed(ROW.items()))
        first, second = (
            client.post(
                "/v1/decisions",
                json={"applicants": [{"row": row}]},
                headers={"Idempotency-Key": "order"},
            )
            for row in (ROW, turned)
        )
        assert first.text == second.text

    @pytest.mark.parametrize(
        "other",
        [
            [{"row": {**ROW, "age": 45}}],
            [{"row": ROW, "subject": "somebody"}],
            [{"row": ROW}, {"row": ROW}],
        ],
        ids=["row", "subject", "number"],
    )
    def test_a_key_of_another_request_is_refused(self, client, other):
        headers = {"Idempotency-Key": "taken"}
        decide(client, ROW, headers=headers)
        known = promises_in(ledger_of(client))
        response = client.post("/v1/decisions", json={"applicants": other}, headers=headers)
        assert "Idempotency-Key" in detail(response, 409)
        assert promises_in(ledger_of(client)) == known

    def test_a_key_outlives_the_process(self, tmp_path, stored):
        headers = {"Idempotency-Key": "later"}
        with serving(tmp_path, stored / "model") as client:
            first = decide(client, ROW, headers=headers)
            settings = client.app.state.backend.settings
        with client_of(create_app(settings)) as client:
            assert decide(client, ROW, headers=headers) == first

    def test_callers_do_not_share_their_keys(self, tmp_path, stored, asked):
        keys = tmp_path / "keys.json"
        callers = [
            {"Authorization": f"Bearer {add_key(keys, name, ['decide'])}"} for name in ("a", "b")
        ]
        rows = plain_rows(asked)
        with serving(tmp_path, stored / "model", keys=keys) as client:
            one, other = (
                decide(client, *rows, headers={**caller, "Idempotency-Key": "same"})
                for caller in callers
            )
            # Another request under it is no conflict either.
            decide(client, ROW, headers={**callers[0], "Idempotency-Key": "mine"})
            decide(client, *rows, headers={**callers[1], "Idempotency-Key": "mine"})
        ids = [
            {d["recourse"]["id"] for d in answer["decisions"] if d["recourse"]}
            for answer in (one, other)
        ]
        assert ids[0] and not ids[0] & ids[1]


def ask_together(settings, requests):
    """The answers to requests that are sent at once, and what the service counted."""
    app = create_app(settings)

    async def ask():
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            answers = await asyncio.gather(
                *(client.post("/v1/decisions", **request) for request in requests)
            )
            held = promises_in(app.state.backend.ledger)
            return answers, held, (await client.get("/metrics")).text

    return asyncio.run(ask())


def metric(text, name):
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_requests_that_come_together_are_answered_as_one_by_one(tmp_path, stored, client, asked):
    rows = plain_rows(asked) * 2
    alone = [decide(client, row, subject=f"S-{i}")["decisions"][0] for i, row in enumerate(rows)]
    settings = Settings(model=stored / "model", ledger=str(tmp_path / "ledger.db"), **PATIENT)
    requests = [
        {"json": {"applicants": [{"row": row, "subject": f"S-{i}"}]}} for i, row in enumerate(rows)
    ]
    answers, held, metrics = ask_together(settings, requests)
    assert {answer.status_code for answer in answers} == {200}
    together = [answer.json()["decisions"][0] for answer in answers]
    assert [essence(decision) for decision in together] == [essence(d) for d in alone]
    for mine, its in zip(together, alone, strict=True):
        assert figures(mine) == pytest.approx(figures(its), **CLOSE)
    given = {d["recourse"]["id"]: d["subject"] for d in together if d["recourse"]}
    assert {id: promise.subject for id, promise in held.items()} == given
    # They did share: else this would be the test of one by one once more.
    assert metric(metrics, "rocourse_batch_rows_count") < len(rows) / 2
    assert metric(metrics, "rocourse_batch_rows_sum") == len(rows)


def test_copies_of_a_request_that_come_together_promise_once(tmp_path, stored, client, asked):
    row, _ = promise_for(client, plain_rows(asked))
    settings = Settings(model=stored / "model", ledger=str(tmp_path / "ledger.db"), **PATIENT)
    request = {
        "json": {"applicants": [{"row": row}]},
        "headers": {"Idempotency-Key": "impatient"},
    }
    answers, held, _ = ask_together(settings, [request] * 20)
    assert len({answer.text for answer in answers}) == 1
    (promise,) = held
    assert answers[0].json()["decisions"][0]["recourse"]["id"] == promise


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory, stored):
    """A service without a ledger."""
    folder = tmp_path_factory.mktemp("forgetful")
    with serving(folder, stored / "model", ledger=False) as client:
        yield client


class TestWithoutLedger:
    def test_nothing_is_promised(self, forgetful, asked):
        decisions = decide(forgetful, *plain_rows(asked))["decisions"]
        found = [d["recourse"] for d in decisions if d["recourse"]]
        assert found
        for recourse in found:
            assert recourse["status"] == "found"
            assert recourse["id"] is recourse["issued_at"] is recourse["expires_at"] is None
        assert forgetful.get("/v1/model").json()["ledger"] is False

    def test_promises_can_be_neither_read_nor_redeemed_nor_audited(self, forgetful):
        id = "01890a5d-ac96-774b-bcce-b302099a8057"
        for response in (
            forgetful.get(f"/v1/recourses/{id}"),
            forgetful.post("/v1/redemptions", json={"id": id, "row": ROW}),
            forgetful.post("/v1/audits"),
        ):
            assert "--ledger" in detail(response, 409)

    def test_it_is_ready(self, forgetful):
        assert forgetful.get("/readyz").json() == {"status": "ok"}


def test_the_answer_is_plain_json(client):
    response = client.post("/v1/decisions", json={"applicants": [{"row": ROW}]})

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(response.text, parse_constant=refuse)
    assert response.headers["content-type"] == "application/json"
