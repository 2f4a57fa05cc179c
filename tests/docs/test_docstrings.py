"""The examples in the reference run."""

import doctest
import os

import pytest
from tests.docs.world import make_world, small_fits

import rocourse
import rocourse.schema

SHOWN = {name: getattr(rocourse, name) for name in rocourse.__all__}
# Shown in the example of another: by hand, and when a model is loaded.
ELSEWHERE = {"Schema", "Continuous", "Categorical", "Target", "save", "card"}
NAMES = sorted(name for name, value in SHOWN.items() if callable(value) and name not in ELSEWHERE)
FINDER = doctest.DocTestFinder(recurse=False)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples find, in a folder of their own."""
    folder = tmp_path_factory.mktemp("docstrings")
    found = make_world(folder)
    before = os.getcwd()
    os.chdir(folder)
    yield SHOWN | found
    os.chdir(before)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name, names):
    run(SHOWN[name], name, names)


def test_the_schema_by_hand_and_inferred(names):
    run(rocourse.schema, "rocourse.schema", names)


def run(shown, name, names):
    (example,) = FINDER.find(shown, name, globs=dict(names))
    assert example.examples, f"{name} has no example"
    told: list[str] = []
    with small_fits():
        doctest.DocTestRunner(optionflags=FLAGS).run(example, out=told.append)
    assert not told, "".join(told)
