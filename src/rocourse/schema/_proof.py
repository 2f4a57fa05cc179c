"""What is known of rows for which no recourse was found: whether there is one, what would help."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Loosening:
    """The rules that would have to give way for a row to have a recourse: the cheapest such.

    Attributes:
        rules: Names of features, and of the rule of each that stands in the way: `immutable`,
            `direction`, `bounds`, `largest change`, `step`, `moves` or `follows`; without a feature
            `max_features` or `linear`.
        changes: The recourse that there would be: feature, from, to.
        proximity: What it would cost.
        text: The rules and how far each has to give way, in words.
    """

    rules: tuple[tuple[str | None, str], ...]
    changes: tuple[dict[str, Any], ...]
    proximity: float
    text: str

    def to_record(self) -> dict[str, Any]:
        """In values that JSON knows."""
        return {
            "rules": [{"feature": feature, "rule": rule} for feature, rule in self.rules],
            "changes": list(self.changes),
            "proximity": self.proximity,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of looking through everything that a row can become.

    Attributes:
        none_exists: Whether it is proved that no allowed change, to usual values, convinces the
            model.
        text: `none exists`, or how far the search went.
        loosen: What would help; None if nothing was found, or not looked for.
    """

    none_exists: bool
    text: str
    loosen: Loosening | None = None
