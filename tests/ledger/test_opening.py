"""Opening: addresses, tables and their revisions, and what is refused."""

import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import alembic.autogenerate
import pytest
import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.ledger.making import NOW, make_issue, make_promise

import rocourse.ledger
from rocourse.errors import DependencyError, LedgerError
from rocourse.ledger import Ledger
from rocourse.ledger._address import parse
from rocourse.ledger._migrate import REVISION_TABLE
from rocourse.ledger._tables import metadata

MIGRATIONS = Path(rocourse.ledger.__file__).parent / "migrations"
PASSWORD = "tops3cret"


def refused(address, **options):
    with pytest.raises(LedgerError) as caught:
        Ledger.open(address, **options).close()
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_fresh_database_is_at_head_and_has_the_tables_of_the_code(ledger):
    def is_whole(thing, name, kind, reflected, counterpart):
        # PostgreSQL has a table a month, in which events refer to promises of that month.
        if kind == "foreign_key_constraint" and not ledger.is_file:
            return False
        return kind != "table" or re.search(r"_(other|\d{4}_\d\d)$", name) is None

    with ledger._engine.connect() as connection:
        options = {
            "version_table": REVISION_TABLE,
            "compare_type": True,
            "include_object": is_whole,
        }
        context = MigrationContext.configure(connection, opts=options)
        head = ScriptDirectory(str(MIGRATIONS)).get_current_head()
        assert context.get_current_revision() == head
        assert alembic.autogenerate.compare_metadata(context, metadata) == []


def test_opening_again_keeps_what_is_there(url):
    promise = make_promise()
    with Ledger.open(url) as ledger:
        ledger.issue([make_issue(promise)])
    with Ledger.open(url) as ledger:
        assert ledger.promise(promise.id).row == promise.row


def test_many_may_open_a_fresh_database_at_once(url):
    failures = []
    start = threading.Barrier(5)

    def open_it():
        start.wait(60)
        try:
            with Ledger.open(url) as ledger:
                ledger.issue([make_issue(make_promise())])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Ledger.open(url) as ledger:
        assert ledger.counts(at=NOW)["open"] == 5


def test_newer_revision_is_refused_and_left_alone(url):
    with Ledger.open(url) as ledger:
        with ledger._engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE {REVISION_TABLE} SET version_num = '9999'")
    assert "but it has 9999; use the release" in refused(url)
    assert "but it has 9999; use the release" in refused(url)


def test_sqlite_is_set_to_be_durable(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        with ledger._engine.connect() as connection:
            found = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            }
    # 2 is FULL.
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_postgresql_that_acknowledges_early_is_asked_not_to(postgres):
    url = postgres.create_database()
    options = f"{url}?options=-csynchronous_commit%3Doff"
    with Ledger.open(options) as ledger, ledger._engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_path_may_be_relative_and_have_odd_characters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ledger.db", "a b%20?#é.db"):
        Ledger.open(name).close()
        assert (tmp_path / name).is_file()
    Ledger.open("sqlite:///relative.db").close()
    assert (tmp_path / "relative.db").is_file()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_plain_postgresql_means_psycopg(scheme):
    address = parse(f"{scheme}://me:{PASSWORD}@db.example.org:5433/promises?sslmode=require")
    assert address.url.drivername == "postgresql+psycopg"
    assert address.url.password == PASSWORD
    assert address.name == "'postgresql://db.example.org:5433/promises'"


def test_a_ledger_that_is_not_there_is_made_only_on_request(url):
    # Of a server the database is there, but it has no tables.
    for _ in range(2):
        message = refused(url, create=False)
        assert "must be there already" in message or "it is no ledger" in message
    with Ledger.open(url) as ledger:
        ledger.issue([make_issue(promise := make_promise())])
    with Ledger.open(url, create=False) as ledger:
        assert ledger.promise(promise.id).id == promise.id


def test_a_ledger_has_a_name_without_secrets(url, tmp_path):
    with Ledger.open(url) as ledger:
        if ledger.is_file:
            assert ledger.name == str(tmp_path / "ledger.db")
        else:
            server = sa.make_url(url)
            assert ledger.name == f"postgresql://{server.host}:{server.port}/{server.database}"


def test_text_file_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database\n" * 100)
    assert "must be a SQLite database, but it is a file of another kind" in refused(path)
    assert path.read_text().startswith("not a database")


def test_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (title)")
    other.close()
    assert "is the SQLite database of another program" in refused(path)


def test_missing_directory_and_directory_are_refused(tmp_path):
    assert "must be in a directory that exists" in refused(tmp_path / "no" / "ledger.db")
    assert "but it is a directory" in refused(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_directory_that_cannot_be_written_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    assert "must be a database that can be reached and written" in refused(tmp_path / "ledger.db")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "A ledger must be a file, but got ''"),
        (":memory:", "would forget the promises"),
        ("sqlite://", "must be sqlite:/// and a path"),
        ("sqlite:///", "A ledger must be a file"),
        ("sqlite:///a.db?mode=memory", "must be sqlite:/// and a path"),
        ("a\x00b", "but it has a null character"),
        ("a" * 5000 + "/ledger.db", "must have a path that can be looked up"),
        (f"mysql://me:{PASSWORD}@host/db", "but got the scheme 'mysql'"),
        (f"postgresql+asyncpg://me:{PASSWORD}@host/db", "scheme 'postgresql+asyncpg'"),
        (f"postgresql://me:{PASSWORD}@host:port/db", "must be postgresql://user:password@"),
        (f"postgresql://me:x@{PASSWORD}@host/db", "with percent signs"),
        (f"postgresql://me:x/{PASSWORD}@host/db", "with percent signs"),
        (f"postgresql://me:{PASSWORD}?x@host/db", "with percent signs"),
        (f"postgresql://me:{PASSWORD}#x@host/db", "with percent signs"),
        (f"postgresql://me:{PASSWORD}", "with percent signs"),
        (f"postgresql://me:{PASSWORD}@host:99999999/db", "must be"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1/db?no_such_option=1", "must be a database"),
    ],
)
def test_wrong_address_is_refused_without_its_password(address, message):
    said = refused(address)
    assert message in said
    assert PASSWORD not in said


def test_unreachable_server_is_named_without_its_password():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for address in (
        f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/db",
        f"postgresql://me@127.0.0.1:{port}/db?password={PASSWORD}",
    ):
        said = refused(address)
        assert f"Ledger 'postgresql://127.0.0.1:{port}/db' must be a database" in said
        assert PASSWORD not in said


def test_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DependencyError, match="must have the package psycopg"):
        Ledger.open("postgresql://me@127.0.0.1/db")


def test_wrong_password_and_missing_database_are_told(postgres):
    said = refused(postgres.url().replace(postgres.password, PASSWORD))
    assert "password authentication failed" in said
    assert PASSWORD not in said
    said = refused(postgres.url("nowhere"))
    assert 'database "nowhere" does not exist' in said
    assert postgres.password not in said


def test_closed_ledger_stays_closed(url):
    ledger = Ledger.open(url)
    ledger.close()
    ledger.close()
    for ask in (ledger.ping, lambda: ledger.counts(at=NOW), lambda: ledger.issue([make_issue()])):
        with pytest.raises(LedgerError, match="this one was closed"):
            ask()


def test_refused_write_quotes_no_row(ledger):
    promise = make_promise(subject="Jane Doe", row={"Name": "Jane Doe"})
    ledger.issue([make_issue(promise)])
    with pytest.raises(LedgerError) as caught:
        ledger.issue([make_issue(promise)])
    assert "Jane" not in str(caught.value)
    assert promise.id not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_tables_that_vanish_are_an_error_of_the_ledger(ledger):
    ledger.ping()
    with ledger._engine.begin() as connection:
        for table in (REVISION_TABLE, *(t.name for t in reversed(metadata.sorted_tables))):
            connection.execute(sa.text(f"DROP TABLE {table}"))
    with pytest.raises(LedgerError, match="did not answer the question"):
        ledger.ping()
    with pytest.raises(LedgerError, match="did not confirm the write"):
        ledger.issue([make_issue(make_promise())])


HEAVY = {
    "jax",
    "numpy",
    "pandas",
    "sklearn",
    "rocourse.schema",
    "rocourse.estimators",
    "rocourse.models",
}


def test_ledger_knows_neither_models_nor_schemas():
    code = f"import sys, rocourse.ledger; print(sorted({HEAVY} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
