"""Attributes that law or decency protect, by the names that columns have in English and German."""

from collections.abc import Iterator

from rocourse.schema._favourable import words_of
from rocourse.schema.check._columns import TableColumns
from rocourse.schema.check._record import Finding, option

_WORDS = frozenset(
    "age sex gender race racial ethnicity ethnic nationality citizenship citizen religion "
    "religious marital married divorced widowed disability disabled handicap pregnant "
    "pregnancy dob birth birthday birthdate born foreign foreigner native immigrant caste tribe "
    "veteran afam orientation alter geschlecht rasse ethnie herkunft nationalität "
    "nationalitaet staatsangehörigkeit staatsangehoerigkeit staatsbürgerschaft konfession "
    "familienstand zivilstand verheiratet ledig geschieden verwitwet behinderung schwanger "
    "schwangerschaft geburt geburtsdatum geburtsjahr geburtstag geburtsland "
    "migrationshintergrund ausländer auslaender".split()
)
# Whose age it is, where it is not a person's.
_THINGS = frozenset(
    "account accounts loan credit car vehicle house home property building line card debt invoice "
    "konto kredit fahrzeug auto haus".split()
)


def is_protected(name: str) -> bool:
    """Whether a column's name says that it is about who somebody is."""
    words = words_of(name)
    if words == ["single"]:
        return True
    return bool(_WORDS.intersection(words)) and not _THINGS.intersection(words)


def protected(table: TableColumns) -> Iterator[Finding]:
    """Columns of protected attributes."""
    names = [column.name for column in table.features if is_protected(column.name)]
    if names:
        yield protected_finding(names)


def protected_finding(names: list[str]) -> Finding:
    """The finding about these columns."""
    shown = ", ".join(map(repr, names))
    are = (
        "looks like a protected attribute" if len(names) == 1 else "look like protected attributes"
    )
    return Finding(
        kind="protected",
        columns=tuple(names),
        severity="warning",
        sentence=f"{shown} {are}, which advice should not ask anybody to change; say so with "
        f"{option('immutable', names)}.",
        option=option("immutable", names),
        safe=True,
    )
