"""What travels: the source distribution holds sources, and the repository no loose results."""

import subprocess
import tomllib
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 1_000_000
MOST_FILES = 800


@pytest.fixture(scope="module")
def tracked():
    """All files of the repository, as paths below its root."""
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("this is no repository")
    return [name for name in found.stdout.splitlines() if (ROOT / name).exists()]


def travels(name):
    """Whether a file is in the source distribution."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        targets = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]
    path = PurePosixPath("/", name)
    return any(
        above.match(pattern)
        for pattern in targets["sdist"]["include"]
        for above in (path, *path.parents)
    )


def test_the_source_distribution_holds_no_results(tracked):
    sent = [name for name in tracked if travels(name)]
    assert not [name for name in sent if name.startswith("docs/results/")]
    assert not [name for name in sent if name.endswith(".jsonl")]


@pytest.mark.parametrize(
    "name",
    ["src/rocourse/__init__.py", "docs/results.md", "docs/images/audit.png", "Makefile"],
)
def test_the_source_distribution_holds_code_pages_and_pictures(tracked, name):
    assert name in tracked and travels(name)


def test_every_page_and_module_travels(tracked):
    kept_back = [name for name in tracked if not travels(name)]
    assert not [name for name in kept_back if name.endswith(".py")]
    assert not [name for name in kept_back if name.startswith("docs/") and "results/" not in name]


def test_no_file_is_large_and_files_are_few(tracked):
    assert not [name for name in tracked if (ROOT / name).stat().st_size > MOST_BYTES]
    assert len(tracked) <= MOST_FILES
