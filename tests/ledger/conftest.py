"""Ledgers in SQLite and in PostgreSQL."""

import pytest
from tests.ledger.postgres import PostgresServer, why_missing

from rocourse.ledger import Ledger


@pytest.fixture(scope="session")
def postgres():
    """A server for all tests that do not stop it; quick, for it need not survive the machine."""
    reason = why_missing()
    if reason:
        pytest.skip(reason)
    server = PostgresServer(fsync="off")
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return request.getfixturevalue("postgres").create_database()


@pytest.fixture
def ledger(url):
    with Ledger.open(url) as ledger:
        yield ledger


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_ledger(request, tmp_path_factory):
    """One ledger for all examples of a property."""
    if request.param == "sqlite":
        url = tmp_path_factory.mktemp("ledger") / "ledger.db"
    else:
        url = request.getfixturevalue("postgres").create_database()
    with Ledger.open(url) as ledger:
        yield ledger
