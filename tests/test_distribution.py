"""What travels: the source distribution holds sources, and the repository no loose results."""

import subprocess
import tomllib
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 1_000_000
# Results are packed, a file a table or figure; code may grow.
MOST_RESULTS = 80


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


def test_no_file_is_large_and_results_are_packed(tracked):
    assert not [name for name in tracked if (ROOT / name).stat().st_size > MOST_BYTES]
    assert len([name for name in tracked if name.startswith("docs/results/")]) <= MOST_RESULTS


def bounds():
    """The lower bound of every package that an installation of ours may bring, by its name."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    apart = ("all", "development", "dev", "docs", "test")
    told = [extras[name] for name in extras if name not in apart]
    lines = [line.partition(";")[0].split(">=") for line in sum(told, project["dependencies"])]
    return {name.partition("[")[0]: version.strip() for name, version in lines}


def test_the_oldest_releases_that_are_tested_are_the_lower_bounds():
    lines = (ROOT / "requirements" / "oldest.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    # The first is a part of jax; for the others the tests have builds without CUDA.
    assert {"jaxlib", "xgboost-cpu"} <= set(pins)
    # OpenTelemetry's oldest release has not been tried yet.
    untried = ("torch", "xgboost", "opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")
    asked = {name: v for name, v in bounds().items() if name not in untried}
    assert set(asked) == set(pins) - {"jaxlib", "xgboost-cpu"}
    for name, version in asked.items():
        parts = [int(part) for part in version.split(".")]
        pinned = [int(part) for part in pins[name].split(".")]
        assert pinned == parts + [0] * (len(pinned) - len(parts)), name


def test_all_is_every_extra_but_large_frameworks_and_traces():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.removeprefix("rocourse[").removesuffix("]").split(","))
    apart = {"lightgbm", "otel", "ray", "torch", "xgboost"}
    assert named == set(extras) - apart - {"all", "dev", "development", "docs", "test"}


def test_the_version_is_that_of_the_changelog_and_the_citation():
    import rocourse

    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{rocourse.__version__}] - 20" in changes
    assert f"version: {rocourse.__version__}" in citation
