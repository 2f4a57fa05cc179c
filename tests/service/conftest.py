"""Models that the tests of the service share: trained once, then copied."""

import pytest

pytest.importorskip("fastapi", reason="the service needs rocourse[serve], which is missing")

from tests.service.making import make_table, serving, train  # noqa: E402

from rocourse.artifacts import save  # noqa: E402


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(scope="session")
def asked():
    """Rows that no model was trained on."""
    return make_table(60, seed=7)


@pytest.fixture(scope="session")
def model(table):
    """The model that most services serve, as it is before it is stored."""
    return train(table)


@pytest.fixture(scope="session")
def stored(tmp_path_factory, table, model):
    """A directory with `model`, and `contrary`, which approves whom the other refuses."""
    folder = tmp_path_factory.mktemp("stored")
    save(model, folder / "model")
    save(train(table, contrary=True), folder / "contrary")
    return folder


@pytest.fixture(scope="module")
def client(tmp_path_factory, stored):
    """A service with a ledger, for tests that do not change its model."""
    with serving(tmp_path_factory.mktemp("service"), stored / "model") as client:
        yield client
