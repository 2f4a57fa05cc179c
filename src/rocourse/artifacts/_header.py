"""Headers of stored models: what they must be, and the digest that tells one from every other."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Never

import numpy as np

from rocourse._places import Place
from rocourse.errors import ArtifactError

FORMAT = "rocourse-model"
VERSION = 2

HEADER = "model.json"


def read_header(directory: Place) -> dict[str, Any]:
    """The header of a stored model, without its digest, which it has to match.

    Raises:
        ArtifactError: It is missing, damaged, altered, or of another format or version.
    """
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
    content = read_part(directory, HEADER)
    try:
        header: Any = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            f"Model {str(directory)!r} must have a header in JSON, but {HEADER} is truncated or "
            "damaged; copy or train the model again."
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        received = header.get("format") if isinstance(header, dict) else header
        raise ArtifactError(
            f"Model {str(directory)!r} must have the format {FORMAT!r}, but {HEADER} says "
            f"{str(received)[:60]!r}; give a directory that rocourse wrote."
        )
    if header.get("version") != VERSION or isinstance(header["version"], bool):
        raise ArtifactError(
            f"Model {str(directory)!r} must have format version {VERSION}, but it has "
            f"{header.get('version')!r}; use the release of rocourse that wrote it, or train anew."
        )
    if header.pop("digest", None) != digest_of(header):
        raise ArtifactError(
            f"Model {str(directory)!r} must be as it was written, but {HEADER} has been altered; "
            "copy or train the model again."
        )
    return header


def read_part(directory: Place, name: str) -> bytes:
    """A file of a stored model.

    Raises:
        ArtifactError: It cannot be read.
    """
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"Model {str(directory)!r} must hold a readable {name}, but got "
            f"{error.strerror or error}; give a directory that rocourse wrote."
        ) from error


def digest_of(header: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a header that has no digest yet."""
    canonical = json.dumps(
        header, sort_keys=True, separators=(",", ":"), allow_nan=False, default=plain_number
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def plain_number(value: object) -> object:
    """numpy scalars among the parameters are stored as plain numbers; nothing else is guessed."""
    if isinstance(value, np.generic):
        return value.item()
    raise ArtifactError(
        f"The parameters of a stored model must be numbers, text or lists, but got {value!r}; "
        "set a plain value before fitting."
    )


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)
