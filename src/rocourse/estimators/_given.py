"""Models that are given instead of trained: what they know, and how they are asked."""

from typing import Any

import numpy as np

from rocourse.errors import SchemaError
from rocourse.models import BatchModel
from rocourse.models.adapters import AdaptedModel, adapt
from rocourse.schema import Schema


def classes_of(model: Any, schema: Schema | None) -> np.ndarray | None:
    """The sorted labels that a model of the user's gives, if they are known."""
    if isinstance(model, AdaptedModel):
        return model.classes
    labels = getattr(model, "classes_", None)
    if labels is None and schema is not None and schema.target is not None:
        labels = schema.target.classes
    return None if labels is None else np.unique(np.asarray(labels))


def open_model(model: Any, schema: Schema) -> BatchModel:
    """A model of the user's as a function of encoded rows."""
    if isinstance(model, AdaptedModel):
        require_same_encoding(schema, model.schema)
        return model
    return adapt(model, schema)


def require_same_encoding(ours: Schema, theirs: Schema) -> None:
    """Refuses a schema by which the model would read other numbers."""
    for name in (*ours.names, *theirs.names):
        mine = ours[name] if name in ours.names else None
        other = theirs[name] if name in theirs.names else None
        for what in ("categories", "low", "high"):
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
