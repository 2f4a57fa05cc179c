"""Running the command line inside the test process, where compiled functions are shared."""

import json

from typer.testing import CliRunner

from rocourse.cli import app


def run(*args, terminal="0"):
    """Runs a command; whatever is not turned into an exit code fails the test."""
    # Whatever runs the tests may ask for colours or state a width; the texts are compared plain.
    env = {"COLUMNS": "80", "FORCE_COLOR": None, "TTY_COMPATIBLE": terminal}
    runner = CliRunner(env=env)
    result = runner.invoke(app, [str(arg) for arg in args], prog_name="rocourse")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def succeed(*args):
    """Runs a command that must succeed."""
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*args):
    """Runs a command that must fail, and returns the one line it says why in."""
    result = run(*args)
    assert result.exit_code == 1, result.stdout + result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.endswith((".\n", "?\n"))
    return result.stderr.removeprefix("error: ").rstrip("\n")


def assignments(params):
    """Parameters as `--set` takes them."""
    return [
        f"--set={name.replace('__', '.')}={json.dumps(value)}" for name, value in params.items()
    ]
