"""The command line, one file per command.

JAX and pandas are imported inside the commands, so that `rocourse --help` is quick.
"""

from rocourse.cli._app import app, main

__all__ = ["app", "main"]
