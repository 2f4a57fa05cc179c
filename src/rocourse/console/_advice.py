"""What the screen tells of advice: the first in words, and how much there is."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rocourse._wording import counted
from rocourse.schema import Certificate, Recourse

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

STATUSES = ("found", "found_unsure", "not_found", "not_needed")


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
        return summary

    def add(self, following: "AdviceSummary | Mapping[str, int]") -> None:
        """Takes in the next rows, or what was counted of them."""
        if isinstance(following, AdviceSummary):
            self._words += following._words[: self._shown - len(self._words)]
            self._hints += following._hints[: self._shown - len(self._hints)]
            self._certificate = following._certificate or self._certificate
            following = following.counts
        for name, count in following.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def lines(self) -> list["str | Text"]:
        """What to print."""
        found = self.counts["found"]
        more = found - len(self._words)
        return [
            *(line for words in self._words for line in words),
            *([f"… and {more} more"] if self._words and more > 0 else []),
            f"Advice found for {counted(found, 'row')}, not found for "
            f"{self.counts['not_found']}, not needed for {self.counts['not_needed']}.",
            *(
                [f"Valid today but not promised for {counted(unsure, 'row')} more."]
                if (unsure := self.counts["found_unsure"])
                else []
            ),
            *self._in_certificates(),
            *self._proved(),
        ]

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
