"""Texts: sentences, too many categories, and numbers that are written as text."""

from collections.abc import Iterator

import numpy as np

from rocourse._wording import counted, first_few, listed, show
from rocourse.schema.check._columns import TableColumns
from rocourse.schema.check._gaps import code_options
from rocourse.schema.check._protected import is_place, is_protected
from rocourse.schema.check._record import Finding, Severity, option
from rocourse.schema.check._traits import stands_for_gap

# Categories: so many are seldom a choice, so many are hard to learn from, and so many too many.
_SEVERAL, _MANY, _TOO_MANY = 20, 60, 200
# Different numbers: fewer may be categories.
_FEW_NUMBERS = 20
_FEW_ROWS_EACH = 5
# What is one answer, where a column has nothing but such words.
_ANSWERS = dict.fromkeys("yes y true t 1 1.0 ja j wahr oui si".split(), "yes") | dict.fromkeys(
    "no n false f 0 0.0 nein falsch non".split(), "no"
)
_SHOWN = 4


def numbers_as_text(table: TableColumns) -> Iterator[Finding]:
    """Columns of numbers with a few bad cells, and numbers that are text throughout."""
    for column in table.features:
        found = column.traits.numbers
        if not found.mostly:
            continue
        settles = option("drop", [column.name])
        cure = f"or leave the column out with {settles}"
        if found.odd:
            if len(column.distinct) - len(found.odd) < _FEW_NUMBERS:
                settles = option("categorical", [column.name])
                cure = f"or have all be categories with {settles}"
            gaps = [column.texts[place] for place in found.odd]
            if all(map(stands_for_gap, gaps)):
                settles = code_options(column.name, dict.fromkeys(gaps))
                cure = f"or have them read as missing with {settles}"
            mask = np.isin(column.codes, found.odd)
            cells = column.values[mask].tolist()
            rows = column.labels(mask, len(cells))
            told = [f"{show(cell)} in row {row}" for cell, row in zip(cells, rows, strict=True)]
            yield Finding(
                kind="bad cells",
                columns=(column.name,),
                severity="error",
                sentence=f"{column.name!r} holds numbers but for {counted(len(cells), 'cell')} "
                f"({first_few(told, _SHOWN)}); correct or empty "
                f"{'it' if len(cells) == 1 else 'them'}, {cure}.",
                option=settles,
                rows=rows[:5],
                counts={column.name: len(cells)},
            )
        elif found.template is not None:
            yield Finding(
                kind="written numbers",
                columns=(column.name,),
                severity="note",
                sentence=f"{column.name!r} holds numbers as text (first "
                f"{show(column.distinct[0])}), which are read as numbers where 1234.5 is "
                f"{show(found.template)}; if they are categories, say so with "
                f"{option('categorical', [column.name])}.",
                option=option("categorical", [column.name]),
            )
        else:
            severity: Severity = "error" if len(column.distinct) > _MANY else "warning"
            yield Finding(
                kind="number as text",
                columns=(column.name,),
                severity=severity,
                sentence=f"{column.name!r} holds numbers that are written as text (first "
                f"{show(column.distinct[0])}), so that each is a category; write plain numbers, "
                f"{cure}.",
                option=settles,
            )


def texts(table: TableColumns) -> Iterator[Finding]:
    """Free text, and columns of too many categories."""
    for column in table.features:
        if column.nature != "text":
            continue
        different, drop = len(column.distinct), option("drop", [column.name])
        if column.traits.prose:
            yield Finding(
                kind="free text",
                columns=(column.name,),
                severity="error",
                sentence=f"{column.name!r} holds free text ({different:,} different ones, first "
                f"{show(column.distinct[0])}), of which a model of categories learns nothing; "
                f"leave it out with {drop}.",
                option=drop,
                safe=True,
            )
        elif not column.traits.categories or column.traits.ids:
            continue
        elif different > _MANY:
            few = column.present < _FEW_ROWS_EACH * different
            yield Finding(
                kind="many categories",
                columns=(column.name,),
                severity="error" if different > _TOO_MANY or few else "warning",
                sentence=f"{column.name!r} has {different:,} categories, "
                f"{column.present / different:.1f} rows each, too many to learn from; group them "
                f"in the table, leave the column out with {drop}, or insist with "
                f"{option('categorical', [column.name])}.",
                option=drop,
            )
        elif different > _SEVERAL and not (is_protected(column.name) or is_place(column.name)):
            immutable = option("immutable", [column.name])
            yield Finding(
                kind="many categories",
                columns=(column.name,),
                severity="warning",
                sentence=f"{column.name!r} has {different} categories, "
                f"{column.present / different:.1f} rows each, and advice could ask for any of "
                f"them; if nobody can choose, say so with {immutable}.",
                option=immutable,
            )


def spellings(table: TableColumns) -> Iterator[Finding]:
    """Categories that differ in case or spaces only, or are the same answer, also of the target."""
    for column in (*table.features, *(() if table.target is None else (table.target,))):
        few = column.nature == "text" and len(column.distinct) <= _MANY
        if not few or column.traits.ids or not column.traits.categories:
            continue
        words = [" ".join(text.casefold().split()) for text in column.texts]
        how = "differ in case or spaces only"
        if len(set(words)) > 2 and _are_answers(words):
            words, how = [_ANSWERS.get(word, word) for word in words], "say the same"
        alike: dict[str, list[object]] = {}
        for value, word in zip(column.distinct, words, strict=True):
            alike.setdefault(word, []).append(value)
        found = [values for values in alike.values() if len(values) > 1]
        if found:
            told = first_few([listed(values) for values in found], _SHOWN, separator="; ")
            yield Finding(
                kind="spelling",
                columns=(column.name,),
                severity="warning",
                sentence=f"{column.name!r} has values that {how} ({told}), "
                "each a category of its own, and advice could ask to go from one to the other; "
                "write them alike.",
            )


def _are_answers(words: list[str]) -> bool:
    """Whether all words but those for gaps mean yes or no."""
    return all(word in _ANSWERS or stands_for_gap(word) for word in words)
