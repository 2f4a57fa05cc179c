"""A service of recourses for a model that was trained elsewhere."""

import importlib
import shutil

import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.command_line import succeed
from tests.loans import small
from tests.service.making import (
    CONTRARY,
    FAVOURABLE,
    ROW,
    TARGET,
    audit,
    decide,
    detail,
    make_schema,
    plain_rows,
    promise_for,
    replace_model,
    serving,
)

from rocourse.artifacts import model_digest, save
from rocourse.estimators import RoCourse, VanillaCF
from rocourse.models.adapters import adapt

pytest.importorskip("numba", reason="trees need rocourse[trees], which is missing")
xgboost = pytest.importorskip("xgboost", reason="xgboost is missing")

SCORING = """
from pathlib import Path
import numpy as np


def latest():
    high = float(Path("high.txt").read_text())
    return lambda frame: np.clip(frame["income"] / high, 0.0, 1.0).to_numpy()
"""


def trees(table, classes):
    """XGBoost knows no labels of text."""
    prepared = make_column_transformer(
        (OneHotEncoder(), ["job", "region"]), remainder="passthrough"
    )
    model = xgboost.XGBClassifier(n_estimators=12, max_depth=3, n_jobs=1, random_state=0)
    granted = (classes == FAVOURABLE).astype(int)
    return make_pipeline(prepared, model).fit(table.drop(columns=TARGET), granted)


@pytest.fixture(scope="module")
def boosted(tmp_path_factory, table):
    """A directory with `model`, and `contrary`, which approves whom the other refuses."""
    folder, schema = tmp_path_factory.mktemp("boosted"), make_schema(table)
    for name, classes in (("model", table[TARGET]), ("contrary", table[TARGET].map(CONTRARY))):
        given = adapt(trees(table, classes), schema, classes=("denied", "granted"))
        options = small(RoCourse, proposer__kept=0.5)
        method = RoCourse(schema, model=given, random_state=0, **options)
        save(method.fit(table.drop(columns=TARGET), classes), folder / name)
    return folder


def test_decision_promise_redemption_and_audit(boosted, asked, tmp_path):
    candidate = tmp_path / "candidate"
    shutil.copytree(boosted / "contrary", candidate)
    with serving(tmp_path, boosted / "model", candidates=[candidate]) as client:
        row, recourse = promise_for(client, plain_rows(asked))
        digest = model_digest(boosted / "model")
        told = client.get(f"/v1/recourses/{recourse['id']}").json()
        assert (told["model"], told["status"]) == (digest, "open")
        assert client.get("/v1/model").json()["digest"] == digest
        own, other = audit(client)["report"]["models"]
        assert own["judged"] == own["honoured"] == other["judged"] > 0
        assert other["honoured"] < other["judged"]
        body = {"id": recourse["id"], "row": row}
        assert client.post("/v1/redemptions", json=body).json()["status"] == "open"
        body = {"id": recourse["id"], "row": recourse["row"]}
        assert client.post("/v1/redemptions", json=body).json()["status"] == "redeemed"
        replace_model(tmp_path / "model", boosted / "contrary")
        assert client.post("/v1/model/reload").json()["digest"] == model_digest(candidate)
    ledger = tmp_path / "ledger.db"
    audited = succeed("audit", ledger, "--model", boosted / "model", "--json").stdout
    assert f'"model": "{digest}"' in audited and '"share": 1.0' in audited


def write_scoring(folder, table, high):
    """What a factory makes the model of, and recourses for that one."""
    (folder / "high.txt").write_text(str(high))
    given = importlib.import_module("given_service").latest()
    method = VanillaCF(make_schema(table), model=given, random_state=0, proposer__steps=2)
    save(method.fit(table.drop(columns=TARGET), None), folder / "model", force=True)


def test_a_factorys_model_is_served_and_reloaded(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "given_service.py").write_text(SCORING)
    write_scoring(tmp_path, table, 100.0)
    (tmp_path / "service").mkdir()
    factory = "given_service:latest"
    with serving(tmp_path / "service", tmp_path / "model", model_from=factory) as client:
        assert decide(client, ROW)["decisions"][0]["probability"] == pytest.approx(0.3125)
        # The factory's model is another one than the stored recourses are for.
        (tmp_path / "high.txt").write_text("80.0")
        told = detail(client.post("/v1/model/reload"), 409)
        assert "must be the one that recourses were fitted for" in told
        assert decide(client, ROW)["decisions"][0]["probability"] == pytest.approx(0.3125)
        write_scoring(tmp_path, table, 80.0)
        replace_model(tmp_path / "service" / "model", tmp_path / "model")
        assert client.post("/v1/model/reload").json()["changed"]
        assert decide(client, ROW)["decisions"][0]["probability"] == pytest.approx(0.390625)
