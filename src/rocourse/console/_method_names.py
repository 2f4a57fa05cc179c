"""Methods by the names that people type."""

from typing import TYPE_CHECKING

import typer

from rocourse._wording import did_you_mean
from rocourse.errors import ConfigError

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier


def find_method(name: str) -> "type[RecourseClassifier]":
    """The method of a name.

    Raises:
        ConfigError: No method has it.
    """
    from rocourse.estimators import METHODS

    if name not in METHODS:
        raise ConfigError(
            f"The method must be one of {', '.join(METHODS)}: got {name!r}"
            f"{did_you_mean(name, METHODS)}; correct the name."
        )
    return METHODS[name]


def chosen_method(name: str) -> "type[RecourseClassifier]":
    """The method that the option `--method` names.

    Raises:
        typer.BadParameter: No method has the name.
    """
    try:
        return find_method(name)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint="'--method'") from error
