"""The classes that a model tells apart, and those that are named on the command line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rocourse._wording import listed
from rocourse.errors import DataError

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier
    from rocourse.schema import Target


def target_of(model: "RecourseClassifier") -> "Target":
    """What a fitted model predicts."""
    target = model.schema_.target
    assert target is not None  # fitting completes the schema
    return target


def parse_class(text: str, classes: Iterable[object], *, option: str) -> object:
    """The class that was named on the command line, where everything is text."""
    known = list(classes)
    for label in known:
        if text == str(label) or (not isinstance(label, str) and _same_number(text, label)):
            return label
    raise DataError(
        f"The class of {option} must be one of {listed(known)}, but got {text!r}; name one of "
        "these."
    )


def _same_number(text: str, label: object) -> bool:
    try:
        return not isinstance(label, bool) and float(text) == label
    except ValueError:
        return False
