"""A user's model as arrays that can be stored, and what tells it from others where it cannot."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rocourse.errors import ArtifactError
from rocourse.models._interface import BatchModel
from rocourse.models.adapters._adapted import AdaptedModel
from rocourse.models.adapters._differences import coordinate_slopes
from rocourse.models.adapters._last_steps import Arrays
from rocourse.models.adapters._quick import Quick, ReadRows, random_rows
from rocourse.models.adapters._views import RawView
from rocourse.schema import Schema

# Rows that a model is known by; what it says of them is stored.
_KNOWN_BY = 256
# How far arrays may be from what the model says of these rows, and another copy of the model: a
# library's next release may round otherwise, a network on other hardware does.
_EXACT, _SAME = 1e-6, 1e-4
# Rows of one call, in cells: 16 MB of float64.
_CELLS = 1 << 21


@final
@dataclass(frozen=True, eq=False)
class StoredModel:
    """A user's model that was stored as arrays, a `BatchModel` without its library.

    Attributes:
        name: What the model was called.
        schema: What the encoded rows are encoded by.
        step: As of `AdaptedModel`.
        quick: The arrays.
        order: The model's column of each class, the classes sorted by label.
    """

    name: str
    schema: Schema
    step: float
    quick: Quick
    order: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        """The labels, sorted."""
        assert self.schema.target is not None  # a fitted schema has one
        return np.asarray(self.schema.target.classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.order)

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """As of `AdaptedModel`."""
        x = np.asarray(x, np.float32)
        result = np.empty((len(x), self.n_classes), np.float32)
        size = max(2, _CELLS // max(len(self.quick.base), 1))
        for start in range(0, len(x), size):
            result[start : start + size] = self.quick_probabilities(x[start : start + size])
        return result

    def read_rows(self, x: np.ndarray) -> ReadRows:
        """As of `AdaptedModel`."""
        return self.quick.read(x)

    def quick_probabilities(self, x: np.ndarray, read: ReadRows | None = None) -> np.ndarray:
        """As of `AdaptedModel`."""
        told: np.ndarray = self.quick(x, read)[:, self.order]
        return told

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of `AdaptedModel`, by coordinate differences."""

        def probability(moved: np.ndarray, wanted: np.ndarray) -> np.ndarray:
            values: np.ndarray = self.probabilities(moved)[np.arange(len(moved)), wanted]
            return values

        view, x = self._view, np.asarray(x, np.float32)
        layout = self.schema.layout
        return coordinate_slopes(
            probability, view.seen(x), np.asarray(target), view.reach(self.step), layout
        )

    @cached_property
    def _view(self) -> RawView:
        return RawView(self.schema, self.schema.names, {}, as_array=False)


def model_to_state(model: BatchModel, schema: Schema) -> tuple[dict[str, Any], Arrays]:
    """What a model that is given leaves in a file.

    Args:
        model: The model.
        schema: What encoded rows are encoded by.

    Returns:
        JSON-able values: `name`, `sha256` (of the arrays of a model that is stored whole, else of
        its answers about some rows) and `stored`, which is None for a model that only its owner can
        store. And arrays: these answers, and those of the model.
    """
    told = _told(model, schema)
    whole = _whole(model)
    if whole is None or np.abs(_told(whole, schema) - told).max() > _EXACT:
        digest = _sha256({}, {"told": told})
        return {"name": _name(model), "sha256": digest, "stored": None}, {"told": told}
    rest, arrays = whole.quick.to_state()
    rest |= {"step": whole.step, "order": whole.order.tolist()}
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    entry = {"name": whole.name, "sha256": _sha256(rest, arrays), "stored": rest}
    return entry, {"told": told, **{f"arrays.{name}": one for name, one in arrays.items()}}


def model_from_state(entry: Mapping[str, Any], tensors: Arrays, schema: Schema) -> StoredModel:
    """The model that was stored whole."""
    rest = entry["stored"]
    arrays = {
        name.removeprefix("arrays."): array
        for name, array in tensors.items()
        if name.startswith("arrays.")
    }
    quick = Quick.from_state(rest, arrays, schema)
    return StoredModel(entry["name"], schema, rest["step"], quick, np.asarray(rest["order"]))


def require_same_model(
    model: BatchModel, entry: Mapping[str, Any], tensors: Arrays, schema: Schema, *, what: str
) -> None:
    """Refuses another model than the one that was there when all else was fitted.

    Args:
        model: What is given now.
        entry: As of `model_to_state`.
        tensors: The arrays beside it.
        schema: What encoded rows are encoded by.
        what: What the model is called in errors.

    Raises:
        ArtifactError: It says something else of the rows that the model is known by.
    """
    told = tensors["told"]
    if model.n_classes == told.shape[1]:
        far = np.abs(_told(model, schema) - told).max(axis=1) > _SAME
        if not far.any():
            return
        found = f"answers {int(far.sum())} of {len(told)} rows otherwise"
    else:
        found = f"knows {model.n_classes} classes instead of {told.shape[1]}"
    raise ArtifactError(
        f"{what} must be the one that recourses were fitted for, {entry['name']} with the digest "
        f"{entry['sha256'][:12]}, but the one that was given {found}; give that one, or fit anew."
    )


def _told(model: BatchModel, schema: Schema) -> np.ndarray:
    told: np.ndarray = np.asarray(model.probabilities(random_rows(schema.layout, _KNOWN_BY)))
    return told.astype(np.float32)


def _whole(model: BatchModel) -> StoredModel | None:
    if isinstance(model, StoredModel):
        return model
    if not isinstance(model, AdaptedModel) or (quick := model.quick) is None:
        return None
    return StoredModel(_name(model), model.schema, model.step, quick, model.order)


def _name(model: BatchModel) -> str:
    return type(model.model if isinstance(model, AdaptedModel) else model).__name__


def _sha256(rest: Mapping[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True, default=str).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
