"""From a user's model to a function of encoded rows."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError
from rocourse.models._frameworks import is_from
from rocourse.models._interface import BatchModel
from rocourse.models.adapters._adapted import AdaptedModel
from rocourse.models.adapters._answers import OUTPUTS, Outputs, Reading
from rocourse.models.adapters._estimators import (
    check_fitted,
    fitted_dtypes,
    fitted_names,
    fitted_width,
    is_booster,
    own_classes,
    probability_call,
    schema_columns,
)
from rocourse.models.adapters._onnx import OnnxModel, is_onnx
from rocourse.models.adapters._refits import Refit, clone_and_fit
from rocourse.models.adapters._torch import TorchCall
from rocourse.models.adapters._views import INPUTS, Inputs, make_view, training_dtypes
from rocourse.schema import Schema

Kind = Literal["estimator", "booster", "onnx", "torch", "function"]


def adapt(
    model: Any,
    schema: Schema,
    *,
    classes: Iterable[Any] | None = None,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    like: pd.DataFrame | None = None,
    step: float = 0.05,
    refit: Refit | None = None,
    members: Iterable[Any] = (),
    n_jobs: int = 1,
) -> BatchModel:
    """Makes any classifier a function of encoded rows.

    Args:
        model: A fitted scikit-learn estimator or pipeline (or anything with `predict_proba`, such
            as `XGBClassifier` and `LGBMClassifier`), a `Booster` of XGBoost or LightGBM, a PyTorch
            module, a model in ONNX (its file or bytes), or a function from a batch of rows to
            probabilities. A `BatchModel` is returned as it is.
        schema: The features of the rows, and the classes.
        classes: The labels in the order of the model's columns. By default those that the model
            knows, else those of the schema's target, sorted. One number a row is taken for the
            probability of the second.
        inputs: What the model is called with: `"frame"` (raw values in a DataFrame), `"array"` (raw
            values in an array, columns in schema order) or `"encoded"` (float32 vectors as
            `one_hot` makes them). By default a PyTorch module gets `"encoded"`, a function
            `"frame"`, and a fitted estimator or booster what it was fitted on: `"frame"` if it
            knows column names, else `"array"`, or `"encoded"` if it has as many columns as these
            vectors and the schema has not. A model in ONNX gets what its inputs are named or sized
            for.
        outputs: `"logits"` (the default of PyTorch modules; one column goes through the sigmoid,
            several through the softmax) or `"probabilities"` (the default of all others).
        like: Training rows of the model; columns of a DataFrame get their dtypes. Without it they
            have those of `Schema.decode`, and the columns that XGBoost or LightGBM knew as pandas
            categories are such again.
        step: How far a continuous column is moved, as a share of its range, where slopes are
            coordinate differences; see `AdaptedModel.slopes`.
        refit: How the model is fitted again on shifted rows: a function of rows as the model takes
            them, labels and a seed that gives a fitted model. Estimators with `get_params` and
            `fit` are cloned by default.
        members: Models of the same kind that the user has, such as past versions: they take the
            place of refits.
        n_jobs: How many refits are fitted at a time, in threads; -1: as many as there are cores.
            The refits are the same.

    Returns:
        A model whose columns are the classes in sorted order.

    Raises:
        ConfigError: An option has a wrong value, or the model cannot be called in this way.
        DataError: The model answers a probe call with numbers that are no probabilities.
        DependencyError: The model's framework is not installed.

    Examples:
        >>> scores = adapt(lambda rows: 1 / (1 + rows["Duration"] / 24), schema)
        >>> rocourse.ROAR(schema, model=scores, random_state=0).fit(X, y).predict(X.head(2)).shape
        (2,)
    """
    _check_options(schema, inputs, outputs, like, step, n_jobs)
    if _is_batch_model(model):
        if any(option is not None for option in (classes, inputs, outputs, like, refit)):
            raise ConfigError(
                "classes, inputs, outputs, like and refit must not be given for a model that is "
                "adapted already, but got one of them; give them in the first call of adapt."
            )
        adapted: BatchModel = model
        return adapted
    known = {} if like is None else training_dtypes(schema, like)
    stated = None if classes is None else tuple(classes)
    return adapt_as(
        model,
        schema,
        classes=stated,
        inputs=inputs,
        outputs=outputs,
        dtypes=known,
        step=float(step),
        refit=refit,
        members=members,
        n_jobs=n_jobs,
    )


def adapt_as(
    model: Any,
    schema: Schema,
    *,
    classes: tuple[Any, ...] | None,
    inputs: Inputs | None,
    outputs: Outputs | None,
    dtypes: Mapping[str, Any],
    step: float,
    refit: Refit | None = None,
    members: Iterable[Any] = (),
    n_jobs: int = 1,
) -> AdaptedModel:
    """As `adapt`, of checked options; `dtypes` are those of columns, as of a `like`."""
    if isinstance(model, str | PathLike | bytes | bytearray):
        model = OnnxModel.of(model)
    name = _model_name(model)
    kind = _kind_of(model, name)
    if kind == "estimator":
        check_fitted(model, name)
    own = own_classes(model, name) if kind == "estimator" else None
    labels = _labels(own, classes, schema, name)
    reading = Reading(
        name,
        labels,
        outputs or ("logits" if kind == "torch" else "probabilities"),
        _refusal_of_one(schema) if own is None and classes is None else None,
    )
    fitted = kind in ("estimator", "booster", "onnx")
    names = fitted_names(model) if fitted else None
    inputs = inputs or _default_inputs(model, kind, schema, name, names)
    columns, shown = schema.names, {}
    if inputs == "frame":
        columns = schema.names if names is None else schema_columns(names, schema, name)
        shown = fitted_dtypes(model, schema, columns) if fitted else {}
    if inputs != "encoded":
        shown |= dtypes
    call, gradient = _callables(model, kind, inputs, reading)
    alike = partial(
        adapt_as,
        schema=schema,
        classes=classes,
        inputs=inputs,
        outputs=outputs,
        dtypes=dtypes,
        step=step,
    )
    result = AdaptedModel(
        model=model,
        classes=labels[reading.order],
        step=step,
        schema=schema,
        _view=make_view(inputs, schema, columns=columns, dtypes=shown),
        _reading=reading,
        _call=call,
        _gradient=gradient,
        members=tuple(one if _is_batch_model(one) else alike(one) for one in members),
        _refit=refit or clone_and_fit(model),
        _labels=(labels if own is None else own)[reading.order],
        _alike=alike,
        inputs=inputs,
        n_jobs=n_jobs,
        named=own is None or own.tolist() != labels.tolist(),
    )
    result.probe()
    return result


def _callables(
    model: Any, kind: Kind, inputs: Inputs, reading: Reading
) -> tuple[Callable[[Any], Any], Any]:
    """How the model is called, and its gradient in encoded rows where it has one."""
    if kind == "torch":
        if inputs == "frame":
            raise ConfigError(
                f"{reading.name} must take tensors, but got inputs='frame'; choose 'encoded' or "
                "'array', or pass a function of a DataFrame."
            )
        call = TorchCall(model, reading)
        return call, call.gradient if inputs == "encoded" else None
    if kind in ("function", "onnx"):
        return model, None
    return probability_call(model, reading.name), None


def _check_options(
    schema: object, inputs: object, outputs: object, like: object, step: object, n_jobs: object
) -> None:
    if not isinstance(schema, Schema):
        raise ConfigError(
            f"schema must be a Schema, but got {type(schema).__name__}; make one with Schema.infer."
        )
    for option, value, choices in (("inputs", inputs, INPUTS), ("outputs", outputs, OUTPUTS)):
        if value is not None and value not in choices:
            raise ConfigError(
                f"{option} must be one of {', '.join(map(repr, choices))}, but got {value!r}; "
                "choose one of them."
            )
    if isinstance(step, bool) or not isinstance(step, (int, float)) or not 0.0 < step <= 0.5:
        raise ConfigError(
            f"step must be a number above 0 and at most 0.5, but got {step!r}; choose a small "
            "share of the range, such as 0.05."
        )
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < -1 or n_jobs == 0:
        raise ConfigError(
            f"n_jobs must be a whole number above 0, or -1 for all cores, but got {n_jobs!r}; 1 "
            "fits one refit after the other."
        )
    if like is None:
        return
    if not isinstance(like, pd.DataFrame):
        raise ConfigError(
            f"like must be a DataFrame of training rows, but got {type(like).__name__}; pass the "
            "rows that the model was fitted on."
        )
    for feature in schema.names:
        if feature not in like.columns:
            raise ConfigError(
                f"like must have the columns of the schema, but {feature!r} is missing; pass the "
                "rows that the model was fitted on."
            )


def _is_batch_model(model: object) -> bool:
    return not isinstance(model, type) and all(
        hasattr(model, name) for name in ("n_classes", "probabilities", "slopes")
    )


def _model_name(model: object) -> str:
    described = getattr(model, "__qualname__", None) if callable(model) else None
    if isinstance(described, str) and not isinstance(model, type):
        return f"The function {described}"
    return f"The model {type(model).__name__}"


def _kind_of(model: Any, name: str) -> Kind:
    if isinstance(model, type):
        raise ConfigError(
            f"The model must be a fitted object, but got the class {model.__name__}; make an "
            "instance and fit it."
        )
    if is_from(model, "torch", "Module"):
        return "torch"
    if is_booster(model):
        return "booster"
    if is_onnx(model):
        return "onnx"
    if hasattr(model, "predict_proba") or hasattr(model, "predict"):
        return "estimator"
    if callable(model):
        return "function"
    raise ConfigError(
        f"{name} must be an estimator with predict_proba, a Booster, a PyTorch module, a file of "
        "ONNX or a function of rows, but it is none of these; wrap it in a function that returns "
        "probabilities."
    )


def _labels(
    own: np.ndarray | None, stated: Iterable[Any] | None, schema: Schema, name: str
) -> np.ndarray:
    """The labels in the order of the model's columns."""
    target = schema.target
    if stated is not None:
        labels = np.asarray(list(stated))
        source = "the stated classes"
    elif own is not None:
        labels, source = own, f"the classes of {name[0].lower()}{name[1:]}"
    elif target is not None:
        return np.asarray(target.classes)
    else:
        raise ConfigError(
            f"{name} does not know its classes and the schema has no target, so classes must be "
            "stated; give the labels in the order of its columns."
        )
    known = labels.tolist()
    if labels.ndim != 1 or len(set(known)) < max(2, len(known)):
        raise ConfigError(
            f"{source[0].upper()}{source[1:]} must be two or more different labels, but got "
            f"{known}; give one label a column."
        )
    if own is not None and len(own) != len(known):
        raise ConfigError(
            f"The stated classes must be as many as the model's {len(own)}, but got {known}; give "
            "one label a column."
        )
    if target is not None and set(known) != set(target.classes):
        raise ConfigError(
            f"{source[0].upper()}{source[1:]} must be those of the target {target.name!r}, "
            f"{list(target.classes)}, but got {known}; state classes, the target's labels in the "
            "order of the model's columns."
        )
    return labels


def _refusal_of_one(schema: Schema) -> str | None:
    """Why one number a row cannot be read, where it could be either class's probability."""
    target = schema.target
    if target is None or target.favourable in (None, target.classes[-1]):
        return None
    # By custom, one number is the probability of 1 or True, whichever is the better class.
    if list(target.classes) == [0, 1]:
        return None
    return (
        "must say which class its one number a row belongs to, because the favourable class "
        f"{target.favourable!r} is not the last of {list(target.classes)}; state classes=(other, "
        "its class), or return one column a class."
    )


def _default_inputs(
    model: Any, kind: Kind, schema: Schema, name: str, names: tuple[str, ...] | None
) -> Inputs:
    if kind == "torch":
        return "encoded"
    width = None if kind == "function" else fitted_width(model)
    if kind == "onnx" and names is None and width is None:
        raise ConfigError(
            f"{name} must say how many columns its input has, or be told what to be called with, "
            "but its file says neither; state inputs='array' or 'encoded'."
        )
    if names is not None or width is None:
        return "frame"
    if width == len(schema.features):
        return "array"
    if width == schema.layout.width:
        return "encoded"
    raise ConfigError(
        f"{name} must be fitted on the {len(schema.features)} columns of the schema (or its "
        f"{schema.layout.width} encoded ones), but it was fitted on {width}; pass a pipeline or a "
        "function that starts from raw rows."
    )
