"""Options that belong together, as frozen objects.

Each option is declared once: its default, what it means, which values it may have, and how far a
search for better values may go. Objects of options nest under scikit-learn's names
(`attack__steps`), are compared by value, and turn into JSON and back.
"""

import dataclasses
import inspect
import math
import textwrap
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

from rocourse.errors import ConfigError

__all__ = [
    "NESTED",
    "Choices",
    "Options",
    "Range",
    "Rule",
    "Span",
    "as_tuple",
    "documented",
    "either",
    "function",
    "instance",
    "many",
    "maybe",
    "number",
    "one_of",
    "option",
    "parameter_docs",
    "plain",
    "share",
    "truth",
    "tuning_ranges",
    "whole",
    "widths",
]

_LINE_WIDTH = 100
NESTED = "__"
"""What stands between the name of an object of options and the name of one of them."""


class Rule(NamedTuple):
    """Which values an option may have."""

    words: str
    """After "must be"."""
    holds: Callable[[Any], bool]
    kind: "type[Options] | None" = None
    """The class of options whose objects it allows, if it does."""


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """Numbers from `low` to `high`, for tuning.

    Attributes:
        low: The least.
        high: The greatest.
        log: Whether ratios count, as for prices and rates, rather than differences.
        whole: Whether only whole numbers do.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"low": self.low, "high": self.high, "log": self.log, "whole": self.whole}

    def __contains__(self, value: object) -> bool:
        kind = int if self.whole else int | float
        return _is(value, kind) and self.low <= value <= self.high  # type: ignore[operator]


@dataclasses.dataclass(frozen=True, slots=True)
class Choices:
    """A few values that have no order, for tuning.

    Attributes:
        values: Texts, numbers, truth values, or tuples of them.
    """

    values: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"values": [plain(value) for value in self.values]}

    def __contains__(self, value: object) -> bool:
        return value in self.values


Range = Span | Choices


def option(
    *, default: Any, doc: str, rule: Rule, tune: "Range | Mapping[str, Range] | None" = None
) -> Any:
    """Declares an option.

    Args:
        default: Its value unless another is given.
        doc: What it means, in a sentence.
        rule: Which values it may have.
        tune: How far tuning varies it, if it does; of a nested object, by the names in it.
    """
    return dataclasses.field(
        default=default, kw_only=True, metadata={"doc": doc, "rule": rule, "tune": tune}
    )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
class Options(metaclass=ABCMeta):
    """Abstract base of objects of options.

    A subclass declares its fields with `option`. One that others are to be chosen from, such as the
    trainers, is abstract and lists the `kinds` that there are.
    """

    kind: ClassVar[str] = ""
    """What tells it from others of its family, in JSON and on the command line."""
    kinds: ClassVar[dict[str, type["Options"]]]

    def __init_subclass__(cls, *, kind: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        dataclasses.dataclass(frozen=True, kw_only=True, repr=False)(cls)
        cls.__doc__ = documented(cls.__doc__, parameter_docs(cls))
        if kind:
            cls.kind = kind
            cls.kinds[kind] = cls

    def __post_init__(self) -> None:
        for field in _fields(self):
            value = getattr(self, field.name)
            if not field.metadata["rule"].holds(value):
                raise ConfigError(
                    f"The option '{field.name}' of {type(self).__name__} must be "
                    f"{field.metadata['rule'].words}: got {value!r}; set it to such a value."
                )

    def __call__(self, **changes: Any) -> Self:
        """A copy with some options changed, named as in `get_params`."""
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        known = {field.name for field in _fields(self)}
        for name, value in changes.items():
            outer, inside, inner = name.partition(NESTED)
            if outer not in known:
                raise ConfigError(
                    f"{type(self).__name__} has no option {outer!r}, only "
                    f"{', '.join(sorted(known))}; correct the name."
                )
            if inside:
                nested.setdefault(outer, {})[inner] = value
            else:
                own[outer] = value
        for outer, inner_changes in nested.items():
            before = own.get(outer, getattr(self, outer))
            if not isinstance(before, Options):
                raise ConfigError(
                    f"The option '{outer}' of {type(self).__name__} must be an object of options "
                    f"for '{next(iter(inner_changes))}' to be set: got {before!r}; set it first."
                )
            own[outer] = before(**inner_changes)
        changed: Self = type(self)(**(self.get_params(deep=False) | own))
        return changed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name; with `deep` also those of nested objects, as scikit-learn has it."""
        params: dict[str, Any] = {}
        for field in _fields(self):
            value = getattr(self, field.name)
            params[field.name] = value
            if deep and isinstance(value, Options):
                inner = value.get_params()
                params |= {f"{field.name}{NESTED}{name}": part for name, part in inner.items()}
        return params

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        values = {field.name: plain(getattr(self, field.name)) for field in _fields(self)}
        return ({"kind": self.kind} if self.kind else {}) | values

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; of a family, the kind that the record names."""
        values = dict(record)
        made: type[Any] = cls
        if hasattr(cls, "kinds") and not cls.kind:
            made = cls.find(values.pop("kind", None))
        values.pop("kind", None)
        kinds = {field.name: field.metadata["rule"].kind for field in _fields(made)}
        unknown = sorted(set(values) - set(kinds))
        if unknown:
            raise ConfigError(
                f"{made.__name__} has no option {unknown[0]!r}, only {', '.join(sorted(kinds))};"
                " correct the name."
            )
        for name, value in values.items():
            nested = kinds[name] is not None and isinstance(value, Mapping)
            values[name] = kinds[name].from_dict(value) if nested else as_tuple(value)
        result: Self = made(**values)
        return result

    @classmethod
    def find(cls, kind: Any) -> type[Self]:
        """The member of this family that is called so."""
        found = cls.kinds.get(kind) if isinstance(kind, str) else None
        if found is None:
            raise ConfigError(
                f"A {cls.__name__.lower()} must be one of {', '.join(cls.kinds)}: got {kind!r}; "
                "name one of them."
            )
        return found  # type: ignore[return-value]

    def __repr__(self) -> str:
        told = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in _fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({told})"


def documented(summary: str | None, docs: Mapping[str, str]) -> str:
    """A docstring with a list of parameters."""
    text = inspect.cleandoc(summary or "")
    if not docs:
        return text
    lines = [
        textwrap.fill(
            f"{name}: {doc}", _LINE_WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8
        )
        for name, doc in docs.items()
    ]
    return "\n".join([text, "", "Args:", *lines])


def parameter_docs(options: type[Any] | Options) -> dict[str, str]:
    """What each option means, those of nested objects under their own names."""
    docs: dict[str, str] = {}
    for field in _fields(options):
        docs[field.name] = field.metadata["doc"]
        # Of an object, what it holds; of a class, what it holds by default.
        value = getattr(options, field.name, None)
        if isinstance(value, Options) and isinstance(options, Options):
            inner = parameter_docs(value)
            docs |= {f"{field.name}{NESTED}{name}": doc for name, doc in inner.items()}
    return docs


def tuning_ranges(options: Options) -> dict[str, Range]:
    """How far tuning varies each option; those that are switched off are left alone."""
    ranges: dict[str, Range] = {}
    for field in _fields(options):
        tune, value = field.metadata["tune"], getattr(options, field.name)
        if isinstance(tune, Mapping):
            ranges |= {f"{field.name}{NESTED}{name}": inner for name, inner in tune.items()}
        elif tune is not None and value not in (0, None):
            ranges[field.name] = tune
    return ranges


def plain(value: Any) -> Any:
    """A JSON-able twin of an option."""
    if isinstance(value, Options):
        return value.to_dict()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value.item() if hasattr(value, "item") and hasattr(value, "dtype") else value


def as_tuple(value: Any) -> Any:
    """An option as objects have it: JSON has no tuples."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def _fields(options: Any) -> Iterator[dataclasses.Field[Any]]:
    return (field for field in dataclasses.fields(options) if "doc" in field.metadata)


def _is(value: object, kind: Any) -> bool:
    """Whether a value is of a kind; truth values are no numbers."""
    return isinstance(value, kind) and not isinstance(value, bool)


def whole(at_least: int = 1) -> Rule:
    """A whole number."""
    return Rule(
        f"a whole number of at least {at_least}", lambda v: bool(_is(v, int) and v >= at_least)
    )


def number(*, at_least: float | None = None, above: float | None = None) -> Rule:
    """A finite number within its bound."""
    words = f"a number of at least {at_least:g}" if above is None else f"a number above {above:g}"

    def holds(value: Any) -> bool:
        if not _is(value, int | float) or not math.isfinite(value):
            return False
        return bool((at_least is None or value >= at_least) and (above is None or value > above))

    return Rule(words, holds)


def share(*, all_of_it: bool = False) -> Rule:
    """A share of a whole, which may be all of it or must leave something over."""
    if all_of_it:
        return Rule("a number from 0 to 1", lambda v: _is(v, int | float) and 0.0 <= v <= 1.0)
    return Rule("at least 0 and below 1", lambda v: _is(v, int | float) and 0.0 <= v < 1.0)


def one_of(choices: tuple[str, ...]) -> Rule:
    """One of a few words."""
    words = "one of " + ", ".join(repr(choice) for choice in choices)
    return Rule(words, lambda v: isinstance(v, str) and v in choices)


def truth() -> Rule:
    """True or False."""
    return Rule("True or False", lambda v: isinstance(v, bool))


def many(each: Rule, words: str) -> Rule:
    """A tuple of at least one value, each by its rule."""
    return Rule(
        f"a non-empty tuple of {words}",
        lambda v: isinstance(v, tuple) and bool(v) and all(map(each.holds, v)),
    )


def widths() -> Rule:
    """Widths of layers."""
    return many(whole(), "whole numbers of at least 1")


def maybe(rule: Rule) -> Rule:
    """What the rule allows, or None."""
    return Rule(f"{rule.words}, or None", lambda v: v is None or rule.holds(v), rule.kind)


def either(*rules: Rule) -> Rule:
    """What one of the rules allows."""
    return Rule(
        ", or ".join(rule.words for rule in rules), lambda v: any(r.holds(v) for r in rules)
    )


def instance(kind: type[Options]) -> Rule:
    """An object of a class of options."""
    return Rule(f"an object of {kind.__name__}", lambda v: isinstance(v, kind), kind)


def function() -> Rule:
    """A function."""
    return Rule("a function", callable)
