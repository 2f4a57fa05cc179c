"""Missing values, and values that stand for them."""

from collections.abc import Iterator

import numpy as np

from rocourse._wording import first_few, listed, show
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding, option
from rocourse.schema.check._traits import stands_for_gap

# Numbers that people write where there is none.
_NEGATIVE = (-1, -9, -99, -999, -9999, -99999)
_NINES = (99, 999, 9999, 99999, 999999, 9999999, 99999999)
_SHOWN = 8
# Of a column's cells: where more are missing, what is put in their place says more than the column.
_MOSTLY = 0.6


def missing(table: TableColumns) -> Iterator[Finding]:
    """All columns with gaps at once."""
    gaps = {column.name: column.missing for column in table.features if column.missing}
    empty = {column.name for column in table.features if not column.present}
    gaps = {name: count for name, count in gaps.items() if name not in empty}
    if gaps:
        worst = sorted(gaps, key=lambda name: -gaps[name])
        told = first_few([f"{name} {gaps[name]:,}" for name in worst], _SHOWN)
        yield Finding(
            kind="missing",
            columns=tuple(worst),
            severity="warning",
            sentence=f"Values are missing in {len(gaps)} of {len(table.features)} columns ({told}"
            f", of {table.rows:,} rows): numbers are read as their median, and other gaps "
            "are a category of their own, unless --missing impute, category, drop or error, or "
            "--missing COL=WORD for a column, says otherwise.",
            option="--missing impute",
            counts={name: gaps[name] for name in worst},
        )
    mostly = [name for name in gaps if gaps[name] > _MOSTLY * table.rows]
    if mostly:
        told = first_few([f"{name} ({gaps[name] / table.rows:.0%})" for name in mostly], _SHOWN)
        yield Finding(
            kind="mostly empty",
            columns=tuple(mostly),
            severity="warning",
            sentence=f"Most values are missing in {told}, so that advice would "
            f"rest on what is put in their place; unless a gap itself tells something, leave them "
            f"out with {option('drop', mostly)}.",
            option=option("drop", mostly),
            counts={name: gaps[name] for name in mostly},
        )
    target = table.target
    if target is not None and target.missing and target.present:
        yield Finding(
            kind="missing",
            columns=(target.name,),
            severity="warning",
            sentence=f"The target {target.name!r} is missing in {target.missing:,} of "
            f"{table.rows:,} rows, from which nothing can be learned: they are left out.",
            rows=target.labels(target.codes < 0),
            counts={target.name: target.missing},
        )


def codes(table: TableColumns) -> Iterator[Finding]:
    """Values that may stand for missing ones: a note, for nobody but the owner can know."""
    found: dict[str, tuple[str, int]] = {}
    for column in table.features:
        if code := (_number_code(column) if column.nature == "number" else _text_code(column)):
            found[column.name] = code
    if found:
        told = first_few(
            [f"{name} {value} ({count:,} rows)" for name, (value, count) in found.items()], _SHOWN
        )
        yield Finding(
            kind="missing code",
            columns=tuple(found),
            severity="note",
            sentence=f"Some values may stand for missing ones: {told}; if so, leave these cells "
            "empty, or advice may ask for them.",
            counts={name: count for name, (_, count) in found.items()},
        )


def _text_code(column: Column) -> tuple[str, int] | None:
    if column.nature != "text" or len(column.distinct) < 2:
        return None
    odd = [place for place, text in enumerate(column.texts) if stands_for_gap(text)]
    # "none" is a category like others, of debts or of jobs.
    odd = [place for place in odd if column.texts[place].casefold() != "none"]
    if not odd:
        return None
    return listed(column.texts[place] for place in odd), int(column.counts[odd].sum())


def _number_code(column: Column) -> tuple[str, int] | None:
    """A number at an end of the range that sticks out, as no measured value would."""
    if column.numbers is None or len(column.distinct) < 10:
        return None
    ordered = np.unique(column.numbers[np.isfinite(column.numbers)])
    low, second, high, before = ordered[0], ordered[1], ordered[-1], ordered[-2]
    middle = float(np.median(ordered[1:]))
    code = None
    if low in _NEGATIVE and second >= 0:
        code = low
    elif low == 0 and second >= 0.3 * middle > 0:
        code = low
    elif high in _NINES and before >= 0 and high - before > 2 * (before - ordered[0]):
        code = high
    if code is None:
        return None
    count = int((column.numbers == code).sum())
    usual = 2 <= count <= 0.5 * column.present
    return (show(int(code)), count) if usual else None
