"""Missing values, and values that stand for them."""

from collections.abc import Iterator

import numpy as np

from rocourse._wording import listed, show
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding
from rocourse.schema.check._traits import stands_for_gap

# Numbers that people write where there is none.
_NEGATIVE = (-1, -9, -99, -999, -9999, -99999)
_NINES = (99, 999, 9999, 99999, 999999, 9999999, 99999999)
_SHOWN = 8


def missing(table: TableColumns) -> Iterator[Finding]:
    """All columns with gaps at once."""
    gaps = {column.name: column.missing for column in table.features if column.missing}
    empty = {column.name for column in table.features if not column.present}
    gaps = {name: count for name, count in gaps.items() if name not in empty}
    if gaps:
        worst = sorted(gaps, key=lambda name: -gaps[name])
        told = ", ".join(f"{name} {gaps[name]:,}" for name in worst[:_SHOWN])
        more = f" and {len(worst) - _SHOWN} more" if len(worst) > _SHOWN else ""
        yield Finding(
            kind="missing",
            columns=tuple(worst),
            severity="warning",
            sentence=f"Values are missing in {len(gaps)} of {len(table.features)} columns ({told}"
            f"{more}, of {table.rows:,} rows): say what is to become of them with --missing "
            "impute, category or drop, or for one column with --missing COL=WORD.",
            option="--missing impute",
            counts={name: gaps[name] for name in worst},
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
        told = _listed_codes(found)
        yield Finding(
            kind="missing code",
            columns=tuple(found),
            severity="note",
            sentence=f"Some values may stand for missing ones: {told}; if so, leave these cells "
            "empty, or advice may ask for them.",
            counts={name: count for name, (_, count) in found.items()},
        )


def _listed_codes(found: dict[str, tuple[str, int]]) -> str:
    """The codes by column, with counts."""
    told = [f"{name} {value} ({count:,} rows)" for name, (value, count) in found.items()]
    more = f", and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return ", ".join(told[:_SHOWN]) + more


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
