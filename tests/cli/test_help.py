"""Help: of every command, with examples, and quick."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.text import Text
from tests.command_line import run, succeed

import rocourse
from rocourse.cli import app


def leaves(command, path=()):
    for name, sub in command.commands.items():
        if hasattr(sub, "commands"):
            yield from leaves(sub, (*path, name))
        else:
            yield (*path, name), sub


COMMANDS = dict(leaves(typer.main.get_command(app)))


def test_the_commands_are_the_agreed_ones():
    assert {
        ("demo",),
        ("train",),
        ("predict",),
        ("recourse",),
        ("evaluate",),
        ("schema", "infer"),
        ("schema", "show"),
        ("data", "list"),
        ("data", "fetch"),
        ("data", "path"),
    } <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_an_example_of_the_command(path):
    text = succeed(*path, "--help").stdout
    assert "Examples" in text
    assert f"rocourse {' '.join(path)}" in text.split("Examples")[1]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_speaks_json_and_can_be_quiet(path):
    options = {name for parameter in COMMANDS[path].params for name in parameter.opts}
    assert {"--json", "--quiet"} <= options


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_is_explained(path):
    assert [p.name for p in COMMANDS[path].params if not p.help] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_brackets_in_help_are_shown(path):
    for each in COMMANDS[path].params:
        assert Text.from_markup(each.help).plain == each.help.replace("\\[", "[")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_paragraphs_of_help_are_wrapped_to_the_terminal(path):
    command = typer.main.get_command(app)
    for name in path:
        command = command.get_command(None, name)
    assert "\n" not in command.help.replace("\n\n", "")


@pytest.mark.parametrize("args", [(), ("schema",), ("data",)], ids=["rocourse", "schema", "data"])
def test_help_of_a_group_lists_its_commands(args):
    text = succeed(*args, "--help").stdout
    names = [path[len(args)] for path in COMMANDS if path[: len(args)] == args]
    assert all(name in text for name in names)


def test_the_version_is_printed():
    assert succeed("--version").stdout == f"rocourse {rocourse.__version__}\n"


@pytest.mark.parametrize(
    "args",
    [("trian",), ("train",), ("train", "a.csv", "--target"), ("predict", "m", "a.csv", "--colour")],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(args):
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_help_loads_no_heavy_dependency():
    code = (
        "import sys\n"
        "from rocourse.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'jax', 'numpy', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"


def test_every_command_has_a_file_of_its_own_and_there_are_no_others():
    files = {path.stem for path in Path(rocourse.cli.__file__).parent.glob("*.py")}
    assert files - {"__init__", "__main__"} == {f"_{path[0]}" for path in COMMANDS}
