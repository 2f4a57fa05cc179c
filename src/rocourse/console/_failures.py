"""How failures and warnings reach the user."""

import inspect
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from rocourse.errors import RocourseError

INTERRUPTED = 130
"""Exit code: the user stopped the command."""


class Commands(TyperGroup):
    """Turns expected failures into one line on standard error; others keep their traceback.

    Help is wrapped to the terminal, whatever the lines of the docstring.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None and command.help:
            paragraphs = inspect.cleandoc(command.help).split("\n\n")
            command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was asked for."""
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except RocourseError as error:
                print(f"error: {error}", file=sys.stderr)
                raise typer.Exit(1) from error
            except KeyboardInterrupt as error:
                print("interrupted: no output was written", file=sys.stderr)
                raise typer.Exit(INTERRUPTED) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)
