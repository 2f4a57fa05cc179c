"""What the values of a column turn out to be, whatever their type is: dates, ids, sentences."""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from rocourse.schema._written import how_written

if TYPE_CHECKING:
    from rocourse.schema.check._columns import Column

_LOOKED_AT = 300
_NEARLY_ALL = 0.95

_GAP_WORDS = frozenset(
    "? ?? na n/a n.a. nan null none nil unknown unk missing not_available unspecified undefined "
    "- -- . unbekannt k.a. k.a keine_angabe fehlt".split()
)

_MONTH = (
    "jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|january|february|march|april|"
    "june|july|august|september|october|november|december"
)
_ISO = re.compile(r"\d{4}-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d.{0,20})?")
_OTHER = re.compile(
    r"[0-3]?\d[./-][0-3]?\d[./-](?:\d{4}|\d\d)(?: .*)?|\d{4}[./][01]?\d[./][0-3]?\d(?: .*)?|"
    rf"(?:[0-3]?\d[ .-])?(?:{_MONTH})\.?[ ,.-]+(?:[0-3]?\d,? )?(?:\d{{4}}|\d\d)|"
    r"\d{4}-[01]\d",
    re.IGNORECASE,
)

_DRESSED = re.compile(
    r"(?:[€$£]|eur|usd|chf)?\s*[-+]?\d{1,3}(?:[.,' ]?\d{3})*(?:[.,]\d+)?\s*"
    r"(?:%|[€$£]|eur|usd|chf|k|km|m|kg|years?|months?|days?|jahre|monate)?",
    re.IGNORECASE,
)
# Of the cells, and of the different values: so many numbers make the rest look wrong.
_MOSTLY = 0.9
_DIFFERENT = 20
# ... and where few numbers are different, as 12, 24, 36 are: all but a few cells.
_FEW_DIFFERENT, _ALL_BUT = 3, 0.99


# The last word of the name of a column of ids.
_IDS = frozenset(
    "id ids uuid guid ssn iban rownames rowname rowid uid pk kennung kundennummer aktenzeichen "
    "vertragsnummer antragsnummer personalnummer".split()
)
# ... if the values are all different as well.
_PERHAPS = frozenset(
    "key number no nr num nummer code ref reference index account serial name names surname".split()
)
_UNIQUE = 0.95
_FEW_ROWS = 30


class WrittenNumbers(NamedTuple):
    """How far the texts of a column are numbers."""

    mostly: bool
    """Whether nearly all cells are."""
    odd: list[int]
    """Places of the distinct values that are none."""
    template: str | None = None
    """How all of them are written, if that can be read, as `$1,200` can."""


class Traits(NamedTuple):
    """What a column turns out to hold."""

    iso_dates: bool
    """Dates and times as pandas has them, or texts such as 2027-01-31."""
    other_dates: bool
    """Dates that are written in another way."""
    numbers: WrittenNumbers
    """Numbers in texts."""
    prose: bool
    """Sentences."""
    ids: bool
    """Names of rows."""

    @property
    def categories(self) -> bool:
        """Whether texts are none of these."""
        return not (self.iso_dates or self.other_dates or self.numbers.mostly or self.prose)


def traits_of(column: "Column") -> Traits:
    """Looks at the values of a column."""
    iso = column.nature == "date" or _share(column, _ISO) >= _NEARLY_ALL
    other = not iso and (_share(column, _ISO, _OTHER) >= _NEARLY_ALL or _days_as_numbers(column))
    numbers = _NONE if iso or other else _written_numbers(column)
    prose = _is_prose(column)
    known = Traits(iso, other, numbers, prose, ids=False)
    ids = _is_id(column, known)
    return known._replace(ids=ids, prose=prose and not ids)


def stands_for_gap(text: str) -> bool:
    """Whether a text says that there is no value."""
    return len(text) < 16 and text.casefold().replace(" ", "_") in _GAP_WORDS


_NONE = WrittenNumbers(False, [])


def is_iso_date(text: str) -> bool:
    """Whether a text is a date as 2027-01-31 is."""
    return _ISO.fullmatch(text) is not None


def _share(column: "Column", *patterns: re.Pattern[str]) -> float:
    """The share of the first different texts that look like one of these."""
    if column.nature != "text":
        return 0.0
    few = column.texts[:_LOOKED_AT]
    return float(np.mean([any(one.fullmatch(text) for one in patterns) for text in few]))


def _days_as_numbers(column: "Column") -> bool:
    """Whether all numbers are days written as 20270131."""
    if column.nature != "number" or not column.whole or len(column.distinct) < 3:
        return False
    found = np.array(column.distinct[:_LOOKED_AT], dtype=np.float64)
    if not ((found >= 19000101) & (found <= 21001231)).all():
        return False
    day, month = found % 100, found // 100 % 100
    return bool(((day >= 1) & (day <= 31) & (month >= 1) & (month <= 12)).all())


def _written_numbers(column: "Column") -> WrittenNumbers:
    """Whether the texts of a column are numbers, but for a few."""
    if column.nature != "text" or len(column.distinct) < 2:
        return _NONE
    if not any(map(str.isdigit, "".join(column.texts[:50]))):
        return _NONE
    plain = pd.to_numeric(pd.Series(column.texts, dtype=object), errors="coerce").notna().to_numpy()
    odd = np.flatnonzero(~plain)
    gaps = [place for place in odd if stands_for_gap(column.texts[place])]
    others = len(plain) - len(odd)
    share = column.counts[plain].sum() / max(column.present, 1)
    enough = others >= _DIFFERENT or (others >= _FEW_DIFFERENT and share >= _ALL_BUT)
    if others and share >= _MOSTLY and (enough or len(gaps) == len(odd)):
        return WrittenNumbers(True, odd.tolist())
    template = how_written(column.values)
    if template is not None:
        return WrittenNumbers(True, [], template)
    looks = np.array([_DRESSED.fullmatch(text) is not None for text in column.texts])
    share = column.counts[looks].sum() / max(column.present, 1)
    if looks.sum() >= _DIFFERENT and share >= _MOSTLY:
        return WrittenNumbers(True, np.flatnonzero(~looks).tolist())
    return _NONE


def _is_prose(column: "Column") -> bool:
    """Whether a column holds sentences."""
    if column.nature != "text" or len(column.distinct) < max(20, 0.3 * column.present):
        return False
    few = column.texts[:300]
    words = float(np.mean([text.count(" ") + 1 for text in few]))
    return words >= 4 or float(np.mean([len(text) for text in few])) > 60


def _is_id(column: "Column", known: Traits) -> bool:
    """Whether the values of a column name its rows."""
    different, n = len(column.distinct), column.present
    if n < _FEW_ROWS or column.nature not in ("text", "number"):
        return False
    named = bool(column.words) and (column.words[-1] in _IDS or column.words[0] in _IDS)
    perhaps = bool(column.words) and column.words[-1] in _PERHAPS
    if column.nature == "number":
        if not column.whole or known.other_dates:
            return False
        if named:
            return different >= max(50, 0.2 * n)
        if different < n:
            return False
        # All different: an amount may be so too, unless they fill a range as counted rows do.
        return perhaps or _counts_up(column)
    if different >= _UNIQUE * n and (named or perhaps):
        return True
    if not known.categories:
        return False
    return different >= _UNIQUE * n or (named and different >= max(50, 0.2 * n))


def _counts_up(column: "Column") -> bool:
    assert column.numbers is not None
    found = column.numbers[np.isfinite(column.numbers)]
    dense = found.max() - found.min() < 1.2 * len(found)
    return bool(dense and (np.diff(found) > 0).mean() > 0.9)
