"""Pieces of the sentences in which wrong names are refused."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, candidates: Iterable[object]) -> str:
    """` (did you mean 'age'?)`, or nothing when no candidate comes close."""
    close = difflib.get_close_matches(name, [str(candidate) for candidate in candidates], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listed(values: Iterable[object]) -> str:
    """The values separated by commas; a long list is shortened and counted."""
    shown = [repr(value) for value in values]
    more = f", ... ({len(shown)} in all)" if len(shown) > 8 else ""
    return ", ".join(shown[:8]) + more
