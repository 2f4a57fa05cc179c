"""Numbers: a few that are far away from all others, and some that may be codes."""

from collections.abc import Iterator

import numpy as np

from rocourse._wording import first_few
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding, option

# Beyond the quartiles by so many times the distance between them.
_FAR = 10.0
_FEW, _FEW_ROWS = 0.01, 5
# What is left of the range without them: worth a note below this, and a warning below that.
_SQUASHED, _CRUSHED = 1 / 3, 1 / 10
_SHOWN = 4
_CODES = 10


def outliers(table: TableColumns) -> Iterator[Finding]:
    """Columns whose range is made by a few rows, while all others share a small part of it."""
    noted: dict[str, str] = {}
    for column in table.features:
        told = None if column.nature != "number" or column.traits.ids else _told(column)
        if told is None:
            continue
        text, share, rows, count = told
        if share >= _CRUSHED:
            noted[column.name] = text
            continue
        yield Finding(
            kind="outliers",
            columns=(column.name,),
            severity="warning",
            sentence=f"{column.name!r} is squeezed by a few rows: {text}; correct these rows or "
            "leave them out, since advice may go as far as they do.",
            rows=rows,
            counts={column.name: count},
        )
    if noted:
        told_all = [f"{name} ({text})" for name, text in noted.items()]
        yield Finding(
            kind="outliers",
            columns=tuple(noted),
            severity="note",
            sentence=f"A few rows are far away from all others in {first_few(told_all, _SHOWN)}; "
            "see whether they are right.",
        )


def _told(column: Column) -> tuple[str, float, tuple[object, ...], int] | None:
    """What to say of the far ones, and how much of the range the others take."""
    assert column.numbers is not None
    finite = np.isfinite(column.numbers)
    found = column.numbers[finite]
    if len(column.distinct) < 20:
        return None
    first, third = np.quantile(found, [0.25, 0.75])
    reach = _FAR * (third - first)
    if not reach > 0:
        return None
    with np.errstate(invalid="ignore"):
        far = finite & ((column.numbers < first - reach) | (column.numbers > third + reach))
    count = int(far.sum())
    if not 0 < count <= max(_FEW_ROWS, _FEW * len(found)):
        return None
    low, high = np.quantile(found, [0.0005, 0.9995], method="nearest")
    who = "99.9% of the rows"
    if len(found) < 2000:
        others = column.numbers[finite & ~far]
        low, high, who = others.min(), others.max(), f"all but {count}"
    share = float((high - low) / (found.max() - found.min()))
    if share >= _SQUASHED:
        return None
    # The one that is farthest from the others.
    end = found.max() if found.max() - high >= low - found.min() else found.min()
    text = f"{who} lie in {low:,.6g} to {high:,.6g}, one is {end:,.6g}"
    rows = column.labels(column.numbers == end) + column.labels(far)
    return text, share, tuple(dict.fromkeys(rows))[:5], count


def number_codes(table: TableColumns) -> Iterator[Finding]:
    """Whole numbers of which there are few: amounts, or codes of categories."""
    found = {
        column.name: len(column.distinct)
        for column in table.features
        if column.nature == "number" and column.whole and 2 <= len(column.distinct) <= _CODES
    }
    if found:
        names = list(found)
        shown = first_few([f"{name} ({count})" for name, count in found.items()], 8)
        yield Finding(
            kind="few numbers",
            columns=tuple(names),
            severity="note",
            sentence=f"Few different whole numbers: {shown}; if some are codes rather than "
            "amounts, say so with --categorical.",
            option=option("categorical", names),
            counts=found,
        )
