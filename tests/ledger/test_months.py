"""Promises in PostgreSQL by months: a table each, made before it is needed, guarded as a whole."""

import logging
import uuid
from datetime import UTC, datetime

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from tests.ledger.making import NOW, issue_many, make_issue, make_promise
from tests.ledger.test_opening import MIGRATIONS

from rocourse.ledger import Ledger, Status, new_id, restored, writer_grants
from rocourse.ledger._address import parse
from rocourse.ledger._engine import make_engine
from rocourse.ledger._issuing import _write_issues

KINDS = ("promises", "events")


def id_of(*moment):
    """The id of a promise of another time."""
    milliseconds = int(datetime(*moment, tzinfo=UTC).timestamp() * 1000)
    own = uuid.UUID(new_id()).int & ((1 << 80) - 1)
    return str(uuid.UUID(int=milliseconds << 80 | own))


def month(ahead=0):
    """The ending of a month's tables."""
    now = datetime.now(UTC)
    months = 12 * now.year + now.month - 1 + ahead
    return f"_{months // 12}_{months % 12 + 1:02d}"


def parts(connection, whole="ledger_promises"):
    """The endings of the tables that a whole consists of."""
    found = connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", [whole]
    )
    return sorted(name.removeprefix(whole) for (name,) in found)


def places(connection, ids):
    """The endings of the tables that promises and their first events are in; both the same."""
    found = []
    for id in ids:
        both = [
            connection.execute(
                f"SELECT tableoid::regclass::text FROM {whole} WHERE {key} = %s", [id]
            ).fetchone()[0]
            for whole, key in (("ledger_promises", "id"), ("ledger_events", "promise"))
        ]
        pairs = zip(both, KINDS, strict=True)
        endings = {name.removeprefix(f"ledger_{kind}") for name, kind in pairs}
        assert len(endings) == 1
        found += endings
    return found


AHEAD = [month(ahead) for ahead in range(4)]


@pytest.fixture
def url(postgres):
    return postgres.create_database()


@pytest.fixture
def connection(url):
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def test_a_new_ledger_has_tables_of_this_month_and_of_three_more(url, connection):
    Ledger.open(url).close()
    for kind in KINDS:
        assert parts(connection, f"ledger_{kind}") == sorted([*AHEAD, "_other"])


def test_a_promise_is_in_the_table_of_its_month_and_never_nowhere(url, connection):
    ids = [
        new_id(),
        id_of(2019, 1, 1),
        id_of(2900, 1, 1),
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        str(uuid.uuid4()),
    ]
    with Ledger.open(url) as ledger:
        ledger.issue([make_issue(*(make_promise(id=id) for id in ids))])
        for id in ids:
            ledger.record(id, "broken", model="m2")
        assert [ledger.promise(id).status for id in ids] == [Status.BROKEN] * len(ids)
        assert [len(ledger.history(id)) for id in ids] == [2] * len(ids)
        found = [promise.id for page in ledger.binding_promises(at=NOW, page=2) for promise in page]
        assert found == sorted(ids)
        assert ledger.upkeep.verify().clean
    assert places(connection, ids) == [month(), *["_other"] * 5]


def without(connection, *endings):
    """As if these months were yet to be made."""
    for ending in endings:
        connection.execute(f"DROP TABLE ledger_events{ending}, ledger_promises{ending}")


def test_months_to_come_are_made_once_a_day_while_promises_are_issued(url, connection):
    now = NOW
    with Ledger.open(url, clock=lambda: now) as ledger:
        issue_many(ledger, 1)
        without(connection, *AHEAD[1:])
        issue_many(ledger, 1)
        assert parts(connection) == [month(), "_other"]
        now = NOW.replace(day=NOW.day + 1)
        issue_many(ledger, 1)
        assert parts(connection) == sorted([*AHEAD, "_other"])


def test_who_reads_everything_is_not_waited_for(url, connection):
    """Nor does a month that was never made keep promises from being issued, or later months."""
    with Ledger.open(url) as ledger, psycopg.connect(url) as reader:
        without(connection, *AHEAD)
        # As a copy of the ledger does for as long as it takes.
        reader.execute("SELECT count(*) FROM ledger_promises")
        ids = issue_many(ledger, 2)
        assert parts(connection) == ["_other"]
    with Ledger.open(url) as ledger:
        ids += issue_many(ledger, 1)
        assert parts(connection) == sorted([*AHEAD[1:], "_other"])
        assert places(connection, ids) == ["_other"] * 3
        assert ledger.upkeep.verify().clean


@pytest.fixture
def desk(url, postgres, connection):
    """The address of the same database for a role that may add and nothing else, once granted."""
    connection.execute("DROP ROLE IF EXISTS desk_of_months")
    connection.execute(f"CREATE ROLE desk_of_months LOGIN PASSWORD '{postgres.password}'")
    yield url.replace("ledger:", "desk_of_months:", 1)
    connection.execute("DROP OWNED BY desk_of_months")
    connection.execute("DROP ROLE desk_of_months")


def test_a_role_that_may_only_add_has_months_made_and_no_other_way_to_them(url, connection, desk):
    Ledger.open(url).close()
    for statement in writer_grants("desk_of_months"):
        connection.execute(statement)
    without(connection, *AHEAD[1:])
    with Ledger.open(desk) as ledger:
        [id] = issue_many(ledger, 1)
        ledger.record(id, "broken", model="m2")
        assert parts(connection) == sorted([*AHEAD, "_other"])
        assert ledger.upkeep.verify().clean
    with psycopg.connect(desk, autocommit=True) as writer:
        for statement in (
            f"UPDATE ledger_promises{month()} SET status = 'open'",
            f"INSERT INTO ledger_events{month()} SELECT * FROM ledger_events",
            f"DROP TABLE ledger_promises{month(3)}",
            f"ALTER TABLE ledger_promises DETACH PARTITION ledger_promises{month(3)}",
            "SELECT ledger_add_month('2020-01-01')",
            "SELECT ledger_add_part('_x', 'DEFAULT')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute(statement)


def test_a_role_with_grants_of_before_goes_on_and_says_what_is_missing(
    url, connection, desk, caplog
):
    Ledger.open(url).close()
    for statement in writer_grants("desk_of_months"):
        if "FUNCTION" not in statement:
            connection.execute(statement)
    with Ledger.open(desk) as ledger, caplog.at_level(logging.WARNING):
        issue_many(ledger, 1)
        issue_many(ledger, 1)
    [told] = caplog.messages
    assert "rocourse ledger roles" in told


@pytest.mark.parametrize("ending", [month(), "_other", "_earlier"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {promises} SET expires_at = issued_at",
        "UPDATE {promises} SET months = 1",
        "UPDATE {promises} SET certificate = given_row",
        "UPDATE {promises} SET subject = NULL",
        "DELETE FROM {promises}",
        "TRUNCATE {promises} CASCADE",
        "UPDATE {events} SET detail = ''",
        "DELETE FROM {events}",
        "TRUNCATE {events}",
    ],
)
def test_a_months_table_is_guarded_as_the_whole(postgres, guarded, ending, statement):
    with psycopg.connect(guarded, autocommit=True) as connection:
        tables = {kind: f"ledger_{kind}{ending}" for kind in KINDS}
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            connection.execute(statement.format(**tables))


@pytest.fixture(scope="module")
def guarded(postgres):
    """A ledger with promises in each kind of part."""
    url = postgres.create_database()
    with psycopg.connect(url, autocommit=True) as connection:
        before(url, connection, [id_of(2026, 1, 2)])
    with Ledger.open(url) as ledger:
        ids = [id_of(2900, 1, 1), new_id()]
        ledger.issue([make_issue(*(make_promise(id=id) for id in ids))])
        assert ledger.upkeep.verify().clean
    return url


def before(url, connection, ids):
    """Makes a ledger of the release before, with promises in it."""
    engine = make_engine(parse(url).url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as opened:
        config.attributes["connection"] = opened
        command.upgrade(config, "0007")
    if ids:
        with Ledger(engine, "before", lambda: NOW)._database.write() as writing:
            _write_issues(writing, [make_issue(*(make_promise(id=id) for id in ids))], NOW)
    engine.dispose()


def test_a_ledger_of_before_is_its_first_part_as_it_is(url, connection, desk):
    ids = [id_of(2025, 5, 6), id_of(2026, 1, 1), new_id()]
    before(url, connection, ids)
    for statement in writer_grants("desk_of_months"):
        if "FUNCTION" not in statement:
            connection.execute(statement)
    kept = connection.execute("SELECT 'ledger_promises'::regclass::oid").fetchone()
    with Ledger.open(url) as ledger:
        assert [ledger.promise(id).id for id in ids] == ids
        assert ledger.upkeep.verify().clean
        now = connection.execute("SELECT 'ledger_promises_earlier'::regclass::oid").fetchone()
        assert now == kept
        assert places(connection, ids) == ["_earlier"] * 3
        # This month is there already; what is made are those after it.
        assert parts(connection) == sorted([*AHEAD[1:], "_earlier", "_other"])
        ids += issue_many(ledger, 1)
        ids += issue_many(ledger, 1, id=id_of(*map(int, month(1)[1:].split("_")), 2))
        assert places(connection, ids) == ["_earlier"] * 4 + [month(1)]
        # The role of before may do what it might, and have months made.
        with Ledger.open(desk) as again:
            [mine] = issue_many(again, 1)
            again.record(mine, "broken", model="m2")
        without(connection, month(3))
        with Ledger.open(desk) as again:
            issue_many(again, 1)
        assert parts(connection) == sorted([*AHEAD[1:], "_earlier", "_other"])
        for id in ids:
            ledger.record(id, "redeemed", model="m2")
        assert ledger.upkeep.erase(id=ids[0]).promises == 1
        assert ledger.upkeep.verify().clean


def test_ids_of_another_kind_stay_in_one_part(url, connection):
    ids = [str(uuid.UUID(int=uuid.uuid4().int | 0xF << 124)) for _ in range(3)]
    before(url, connection, ids)
    with Ledger.open(url) as ledger:
        issue_many(ledger, 1)
        assert parts(connection) == ["_earlier", "_other"]
        assert len([id for page in ledger.promised_rows(at=NOW) for id in page.ids]) == 4
        assert ledger.upkeep.verify().clean


def test_what_is_restored_is_in_the_months_it_was_promised_in(postgres, url, connection, tmp_path):
    ids = sorted([id_of(2025, 5, 6), id_of(2025, 5, 7), id_of(2026, 1, 1), id_of(2900, 1, 1)])
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.issue([make_issue(*(make_promise(id=id) for id in ids))])
        ledger.record(ids[0], "broken", model="m2")
        with (tmp_path / "copy").open("wb") as file:
            ledger.upkeep.back_up(file)
    assert restored(tmp_path / "copy", url).clean
    assert places(connection, ids) == ["_2025_05", "_2025_05", "_2026_01", "_other"]
    with Ledger.open(url) as ledger, (tmp_path / "again").open("wb") as file:
        ledger.upkeep.back_up(file)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "copy").read_bytes()


def test_an_event_with_the_number_of_one_in_another_month_is_found(url, connection):
    with Ledger.open(url) as ledger:
        ids = [id_of(2900, 1, 1), new_id()]
        ledger.issue([make_issue(*(make_promise(id=id) for id in ids))])
        # So that the one is at the end of what is read at a time.
        ledger.issue([make_issue(*(make_promise() for _ in range(1998)))])
        assert ledger.upkeep.verify().clean
        copied = "number, %s::uuid, at, status, model, detail, link"
        connection.execute(
            "INSERT INTO ledger_events_other (number, promise, at, status, model, detail, link) "
            f"SELECT {copied} FROM ledger_events ORDER BY number DESC LIMIT 1",
            [ids[0]],
        )
        assert not ledger.upkeep.verify().clean


def test_a_month_that_retention_emptied_gives_its_space_back(url, connection):
    def size():
        query = "SELECT pg_relation_size(%s)"
        return connection.execute(query, [f"ledger_promises{month()}"]).fetchone()[0]

    with Ledger.open(url) as ledger:
        ids = issue_many(ledger, 300, row={"Note": "x" * 500}, recourse={"Note": "y" * 500})
        full = size()
        assert sum(done.promises for done in ledger.upkeep.retain(days=0)) == len(ids)
        connection.execute(f"VACUUM FULL ledger_promises{month()}")
        assert size() < full / 2
        assert ledger.upkeep.verify().clean


def test_no_page_reaches_into_another_month(url, connection):
    """So that none is read again for each page of another, as of a tenant that has left."""
    Ledger.open(url).close()
    months = [[id_of(2026, k, 2), id_of(2026, k, 28)] for k in (1, 2)]
    for k in (1, 2):
        connection.execute(f"SELECT ledger_add_month('2026-{k:02d}-01')")
    months += [[new_id()], [id_of(2900, 1, 1)], ["ffffffff-ffff-ffff-ffff-ffffffffffff"]]
    ids = [id for month in months for id in month]
    with Ledger.open(url) as ledger:
        ledger.issue([make_issue(*(make_promise(id=id) for id in ids))])
        read = [[one.id for one in page] for page in ledger.binding_promises(at=NOW)]
        assert read == months
        part = ledger.promised_rows(at=NOW, after=ids[0], until=ids[2])
        assert [list(page.ids) for page in part] == [[ids[1]], [ids[2]]]
        erased = [done.promises for done in ledger.upkeep.retain(days=0)]
        assert erased == [len(month) for month in months]
        assert ledger.upkeep.verify().clean
