"""All checks of a table, in one pass over its columns."""

from collections.abc import Iterator

import pandas as pd

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._validation import check_frame
from rocourse.schema._values import Scalar
from rocourse.schema.check._classes import classes
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._dates import dates
from rocourse.schema.check._gaps import codes, missing
from rocourse.schema.check._giveaways import giveaways
from rocourse.schema.check._identifiers import identifiers
from rocourse.schema.check._numbers import number_codes, outliers
from rocourse.schema.check._protected import protected
from rocourse.schema.check._record import Finding, TableCheck
from rocourse.schema.check._sameness import constants, same_columns, same_rows
from rocourse.schema.check._texts import numbers_as_text, spellings, texts

# In the order in which findings of one severity are told.
_CHECKS = (
    same_columns,
    numbers_as_text,
    identifiers,
    dates,
    texts,
    spellings,
    constants,
    giveaways,
    missing,
    protected,
    outliers,
    codes,
    number_codes,
    same_rows,
)


def check_table(df: pd.DataFrame, target: str | None, favourable: Scalar | None) -> TableCheck:
    """What a look at a table finds; see `Schema.check`."""
    df = check_frame(df)
    if target is not None and target not in df.columns:
        raise SchemaError(
            "target must be a column of the rows, but got "
            f"{show(target)}{did_you_mean(target, df.columns)}, and they have "
            f"{listed(df.columns)}; name one of these."
        )
    looked_at = {str(name): Column.of(str(name), df[name]) for name in df.columns}
    own = None if target is None else looked_at.pop(target)
    table = TableColumns(len(df), tuple(looked_at.values()), own)
    return TableCheck(len(df), df.shape[1], tuple(_found(table, favourable)))


def _found(table: TableColumns, favourable: Scalar | None) -> Iterator[Finding]:
    yield from classes(table, favourable)
    for check in _CHECKS:
        if table.features:
            yield from check(table)
