"""Pieces of the sentences in which wrong names and values are refused."""

import difflib
from collections.abc import Iterable, Sequence

# How alike a name and what was probably meant must be.
_LIKENESS = 0.7


def show(value: object) -> str:
    """The value as it would be typed in Python, cut to a length that fits in a sentence."""
    # A scalar of NumPy, which need not be imported for it.
    plain = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
    text = repr(plain)
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(values: Iterable[object], *, limit: int = 6) -> str:
    """The values separated by commas; a long list is shortened and counted."""
    shown = list(values)
    if len(shown) <= limit:
        return ", ".join(show(value) for value in shown)
    return f"{', '.join(show(value) for value in shown[:limit])}, ... ({len(shown)} in all)"


def first_few(told: Sequence[str], limit: int, *, separator: str = ", ") -> str:
    """The first of some descriptions, and how many more there are."""
    more = [f"and {len(told) - limit} more"] if len(told) > limit else []
    return separator.join([*told[:limit], *more])


def closest(
    name: object, candidates: Iterable[object], *, likeness: float = _LIKENESS
) -> str | None:
    """The candidate that `name` was probably meant to be, if one comes close."""
    by_key = {str(candidate).casefold().strip(): str(candidate) for candidate in candidates}
    matches = difflib.get_close_matches(str(name).casefold().strip(), by_key, n=1, cutoff=likeness)
    return by_key[matches[0]] if matches else None


def did_you_mean(name: object, candidates: Iterable[object]) -> str:
    """` (did you mean 'Age'?)`, or nothing when no candidate comes close."""
    match = closest(name, candidates)
    return "" if match is None else f" (did you mean {match!r}?)"


def counted(count: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def duplicates(values: Sequence[object]) -> list[object]:
    """The values that occur more than once, in order of first repetition."""
    seen: set[object] = set()
    repeated: dict[object, None] = {}
    for value in values:
        if value in seen:
            repeated[value] = None
        seen.add(value)
    return list(repeated)
