"""What a service proves of its advice, and how it finds out that promises begin to break."""

import json
import re

import numpy as np
import pytest
from tests.command_line import run
from tests.service.making import (
    TARGET,
    decide,
    ledger_of,
    make_schema,
    plain_rows,
    serving,
)

from rocourse.artifacts import save
from rocourse.errors import ConfigError
from rocourse.estimators import RoCoursePanel
from rocourse.models import PlainTrainer

SMALL = PlainTrainer(encoder_widths=(16, 8), head_widths=(8,), epochs=12, batch_size=64)


@pytest.fixture(scope="module")
def panel(tmp_path_factory, table):
    model = RoCoursePanel(
        make_schema(table), trainer=SMALL, proposer__members=2, random_state=0
    ).fit(table.drop(columns=TARGET), table[TARGET])
    return model, save(model, tmp_path_factory.mktemp("panel") / "model")


@pytest.fixture(scope="module")
def at(panel, asked):
    model, _ = panel
    advice = model.recourse(asked.drop(columns=TARGET), desired="granted")
    return float(np.nanmedian(model.certify(advice).level))


@pytest.fixture(scope="module")
def certified(tmp_path_factory, panel, at):
    with serving(tmp_path_factory.mktemp("s"), panel[1], certify="delta", at=at) as client:
        yield client


def test_answers_and_promises_carry_their_certificates(certified, asked, at):
    answer = decide(certified, *plain_rows(asked.head(20)))
    advice = [one["recourse"] for one in answer["decisions"] if one["recourse"]]
    found = [one for one in advice if one["status"] == "found"]
    assert found and all(one["certificate"]["level"] >= at for one in found)
    for one in advice:
        if one["status"] == "found_unsure":
            assert not one["certificate"]["holds"] and one["id"] is None
    told = found[0]["certificate"]
    assert told["kind"] == "delta" and told["model"] == answer["model"]
    kept = certified.get(f"/v1/recourses/{found[0]['id']}").json()
    assert kept["certificate"] == told
    assert ledger_of(certified).promise(found[0]["id"]).certificate == told


def test_a_service_that_cannot_certify_says_so_at_the_start(stored, tmp_path):
    with pytest.raises(ConfigError, match="RoCourse or RoCoursePanel"):
        with serving(tmp_path, stored / "model", certify="delta", at=0.1):
            pass


def test_promises_that_break_raise_an_alarm(tmp_path, panel, asked):
    with serving(tmp_path, panel[1]) as client:
        decided = decide(client, *plain_rows(asked))["decisions"]
        ids = [one["recourse"]["id"] for one in decided if one["recourse"]]
        assert len(ids) > 8
        text = client.get("/metrics").text
        assert "rocourse_promise_alarm 0.0" in text
        ledger = ledger_of(client)
        for id in ids:
            ledger.record(id, "broken", model="m2")
        # The same once more tells nothing new.
        ledger.record(ids[0], "redeemed", model="m3")
        assert ledger.outcomes() == [False] * len(ids)
        assert ledger.outcomes(tenant="nobody") == []
        audit = client.post("/v1/audits").json()
        while audit["status"] in ("waiting", "running"):
            audit = client.get(f"/v1/audits/{audit['id']}").json()
        drift = audit["report"]["drift"]
        assert drift["alarm"] and (drift["outcomes"], drift["honoured"]) == (len(ids), 0)
        assert drift["evidence"] >= drift["alarm_at"]
    result = run("ledger", "drift", tmp_path / "ledger.db", "--json")
    assert result.exit_code == 3 and json.loads(result.stdout)["evidence"] == drift["evidence"]
    result = run("ledger", "drift", tmp_path / "ledger.db", "--kept", "0.95")
    assert "fewer promises are kept than stated" in result.stdout
    again = tmp_path / "again"
    again.mkdir()
    # A service that starts again knows of it.
    with serving(again, panel[1], address=str(tmp_path / "ledger.db")) as client:
        found = re.search(r"^rocourse_promise_alarm (.*)$", client.get("/metrics").text, re.M)
        assert found[1] == "1.0"
