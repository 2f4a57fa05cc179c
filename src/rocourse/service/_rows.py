"""What a row must look like, as a Pydantic model made from a schema."""

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic import create_model as make_pydantic_model

from rocourse.schema import Categorical, Continuous, Schema

# Beyond this, float32 arithmetic has no meaning; JSON has no limit.
_LARGEST = 1e30


def row_model(schema: Schema) -> type[BaseModel]:
    """A model that takes exactly the rows of a schema: every feature, no other, of its own type."""
    fields: dict[str, Any] = {}
    for i, feature in enumerate(schema.features):
        kind = _category(feature) if isinstance(feature, Categorical) else _number(feature)
        # Column names may be anything; those of Python's fields may not.
        fields[f"feature_{i}"] = (kind, Field(alias=feature.name, title=feature.name))
    return make_pydantic_model(
        "Row",
        __config__=ConfigDict(extra="forbid", hide_input_in_errors=True),
        __doc__="One applicant: a value of every feature.",
        **fields,
    )


def plain_row(row: BaseModel) -> dict[str, Any]:
    """The row by the names of its features."""
    return row.model_dump(by_alias=True)


def _number(feature: Continuous) -> Any:
    low, high = feature.bounds
    low, high = -_LARGEST if low is None else low, _LARGEST if high is None else high
    described: dict[str, Any] = {
        "type": "integer" if feature.integer else "number",
        "minimum": _short(low),
        "maximum": _short(high),
        "description": _described(feature),
    }
    limits = Field(ge=low, le=high, strict=True, allow_inf_nan=False)
    if not feature.integer:
        return Annotated[float, limits, WithJsonSchema(described)]
    return Annotated[float, limits, AfterValidator(_whole), WithJsonSchema(described)]


def _described(feature: Continuous) -> str:
    unit = f" {feature.unit}" if feature.unit else ""
    return f"Training rows have {feature.low:g} to {feature.high:g}{unit}."


def _whole(value: float) -> int:
    if not value.is_integer():
        raise ValueError("must be a whole number")
    return int(value)


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _category(feature: Categorical) -> Any:
    known = {(isinstance(value, bool), value): value for value in feature.categories}
    described: dict[str, Any] = {"enum": list(feature.categories)}
    if feature.labels:
        pairs = zip(feature.categories, feature.labels, strict=True)
        described["description"] = "; ".join(f"{value}: {label}" for value, label in pairs)
    return Annotated[Any, PlainValidator(partial(_known, known)), WithJsonSchema(described)]


def _known(known: dict[tuple[bool, Any], Any], value: Any) -> Any:
    # In Python 1 and true are the same; in JSON they are not.
    found = None
    if isinstance(value, str | int | float):
        found = known.get((isinstance(value, bool), value))
    if found is None:
        names = ", ".join(str(category) for category in known.values())
        raise ValueError(f"must be one of {names if len(names) < 300 else 'the known categories'}")
    return found
