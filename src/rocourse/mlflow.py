"""Recourse models in MLflow: saved, logged and loaded, and asked for advice as a pyfunc.

```python
import mlflow, rocourse.mlflow

with mlflow.start_run():
    logged = rocourse.mlflow.log_model(model, "recourse")
mlflow.pyfunc.load_model(logged.model_uri).predict(X_denied)  # advice, a line a row
rocourse.mlflow.load_model(logged.model_uri)  # the model itself
```

What MLflow keeps is the directory that `rocourse.save` writes, with its card: JSON and arrays, no
code. It needs the extra `mlflow`.
"""

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import rocourse
from rocourse._files import PathLike
from rocourse.artifacts import card, load, load_from, model_digest, save
from rocourse.errors import ArtifactError, ConfigError, DependencyError
from rocourse.schema import Continuous, Feature, Schema
from rocourse.tables import recourse_table

if TYPE_CHECKING:
    import pandas as pd

    from rocourse.estimators import RecourseClassifier

__all__ = ["load_model", "log_model", "save_model"]

_FLAVOR, _CARD = "rocourse", "card.md"
# What a stored model is made of decides what it takes to read it.
_EXTRAS = {"lightgbm": "lightgbm", "onnx": "onnx", "skops": "skops", "xgboost": "xgboost"}
_TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}


def log_model(
    model: "RecourseClassifier",
    name: str,
    *,
    input_example: "pd.DataFrame | None" = None,
    model_from: str | None = None,
    registered_model_name: str | None = None,
) -> Any:
    """Logs a fitted model to MLflow, under the active run if there is one.

    Args:
        model: The model.
        name: What to call it.
        input_example: A few rows, for people who want to ask it; by default one is made up.
        model_from: As of `save_model`.
        registered_model_name: Where to register it besides.

    Returns:
        MLflow's `ModelInfo`; its `model_uri` is what `load_model` takes.

    Raises:
        ConfigError: As of `save_model`.
        DependencyError: MLflow is not installed.
    """
    log = _mlflow("models").Model.log
    called: dict[str, str | None] = {"artifact_path": None, "name": name}
    if "name" not in inspect.signature(log).parameters:  # MLflow 2
        called = {"artifact_path": name}
    return log(
        **called,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        model=model,
        input_example=_example(model) if input_example is None else input_example,
        model_from=model_from,
    )


def save_model(
    model: "RecourseClassifier",
    path: PathLike,
    *,
    input_example: "pd.DataFrame | None" = None,
    model_from: str | None = None,
    mlflow_model: Any = None,
) -> None:
    """Writes a fitted model to a directory in MLflow's form.

    Args:
        model: The model.
        path: Directory to make.
        input_example: As of `log_model`.
        model_from: What makes the model that this one explains where that cannot be stored, as
            `package.module:function`; its module must be there where the model is loaded.
        mlflow_model: What MLflow has noted of the model so far.

    Raises:
        ConfigError: The model that it explains cannot be stored, and nothing is said to make it.
        DependencyError: MLflow is not installed.
    """
    models, pyfunc = _mlflow("models"), _mlflow("pyfunc")
    example = _example(model) if input_example is None else input_example
    noted = models.Model() if mlflow_model is None else mlflow_model
    with TemporaryDirectory() as folder:
        stored = save(model, Path(folder) / "model")
        header = json.loads((stored / "model.json").read_bytes())
        if "model" in header["supplied"] and model_from is None:
            raise ConfigError(
                "A model in MLflow must be stored with the one that it explains, but that cannot "
                f"be stored, because {header['given']['reason']}; name what makes it, as with "
                "model_from='package.module:function'."
            )
        noted.add_flavor(
            _FLAVOR,
            rocourse_version=rocourse.__version__,
            method=model.method,
            digest=model_digest(stored),
            data="data/model",
            model_from=model_from,
        )
        pyfunc.save_model(
            path,
            loader_module=__name__,
            data_path=str(stored),
            mlflow_model=noted,
            signature=_signature(model, example),
            input_example=example,
            pip_requirements=_requirements(header),
            model_config=None if model_from is None else {"model_from": model_from},
        )
        (Path(path) / _CARD).write_text(card(stored), encoding="utf-8")


def load_model(model_uri: str, *, model: Any = None) -> "RecourseClassifier":
    """Reads a model that `log_model` or `save_model` wrote.

    Args:
        model_uri: As MLflow knows it: a path, `models:/name/1`, `runs:/id/name`.
        model: As of `rocourse.load`.

    Raises:
        ArtifactError: It is no model of ours, or damaged.
        DependencyError: MLflow is not installed.
    """
    folder = Path(_mlflow("artifacts").download_artifacts(artifact_uri=str(model_uri)))
    flavors = _mlflow("models").Model.load(str(folder)).flavors
    if _FLAVOR not in flavors:
        raise ArtifactError(
            f"Model {str(model_uri)!r} must be one that rocourse.mlflow wrote, but it has the "
            f"flavors {', '.join(flavors)}; load it with mlflow.pyfunc."
        )
    stored = folder / flavors[_FLAVOR]["data"]
    if model is not None:
        return load(stored, model=model)
    return load_from(stored, flavors[_FLAVOR].get("model_from"))


class _Advice:
    """What MLflow asks: rows in, advice out."""

    def __init__(self, model: "RecourseClassifier") -> None:
        self._model = model

    def predict(self, model_input: "pd.DataFrame", params: Any = None) -> "pd.DataFrame":
        """A line for each row: what came of it, the advised values, and the changes in words."""
        target = self._model.schema_.target
        wanted = None if target is None else target.favourable
        return recourse_table(self._model.recourse(model_input, desired=wanted))


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> _Advice:
    """What MLflow calls to load a model as a pyfunc."""
    return _Advice(load_from(path, (model_config or {}).get("model_from")))


def _mlflow(part: str) -> Any:
    try:
        return import_module(f"mlflow.{part}")
    except ImportError as error:
        raise DependencyError(
            f"The package 'mlflow' must be installed for this, but got {error}; install it with "
            "pip install 'rocourse[mlflow]'."
        ) from error


def _requirements(header: dict[str, Any]) -> list[str]:
    """What has to be installed where the model is loaded."""
    given = header["given"]
    stored = [] if given is None else [given["stored"], *(one["stored"] for one in given["refits"])]
    made_of = [one for one in stored if one is not None]
    extras = {_EXTRAS[one["format"]] for one in made_of if one["format"] in _EXTRAS}
    extras |= {"trees" for one in made_of if one.get("last_step") == "trees"}
    named = f"[{','.join(sorted(extras))}]" if extras else ""
    return [f"rocourse{named}=={rocourse.__version__}"]


def _example(model: "RecourseClassifier") -> "pd.DataFrame":
    """A made-up row, in the middle of everything."""
    import numpy as np

    from rocourse.schema import Rows

    layout = model.schema_.layout
    middle = np.full((1, layout.n_continuous), 0.5, np.float32)
    return model.schema_.decode(Rows(middle, np.zeros((1, layout.n_categorical), np.int32)))


def _signature(model: "RecourseClassifier", example: "pd.DataFrame") -> Any:
    """What goes in, by the schema, and what comes out, by what does."""
    types = _mlflow("types")
    advice = _Advice(model).predict(example)
    told = [types.ColSpec(_output_type(advice[name]), name) for name in advice.columns]
    return _mlflow("models").ModelSignature(
        inputs=types.Schema(_input_columns(model.schema_, types)), outputs=types.Schema(told)
    )


def _input_columns(schema: Schema, types: Any) -> list[Any]:
    anything = import_module("mlflow.types.schema").AnyType()
    return [types.ColSpec(_input_type(one) or anything, one.name) for one in schema.features]


def _input_type(feature: Feature) -> str | None:
    """The type that MLflow holds a column to; None: any, and the model itself checks it."""
    gaps = feature.missing != "error"
    if isinstance(feature, Continuous):
        if feature.date or feature.written is not None:
            return None
        # pandas has whole numbers as decimals where some are missing, and MLflow refuses either.
        return "double" if not feature.integer else None if gaps else "long"
    kinds = {type(value) for value in feature.categories}
    named = _TYPES.get(kinds.pop()) if len(kinds) == 1 else None
    return None if gaps and named != "string" else named


def _output_type(column: "pd.Series[Any]") -> str:
    return {"i": "long", "u": "long", "f": "double", "b": "boolean"}.get(
        column.dtype.kind, "string"
    )
