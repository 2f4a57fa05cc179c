"""Missing values, and values that stand for them."""

from collections.abc import Iterable, Iterator
from shlex import quote

import numpy as np

from rocourse._wording import counted, first_few, listed
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding, Severity, option
from rocourse.schema.check._traits import stands_for_gap

# Numbers that people write where there is none.
_NEGATIVE = {-1, -9, -99, -999, -9999, -99999}
_NINES = {99, 999, 9999, 99999, 999999, 9999999, 99999999}
_FEWEST_NUMBERS = 10
# How far they stick out: of the range of all others; of the middle half, if they come as often as
# one row in a hundred; and a zero of what is usual.
_FAR, _OFTEN, _ZERO = 2.0, 0.01, 0.25
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
    """Values that may stand for missing ones: nobody but the owner can know for sure."""
    found: dict[str, dict[str | int, int]] = {}
    perhaps: dict[str, dict[str | int, int]] = {}
    for column in table.features:
        if column.nature == "number":
            values = _number_codes(column)
            # A number of nothing may be an amount as well.
            if 0 in values:
                perhaps[column.name] = {0: values.pop(0)}
        else:
            values = {} if column.traits.numbers.odd else _text_codes(column)
        if values:
            found[column.name] = values
    if found:
        yield _codes_finding(
            found, "warning", "look like codes for missing ones", "as advice could ask for them"
        )
    if perhaps:
        yield _codes_finding(
            perhaps, "note", "may stand for missing ones", "or advice may ask for them"
        )


def code_options(name: str, values: Iterable[str | int]) -> str:
    """What reads values of a column as missing, as it is written on the command line."""
    return " ".join(f"--missing-code {quote(f'{name}={value}')}" for value in values)


def _codes_finding(
    found: dict[str, dict[str | int, int]], severity: Severity, what: str, why: str
) -> Finding:
    told = first_few(
        [
            f"{name} {listed(values)} ({counted(sum(values.values()), 'row')})"
            for name, values in found.items()
        ],
        _SHOWN,
    )
    settles = " ".join(code_options(name, values) for name, values in found.items())
    return Finding(
        kind="missing code",
        columns=tuple(found),
        severity=severity,
        sentence=f"Some values {what}: {told}; if they do, say so with {settles}, {why}.",
        option=settles,
        counts={name: sum(values.values()) for name, values in found.items()},
    )


def _text_codes(column: Column) -> dict[str | int, int]:
    if column.nature != "text" or len(column.distinct) < 2:
        return {}
    # "none" is a category like others, of debts or of jobs.
    return {
        text: int(count)
        for text, count in zip(column.texts, column.counts, strict=True)
        if stands_for_gap(text) and text.casefold() != "none"
    }


def _number_codes(column: Column) -> dict[str | int, int]:
    """Numbers at the ends of the range that stick out, as no measured values would."""
    if column.numbers is None or len(column.distinct) < _FEWEST_NUMBERS:
        return {}
    ordered, counts = np.unique(column.numbers[np.isfinite(column.numbers)], return_counts=True)
    first, last = 0, len(ordered)
    # All below zero, or far below all others.
    below = int(np.searchsorted(ordered, 0.0))
    if set(ordered[:below]) <= _NEGATIVE:
        first = below
    elif ordered[0] in _NEGATIVE and ordered[1] - ordered[0] > _FAR * np.ptp(ordered[1:]):
        first = 1
    if ordered[first] == 0 and ordered[first + 1] >= _ZERO * np.median(ordered[first + 1 :]) > 0:
        first += 1
    before = ordered[last - 2]
    if ordered[last - 1] in _NINES and ordered[first] >= 0:
        reach = ordered[last - 1] - before
        low, high = np.quantile(np.repeat(ordered[:-1], counts[:-1]), [0.25, 0.75])
        often = counts[-1] >= _OFTEN * column.present
        if reach > _FAR * (before - ordered[first]) or (often and reach > high - low):
            last -= 1
    places = [*range(first), *range(last, len(ordered))]
    return {
        int(ordered[place]): int(counts[place])
        for place in places
        if 2 <= counts[place] <= 0.5 * column.present
    }
