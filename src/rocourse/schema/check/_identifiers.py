"""Ids: values that name a row, of which nothing can be learned and nothing can be changed."""

from collections.abc import Iterator

from rocourse.schema.check._columns import TableColumns
from rocourse.schema.check._record import Finding, option

# Of the cells: so many that are different make it sure.
_UNIQUE = 0.95


def identifiers(table: TableColumns) -> Iterator[Finding]:
    """Columns that name rows."""
    for column in table.features:
        if not column.traits.ids:
            continue
        different, n = len(column.distinct), column.present
        sure = different >= _UNIQUE * n or column.nature == "text"
        yield Finding(
            kind="id",
            columns=(column.name,),
            severity="error" if sure else "warning",
            sentence=f"{column.name!r} is an id ({different:,} different values in {n:,} rows), "
            f"and no feature; leave it out with {option('drop', [column.name])}, or name it with "
            f"{option('id', [column.name])} to find it beside the advice.",
            option=option("drop", [column.name]),
            safe=True,
        )
