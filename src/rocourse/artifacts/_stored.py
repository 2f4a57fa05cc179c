"""Stored models that go from process to process as their files."""

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

from rocourse._files import PathLike
from rocourse.artifacts._factory import make_model
from rocourse.artifacts._model import build, read_files

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

    Change = Callable[[RecourseClassifier], RecourseClassifier]


class StoredModel:
    """The files of a model, read once; every process that is sent them builds the model once.

    So that whoever works on another machine need not see the directory.

    Args:
        path: The model's directory.
        model_from: What makes the explained model, as of `make_model`, where it was stored without.

    Raises:
        ArtifactError: The model is missing, damaged, altered, or of another format or version.
    """

    def __init__(self, path: PathLike, model_from: str | None = None) -> None:
        self._path, self._model_from = str(path), model_from
        self._files = read_files(path)
        self._change: Change | None = None
        self._built: RecourseClassifier | None = None

    def __call__(self) -> "RecourseClassifier":
        """The model.

        Raises:
            ArtifactError: As of `load`.
            ConfigError: As of `make_model`.
        """
        if self._built is None:
            supplied = self._files[0].get("supplied")
            needed = isinstance(supplied, list) and "model" in supplied
            given = make_model(self._model_from) if needed and self._model_from else None
            model = build(self._path, *self._files, model=given)
            self._built = model if self._change is None else self._change(model)
        return self._built

    def changed(self, change: "Change") -> "StoredModel":
        """The same, with something done to the model wherever it is built."""
        twin = copy(self)
        twin._change = change
        twin._built = None if self._built is None else change(self._built)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_built": None}


def load_from(path: PathLike, model_from: str | None) -> "RecourseClassifier":
    """Reads a stored model; one that was stored without the model it explains gets that one.

    Args:
        path: The model's directory.
        model_from: What makes the explained model, as of `make_model`, where it is needed.

    Raises:
        ArtifactError: As of `load`.
        ConfigError: As of `make_model`.
    """
    return StoredModel(path, model_from)()
