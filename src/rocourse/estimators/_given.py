"""The model that decides: where it is given, what it knows and how it is asked; its cut-off."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rocourse.errors import ConfigError, SchemaError
from rocourse.estimators._reading import fitted_schema
from rocourse.models import (
    BatchModel,
    NetworkModel,
    Trainer,
    TrainingRows,
    has_network,
    predict_rows,
)
from rocourse.models.adapters import AdaptedModel, StoredModel, adapt
from rocourse.models.training import History
from rocourse.networks import Predictor
from rocourse.recourse import Context, Proposer
from rocourse.schema import CutOff, Schema, threshold_of_rate

# Rows that a model of the user's is asked about, which may take long to answer.
_ASKED_ROWS = 2000
# So far below one half, and so many deviations of chance, classes are taken to be the wrong way
# round: a model may know little of the rows that it is given with.
_BACKWARDS, _DEVIATIONS = 0.1, 4.0


def classes_of(model: Any, schema: Schema | None) -> np.ndarray | None:
    """The sorted labels that a model of the user's gives, if they are known."""
    if isinstance(model, AdaptedModel | StoredModel):
        return model.classes
    labels = getattr(model, "classes_", None)
    if labels is None and schema is not None and schema.target is not None:
        labels = schema.target.classes
    return None if labels is None else np.unique(np.asarray(labels))


def schema_of(model: Any) -> Schema | None:
    """The schema that a model of the user's was adapted to, if it was."""
    return model.schema if isinstance(model, AdaptedModel | StoredModel) else None


def open_model(model: Any, schema: Schema) -> BatchModel:
    """A model of the user's as a function of encoded rows."""
    if isinstance(model, AdaptedModel | StoredModel):
        require_same_encoding(schema, model.schema)
        return model
    return adapt(model, schema)


def learned_schema(
    stated: Schema | None,
    theirs: Schema | None,
    frame: pd.DataFrame,
    y: ArrayLike,
    classes: np.ndarray,
) -> Schema:
    """The schema of the training rows, by which the model that is given reads them as before.

    Args:
        stated: As the user has it, if so.
        theirs: The given model's, if it has one: its target is ours.
        frame: The training rows.
        y: Their labels.
        classes: The classes among them.
    """
    stated = stated or theirs
    if stated is not None and theirs is not None and theirs.target is not None:
        stated = replace(stated, target=theirs.target)
    schema = fitted_schema(stated, frame, y, classes)
    if theirs is not None:
        require_same_encoding(schema, theirs)
    return schema


def learned_cut_off(
    threshold: float | None, approval_rate: float | None, model: BatchModel, data: TrainingRows
) -> CutOff:
    """From which probability on a model grants the favourable class of two.

    Args:
        threshold: As stated, if it is.
        approval_rate: Else the share of the rows that are to be granted it.
        model: The model.
        data: Its training rows.
    """
    target = data.schema.target
    assert target is not None  # a fitted schema has one
    favourable = target.classes.index(target.wanted())
    if threshold is None:
        assert approval_rate is not None
        likely = predict_rows(model, data.rows, data.schema.layout)[:, favourable]
        threshold = threshold_of_rate(likely, approval_rate)
    return CutOff(float(threshold), favourable)


def networks_of(
    context: Context,
    proposer: Proposer,
    trainer: Trainer,
    data: TrainingRows,
    history: History,
) -> tuple[Predictor | None, tuple[Predictor, ...]]:
    """The deciding model's network, and its networks apart.

    Of a model without any, those of one that is trained to say what it says, where the proposer
    needs that.
    """
    if has_network(context.trained):
        predictor, decides = context.trained.predictor, context.model
        known = decides.networks if isinstance(decides, NetworkModel) else (predictor,)
        return predictor, tuple(known)
    if not proposer.uses_network(context.trained):
        return None, ()
    said = context.verdicts(context.predict(data.rows)).astype(np.int32)
    imitated = data._replace(labels=said)
    networks = trainer.train(imitated, seed=context.seed, history=history).networks
    return NetworkModel.of(networks).predictor, tuple(networks)


def require_classes(model: BatchModel, classes: np.ndarray, data: TrainingRows) -> None:
    """Refuses a model of other classes than the rows have, or that names them the wrong way."""
    if model.n_classes != len(classes):
        raise ConfigError(
            f"The option 'model' must know the {len(classes)} classes {classes.tolist()}, but it "
            f"gives probabilities of {model.n_classes}; pass rows of all its classes, or a schema "
            "that names them."
        )
    if isinstance(model, AdaptedModel) and model.named and len(classes) == 2:
        _require_order(model, data)


def _require_order(model: AdaptedModel, data: TrainingRows) -> None:
    """Refuses two classes that were named in the wrong order, by the rows that they are for."""
    # Imported by what fits alone.
    from rocourse.evaluation import auc

    places = np.unique(np.linspace(0, len(data.labels) - 1, _ASKED_ROWS).astype(int))
    labels = data.labels[places]
    first, second = np.bincount(labels, minlength=2)
    if not first or not second:
        # It was given without labels.
        return
    told = predict_rows(model, data.rows.take(places), data.schema.layout)
    chance = math.sqrt((first + second + 1) / (12 * first * second))
    share = auc(labels, told, [0, 1])
    assert share is not None  # both classes are there
    if share >= 0.5 - max(_BACKWARDS, _DEVIATIONS * chance):
        return
    stated = list(model.how["classes"])
    raise ConfigError(
        f"The model's classes must be named in the order of its columns, but as {stated} it finds "
        f"{stated[1]!r} less likely of rows that are than of rows that are not in "
        f"{1.0 - share:.0%} of pairs; state adapt(model, schema, classes={stated[::-1]}), or check "
        "the rows' labels."
    )


def require_two(classes: np.ndarray) -> None:
    """Refuses a cut-off for other than two classes."""
    if len(classes) != 2:
        raise ConfigError(
            "The options 'threshold' and 'approval_rate' must be None with more than two classes, "
            f"of which the most probable is given: got {classes.tolist()}; leave them out."
        )


def require_network(model: BatchModel, witnesses: int) -> None:
    """Refuses witnesses for a model that only its owner can train anew."""
    if not has_network(model):
        raise ConfigError(
            "The option 'witnesses' must be 0 for a model whose network is not ours, since such a "
            f"model cannot be trained anew here: got {witnesses}; leave it out."
        )


def require_same_encoding(ours: Schema, theirs: Schema) -> None:
    """Refuses a schema by which the model would read other numbers."""
    for name in (*ours.names, *theirs.names):
        mine = ours[name] if name in ours.names else None
        other = theirs[name] if name in theirs.names else None
        for what in ("categories", "low", "high", "date", "size"):
            if getattr(mine, what, None) != getattr(other, what, None):
                raise SchemaError(
                    f"Feature {name!r} must have the range or categories that the model was "
                    f"trained with, {getattr(other, what, None)}: got {getattr(mine, what, None)}; "
                    "pass the model's own schema_, with other constraints if need be."
                )
    if ours.names != theirs.names:
        raise SchemaError(
            f"The schema must have the model's features in their order, {list(theirs.names)}: got "
            f"{list(ours.names)}; pass the model's own schema_."
        )
