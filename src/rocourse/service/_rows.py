"""What a row must look like, as a Pydantic model made from a schema."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic import create_model as make_pydantic_model
from pydantic_core import PydanticKnownError

from rocourse.schema import (
    Categorical,
    CategoryRule,
    Continuous,
    Fault,
    NumberRule,
    Schema,
    is_gap,
    jsonable,
)

# Beyond this, float32 arithmetic has no meaning; JSON has no limit.
_LARGEST = 10**30


def row_model(schema: Schema) -> type[BaseModel]:
    """A model that takes exactly the rows of a schema: every feature, no other, of its own type."""
    fields: dict[str, Any] = {}
    for i, (name, rule) in enumerate(schema.rules.items()):
        read: Callable[[Any], Any]
        if isinstance(rule, CategoryRule):
            read, described = partial(_category, rule), _describe_category(rule.feature)
        else:
            bounds = _bounds(rule.feature)
            read, described = partial(_number, rule, *bounds), _describe_number(rule.feature)
        kind = Annotated[Any, PlainValidator(read), WithJsonSchema(described)]
        # Column names may be anything; those of Python's fields may not.
        fields[f"feature_{i}"] = (kind, Field(alias=name, title=name))
    return make_pydantic_model(
        "Row",
        __config__=ConfigDict(extra="forbid", hide_input_in_errors=True),
        __doc__="One applicant: a value of every feature.",
        **fields,
    )


def plain_row(row: BaseModel) -> dict[str, Any]:
    """The row by the names of its features."""
    # Its values are plain already, and Pydantic would look at each again.
    values = row.__dict__
    return {str(field.alias): values[key] for key, field in type(row).model_fields.items()}


def _number(rule: NumberRule, least: float, most: float, value: Any) -> float | int | str | None:
    # JSON has one way to say that there is no value.
    fault = Fault.MISSING if value is not None and is_gap(value) else rule.fault(value)
    # Outside the training range, the model clips it or refuses the row itself.
    if fault is None or fault is Fault.OUTSIDE_RANGE:
        number = rule.number(value)
        assert number is not None  # that would be a fault
        if number != number:
            return None
        # Whole numbers to the last digit, which a float does not have.
        exact = value if type(value) is int else number
        if least <= exact <= most or exact in (float(least), float(most)):
            if rule.feature.date:
                return jsonable(rule.feature, number)
            return int(exact) if rule.whole else float(exact)
        fault = Fault.BELOW_BOUNDS if number < least else Fault.ABOVE_BOUNDS
    raise _refusal(fault, rule.feature, least, most)


def _refusal(
    fault: Fault, feature: Continuous, least: float, most: float
) -> ValueError | PydanticKnownError:
    """What is wrong with a number, in Pydantic's words where it has some."""
    if feature.date:
        return ValueError(_no_date(fault, feature))
    match fault:
        case Fault.MISSING | Fault.INFINITE:
            return PydanticKnownError("finite_number")
        case Fault.FRACTION:
            return ValueError("must be a whole number")
        case Fault.BELOW_BOUNDS:
            return PydanticKnownError("greater_than_equal", {"ge": least})
        case Fault.ABOVE_BOUNDS:
            return PydanticKnownError("less_than_equal", {"le": most})
        case _:
            return PydanticKnownError("float_type")


def _no_date(fault: Fault, feature: Continuous) -> str:
    least, most = feature.bounds
    match fault:
        case Fault.BELOW_BOUNDS:
            return f"must be {feature.word(least)} or later"
        case Fault.ABOVE_BOUNDS:
            return f"must be {feature.word(most)} or earlier"
        case Fault.FRACTION:
            return "must be a date without a time of day"
        case _:
            return "must be a date such as 2020-01-31"


def _bounds(feature: Continuous) -> tuple[float, float]:
    least, most = feature.bounds
    return -_LARGEST if least is None else least, _LARGEST if most is None else most


def _describe_number(feature: Continuous) -> dict[str, Any]:
    optional = ["null"] if feature.missing == "impute" else []
    if feature.date:
        first, last = (feature.word(day) for day in (feature.low, feature.high))
        return {
            "type": ["string", *optional] if optional else "string",
            "format": "date" if feature.integer else "date-time",
            "description": f"Training rows have {first} to {last}.",
        }
    least, most = _bounds(feature)
    kind = "integer" if feature.integer else "number"
    unit = f" {feature.unit}" if feature.unit else ""
    return {
        "type": [kind, *optional] if optional else kind,
        "minimum": _short(least),
        "maximum": _short(most),
        "description": f"Training rows have {feature.low:g} to {feature.high:g}{unit}.",
    }


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _category(rule: CategoryRule, value: Any) -> Any:
    code = rule.code(value)
    if code is None:
        if rule.gap is not None and value is None:
            return None
        names = ", ".join(str(category) for category in rule.feature.categories)
        raise ValueError(f"must be one of {names if len(names) < 300 else 'the known categories'}")
    return rule.feature.categories[code]


def _describe_category(feature: Categorical) -> dict[str, Any]:
    known: list[Any] = list(feature.categories)
    optional = [None] if feature.missing in ("impute", "category") else []
    described: dict[str, Any] = {"enum": [*known, *optional]}
    if feature.labels:
        pairs = zip(feature.categories, feature.labels, strict=True)
        described["description"] = "; ".join(f"{value}: {label}" for value, label in pairs)
    return described
