"""The shape of the house: layers, sizes, names, and what an import costs."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "rocourse"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 400
MOST_ANCESTORS = 4
ATTIC_NAMES = {"common", "helper", "helpers", "misc", "util", "utilities", "utils"}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_import_contracts_are_kept():
    code = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename='pyproject.toml', no_cache=True))"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_short_enough_to_read(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_no_module_is_an_attic():
    names = {path.stem.strip("_") for path in MODULES} | {path.parent.name for path in MODULES}
    assert not names & ATTIC_NAMES


def room_of(path: Path) -> str:
    """The package right under `rocourse` that a module is in; none of those beside them."""
    inside = path.relative_to(PACKAGE).parts
    return inside[0] if len(inside) > 1 else ""


def imported_names(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith("rocourse.")]


def test_no_module_imports_what_is_private_to_another_room():
    strangers = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in MODULES
        for name in imported_names(path)
        for _, room, *inside in [name.split(".")]
        if room != room_of(path)
        and any(part.startswith("_") and not part.startswith("__") for part in inside)
    ]
    assert strangers == []


def test_public_classes_have_few_ancestors():
    """Ours and `object`: the towers of exceptions, enums and other libraries are not ours."""
    rooms = {
        f"rocourse.{'.'.join(path.parent.relative_to(PACKAGE).parts)}".rstrip(".")
        for path in MODULES
        if path.name == "__init__.py"
    }
    tall = {}
    for room in sorted(rooms):
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) and value.__module__.startswith("rocourse"):
                ours = [c for c in value.__mro__ if c.__module__.startswith("rocourse")]
                if len([*ours, object]) > MOST_ANCESTORS:
                    tall[value] = [c.__name__ for c in ours]
    assert tall == {}


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


def rooms():
    """The packages and public modules of the tree."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("[a-z]*.py")}


def test_the_map_for_contributors_is_that_of_the_tree():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    house = text.split("src/rocourse/\n")[1].split("tests/")[0]
    told = re.findall(r"^  (\w+)(?:/|\.py) ", house, flags=re.MULTILINE)
    assert sorted(told) == sorted(rooms())


def test_the_picture_shows_every_room_once_and_in_the_order_of_the_contract():
    picture = (ROOT / "docs" / "images" / "house.svg").read_text(encoding="utf-8")
    shown = [
        room
        for label in re.findall(r'font-weight="600"[^>]*>([^<]+)<', picture)
        for room in label.split(" · ")
    ]
    assert sorted(shown) == sorted(rooms())
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contract["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {
        room.strip(): height for height, layer in enumerate(layers) for room in layer.split("|")
    }
    heights = [height[room] for room in shown if room not in ("options", "errors")]
    assert heights == sorted(heights)
