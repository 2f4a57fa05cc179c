"""Numbers as people write them: $1,200 and 14% and 1 234,5 €.

A column writes all its numbers in one way, told by what it makes of 1234.5: "$1,234.5", "1234.5%",
"1 234,5 €". Texts that could be meant in two ways are not read at all.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._gaps import gaps_of, is_gap
from rocourse.schema._values import plain

_SPACES = " \u00a0\u202f"
_CURRENCY = r"[€$£¥]|(?:eur|usd|gbp|chf|jpy|cad|aud)\b"
# Multiples (k, m) are no units: of 12k and 800 nobody knows.
_UNITS = (
    "years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|km|cm|kg|lbs?|"
    "jahre?|monate?|wochen?|tage?|stunden?"
)
_CELL = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{_CURRENCY})?\s*(?P<minus>[-−]?)"
    rf"(?P<body>\d[\d.,'{_SPACES}]*?)\s*(?P<after>%|{_CURRENCY}|(?:{_UNITS})\b\.?)?",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    rf"(?P<before>[^\d+−-]*)1(?P<group>[,.'{_SPACES}]?)234(?P<mark>[.,])5(?P<after>\D*)"
)
# Numbers that have a unit of their own are amounts, whereas "1 year" to "5 years" may be choices.
_FEWEST, _FEWEST_WORDS = 3, 20
_LOOKED_AT = 20


def _body(mark: str) -> str:
    other = "." if mark == "," else ","
    point = rf"(?:{re.escape(mark)}\d+)?"
    return rf"[1-9]\d{{0,2}}(?:[{other}'{_SPACES}]\d{{3}})+{point}|(?:0|[1-9]\d*){point}"


_BODIES = {mark: re.compile(_body(mark)) for mark in ".,"}


class Style:
    """A way to write numbers.

    Args:
        template: What it makes of 1234.5.

    Raises:
        ValueError: If it is no such text.
    """

    def __init__(self, template: str) -> None:
        found = _TEMPLATE.fullmatch(template)
        if found is None or found["group"] == found["mark"]:
            raise ValueError(template)
        self._before, self._after = found["before"], found["after"]
        self._group, self._mark = found["group"], found["mark"]

    @property
    def unit(self) -> str:
        """What follows the number, or goes before it."""
        return self._after.strip() or self._before.strip()

    @cached_property
    def _cell(self) -> re.Pattern[str]:
        before, after = (re.escape(part.strip()) for part in (self._before, self._after))
        # 1 year, 2 years.
        after = f"{after.rstrip('s')}s?" if after[-1:].isalpha() else after
        return re.compile(
            rf"([-+−]?)\s*(?:{before})?\s*([-−]?)({_body(self._mark)})\s*(?:{after})?",
            re.IGNORECASE,
        )

    def read(self, text: str) -> float | None:
        """The number that a text is; None if it is none."""
        found = self._cell.fullmatch(text.strip())
        if found is None:
            return None
        sign, minus, body = found.groups()
        digits = re.sub(rf"[^\d{re.escape(self._mark)}]", "", body).replace(",", ".")
        return -float(digits) if minus or sign in ("-", "−") else float(digits)

    def write(self, number: float) -> str:
        """The text of a number, to its last digit."""
        text = format(Decimal(repr(abs(number))), "f").removesuffix(".0")
        whole, _, decimals = text.partition(".")
        if self._group:
            whole = f"{int(whole):,}".replace(",", self._group)
        body = whole + (self._mark + decimals if decimals else "")
        return f"{'-' if number < 0 else ''}{self._before}{body}{self._after}"


@lru_cache(maxsize=256)
def style(template: str) -> Style:
    """The style of a template; see `Style`."""
    return Style(template)


def to_written(template: str, value: object) -> float | None:
    """The number that a single value is, written or not; None if it is none."""
    value = plain(value)
    if isinstance(value, str):
        return style(template).read(value)
    return float(value) if isinstance(value, (int, float)) and value is not True else None


def read_written(
    column: pd.Series, template: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The numbers of a column, NaN where it has gaps, and which cells are neither."""
    indices, values = pd.factorize(column.astype(object))
    found = [to_written(template, value) for value in values]
    # The last one is that of gaps, whose index is -1.
    table = np.array([np.nan if number is None else number for number in (*found, None)])
    numbers = table[indices]
    return numbers, np.isnan(numbers) & ~gaps_of(column)


def as_numbers(column: pd.Series, template: str | None) -> pd.Series:
    """A column that was read before, with numbers in the place of texts."""
    if template is None or pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers, _ = read_written(column, template)
    return pd.Series(numbers, index=column.index)


def how_written(column: pd.Series) -> str | None:
    """How a column of texts writes its numbers; None unless all its cells but gaps are such."""
    if isinstance(column.dtype, pd.CategoricalDtype) or not (
        column.dtype == object or pd.api.types.is_string_dtype(column.dtype)
    ):
        return None
    if not all(isinstance(value, str) or is_gap(value) for value in column):
        return None
    texts = [value for value in column.unique() if not is_gap(value)]
    return template_of(texts) if texts else None


def template_of(texts: Sequence[Any]) -> str | None:
    """How different texts write 1234.5, if all are numbers, dressed, and meant in one way only."""
    parts: list[re.Match[str]] = []
    for place, text in enumerate(texts):
        found = _CELL.fullmatch(text.strip())
        if found is None:
            return None
        parts.append(found)
        if place == _LOOKED_AT and not _bodies_fit(parts):
            return None
    marks = _bodies_fit(parts)
    befores = {(found["before"] or "").upper() for found in parts}
    afters = {(found["after"] or "").casefold().rstrip("s.") for found in parts}
    if not marks or len(befores - {""}) > 1 or len(afters - {""}) > 1:
        return None
    before = max((found["before"] or "" for found in parts), key=len)
    after = max((found["after"] or "" for found in parts), key=len)
    worded = after[:1].isalpha() and not re.fullmatch(_CURRENCY, after, re.IGNORECASE)
    if (before and after) or len(texts) < (_FEWEST_WORDS if worded else _FEWEST):
        return None
    if worded and "" in afters:
        return None
    groups = {sign for found in parts for sign in re.sub(r"\d", "", found["body"])}
    mark = _mark(marks, parts)
    if mark is None or not (before or after or groups - {"."}):
        return None
    group = next(iter(sorted(groups - {mark})), "")
    dressed = next((found for found in parts if found["after"] or found["before"]), parts[0])
    whole = dressed.group().strip()
    gap = " " if re.search(rf"[{_SPACES}](?:{re.escape(after)})$", whole) and after else ""
    lead = " " if before and re.match(rf"[-+−]?{re.escape(before)}\s", whole) else ""
    return f"{before}{lead}1{group}234{mark}5{gap}{after}"


def _bodies_fit(parts: Iterable[re.Match[str]]) -> list[str]:
    """The decimal marks by which all bodies are numbers."""
    bodies = [found["body"] for found in parts]
    return [mark for mark, form in _BODIES.items() if all(map(form.fullmatch, bodies))]


def _mark(marks: list[str], parts: Iterable[re.Match[str]]) -> str | None:
    """The decimal mark; None where it could be either and makes a difference."""
    if len(marks) == 1:
        return marks[0]
    # Either is right: 1,200 everywhere is told as thousands, but of 1.200 nobody knows.
    return None if any("." in found["body"] for found in parts) else "."
