"""Models on disk.

A stored model is a directory of two files:

```
model.json            the header: method, parameters, schema, classes, history, versions, digests
weights.safetensors   the tensors of predictor and generator, or what a search needs; the arrays
                      of a model that was given, and of its refits
```

The header carries the SHA-256 of the weights and a digest of itself, so that a model that was cut
short or altered is refused and not quietly wrong.
"""

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np
import safetensors
import safetensors.numpy

import rocourse
from rocourse._files import (
    PathLike,
    check_parents,
    refuse_existing,
    resolve,
    write_directory,
)
from rocourse.errors import ArtifactError, OutputError, RocourseError

# Checking an output path, or refusing a damaged model, must not cost loading JAX.
if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

FORMAT = "rocourse-model"
VERSION = 2

_HEADER = "model.json"
_WEIGHTS = "weights.safetensors"
# How every header begins: it tells even a damaged model from another program's directory.
_OPENING = f'{{\n  "format": "{FORMAT}"'


def save(model: "RecourseClassifier", path: PathLike, *, force: bool = False) -> Path:
    """Writes a fitted model to a directory.

    Args:
        model: A fitted estimator.
        path: Directory to make; the directories above it are made if need be.
        force: Whether to replace a model that is there already.

    Returns:
        The path that was written.

    Raises:
        OutputError: The path exists (without `force`, or it is no model) or cannot be written.
        ArtifactError: The weights are not finite.
    """
    destination = check_model_path(path, force=force)
    state, tensors = model.to_state()
    _check_finite(tensors)
    weights = safetensors.numpy.save(tensors)
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **state,
        "classes": state["schema"]["target"]["classes"],
        "history": [_to_json(record) for record in state["history"]],
        "metrics": _to_json(_best_record(state)),
        "versions": {
            "rocourse": rocourse.__version__,
            "python": platform.python_version(),
            "jax": version("jax"),
            "numpy": version("numpy"),
        },
        "weights": {"bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()},
    }
    header["digest"] = _digest(header)
    text = json.dumps(header, indent=2, ensure_ascii=False, allow_nan=False, default=_number)
    write_directory(path, destination, {_HEADER: f"{text}\n".encode(), _WEIGHTS: weights})
    return Path(path)


def load(path: PathLike, *, model: Any = None, generator: Any = None) -> "RecourseClassifier":
    """Reads a model that `save` wrote.

    Args:
        path: The model's directory.
        model: The explained model, for a method that was fitted with a model of the user's own.
            Trees and logistic regressions behind columns that are prepared each by itself are
            stored as arrays and need none; of all others nothing is stored but what tells them
            from another model, which is refused.
        generator: The function that builds the generator, for a method that was fitted with one.

    Raises:
        ArtifactError: The model is missing, damaged, altered, or of another format or version.
    """
    directory = Path(path)
    header = _read_header(directory)
    tensors = _read_weights(directory, header)

    from rocourse.estimators import METHODS, RecourseClassifier

    given = {"model": model, "generator": generator}
    supplied = {name: value for name, value in given.items() if value is not None}
    method = header.get("method")
    known: dict[Any, type[RecourseClassifier]] = {
        RecourseClassifier.method: RecourseClassifier,
        **METHODS,
    }
    if method not in known:
        raise ArtifactError(
            f"Model {str(path)!r} must be of a method among {', '.join(METHODS)}, but it is of "
            f"{method!r}; use the release of rocourse that wrote it."
        )
    try:
        history = [_from_json(record) for record in header["history"]]
        return known[method].from_state({**header, "history": history}, tensors, **supplied)
    except RocourseError as error:
        raise ArtifactError(f"Model {str(path)!r} cannot be used: {error}") from error
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArtifactError(
            f"Model {str(path)!r} must have a complete header, but rebuilding the model from it "
            f"failed with {error!r}; copy or train the model again."
        ) from error


def model_digest(path: PathLike) -> str:
    """The digest that tells a stored model from every other: SHA-256 of header and weights.

    Raises:
        ArtifactError: The model's header is missing, damaged, altered, or of another format.
    """
    return _digest(_read_header(Path(path)))


def needs_model(path: PathLike) -> bool:
    """Whether a stored model can be read only together with the model that it explains.

    Raises:
        ArtifactError: As of `model_digest`.
    """
    return "model" in _read_header(Path(path)).get("supplied", ())


def check_model_path(path: PathLike, *, force: bool = False) -> Path:
    """Refuses a path that `save` would refuse; for checking before a long training.

    Returns:
        The path with symbolic links followed.

    Raises:
        OutputError: As in `save`.
    """
    destination = resolve(path)
    if destination.exists():
        if not force:
            refuse_existing(path)
        _check_replaceable(path, destination)
    check_parents(path, destination)
    return destination


def _check_replaceable(path: PathLike, destination: Path) -> None:
    """Refuses to replace, and so to delete, anything but a model."""
    if not destination.is_dir():
        raise OutputError(
            f"Output path {str(path)!r} must be a model to be replaced, but it is a file; choose "
            "another path."
        )
    header = destination / _HEADER
    if not header.is_file() or not header.read_bytes().startswith(_OPENING.encode()):
        raise OutputError(
            f"Output path {str(path)!r} must be a model to be replaced, but it is another "
            "directory; choose another path."
        )
    strangers = sorted({entry.name for entry in destination.iterdir()} - {_HEADER, _WEIGHTS})
    if strangers:
        raise OutputError(
            f"Output path {str(path)!r} must hold nothing but a model to be replaced, but it holds "
            f"{strangers[0]!r} too; move that away, or choose another path."
        )


def _read_header(directory: Path) -> dict[str, Any]:
    if not directory.exists():
        raise ArtifactError(
            f"Model {str(directory)!r} must be a directory that rocourse wrote, but nothing is "
            "there; check the path, or train a model with `rocourse train`."
        )
    if not directory.is_dir():
        raise ArtifactError(
            f"Model {str(directory)!r} must be a directory that rocourse wrote, but it is a file; "
            "give the directory."
        )
    content = _read(directory, _HEADER)
    try:
        header: Any = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            f"Model {str(directory)!r} must have a header in JSON, but {_HEADER} is truncated or "
            "damaged; copy or train the model again."
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        received = header.get("format") if isinstance(header, dict) else header
        raise ArtifactError(
            f"Model {str(directory)!r} must have the format {FORMAT!r}, but {_HEADER} says "
            f"{str(received)[:60]!r}; give a directory that rocourse wrote."
        )
    if header.get("version") != VERSION or isinstance(header["version"], bool):
        raise ArtifactError(
            f"Model {str(directory)!r} must have format version {VERSION}, but it has "
            f"{header.get('version')!r}; use the release of rocourse that wrote it, or train anew."
        )
    if header.pop("digest", None) != _digest(header):
        raise ArtifactError(
            f"Model {str(directory)!r} must be as it was written, but {_HEADER} has been altered; "
            "copy or train the model again."
        )
    return header


def _read_weights(directory: Path, header: Mapping[str, Any]) -> dict[str, np.ndarray]:
    content = _read(directory, _WEIGHTS)
    stated = header.get("weights")
    expected = stated if isinstance(stated, dict) else {}
    if hashlib.sha256(content).hexdigest() != expected.get("sha256"):
        size = expected.get("bytes")
        truncated = isinstance(size, int) and len(content) < size
        what = f"is truncated to {len(content)} of {size} bytes" if truncated else "is altered"
        raise ArtifactError(
            f"Model {str(directory)!r} must be as it was written, but {_WEIGHTS} {what}; copy or "
            "train the model again."
        )
    try:
        return safetensors.numpy.load(content)
    except safetensors.SafetensorError as error:
        raise ArtifactError(
            f"Model {str(directory)!r} must hold its weights as safetensors, but reading "
            f"{_WEIGHTS} failed with {error}; copy or train the model again."
        ) from error


def _read(directory: Path, name: str) -> bytes:
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"Model {str(directory)!r} must hold a readable {name}, but got "
            f"{error.strerror or error}; give a directory that rocourse wrote."
        ) from error


def _best_record(state: Mapping[str, Any]) -> dict[str, Any]:
    for record in state["history"]:
        if record["epoch"] == state["best_epoch"]:
            return dict(record)
    return {}


def _check_finite(tensors: Mapping[str, np.ndarray]) -> None:
    for name, tensor in tensors.items():
        # Trees may compare with infinity, and their leaves compare with nothing.
        if not name.endswith(".threshold") and not np.isfinite(tensor).all():
            raise ArtifactError(
                f"The weights of a model must be finite, but the tensor {name!r} holds NaN or "
                "infinity; train again with a lower learning_rate."
            )


def _digest(header: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a header that has no digest yet."""
    canonical = json.dumps(
        header, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_number
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _number(value: object) -> object:
    """numpy scalars among the parameters are stored as plain numbers; nothing else is guessed."""
    if isinstance(value, np.generic):
        return value.item()
    raise ArtifactError(
        f"The parameters of a stored model must be numbers, text or lists, but got {value!r}; "
        "set a plain value before fitting."
    )


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)


def _to_json(record: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no NaN and no infinity: a loss that overflowed in some epoch is null."""
    return {name: value if math.isfinite(value) else None for name, value in record.items()}


def _from_json(record: Mapping[str, float | None]) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in record.items()}
