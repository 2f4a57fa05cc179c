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
    """

    def __init__(self, shown: int) -> None:
        self.counts = {"found": 0, "found_unsure": 0, "not_found": 0, "not_needed": 0}
        self._shown = shown
        self._words: list[str | Text] = []

    def add(self, batch: Recourse, ids: "pd.Series[Any] | None" = None) -> None:
        """Takes in the next rows, and what tells them apart, if not their place."""
        left = self._shown - self.counts["found"]
        found = (batch.status == "found").nonzero()[0]
        if left > 0 and len(found):
            names = _names(batch, ids)
            self._words += _in_words(batch[found[:left]], [names[k] for k in found[:left]])
        for status in self.counts:
            self.counts[status] += int((batch.status == status).sum())

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
