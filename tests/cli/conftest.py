"""Files that the tests of the commands read."""

import pytest
from tests.applicants import make_applicants, trained_model, untrained_model

from rocourse.artifacts import save


@pytest.fixture(scope="session")
def applicants():
    return make_applicants()


@pytest.fixture(scope="session")
def files(tmp_path_factory, applicants):
    """A directory with rows as `a.csv` and `a.parquet`, and the models `model` and `three`."""
    folder = tmp_path_factory.mktemp("files")
    applicants.to_csv(folder / "a.csv", index=False)
    applicants.to_parquet(folder / "a.parquet", index=False)
    save(trained_model(), folder / "model")
    three = make_applicants(classes=("high", "low", "none"))
    save(untrained_model(frame=three), folder / "three")
    return folder
