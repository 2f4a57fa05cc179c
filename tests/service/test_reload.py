"""Another model takes over while the service runs."""

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.service.making import (
    FAVOURABLE,
    ROW,
    TARGET,
    decide,
    detail,
    make_table,
    plain_rows,
    replace_model,
    serving,
    train,
)
from tests.test_artifacts import edit_header, edit_weights

from rocourse.artifacts import load, model_digest, save
from rocourse.errors import ArtifactError
from rocourse.estimators import RecourseClassifier
from rocourse.service._decider import Decider
from rocourse.service._run import _reload

MODEL, WEIGHTS = "model.json", "weights.safetensors"


@pytest.fixture
def service(tmp_path, stored):
    """A service, and the directory of its model."""
    with serving(tmp_path, stored / "model") as client:
        yield client, tmp_path / "model"


def reload(client):
    return client.post("/v1/model/reload")


def answers_as_before(client, stored):
    answer = decide(client, ROW)
    return answer["model"] == model_digest(stored / "model")


def test_the_model_that_is_on_disk_now_takes_over(service, stored):
    client, path = service
    before = decide(client, ROW)
    replace_model(path, stored / "contrary")
    # Not before it is told to.
    assert decide(client, ROW)["model"] == before["model"] == model_digest(stored / "model")
    digest = model_digest(stored / "contrary")
    assert reload(client).json() == {"digest": digest, "before": before["model"], "changed": True}
    after = decide(client, ROW)
    assert after["model"] == client.get("/v1/model").json()["digest"] == digest
    assert after["decisions"][0]["favourable"] != before["decisions"][0]["favourable"]
    metrics = client.get("/metrics").text
    assert digest in metrics and before["model"] not in metrics


def test_the_same_model_changes_nothing(service, stored):
    client, _ = service
    digest = model_digest(stored / "model")
    assert reload(client).json() == {"digest": digest, "before": digest, "changed": False}


def cut_short(path):
    content = (path / WEIGHTS).read_bytes()
    (path / WEIGHTS).write_bytes(content[: len(content) // 2])


def altered(path):
    content = bytearray((path / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (path / WEIGHTS).write_bytes(content)


def with_another_header(path):
    header = json.loads((path / MODEL).read_text())
    header["schema"]["target"]["favourable"] = "denied"
    (path / MODEL).write_text(json.dumps(header))


def without_weights(path):
    (path / WEIGHTS).unlink()


def no_json(path):
    (path / MODEL).write_bytes(b"\x00\xff")


def missing(path):
    os.rename(path, path.with_name("elsewhere"))


@pytest.mark.parametrize(
    "damage", [cut_short, altered, with_another_header, without_weights, no_json, missing]
)
def test_a_model_that_cannot_be_read_leaves_the_old_one_in_service(service, stored, damage):
    client, path = service
    damage(path)
    assert detail(reload(client), 409)
    assert answers_as_before(client, stored)
    assert client.get("/readyz").status_code == 200


def huge(tensor):
    """Finite, but nothing can be computed with it."""
    return np.where(np.arange(tensor.size).reshape(tensor.shape) % 2, 3e38, -3e38).astype("f4")


def test_a_model_that_computes_nothing_leaves_the_old_one_in_service(service, stored):
    client, path = service
    edit_weights(path, lambda _, tensor: huge(tensor))
    assert detail(reload(client), 409)
    assert answers_as_before(client, stored)
    with pytest.raises(ArtifactError):
        Decider.load(path)


@pytest.mark.parametrize("fault", ["not honoured", "no number", "an exception"])
def test_a_model_whose_recourses_are_none_leaves_the_old_one_in_service(
    service, stored, monkeypatch, fault
):
    client, _ = service
    each = RecourseClassifier.recourse_each

    def faulty(self, rows, **options):
        records = each(self, rows, **options)
        for record in records:
            if fault == "no number":
                record["cost"] = float("nan")
            elif record["changes"] and fault == "an exception":
                raise RuntimeError
            elif record["changes"]:
                # As if nothing had to be done.
                record["changes"] = [{**record["changes"][0], "to": record["changes"][0]["from"]}]
        return records

    monkeypatch.setattr(RecourseClassifier, "recourse_each", faulty)
    assert detail(reload(client), 409)
    monkeypatch.undo()
    assert answers_as_before(client, stored)


@pytest.mark.parametrize("change", [["x"], {"kind": ["x"]}, 5], ids=repr)
def test_a_header_of_another_shape_leaves_the_old_one_in_service(service, stored, change):
    client, path = service
    for name in ("method", "supplied", "fitted"):
        edit_header(path, **{name: change})
        assert detail(reload(client), 409)
    assert answers_as_before(client, stored)


@pytest.mark.parametrize("change", ["bounds", "categories", "column"])
def test_a_model_that_asks_for_other_rows_does_not_take_over(tmp_path, service, stored, change):
    client, path = service
    table = make_table()
    if change == "categories":
        table["job"] = table["job"].replace("none", "seeking")
    if change == "column":
        table = table.rename(columns={"income": "earnings"})
    options = {"bounds": {"age": (18, 99)}} if change == "bounds" else {}
    save(train(table, **options), tmp_path / "other")
    replace_model(path, tmp_path / "other")
    assert "schema differs" in detail(reload(client), 409)
    assert answers_as_before(client, stored)


def test_a_model_of_other_training_ranges_takes_over(tmp_path, service):
    client, path = service
    table = make_table(seed=3)
    table.loc[0, "income"] = 250.0
    save(train(table), tmp_path / "wider")
    replace_model(path, tmp_path / "wider")
    assert reload(client).json()["changed"]
    income = next(f for f in client.get("/v1/model").json()["features"] if f["name"] == "income")
    assert income["high"] == 250.0
    assert len(decide(client, {**ROW, "income": 240.0})["decisions"]) == 1


class TestSignal:
    """What SIGHUP has done."""

    def test_the_model_takes_over(self, service, stored, caplog):
        client, path = service
        caplog.set_level(logging.INFO, logger="rocourse.service")
        replace_model(path, stored / "contrary")
        _reload(client.app.state.backend)
        digest = model_digest(stored / "contrary")
        assert decide(client, ROW)["model"] == digest
        assert f"model {digest[:12]} is in service" in caplog.text

    def test_a_damaged_model_is_a_line_in_the_log(self, service, stored, caplog):
        client, path = service
        altered(path)
        _reload(client.app.state.backend)
        (record,) = [r for r in caplog.records if r.levelno == logging.ERROR]
        assert "the model in service stays" in record.getMessage()
        assert answers_as_before(client, stored)


def test_requests_in_flight_are_answered_by_one_model_or_the_other(service, stored, asked):
    client, path = service
    rows = plain_rows(asked)
    frame = asked.drop(columns=TARGET)
    chances = {
        model_digest(stored / name): (model := load(stored / name)).predict_proba(frame)[
            :, list(model.classes_).index(FAVOURABLE)
        ]
        for name in ("model", "contrary")
    }

    def ask(_):
        return client.post("/v1/decisions", json={"applicants": [{"row": row} for row in rows]})

    with ThreadPoolExecutor(4) as pool:
        asking = pool.map(ask, range(60))
        for turn in range(6):
            replace_model(path, stored / ("contrary" if turn % 2 == 0 else "model"))
            assert reload(client).json()["changed"]
        responses = list(asking)
    assert {response.status_code for response in responses} == {200}
    seen = set()
    for response in responses:
        answer = response.json()
        seen.add(answer["model"])
        given = [decision["probability"] for decision in answer["decisions"]]
        assert given == pytest.approx(chances[answer["model"]].tolist(), rel=1e-4, abs=1e-5)
    assert seen == chances.keys()
