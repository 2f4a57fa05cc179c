"""Parameters of estimators: declared once, with their documentation, and shared by composition.

scikit-learn reads an estimator's parameters off the signature of `__init__`. With eleven methods
that share most of theirs, spelling each signature out would be the same lines eleven times; a
dataclass writes it from the fields of the class and of the groups it is composed of.
"""

import dataclasses
import textwrap
from typing import Any, TypeVar, dataclass_transform

Instance = TypeVar("Instance")

_LINE_WIDTH = 100


def param(*, default: Any, doc: str, kw_only: bool = True) -> Any:
    """A parameter with its default and what it means."""
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"doc": doc})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(param,))
def estimator(cls: type[Instance]) -> type[Instance]:
    """Makes the fields of a class the parameters of its `__init__`, and lists them in its doc."""
    # repr and comparison stay scikit-learn's.
    made = dataclasses.dataclass(eq=False, repr=False)(cls)
    summary = textwrap.dedent(cls.__doc__ or "").rstrip()
    lines = [
        textwrap.fill(
            f"{name}: {doc}", _LINE_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8
        )
        for name, doc in parameter_docs(made).items()
    ]
    made.__doc__ = "\n".join([summary, "", "Args:", *lines])
    return made


def parameter_docs(cls: type[Any]) -> dict[str, str]:
    """What each parameter of an estimator means, in the order of its signature."""
    fields = [field for field in dataclasses.fields(cls) if field.init]
    fields.sort(key=lambda field: field.kw_only is True)
    return {field.name: field.metadata["doc"] for field in fields}
