"""What the screen tells of advice: the first in words, and how much there is."""

from typing import TYPE_CHECKING, Any

from rocourse.schema import Recourse

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text


class AdviceSummary:
    """Counts advice, and puts the first rows for which there is some in words.

    Args:
        shown: How many rows to put in words.

    Attributes:
        counts: Number of rows by status.
        proved: Of rows without advice those for which it is proved that there is none; None if
            proofs were not asked for.
    """

    def __init__(self, shown: int) -> None:
        self.counts = {"found": 0, "found_unsure": 0, "not_found": 0, "not_needed": 0}
        self._shown = shown
        self._words: list[str | Text] = []
        self._hints: list[str | Text] = []
        self.proved: int | None = None

    def add(self, batch: Recourse, ids: "pd.Series[Any] | None" = None) -> None:
        """Takes in the next rows, and what tells them apart, if not their place."""
        left = self._shown - self.counts["found"]
        found = (batch.status == "found").nonzero()[0]
        if left > 0 and len(found):
            names = _names(batch, ids)
            self._words += _in_words(batch[found[:left]], [names[k] for k in found[:left]])
        for status in self.counts:
            self.counts[status] += int((batch.status == status).sum())
        if batch.proofs is not None:
            proofs = [proof for proof in batch.proofs if proof is not None]
            self.proved = (self.proved or 0) + sum(proof.none_exists for proof in proofs)
            self._hints += _hints(batch)[: self._shown - len(self._hints)]

    def lines(self) -> list["str | Text"]:
        """What to print."""
        found, more = self.counts["found"], self.counts["found"] - self._shown
        return [
            *self._words,
            *([f"… and {more} more"] if more > 0 else []),
            f"Advice found for {found} rows, not found for {self.counts['not_found']}, not needed "
            f"for {self.counts['not_needed']}.",
            *(
                [f"Valid today but not promised for {unsure} rows more."]
                if (unsure := self.counts["found_unsure"])
                else []
            ),
            *self._proved(),
        ]

    def _proved(self) -> list["str | Text"]:
        if not self.counts["not_found"] or self.proved is None:
            return []
        return [
            f"Proved for {self.proved} of {self.counts['not_found']} rows without advice: nothing "
            "that is allowed would be enough.",
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


def _in_words(found: Recourse, names: list[str]) -> list["str | Text"]:
    from rich.text import Text

    lines: list[str | Text] = []
    for k, changes in enumerate(found.descriptions()):
        title = f"{names[k]}: {found.predicted[k]} → {found.desired[k]}"
        lines.append(Text.assemble((title, "bold"), f" (probability {found.probability[k]:.2f})"))
        lines += [f"  {change}" for change in changes]
        if imputed := found.imputed[k]:
            lines.append(f"  (missing and filled in: {', '.join(imputed)})")
    return lines
