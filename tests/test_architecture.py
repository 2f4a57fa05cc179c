"""The shape of the house: layers, sizes, names, and what an import costs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "rocourse"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 500
ATTIC_NAMES = {"common", "helper", "helpers", "misc", "util", "utilities", "utils"}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_import_contracts_are_kept():
    code = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename='pyproject.toml', no_cache=True, no_logo=True))"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_short_enough_to_read(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_no_module_is_an_attic():
    names = {path.stem.strip("_") for path in MODULES} | {path.parent.name for path in MODULES}
    assert not names & ATTIC_NAMES


@pytest.mark.parametrize(
    "module",
    [
        "rocourse",
        "rocourse.cli",
        "rocourse.console",
        "rocourse.schema",
        "rocourse.evaluation",
        "rocourse.reports",
        "rocourse.datasets",
        "rocourse.tables",
    ],
)
def test_import_does_not_load_jax(module):
    code = (
        f"import sys, {module}; "
        "print(sorted({'jax', 'jaxlib', 'equinox', 'optax'} & set(sys.modules)))"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_import_of_the_package_alone_loads_no_heavy_dependency():
    code = (
        "import sys, rocourse; "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'matplotlib', 'jax'} & set(sys.modules)))"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
