"""Recourses for single applicants, without a table."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rocourse.methods._inference import Networks, RowEngine
from rocourse.schema import Schema


class Clerk:
    """Answers one applicant at a time, with what `recourse` says to a table of one row."""

    def __init__(self, schema: Schema, classes: np.ndarray, networks: Networks) -> None:
        self._codec = schema.row_codec
        self._networks = networks
        self._engine = RowEngine(networks, schema.layout)
        self._classes: list[Any] = classes.tolist()
        self._positions = {label: index for index, label in enumerate(self._classes)}
        assert schema.target is not None
        # The other class of two, or the favourable one of many.
        self._usual = -1 if len(classes) == 2 else self._positions[schema.target.favourable]

    def serves(self, networks: Networks) -> bool:
        """Whether these are the networks that answers come from."""
        return all(ours is theirs for ours, theirs in zip(self._networks, networks, strict=True))

    def record(self, applicant: Mapping[str, Any], desired: Any) -> dict[str, Any] | None:
        """The record of one row; None unless the row and the wish are beyond doubt."""
        wanted = self._usual if desired is None else self._position(desired)
        row = self._codec.encode(applicant)
        if row is None or wanted is None:
            return None
        answer = self._engine.answer(row.codes, wanted)
        needed = answer.target != answer.predicted
        settled = self._codec.settle(row, answer.proposed) if needed else row.codes
        shares = self._engine.probabilities(settled)
        found = int(np.argmax(shares)) == answer.target
        status = ("found" if found else "not_found") if needed else "not_needed"
        changes = self._codec.changes(applicant, row.codes, settled)
        return {
            "index": 0,
            "status": status,
            "predicted": self._classes[answer.predicted],
            "desired": self._classes[answer.target],
            "probability": float(shares[answer.target]),
            "proximity": self._codec.proximity(row.codes, settled),
            "features_changed": len(changes),
            "changes": changes if status == "found" else [],
        }

    def _position(self, desired: Any) -> int | None:
        try:
            return self._positions.get(desired)
        except TypeError:
            return None
