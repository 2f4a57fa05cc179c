"""Audits in ranges, side by side: the report of one machine, to the last letter."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from tests.applicants import make_applicants, trained_model, untrained_model
from tests.clusters import ENGINES, start_cluster
from tests.command_line import succeed

from rocourse.artifacts import StoredModel, save
from rocourse.engines import LedgerAudit, _audits
from rocourse.evaluation import Auditor, _audit
from rocourse.ledger import Issue, Ledger, NewPromise

cluster = pytest.fixture(scope="module")(start_cluster)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A ledger of promises of many kinds, and two models."""
    folder = tmp_path_factory.mktemp("audits")
    rows = json.loads(
        make_applicants(120, seed=3)[["income", "age", "job", "region"]].to_json(orient="records")
    )
    draw = random.Random(0)
    promises = []
    for k, row in enumerate(rows):
        issued = NOW - timedelta(days=draw.randrange(500))
        odd = {"job": "astronaut"} if k % 17 == 0 else {}
        promises.append(
            NewPromise(
                subject=f"applicant-{k}",
                model=f"m{k % 7}",
                schema_version="1",
                row=row,
                recourse=row | odd,
                desired="granted",
                probability_before=0.2,
                probability_after=0.8,
                robustness=None,
                issued_at=issued,
                expires_at=issued + timedelta(days=900),
            )
        )
    with Ledger.open(folder / "l.db") as ledger:
        ledger.issue([Issue(promises=promises, fingerprint="f", answer="{}")])
    save(trained_model(), folder / "model")
    save(untrained_model(), folder / "other")
    return folder


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch):
    monkeypatch.setattr(_audits, "PAGE", 8)
    monkeypatch.setattr(_audits, "_PAGES", 2)


def test_the_command_writes_the_same(folder, tmp_path, cluster):
    args = ("audit", folder / "l.db", "--at=2026-06-01", "--list=5", "--json")
    args = (*args, "--model", folder / "model", "--model", folder / "other")
    found = {}
    for name, options in {"here": (), "ray": ("--engine=ray",)}.items():
        files = ("--broken", tmp_path / f"{name}.csv", "--html", tmp_path / f"{name}.html")
        printed = succeed(*args, *files, *options).stdout
        found[name] = (
            printed,
            *((tmp_path / f"{name}.{kind}").read_text() for kind in ("csv", "html")),
        )
    assert found["ray"] == found["here"]
    assert json.loads(found["here"][0])["audits"][0]["total"]["promises"] == 120


@pytest.mark.parametrize("kinds", [3, 1000])
def test_few_kinds_are_named_in_the_same_order_wherever_they_are_counted(
    folder, cluster, monkeypatch, kinds
):
    """Beyond so many kinds, those that come later are counted together."""
    monkeypatch.setattr(_audit, "_MOST_KINDS", kinds)
    asked = LedgerAudit(str(folder / "l.db"), {"m": StoredModel(folder / "model")}, at=NOW, worst=7)
    reports = {}
    with Ledger.open(folder / "l.db") as ledger:
        for name in ("here", "ray"):
            (auditor,) = asked.auditors()
            for (part,) in asked.parts(ledger, ENGINES[name]):
                auditor.take(part)
            reports[name] = auditor.report()
        (page,) = ledger.promised_rows(at=NOW)
    assert reports["ray"] == reports["here"]
    whole = Auditor(trained_model(), digest=reports["here"].model, at=NOW, name="m", worst=7)
    whole.add(page)
    # Blocks of another size may differ in the last bits of what is listed.
    assert whole.report().by_issuer == reports["here"].by_issuer
    assert whole.report().unreadable == reports["here"].unreadable
    assert [b.id for b in whole.report().worst] == [b.id for b in reports["here"].worst]


@pytest.mark.parametrize("every", [1, 7, 60, 1000])
def test_cuts_divide_the_promises_that_are_owed(folder, every):
    with Ledger.open(folder / "l.db") as ledger:
        ids = [id for page in ledger.promised_rows(at=NOW) for id in page.ids]
        cuts = ledger.cuts(every, at=NOW, since=None, tenant=None)
        assert cuts == ids[every - 1 :: every]
        ends = [None, *cuts, None]
        ranges = [
            [
                id
                for page in ledger.promised_rows(at=NOW, after=a, until=b, page=5)
                for id in page.ids
            ]
            for a, b in zip(ends[:-1], ends[1:], strict=True)
        ]
    assert [id for part in ranges for id in part] == ids
    assert all(len(part) == every for part in ranges[:-1])
