"""The audit view: how promises fare before the model in service and its candidates."""

import shutil

import pytest
from tests.service.making import (
    ROW,
    decide,
    detail,
    plain_rows,
    promise_for,
    replace_model,
    serving,
)

from rocourse.artifacts import model_digest
from rocourse.service import _audits


@pytest.fixture
def audited(tmp_path, stored, asked, monkeypatch):
    """A service with promises and a candidate that keeps none of them; views are made anew."""
    monkeypatch.setattr(_audits, "_FRESH_SECONDS", 0.0)
    candidate = tmp_path / "candidate"
    shutil.copytree(stored / "contrary", candidate)
    with serving(tmp_path, stored / "model", candidates=[candidate]) as client:
        _, recourse = promise_for(client, plain_rows(asked))
        yield client, candidate, recourse


def test_every_open_promise_is_judged_by_every_model(audited, stored):
    client, _, recourse = audited
    report = client.get("/v1/audit").json()
    number = report["promises"]["open"]
    assert number > 0
    own, other = report["models"]
    assert (own["name"], other["name"]) == ("in service", "candidate")
    assert own["digest"] == model_digest(stored / "model")
    assert other["digest"] == model_digest(stored / "contrary")
    assert (own["judged"], own["honoured"], own["share"]) == (number, number, 1.0)
    assert (other["judged"], other["honoured"], other["share"]) == (number, 0, 0.0)
    assert own["broken"] == []
    assert recourse["id"] in {broken["id"] for broken in other["broken"]}
    assert [issuer["issuer"] for issuer in own["by_issuer"]] == [own["digest"]]


def test_what_was_settled_is_judged_no_more(audited):
    client, _, recourse = audited
    before = client.get("/v1/audit").json()["promises"]
    body = {"id": recourse["id"], "row": recourse["row"]}
    assert client.post("/v1/redemptions", json=body).json()["status"] == "redeemed"
    after = client.get("/v1/audit").json()
    assert after["promises"] == {**before, "open": before["open"] - 1, "redeemed": 1}
    assert after["models"][0]["judged"] == after["promises"]["open"]


def test_a_candidate_that_was_trained_anew_is_read_anew(audited, stored):
    client, candidate, _ = audited
    assert client.get("/v1/audit").json()["models"][1]["share"] == 0.0
    replace_model(candidate, stored / "model")
    again = client.get("/v1/audit").json()["models"][1]
    assert (again["digest"], again["share"]) == (model_digest(stored / "model"), 1.0)


def test_a_candidate_that_cannot_be_read_is_told(audited):
    client, candidate, _ = audited
    (candidate / "model.json").unlink()
    assert detail(client.get("/v1/audit"), 409)
    assert client.get("/readyz").status_code == 200


def test_a_view_is_kept_for_a_moment_but_not_beyond_its_model(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model") as client:
        promise_for(client, plain_rows(asked))
        first = client.get("/v1/audit").json()
        decide(client, *[ROW] * 3)
        assert client.get("/v1/audit").json() == first
        replace_model(tmp_path / "model", stored / "contrary")
        client.post("/v1/model/reload")
        fresh = client.get("/v1/audit").json()
        assert fresh["models"][0]["digest"] == model_digest(stored / "contrary")
        assert fresh["models"][0]["honoured"] == 0
