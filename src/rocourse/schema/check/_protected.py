"""What nobody is asked to change, by the names that columns have in English and German.

Attributes that law or decency protect, and where people live.
"""

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
_PLACES = frozenset(
    "address street zip zipcode postcode postal adresse anschrift strasse plz postleitzahl "
    "hausnummer wohnort".split()
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


def is_place(name: str) -> bool:
    """Whether a column's name says that it is about where somebody lives."""
    return bool(_PLACES.intersection(words_of(name)))


def protected(table: TableColumns) -> Iterator[Finding]:
    """Columns of protected attributes, and of addresses."""
    names = [column.name for column in table.features]
    of_people = [name for name in names if is_protected(name)]
    of_places = [name for name in names if is_place(name) and name not in of_people]
    for kind, found in (("protected", of_people), ("address", of_places)):
        if found:
            yield unchangeable_finding(kind, found)


def unchangeable_finding(kind: str, names: list[str]) -> Finding:
    """The finding of a kind about these columns."""
    shown = ", ".join(map(repr, names))
    one, several = {
        "protected": ("looks like a protected attribute", "look like protected attributes"),
        "address": ("says where somebody lives", "say where somebody lives"),
    }[kind]
    are = one if len(names) == 1 else several
    return Finding(
        kind=kind,
        columns=tuple(names),
        severity="warning",
        sentence=f"{shown} {are}, which advice should not ask anybody to change; say so with "
        f"{option('immutable', names)}.",
        option=option("immutable", names),
        safe=True,
    )
