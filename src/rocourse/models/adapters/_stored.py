"""A user's model as it is stored, and what tells it from others where it cannot be."""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from rocourse.errors import ArtifactError, RocourseError
from rocourse.models._frameworks import is_from
from rocourse.models._interface import BatchModel
from rocourse.models.adapters._adapt import adapt_as
from rocourse.models.adapters._adapted import AdaptedModel
from rocourse.models.adapters._differences import coordinate_slopes
from rocourse.models.adapters._formats import FORMATS, Unstorable, format_of
from rocourse.models.adapters._last_steps import Arrays
from rocourse.models.adapters._quick import Quick, ReadRows, random_rows
from rocourse.models.adapters._torch import weights_of, with_weights
from rocourse.models.adapters._views import RawView
from rocourse.schema import Schema

# Rows that a model is known by; what it says of them is stored.
_KNOWN_BY = 256
# How far arrays may be from what the model says of these rows, and another copy of the model: a
# library's next release may round otherwise, a network on other hardware does.
_EXACT, _SAME = 1e-6, 1e-4
# Formats that are ours: of arrays alone, and of a PyTorch module that is there already.
_ARRAYS, _WEIGHTS = "arrays", "weights"
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
        library: What it was made with, and its release.
    """

    name: str
    schema: Schema
    step: float
    quick: Quick
    order: np.ndarray
    library: str | None = None

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

    def turns(self) -> tuple[np.ndarray, ...]:
        """As of `QuickModel`."""
        return self.quick.turns

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


def model_to_state(
    model: BatchModel, schema: Schema, *, module: Any = None
) -> tuple[dict[str, Any], Arrays]:
    """What a model that is given leaves in a file.

    Args:
        model: The model.
        schema: What encoded rows are encoded by.
        module: A PyTorch module that will be there again, for refits of it: weights are enough.

    Returns:
        JSON-able values: `name`, `sha256` (of the arrays or the library's own file; of its answers
        about some rows where there are none, or the file is another one each time it is written),
        and `stored`, which is None for a model that only its owner can store, with `reason`. And
        arrays: these answers, and what is stored of the model.
    """
    told = _told(model, schema)
    about = {"name": model_name(model), "library": _library(model)}
    answers = {**about, "sha256": _sha256({}, {"told": told})}
    whole = _whole(model)
    if whole is not None and np.abs(_told(whole, schema) - told).max() <= _EXACT:
        rest, arrays = whole.quick.to_state()
        rest |= {"format": _ARRAYS, "step": whole.step, "order": whole.order.tolist()}
        arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        entry = {**about, "sha256": _sha256(rest, arrays), "stored": rest}
        return entry, {"told": told, **_under(arrays)}
    try:
        rest, arrays = _filed(model, module)
        entry = {**answers, "stored": rest}
        read = model_from_state(entry, _under(arrays), schema, module=module)
        if np.abs(_told(read, schema) - told).max() > _EXACT:
            raise Unstorable("it answers otherwise once it has been stored and read again")
    except (Unstorable, RocourseError) as error:
        return {**answers, "stored": None, "reason": str(error)}, {"told": told}
    if rest["format"] == _WEIGHTS or FORMATS[rest["format"]].lasting:
        entry["sha256"] = _sha256(rest, arrays)
    return entry, {"told": told, **_under(arrays)}


def model_from_state(
    entry: Mapping[str, Any], tensors: Arrays, schema: Schema, *, module: Any = None
) -> StoredModel | AdaptedModel:
    """The model that was stored.

    Args:
        entry: As of `model_to_state`.
        tensors: The arrays beside it.
        schema: What encoded rows are encoded by.
        module: As of `model_to_state`.

    Raises:
        ArtifactError: It holds what is not known to be safe.
        DependencyError: Its library is not installed.
    """
    rest = entry["stored"]
    arrays = {
        name.removeprefix("arrays."): array
        for name, array in tensors.items()
        if name.startswith("arrays.")
    }
    # Arrays were all that there was, before it was said.
    if rest.get("format", _ARRAYS) == _ARRAYS:
        quick = Quick.from_state(rest, arrays, schema)
        order, library = np.asarray(rest["order"]), entry.get("library")
        return StoredModel(entry["name"], schema, rest["step"], quick, order, library)
    how = rest["how"]
    if rest["format"] == _WEIGHTS:
        model = with_weights(module, arrays)
    else:
        model = FORMATS[rest["format"]].load(arrays["file"].tobytes())
    return adapt_as(
        model,
        schema,
        classes=tuple(how["classes"]),
        inputs=how["inputs"],
        outputs=how["outputs"],
        dtypes={name: _dtype_from_json(told) for name, told in how["dtypes"].items()},
        step=how["step"],
    )


def _filed(model: BatchModel, module: Any) -> tuple[dict[str, Any], Arrays]:
    """A model in the format of its library.

    Raises:
        Unstorable: It has none, or cannot be written in it.
    """
    if not isinstance(model, AdaptedModel):
        raise Unstorable(f"a {type(model).__name__} cannot be written to a file")
    how = model.how
    dtypes = {name: _dtype_to_json(dtype) for name, dtype in how["dtypes"].items()}
    how |= {"classes": list(how["classes"]), "dtypes": dtypes}
    if module is not None and is_from(model.model, "torch", "Module"):
        return {"format": _WEIGHTS, "how": how}, weights_of(model.model)
    kind = format_of(model.model)
    content = FORMATS[kind].dump(model.model)
    return {"format": kind, "how": how}, {"file": np.frombuffer(content, np.uint8)}


def _under(arrays: Arrays) -> Arrays:
    return {f"arrays.{name}": one for name, one in arrays.items()}


def _dtype_to_json(dtype: Any) -> Any:
    if isinstance(dtype, pd.CategoricalDtype):
        values = dtype.categories.tolist()
        if all(isinstance(value, str | int | float) for value in values):
            return {"categories": values, "ordered": bool(dtype.ordered)}
        raise Unstorable("categories other than text and numbers cannot be written to a file")
    if pd.api.types.pandas_dtype(str(dtype)) != dtype:
        raise Unstorable(f"a column of type {dtype} cannot be written to a file")
    return str(dtype)


def _dtype_from_json(told: Any) -> Any:
    if isinstance(told, str):
        return pd.api.types.pandas_dtype(told)
    return pd.CategoricalDtype(told["categories"], ordered=told["ordered"])


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
        f"{entry['sha256'][:12]}, but it {found}; give that one, or fit anew."
    )


def _told(model: BatchModel, schema: Schema) -> np.ndarray:
    told: np.ndarray = np.asarray(model.probabilities(random_rows(schema.layout, _KNOWN_BY)))
    return told.astype(np.float32)


def _whole(model: BatchModel) -> StoredModel | None:
    if isinstance(model, StoredModel):
        return model
    if not isinstance(model, AdaptedModel) or (quick := model.quick) is None:
        return None
    return StoredModel(model_name(model), model.schema, model.step, quick, model.order)


def model_name(model: BatchModel) -> str:
    """What a model of the user's is called."""
    if isinstance(model, StoredModel):
        return model.name
    return " that ends in ".join(kind.__name__ for kind in _kinds(model))


def _library(model: BatchModel) -> str | None:
    """The library of a model and its release, where it tells."""
    if isinstance(model, StoredModel):
        return model.library
    libraries = dict.fromkeys(kind.__module__.partition(".")[0] for kind in _kinds(model))
    releases = {name: getattr(sys.modules.get(name), "__version__", None) for name in libraries}
    return ", ".join(f"{name} {told}" for name, told in releases.items() if told) or None


def _kinds(model: BatchModel) -> list[type]:
    """What the user's model is, and the last step of a pipeline."""
    own = model.model if isinstance(model, AdaptedModel) else model
    return [type(own), *([type(own.steps[-1][1])] if isinstance(own, Pipeline) else [])]


def _sha256(rest: Mapping[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True, default=str).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
