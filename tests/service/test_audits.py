"""The audit view: how promises fare before the model in service and its candidates."""

import shutil
import sqlite3
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.service.making import (
    ROW,
    audit,
    decide,
    detail,
    finished_audit,
    ledger_of,
    plain_rows,
    promise_for,
    replace_model,
    serving,
)
from tests.service.test_run import eventually

from rocourse.artifacts import model_digest
from rocourse.errors import ConfigError, LedgerError
from rocourse.evaluation import Auditor
from rocourse.ledger import DEFAULT_TENANT, Ledger
from rocourse.service import _audits


@pytest.fixture
def audited(tmp_path, stored, asked, monkeypatch):
    """A service with promises and a candidate that keeps none of them; views are made anew."""
    monkeypatch.setattr(_audits, "_FRESH", timedelta(0))
    candidate = tmp_path / "candidate"
    shutil.copytree(stored / "contrary", candidate)
    with serving(tmp_path, stored / "model", candidates=[candidate]) as client:
        _, recourse = promise_for(client, plain_rows(asked))
        yield client, candidate, recourse


def test_every_open_promise_is_judged_by_every_model(audited, stored):
    client, _, recourse = audited
    report = audit(client)["report"]
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


def test_people_are_told_by_columns_of_the_model(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model", by=["region"]) as client:
        decide(client, *plain_rows(asked))
        (own,) = audit(client)["report"]["models"]
    told = {group["people"]: group for group in own["by_people"]}
    assert set(told) <= {"region=north", "region=south"}
    assert sum(group["judged"] for group in told.values()) == own["judged"] > 0
    assert all(group["few"] == (group["judged"] < 30) for group in told.values())
    with pytest.raises(ConfigError, match="by columns of the model, but got 'sex'"):
        with serving(tmp_path / "other", stored / "model", by=["sex"]):
            pass


def test_what_was_settled_is_judged_no_more(audited):
    client, _, recourse = audited
    before = audit(client)["report"]["promises"]
    body = {"id": recourse["id"], "row": recourse["row"]}
    assert client.post("/v1/redemptions", json=body).json()["status"] == "redeemed"
    after = audit(client)["report"]
    assert after["promises"] == {**before, "open": before["open"] - 1, "redeemed": 1}
    assert after["models"][0]["judged"] == after["promises"]["open"]


def test_a_candidate_that_was_trained_anew_is_read_anew(audited, stored):
    client, candidate, _ = audited
    assert audit(client)["report"]["models"][1]["share"] == 0.0
    replace_model(candidate, stored / "model")
    again = audit(client)["report"]["models"][1]
    assert (again["digest"], again["share"]) == (model_digest(stored / "model"), 1.0)


def test_a_candidate_that_cannot_be_read_is_told(audited):
    client, candidate, _ = audited
    (candidate / "model.json").unlink()
    failed = audit(client)
    assert failed["status"] == "failed" and failed["report"] is None
    assert "nothing is there" in failed["detail"] or "model.json" in failed["detail"]
    assert client.get("/readyz").status_code == 200


def test_a_view_is_kept_for_a_moment_but_not_beyond_its_model(tmp_path, stored, asked, monkeypatch):
    monkeypatch.setattr(_audits, "_FRESH", timedelta(hours=1))
    with serving(tmp_path, stored / "model") as client:
        promise_for(client, plain_rows(asked))
        first = audit(client)["report"]
        decide(client, *[ROW] * 3)
        assert audit(client)["report"] == first
        replace_model(tmp_path / "model", stored / "contrary")
        client.post("/v1/model/reload")
        fresh = audit(client)["report"]
        assert fresh["models"][0]["digest"] == model_digest(stored / "contrary")
        assert fresh["models"][0]["honoured"] == 0


def test_what_is_under_way_is_not_begun_again_and_others_may_not_see_it(audited, monkeypatch):
    client, _, recourse = audited
    go = threading.Event()
    counts = Ledger.counts

    def held(*args, **options):
        assert go.wait(30)
        return counts(*args, **options)

    monkeypatch.setattr(Ledger, "counts", held)
    started = [client.post("/v1/audits") for _ in range(60)]
    (place,) = {response.headers["location"] for response in started}
    assert {response.status_code for response in started} == {202}
    assert client.get(place).json()["status"] in ("waiting", "running")
    # Nobody waits for it.
    assert decide(client, ROW)["decisions"]
    assert client.get(f"/v1/recourses/{recourse['id']}").status_code == 200
    go.set()
    done = finished_audit(client, place)
    assert place.endswith(done["id"]) and done["judged"] > 0
    assert detail(client.get(f"/v1/audits/{recourse['id']}"), 404)
    work = client.app.state.work.audits
    assert work.find(done["id"], "another tenant") is None
    assert work.find(done["id"], DEFAULT_TENANT).state == "done"


def test_a_database_that_is_away_for_a_while_is_waited_for(audited, monkeypatch):
    client, *_ = audited
    monkeypatch.setattr(_audits, "_AGAIN", 0.0)
    monkeypatch.setattr(_audits, "_PAGE", 7)
    whole = audit(client)
    pages = Ledger.promised_rows

    def away(self, **options):
        for number, page in enumerate(pages(self, **options)):
            if number:
                raise LedgerError("The ledger must be readable, but it is not; try again.")
            yield page

    monkeypatch.setattr(Ledger, "promised_rows", away)
    again = audit(client)
    assert again["judged"] == whole["judged"] > 14
    assert again["report"]["models"] == whole["report"]["models"]
    monkeypatch.setattr(_audits, "_PATIENCE", -1.0)
    assert "must be readable" in audit(client)["detail"]


def test_the_last_ones_are_kept_and_too_many_at_once_are_refused(tmp_path, stored, monkeypatch):
    monkeypatch.setattr(_audits, "_FRESH", timedelta(0))
    monkeypatch.setattr("rocourse.ledger._audits._KEPT", 3)
    with serving(tmp_path, stored / "model") as client:
        ids = [audit(client)["id"] for _ in range(5)]
        known = [client.get(f"/v1/audits/{id}").status_code for id in ids]
        assert known == [404, 404, 200, 200, 200]
        monkeypatch.setattr(_audits, "_MOST_WAITING", 0)
        assert detail(client.post("/v1/audits"), 503)


@contextmanager
def ended_early(tmp_path, stored, asked, monkeypatch, end):
    """An audit, the place of another that was ended after a page, and a service that came after.

    Args:
        end: Ends it, given the client and what lets it go on.
    """
    monkeypatch.setattr(_audits, "_FRESH", timedelta(0))
    monkeypatch.setattr(_audits, "_PAGE", 7)
    monkeypatch.setattr(_audits, "_NOTED_SECONDS", 0.0)
    first, again = tmp_path / "first", tmp_path / "again"
    for folder in (first, again):
        folder.mkdir()
    ledger = str(tmp_path / "ledger.db")
    reached, go, pages = threading.Event(), threading.Event(), Ledger.promised_rows

    def held(self, **options):
        for number, page in enumerate(pages(self, **options)):
            if number:
                reached.set()
                assert go.wait(60)
            yield page

    with serving(first, stored / "model", address=ledger) as client:
        decide(client, *plain_rows(asked), subject="Jane Doe")
        whole = audit(client)
        monkeypatch.setattr(Ledger, "promised_rows", held)
        place = client.post("/v1/audits").headers["location"]
        assert reached.wait(60)
        end(client, go)
        monkeypatch.setattr(Ledger, "promised_rows", pages)
    with serving(again, stored / "model", address=ledger) as client:
        yield whole, place, client
    go.set()


def stop(client, go):
    work = client.app.state.work.audits
    work._stop.set()
    go.set()
    eventually(lambda: work.idle)


def kill(client, go):
    """What it would still do cannot be seen: the ledger is closed by then."""


def state(client, place):
    return client.get(place).json()["status"]


@pytest.mark.parametrize("end", [stop, kill])
def test_an_audit_outlives_its_process_and_goes_on_where_that_ended(
    tmp_path, stored, asked, monkeypatch, end
):
    judged, add = [], Auditor.add

    def noted(self, page):
        judged.append(len(page))
        return add(self, page)

    with ended_early(tmp_path, stored, asked, monkeypatch, end) as (whole, place, client):
        # Kept, whoever did it.
        assert client.get(f"/v1/audits/{whole['id']}").json() == whole
        if end is kill:
            assert state(client, place) == "running"
            monkeypatch.setattr(_audits, "_SILENCE", timedelta(0))
        found = client.get(place).json()
        assert (found["status"], found["report"]) == ("interrupted", None)
        assert "goes on from there" in found["detail"] and found["judged"] >= 7
        monkeypatch.setattr(Auditor, "add", noted)
        done = audit(client)
        assert place.endswith(done["id"]) and done["status"] == "done"
        assert sum(judged) == whole["judged"] - found["judged"] > 0
        assert done["judged"] == whole["judged"]
        assert done["report"]["models"] == whole["report"]["models"]
        # What is written down on the way names nobody.
        rows = sqlite3.connect(tmp_path / "ledger.db").execute("SELECT * FROM ledger_audits")
        assert "Jane" not in str(rows.fetchall())


def test_an_audit_that_was_taken_over_is_left_to_who_took_it(tmp_path, stored, asked, monkeypatch):
    def take_over(client, go):
        records, work = ledger_of(client).audits, client.app.state.work.audits
        (own,) = [one for one in work._own.values() if one.under_way]
        record = records.find(own.id, tenant=DEFAULT_TENANT)
        assert records.write(replace(record, runner="another"), before=record)
        # Of two who want it, one gets it.
        assert not records.write(replace(record, runner="a third"), before=record)
        go.set()
        eventually(lambda: not work._own)
        assert records.find(own.id, tenant=DEFAULT_TENANT).runner == "another"

    with ended_early(tmp_path, stored, asked, monkeypatch, take_over) as (_, place, client):
        assert state(client, place) == "running"


def test_an_audit_of_other_models_or_of_long_ago_is_not_gone_on_with(
    tmp_path, stored, asked, monkeypatch
):
    with ended_early(tmp_path, stored, asked, monkeypatch, stop) as (whole, place, client):
        backend = client.app.state.backend
        backend.settings = replace(backend.settings, candidates=[stored / "contrary"])
        anew = audit(client)
        assert place.endswith(anew["id"]) and anew["judged"] == whole["judged"]
        assert [one["judged"] for one in anew["report"]["models"]] == 2 * [whole["judged"]]
    (tmp_path / "later").mkdir()
    later = tmp_path / "later"
    with ended_early(later, stored, asked, monkeypatch, stop) as (whole, place, client):
        monkeypatch.setattr(_audits, "_RESUMED", timedelta(0))
        assert not place.endswith(audit(client)["id"])
