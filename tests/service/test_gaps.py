"""A service of a model that reads gaps and dates: decisions, promises, redemptions."""

import numpy as np
import pandas as pd
import pytest
from tests.service.making import FAVOURABLE, TARGET, decide, make_table, plain_rows, serving, train

from rocourse.artifacts import save

GAPS = {"income": 40, "job": 50}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    table = make_table().astype({"job": object})
    days = pd.to_timedelta(30 * table["years employed"] + rng.integers(0, 30, len(table)), "D")
    table["since"] = (pd.Timestamp("2020-06-01") - days).dt.strftime("%Y-%m-%d")
    for name, count in GAPS.items():
        table.loc[rng.choice(len(table), count, replace=False), name] = None
    return table.drop(columns="years employed")


@pytest.fixture(scope="module")
def client(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("gaps")
    save(train(table), folder / "stored")
    with serving(folder, folder / "stored") as client:
        yield client


def test_gaps_are_decided_on_promised_and_redeemed(client, table):
    rows = plain_rows(table.drop(columns=TARGET).astype(object).where(table.notna(), None))
    assert any(row["income"] is None for row in rows)
    rested = filled = 0
    for row, decision in zip(rows, decide(client, *rows)["decisions"], strict=True):
        assert decision["imputed"] == (["income"] if row["income"] is None else [])
        advice = decision["recourse"]
        if advice is None or advice["status"] != "found":
            continue
        for change in advice["changes"]:
            assert change["to"] is not None and change["from"] == row[change["feature"]]
            filled += change["from"] is None
            assert (": missing → " in change["text"]) == (change["from"] is None)
        if decision["imputed"]:
            rested += 1
            answer = client.post(
                "/v1/redemptions", json={"id": advice["id"], "row": advice["row"]}
            ).json()
            assert (answer["status"], answer["decision"]) == ("redeemed", FAVOURABLE)
            assert answer["unmet"] == answer["drifted"] == []
    assert rested and filled


def test_a_change_that_was_not_made_is_named(client, table):
    rows = plain_rows(table.drop(columns=TARGET).astype(object).where(table.notna(), None))
    for row, decision in zip(rows, decide(client, *rows)["decisions"], strict=True):
        advice = decision["recourse"]
        asked = {change["feature"] for change in advice["changes"]} if advice else set()
        if advice and advice["id"] and row["income"] is None and "income" in asked:
            answer = client.post("/v1/redemptions", json={"id": advice["id"], "row": row}).json()
            assert {unmet["feature"] for unmet in answer["unmet"]} == asked
            return
    raise AssertionError("nobody is asked to fill in an income")


@pytest.mark.parametrize("wrong", ["soon", "2020-02-30", 18000, ""])
def test_what_is_no_date_is_refused(client, table, wrong):
    (row,) = plain_rows(table.drop(columns=TARGET).dropna()[:1])
    response = client.post("/v1/decisions", json={"applicants": [{"row": row | {"since": wrong}}]})
    assert response.status_code == 422
    assert "must be a date such as 2020-01-31" in response.text


@pytest.mark.parametrize(
    ("change", "status"),
    [({"age": 10**30}, 200), ({"age": -(10**30) - 1}, 422), ({"income": 1e30}, 200)],
)
def test_numbers_are_held_to_the_limit_as_it_is_described(client, table, change, status):
    (row,) = plain_rows(table.drop(columns=TARGET).dropna()[:1])
    response = client.post("/v1/decisions", json={"applicants": [{"row": row | change}]})
    assert response.status_code == status
