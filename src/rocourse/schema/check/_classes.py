"""The target: its classes, which of them people want, and how many rows have each."""

from collections.abc import Iterator

from rocourse._wording import counted, show
from rocourse.schema._favourable import (
    clear_favourable,
    option_of,
    suggested,
    unclear_sentence,
    unwanted,
)
from rocourse.schema._values import Scalar, find, plain
from rocourse.schema.check._columns import Column, TableColumns
from rocourse.schema.check._record import Finding

_MANY = 50
_TINY, _RARE = 10, 0.05


def classes(table: TableColumns, favourable: Scalar | None) -> Iterator[Finding]:
    """What is to be known of the target before it is predicted."""
    column = table.target
    if column is None or not column.distinct:
        return
    counts = _counts(column)
    if len(counts) < 2 or len(counts) > _MANY:
        many = len(counts) > _MANY
        what = f"{len(counts):,} different values"
        cure = "cut it into a few classes"
        if not many:
            what = f"one class only, {show(column.distinct[0])}"
            cure = "add rows of another class"
        yield Finding(
            kind="classes",
            columns=(column.name,),
            severity="error",
            sentence=f"Target {column.name!r} must have at least two classes and at most {_MANY}, "
            f"but it has {what}; {cure}.",
        )
        return
    yield from _favourable(column, counts, favourable)
    yield from _rare(column, counts, table.rows)


def _favourable(
    column: Column, counts: dict[Scalar, int], stated: Scalar | None
) -> Iterator[Finding]:
    names = list(counts)
    wanted = clear_favourable(column.name, names)
    if stated is not None:
        wanted = find(stated, tuple(names))
    if wanted is None:
        example = suggested(column.name, names)
        yield Finding(
            kind="favourable",
            columns=(column.name,),
            severity="error",
            sentence=unclear_sentence(column.name, counts),
            option=option_of(example),
            counts={str(label): count for label, count in counts.items()},
        )
        return
    share = counts[wanted] / column.present
    told = f"People will be told how to become {column.name} = {wanted}"
    others = [label for label in names if label != wanted]
    if unwanted(column.name, wanted):
        yield Finding(
            kind="favourable",
            columns=(column.name,),
            severity="warning",
            sentence=f"{told}, which looks like what nobody wants; if so, write "
            f"{option_of(suggested(column.name, others))}.",
            option=option_of(suggested(column.name, others)),
        )
    elif share < 0.5:
        # Whoever has said so has thought of it.
        yield Finding(
            kind="favourable",
            columns=(column.name,),
            severity="note" if stated is not None else "warning",
            sentence=f"{told}, which only {share:.0%} of the rows are; if people want another "
            f"class, write {option_of(others[0])}.",
            option=option_of(others[0]),
        )


def _rare(column: Column, counts: dict[Scalar, int], rows: int) -> Iterator[Finding]:
    few = {label: count for label, count in counts.items() if count < _RARE * column.present}
    if not few:
        return
    told = ", ".join(f"{show(label)} ({counted(count, 'row')})" for label, count in few.items())
    tiny = min(few.values()) < _TINY
    yield Finding(
        kind="rare class",
        columns=(column.name,),
        severity="warning" if tiny else "note",
        sentence=f"Few rows have {column.name!r} = {told} of {rows:,}"
        + (
            ", too few to learn from: add such rows."
            if tiny
            else ": who is granted how often is set with --approval-rate, or --threshold."
        ),
        option="" if tiny else "--approval-rate",
        counts={str(label): count for label, count in few.items()},
    )


def _counts(column: Column) -> dict[Scalar, int]:
    pairs = [
        (plain(value), int(count))
        for value, count in zip(column.distinct, column.counts, strict=True)
    ]
    try:
        pairs.sort()
    except TypeError:
        pairs.sort(key=lambda pair: str(pair[0]))
    return dict(pairs)  # type: ignore[arg-type]
