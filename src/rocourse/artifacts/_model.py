"""Models on disk.

A stored model is a directory of three files:

```
model.json            the header: method, parameters, schema, classes, history, versions, digests
weights.safetensors   the tensors of predictor and generator, or what a search needs; the arrays
                      or library's files of a model that was given, and of its refits
card.md               the model card, made of the header for people; nothing reads it
```

The header carries the SHA-256 of the weights and a digest of itself, so that a model that was cut
short or altered is refused and not quietly wrong.
"""

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from rocourse._places import ObjectPath, Place, place
from rocourse.artifacts._header import (
    FORMAT,
    HEADER,
    VERSION,
    digest_of,
    plain_number,
    read_header,
    read_part,
)
from rocourse.artifacts._self_test import check_self_test, make_self_test
from rocourse.errors import ArtifactError, OutputError, RocourseError

# Checking an output path, or refusing a damaged model, must not cost loading JAX.
if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

_WEIGHTS = "weights.safetensors"
_CARD = "card.md"
# Another model may be put in place while one is read; not for ever.
_TRIES = 5
# How every header begins: it tells even a damaged model from another program's directory.
_OPENING = f'{{\n  "format": "{FORMAT}"'


def save(model: "RecourseClassifier", path: PathLike, *, force: bool = False) -> Place:
    """Writes a fitted model to a directory.

    Args:
        model: A fitted estimator.
        path: Directory to make, also in an object store, as in s3://bucket/model; the directories
            above it are made if need be.
        force: Whether to replace a model that is there already.

    Returns:
        The path that was written.

    Raises:
        OutputError: The path exists (without `force`, or it is no model) or cannot be written.
        ArtifactError: The weights are not finite, or the model gives no probabilities.
    """
    destination = check_model_path(path, force=force)
    state, tensors = model.to_state()
    _check_finite(tensors)
    try:
        self_test = make_self_test(model)
    except ArtifactError as error:
        raise ArtifactError(f"A model must work to be stored, but {error}") from error
    weights = safetensors.numpy.save(tensors)
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **state,
        "classes": state["schema"]["target"]["classes"],
        "history": [_to_json(record) for record in state["history"]],
        "metrics": _to_json(_best_record(state)),
        "versions": _versions(),
        "self_test": self_test,
        "weights": {"bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest()},
    }
    header["digest"] = digest_of(header)
    text = json.dumps(header, indent=2, ensure_ascii=False, allow_nan=False, default=plain_number)
    files = {_WEIGHTS: weights, _CARD: _card(json.loads(text)).encode()}
    # The header last: it states what the weights are.
    write_directory(path, destination, files | {HEADER: f"{text}\n".encode()})
    model.digest_ = header["digest"]
    return place(path)


def card(model: "RecourseClassifier | PathLike", *, measured: Sequence[Any] = ()) -> str:
    """The model card, in Markdown: what a model is for, what was measured, what it does not cover.

    Args:
        model: A fitted estimator, or the directory of a stored one, of which the header is enough.
        measured: What was measured since; see `render_card`.

    Raises:
        ArtifactError: As of `model_digest`.
    """
    if isinstance(model, str | os.PathLike):
        header = read_header(place(model))
        try:
            return _card(header | {"digest": digest_of(header)}, measured)
        except Exception as error:
            raise ArtifactError(
                f"Model {str(model)!r} must have a complete header, but telling of it failed with "
                f"{_told(error)}; copy or train the model again."
            ) from error
    told = {**model.described(), "versions": _versions()}
    return _card(json.loads(json.dumps(told, default=plain_number)), measured)


def _card(header: Mapping[str, Any], measured: Sequence[Mapping[str, Any]] = ()) -> str:
    # Imported by what makes cards alone: it draws figures too.
    from rocourse.reports import render_card

    return render_card(header, measured)


def load(path: PathLike, *, model: Any = None, generator: Any = None) -> "RecourseClassifier":
    """Reads a model that `save` wrote.

    Args:
        path: The model's directory.
        model: The explained model, for a method that was fitted with a model of the user's own.
            One that was stored, as arrays or in its library's format, need not be given; of all
            others nothing is stored but what tells them from another model, which is refused.
        generator: The function that builds the generator, for a method that was fitted with one.

    Returns:
        The model; its `digest_` is the one of the files that were read.

    Raises:
        ArtifactError: The model is missing, damaged, altered, or of another format or version; or
            it does not answer as it did when it was stored.

    Examples:
        >>> folder = rocourse.save(model, "kept")
        >>> (load(folder).predict(X) == model.predict(X)).all()
        np.True_
    """
    return build(path, *read_files(path), model=model, generator=generator)


def read_files(path: PathLike) -> tuple[dict[str, Any], bytes]:
    """The header of a stored model, and its weights as they are on disk.

    Raises:
        ArtifactError: As of `load`.
    """
    given = place(path)
    for _ in range(_TRIES):
        # A link may point elsewhere by the second read.
        linked = isinstance(given, Path) and given.is_symlink()
        directory = Path(given).resolve() if linked else given
        header, weights = read_header(directory), read_part(directory, _WEIGHTS)
        # Others are of a model that took its place in between, or altered: `build` says so.
        if _are_stated(weights, header):
            break
    return header, weights


def build(
    path: PathLike,
    header: dict[str, Any],
    weights: bytes,
    *,
    model: Any = None,
    generator: Any = None,
) -> "RecourseClassifier":
    """The model of files that were read.

    Args:
        path: Where they were, for error sentences.
        header: As of `read_files`.
        weights: As of `read_files`.
        model: As of `load`.
        generator: As of `load`.

    Raises:
        ArtifactError: As of `load`.
    """
    tensors = _read_weights(path, weights, header)

    from rocourse.estimators import METHODS, RecourseClassifier

    given = {"model": model, "generator": generator}
    supplied = {name: value for name, value in given.items() if value is not None}
    method = header.get("method")
    known: dict[Any, type[RecourseClassifier]] = {
        RecourseClassifier.method: RecourseClassifier,
        **METHODS,
    }
    if not isinstance(method, str) or method not in known:
        raise ArtifactError(
            f"Model {str(path)!r} must be of a method among {', '.join(METHODS)}, but it is of "
            f"{str(method)[:60]!r}; use the release of rocourse that wrote it."
        )
    try:
        _check_finite(tensors)
        history = [_from_json(record) for record in header["history"]]
        built = known[method].from_state({**header, "history": history}, tensors, **supplied)
        built.digest_ = digest_of(header)
        check_self_test(built, header.get("self_test"))
    except RocourseError as error:
        raise ArtifactError(f"Model {str(path)!r} cannot be used: {error}") from error
    # Whatever a header says, and whatever is made of it on the way.
    except Exception as error:
        raise ArtifactError(
            f"Model {str(path)!r} must have a complete header, but rebuilding the model from it "
            f"failed with {_told(error)}; copy or train the model again."
        ) from error
    return built


def _told(error: Exception) -> str:
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__


def model_digest(path: PathLike) -> str:
    """The digest that tells a stored model from every other: SHA-256 of header and weights.

    Raises:
        ArtifactError: The model's header is missing, damaged, altered, or of another format.
    """
    return digest_of(read_header(place(path)))


def check_model_path(path: PathLike, *, force: bool = False) -> Path | ObjectPath:
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


def _check_replaceable(path: PathLike, destination: Place) -> None:
    """Refuses to replace, and so to delete, anything but a model."""
    if not destination.is_dir():
        raise OutputError(
            f"Output path {str(path)!r} must be a model to be replaced, but it is a file; choose "
            "another path."
        )
    header = destination / HEADER
    if not header.is_file() or not header.read_bytes().startswith(_OPENING.encode()):
        raise OutputError(
            f"Output path {str(path)!r} must be a model to be replaced, but it is another "
            "directory; choose another path."
        )
    own = {HEADER, _WEIGHTS, _CARD}
    strangers = sorted({entry.name for entry in destination.iterdir()} - own)
    if strangers:
        raise OutputError(
            f"Output path {str(path)!r} must hold nothing but a model to be replaced, but it holds "
            f"{strangers[0]!r} too; move that away, or choose another path."
        )


def _versions() -> dict[str, str]:
    return {
        "rocourse": rocourse.__version__,
        "python": platform.python_version(),
        "jax": version("jax"),
        "numpy": version("numpy"),
    }


def _are_stated(weights: bytes, header: Mapping[str, Any]) -> bool:
    stated = header.get("weights")
    return isinstance(stated, dict) and hashlib.sha256(weights).hexdigest() == stated.get("sha256")


def _read_weights(
    directory: PathLike, content: bytes, header: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    if not _are_stated(content, header):
        stated = header.get("weights")
        size = stated.get("bytes") if isinstance(stated, dict) else None
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


def _to_json(record: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no NaN and no infinity: a loss that overflowed in some epoch is null."""
    return {name: value if math.isfinite(value) else None for name, value in record.items()}


def _from_json(record: Mapping[str, float | None]) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in record.items()}
