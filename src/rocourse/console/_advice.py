"""What the screen tells of advice: the first in words, and how much there is."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rocourse._wording import counted
from rocourse.schema import Certificate, Recourse

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

STATUSES = ("found", "found_unsure", "not_found", "not_needed")

_TOLD_MOST = 3
# Advice that doubles or halves a number is worth a question, if so much of it does.
_LEAPS = 0.1
# Where whole numbers are few, as of children, twice as many is one step.
_FEW = 20


class AdviceSummary:
    """Counts of advice, and the first rows for which there is some in words.

    Args:
        shown: How many rows to put in words.

    Attributes:
        counts: Number of rows by status; where proofs were asked for, also `proved_none`: of rows
            without advice those for which it is proved that there is none; where a level was to be
            certified, also `certified`.
    """

    def __init__(self, shown: int) -> None:
        self.counts = dict.fromkeys(STATUSES, 0)
        self._shown = shown
        self._words: list[list[str | Text]] = []
        self._hints: list[str | Text] = []
        self._certificate: Certificate | None = None
        self._changes: Counter[str] = Counter()
        self._leaps: Counter[str] = Counter()
        self._looked_at = 0

    @classmethod
    def of(cls, batch: Recourse, ids: "pd.Series[Any] | None", shown: int) -> Self:
        """Of some rows, and what tells them apart, if not their place."""
        summary = cls(shown)
        found = (batch.status == "found").nonzero()[0][:shown]
        if len(found):
            names = _names(batch, ids)
            summary._words = _in_words(batch[found], [names[k] for k in found])
        for status in STATUSES:
            summary.counts[status] = int((batch.status == status).sum())
        if (told := batch.certificate) is not None and told.holds is not None:
            summary.counts["certified"] = int(told.holds.sum())
            # What it says of rows is in their records.
            summary._certificate = replace(told, level=told.level[:0], details={})
        if batch.proofs is not None:
            proofs = [proof for proof in batch.proofs if proof is not None]
            summary.counts["proved_none"] = sum(proof.none_exists for proof in proofs)
            summary._hints = _hints(batch)[:shown]
        summary._looked_at = int(batch.advised.sum())
        summary._count_changes(batch)
        return summary

    def _count_changes(self, batch: Recourse) -> None:
        """Counts how often each feature is told, and how often a number is doubled or halved."""
        advised = batch.advised
        for k, feature in enumerate(batch.schema.categorical):
            changed = batch.original_rows.categories[:, k] != batch.attempts.categories[:, k]
            self._changes[feature.name] += int((changed & advised).sum())
        for k, number in enumerate(batch.schema.continuous):
            before, after = batch.original_rows.continuous[:, k], batch.attempts.continuous[:, k]
            changed = (before != after) & advised
            self._changes[number.name] += int(changed.sum())
            if number.date or (number.integer and number.high - number.low < _FEW):
                continue
            old, new = (number.low + share[changed] * number.span for share in (before, after))
            less, more = np.minimum(old, new), np.maximum(old, new)
            self._leaps[number.name] += int(((less > 0) & (more >= 2 * less)).sum())

    def add(self, following: "AdviceSummary | Mapping[str, int]") -> None:
        """Takes in the next rows, or what was counted of them."""
        if isinstance(following, AdviceSummary):
            self._words += following._words[: self._shown - len(self._words)]
            self._hints += following._hints[: self._shown - len(self._hints)]
            self._certificate = following._certificate or self._certificate
            self._changes += following._changes
            self._leaps += following._leaps
            self._looked_at += following._looked_at
            following = following.counts
        for name, count in following.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def lines(self) -> list["str | Text"]:
        """What to print."""
        found, unsure = self.counts["found"], self.counts["found_unsure"]
        rows = counted(unsure, "row") + (" more" if found else "")
        more = found - len(self._words)
        return [
            *(line for words in self._words for line in words),
            *([f"… and {more} more"] if self._words and more > 0 else []),
            f"Advice found for {counted(found, 'row')}, not found for "
            f"{self.counts['not_found']}, not needed for {self.counts['not_needed']}.",
            *([f"Valid today but not promised for {rows}."] if unsure else []),
            *self._told_most(),
            *self._in_certificates(),
            *self._proved(),
        ]

    def _told_most(self) -> list[str]:
        """What advice is about, and whether it asks for much, which rules can prevent."""
        often = [(name, n) for name, n in self._changes.most_common(_TOLD_MOST) if n]
        if not often:
            return []
        told = ", ".join(f"{name} ({n / self._looked_at:.0%})" for name, n in often)
        lines = [f"Told most: {told}."]
        leaps = [
            (name, n) for name, n in self._leaps.most_common() if n >= _LEAPS * self._looked_at
        ]
        if leaps:
            told = ", ".join(f"{name} ({n / self._looked_at:.0%})" for name, n in leaps)
            limit = quote(f"{leaps[0][0]}=50%")
            lines.append(
                f"Doubled or halved at least: {told}. If people cannot do so much, say how far "
                f"they can go when training, such as --max-change {limit}, or --immutable."
            )
        return lines

    def _in_certificates(self) -> list["str | Text"]:
        told = self._certificate
        if told is None:
            return []
        advised = self.counts["found"] + self.counts["found_unsure"]
        return [
            f"Certified ({told.kind}) at {told.at:g}: {self.counts['certified']} of "
            f"{counted(advised, 'row')} with advice.",
            *told.sentences(),
        ]

    def _proved(self) -> list["str | Text"]:
        if not self.counts["not_found"] or "proved_none" not in self.counts:
            return []
        return [
            f"Proved for {self.counts['proved_none']} of {self.counts['not_found']} rows without "
            "advice: nothing that is allowed would be enough.",
            *self._hints,
        ]


def _hints(batch: Recourse) -> list["str | Text"]:
    """What would have to be loosened for rows without advice."""
    assert batch.proofs is not None
    return [
        f"row {batch.original.index[k]}: {proof.text}; to loosen: {proof.loosen.text}"
        for k, proof in enumerate(batch.proofs)
        if proof is not None and proof.loosen is not None
    ]


def _names(batch: Recourse, ids: "pd.Series[Any] | None") -> list[str]:
    if ids is None:
        return [f"row {label}" for label in batch.original.index]
    return [f"{ids.name} {id}" for id in ids]


def _in_words(found: Recourse, names: list[str]) -> list[list["str | Text"]]:
    from rich.text import Text

    rows: list[list[str | Text]] = []
    for k, changes in enumerate(found.descriptions()):
        title = f"{names[k]}: {found.predicted[k]} → {found.desired[k]}"
        words: list[str | Text] = [
            Text.assemble((title, "bold"), f" (probability {found.probability[k]:.2f})"),
            *(f"  {change}" for change in changes),
        ]
        if imputed := found.imputed[k]:
            words.append(f"  (missing and filled in: {', '.join(imputed)})")
        rows.append(words)
    return rows
