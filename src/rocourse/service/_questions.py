"""What a request for decisions asks."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rocourse.service._decider import Choice, Row
from rocourse.service._keys import Caller


@dataclass(frozen=True)
class Question:
    """One request for decisions.

    Attributes:
        rows: The applicants.
        subjects: The caller's reference for each.
        key: The caller's idempotency key.
        caller: Who asks: callers do not share their idempotency keys, nor tenants their promises.
        choices: What each applicant asks for beyond the best advice; None where that is all.
        traced: What `Tracing.here` gave.
    """

    rows: Sequence[Row]
    subjects: Sequence[str | None]
    key: str | None
    caller: Caller
    choices: Sequence[Choice] | None = None
    traced: Any = None

    def fingerprint(self) -> str:
        """Tells this request from others."""
        parts: list[Any] = [list(self.rows), self.subjects]
        if self.choices is not None:
            parts += [self.wishes(), [choice.options for choice in self.choices]]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def wishes(self) -> list[dict[str, Any] | None]:
        """The wishes of each applicant, as JSON has them."""
        if self.choices is None:
            return [None] * len(self.rows)
        each = (choice.wishes for choice in self.choices)
        return [None if wishes is None else wishes.to_dict() for wishes in each]
