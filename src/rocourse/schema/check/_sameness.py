"""What is the same: constant columns, rows and columns that are there twice."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rocourse._wording import show
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding, option

# A value that so large a share of the cells has leaves next to nothing to learn.
_NEARLY = 0.995
_ROWS_TO_SAY_SO = 200
_REPEATED = 0.01
# Up to so many different values, two columns that tell the same rows apart are one; not if hardly
# a value comes twice, when any two columns do.
_RECODED, _REPEATED_VALUES = 50, 0.5


def constants(table: TableColumns) -> Iterator[Finding]:
    """Columns with one value, and those with hardly another."""
    nearly: dict[str, int] = {}
    for column in table.features:
        drop = option("drop", [column.name])
        # Beside gaps, one category is a choice, but one number is none.
        a_choice = column.distinct and column.missing and column.nature != "number"
        if len(column.distinct) <= 1 and not a_choice:
            always = f"always {show(column.distinct[0])}" if column.distinct else "always empty"
            yield Finding(
                kind="constant",
                columns=(column.name,),
                severity="error",
                sentence=f"Column {column.name!r} must vary, but it is constant ({always}); drop "
                f"it with {drop}.",
                option=drop,
                safe=True,
            )
        elif column.present >= _ROWS_TO_SAY_SO and not column.missing:
            others = column.present - int(column.counts.max())
            if others <= (1 - _NEARLY) * column.present:
                nearly[column.name] = others
    if nearly:
        told = ", ".join(f"{name} (but for {count})" for name, count in nearly.items())
        yield Finding(
            kind="nearly constant",
            columns=tuple(nearly),
            severity="note",
            sentence=f"Nearly all rows have the same value of {told}, which few rows can tell "
            f"anything about; leave out with {option('drop', list(nearly))}.",
            option=option("drop", list(nearly)),
            counts=nearly,
        )


def same_columns(table: TableColumns) -> Iterator[Finding]:
    """Columns that say the same as one before them, or as the target."""
    seen: dict[bytes, list[Column]] = {}
    if table.target is not None and len(table.target.distinct) > 1:
        seen[table.target.codes.tobytes()] = [table.target]
    for column in table.features:
        if len(column.distinct) < 2:
            continue
        twins = seen.setdefault(column.codes.tobytes(), [])
        twin = next((other for other in twins if _says_the_same(column, other)), None)
        twins.append(column)
        if twin is None:
            continue
        drop = option("drop", [column.name])
        if twin is table.target:
            yield Finding(
                kind="target",
                columns=(column.name,),
                severity="error",
                sentence=f"{column.name!r} is the target {twin.name!r} by another name; leave it "
                f"out with {drop}.",
                option=drop,
            )
        else:
            yield Finding(
                kind="duplicate columns",
                columns=(column.name,),
                severity="warning",
                sentence=f"{column.name!r} says the same as {twin.name!r} in every row, and advice "
                f"could change one without the other; leave it out with {drop}.",
                option=drop,
                safe=True,
            )


def same_rows(table: TableColumns) -> Iterator[Finding]:
    """Rows that are there more than once."""
    columns = [*table.features, *([] if table.target is None else [table.target])]
    hashed = pd.util.hash_array(columns[0].codes.astype(np.int64))
    for column in columns[1:]:
        # Order of columns counts: a row is not the same as one with values swapped.
        hashed = hashed * np.uint64(31) + pd.util.hash_array(column.codes.astype(np.int64))
    again = pd.Series(hashed).duplicated().to_numpy()
    count = int(again.sum())
    if count and count >= _REPEATED * table.rows:
        yield Finding(
            kind="duplicate rows",
            columns=(),
            severity="note",
            sentence=f"{count:,} of {table.rows:,} rows repeat another one; see whether these are "
            "different people.",
            rows=columns[0].labels(again),
            counts={"rows": count},
        )


def _says_the_same(column: Column, other: Column) -> bool:
    """Whether two columns of equal codes are one, where codes alone may be equal by chance."""
    different = len(column.distinct)
    recoded = different <= min(_RECODED, _REPEATED_VALUES * column.present)
    return recoded or column.distinct == other.distinct
