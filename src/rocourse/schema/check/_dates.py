"""Dates, in columns of times, of texts and of whole numbers."""

from collections.abc import Iterator

from rocourse._wording import show
from rocourse.schema.check._columns import TableColumns
from rocourse.schema.check._record import Finding, option
from rocourse.schema.check._traits import is_iso_date

# More categories than that are too many to learn from.
_MANY = 60


def dates(table: TableColumns) -> Iterator[Finding]:
    """Columns of dates."""
    for column in table.features:
        if column.traits.iso_dates:
            yield Finding(
                kind="date",
                columns=(column.name,),
                severity="warning",
                sentence=f"{column.name!r} holds dates, which are read as numbers (days), and "
                "advice could change them; have it leave them alone with "
                f"{option('immutable', [column.name])}.",
                option=option("immutable", [column.name]),
                safe=True,
            )
        elif column.traits.other_dates:
            odd = (place for place, text in enumerate(column.texts) if not is_iso_date(text))
            sample = column.distinct[next(odd)]
            many = column.nature == "text" and len(column.distinct) > _MANY
            yield Finding(
                kind="date",
                columns=(column.name,),
                severity="error" if many else "warning",
                sentence=f"{column.name!r} holds dates that are not all written as 2027-01-31 "
                f"(first {show(sample)}), so that they are no dates to a model; write them so, or "
                f"leave the column out with {option('drop', [column.name])}.",
                option=option("drop", [column.name]),
            )
