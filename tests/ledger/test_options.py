"""Promises of several options for one applicant: one is redeemed, the others are closed."""

import json
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from tests.ledger.making import NOW, ROW, issue_many, make_issue, make_promise

import rocourse.ledger
from rocourse.errors import LedgerError, SettledPromise
from rocourse.ledger import Ledger, Status, new_id
from rocourse.ledger._engine import make_engine
from rocourse.ledger._migrate import REVISION_TABLE

MIGRATIONS = Path(rocourse.ledger.__file__).parent / "migrations"
WISHES = {"lock": ["Job"], "ranges": {"Income": [None, 40_000.0]}}


@pytest.fixture
def options(ledger):
    """Three options of one decision, beside three of another and a promise alone."""
    issue_many(ledger, 3, decision=new_id())
    issue_many(ledger, 1)
    return issue_many(ledger, 3, decision=new_id(), wishes=WISHES)


def statuses(ledger, ids):
    return [ledger.promise(id).status.value for id in ids]


def test_what_they_share_is_kept(ledger, options):
    kept = [ledger.promise(id) for id in options]
    assert len({promise.decision for promise in kept}) == 1
    assert [promise.wishes for promise in kept] == [WISHES] * 3
    alone = ledger.promise(*issue_many(ledger, 1))
    assert (alone.decision, alone.wishes) == (None, None)


def test_redeeming_one_withdraws_the_others_and_no_more(ledger, options):
    first, second, third = options
    ledger.record(first, "broken", model="m2")
    ledger.record(second, "redeemed", model="m3", detail="approved")
    assert statuses(ledger, options) == ["withdrawn", "redeemed", "withdrawn"]
    for id in (first, third):
        last = ledger.history(id)[-1]
        assert (last.status, last.model) == (Status.WITHDRAWN, "m3")
        assert last.detail == f"{second} was redeemed"
        with pytest.raises(SettledPromise, match="is withdrawn"):
            ledger.record(id, "redeemed", model="m3")
    assert ledger.counts(at=NOW) == {
        "open": 4,
        "redeemed": 1,
        "broken": 0,
        "withdrawn": 2,
        "expired": 0,
    }


@pytest.mark.parametrize("status", ["broken", "withdrawn", "expired", "open"])
def test_anything_else_is_of_one_option_alone(ledger, options, status):
    ledger.record(options[0], status, model="m2")
    assert statuses(ledger, options) == [status, "open", "open"]


def test_what_was_settled_before_stays(ledger, options):
    ledger.record(options[0], "expired", model="m2")
    ledger.record(options[1], "redeemed", model="m2")
    assert statuses(ledger, options) == ["expired", "redeemed", "withdrawn"]
    assert len(ledger.history(options[0])) == 2


def test_of_threads_redeeming_options_of_one_decision_one_succeeds(ledger, options):
    results, start = [], threading.Barrier(6)

    def redeem(id):
        start.wait(60)
        try:
            results.append(ledger.record(id, "redeemed", model="m2").status)
        except SettledPromise:
            results.append(None)

    threads = [threading.Thread(target=redeem, args=[id]) for id in options * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results, key=str) == [None] * 5 + ["redeemed"]
    assert sorted(statuses(ledger, options)) == ["redeemed", "withdrawn", "withdrawn"]


def test_options_are_found_by_an_index(ledger, options):
    if not ledger.is_file:
        pytest.skip("PostgreSQL chooses by statistics, which a small table does not show")
    asked = []
    sa.event.listen(
        ledger._engine,
        "before_cursor_execute",
        lambda *given: asked.append(given[2:4]) if "decision = " in given[2] else None,
    )
    ledger.record(options[0], "redeemed", model="m2")
    [(statement, parameters)] = asked
    with ledger._engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert "ledger_promises_by_decision" in str(plan)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decision": "first"}, "decision of a promise must be a UUID"),
        ({"certificate": "delta"}, "certificate of a promise must be a mapping"),
        ({"months": -1.0}, "months of a promise must be a number of 0 or more"),
        ({"months": float("nan")}, "months of a promise must be a number of 0 or more"),
        ({"months": "3"}, "months of a promise must be a number of 0 or more"),
        ({"wishes": ["Job"]}, "wishes of a promise must be a mapping"),
        ({"wishes": {"ranges": {"Income": [float("nan"), None]}}}, "must be JSON"),
    ],
)
def test_what_cannot_be_kept_is_refused(changes, message):
    with pytest.raises(LedgerError, match=message):
        make_promise(**changes)


def test_a_ledger_of_the_release_before_is_brought_up_to_date(url):
    """Its promises stay as they are, may be redeemed, and are guarded as before."""
    engine = make_engine(sa.make_url(url).set(drivername=_driver(url)))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    old = new_id()
    with engine.begin() as connection:
        tables = sa.MetaData()
        promises = sa.Table("ledger_promises", tables, autoload_with=connection)
        events = sa.Table("ledger_events", tables, autoload_with=connection)
        assert "decision" not in promises.c
        sqlite = connection.dialect.name == "sqlite"
        moment = round(NOW.timestamp() * 1e6) if sqlite else NOW
        later = moment + 10**15 if sqlite else NOW.replace(year=NOW.year + 30)
        connection.execute(
            promises.insert(),
            {
                "id": old,
                "subject": "A-1",
                "model": "m1",
                "schema_version": "1",
                "given_row": json.dumps(ROW),
                "recourse_row": json.dumps(ROW),
                "desired": json.dumps("approved"),
                "probability_before": 0.25,
                "probability_after": 0.75,
                "issued_at": moment,
                "expires_at": later,
                "status": "open",
            },
        )
        first = {"promise": old, "at": moment, "status": "open", "model": "m1", "detail": ""}
        connection.execute(events.insert(), first)
    engine.dispose()
    with Ledger.open(url) as ledger:
        with ledger._engine.connect() as connection:
            query = sa.text(f"SELECT version_num FROM {REVISION_TABLE}")
            assert connection.execute(query).scalar_one() == "0008"
        kept = ledger.promise(old)
        assert (kept.row, kept.decision, kept.wishes) == (ROW, None, None)
        assert kept.tenant == "default"
        assert not kept.erased
        found = ledger.upkeep.verify()
        assert found.clean and (found.events, found.head.number) == (1, 1)
        beside = make_promise(decision=new_id())
        ledger.issue([make_issue(beside)])
        for column in ("decision", "wishes", "subject", "tenant", "certificate", "months"):
            with pytest.raises(sa.exc.DBAPIError, match="append-only"):
                with ledger._engine.begin() as connection:
                    connection.exec_driver_sql(f"UPDATE ledger_promises SET {column} = NULL")
        assert ledger.record(old, "redeemed", model="m2").status is Status.REDEEMED
        assert statuses(ledger, [old, beside.id]) == ["redeemed", "open"]
        assert ledger.upkeep.verify().clean


def _driver(url):
    return "sqlite" if url.startswith("sqlite") else "postgresql+psycopg"
