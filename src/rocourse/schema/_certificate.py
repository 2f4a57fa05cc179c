"""The record of a certificate: what is proved of recourses, how surely, and what is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

CertificateKind = Literal["delta", "sampled", "witnesses", "ellipsoid", "votes"]
CERTIFICATES: tuple[CertificateKind, ...] = get_args(CertificateKind)


@dataclass(frozen=True, eq=False)
class Certificate:
    """What can be proved of each recourse of a batch.

    Attributes:
        kind: What it goes by.
        level: Of each row how far the certificate goes, in the kind's own measure; NaN of rows
            without advice, float64 `[n]`.
        at: The level that was asked for; None: none was.
        confidence: How sure the level is where it rests on draws, for each row by itself; None:
            it is proved.
        parameters: What it was made with, JSON-able.
        details: What else is counted of each row, arrays `[n]` by name.
        model: The digest of the stored model; None of one that is not stored.
        covers: In one sentence what a level says.
        leaves_out: In one sentence what it does not say.
    """

    kind: CertificateKind
    level: np.ndarray
    at: float | None
    confidence: float | None
    parameters: Mapping[str, Any]
    model: str | None
    covers: str
    leaves_out: str
    details: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.level)

    def __getitem__(self, rows: Any) -> "Certificate":
        details = {name: values[rows] for name, values in self.details.items()}
        return replace(self, level=self.level[rows], details=details)

    def with_rows(self, where: np.ndarray, other: "Certificate") -> "Certificate":
        """The same, with what another one says of the rows at some places."""

        def put(own: np.ndarray, new: np.ndarray) -> np.ndarray:
            merged = own.copy()
            merged[where] = new
            return merged

        details = {name: put(own, other.details[name]) for name, own in self.details.items()}
        return replace(self, level=put(self.level, other.level), details=details)

    @property
    def holds(self) -> np.ndarray | None:
        """Whether each row reaches the level that was asked for, bool `[n]`; None: none was."""
        return None if self.at is None else np.asarray(self.level >= self.at)

    def frame(self) -> pd.DataFrame:
        """A line a row: level, whether it holds, and the details."""
        columns: dict[str, Any] = {"level": self.level}
        if self.holds is not None:
            columns["holds"] = self.holds
        without = np.isnan(self.level)
        counts = {
            name: pd.Series(values, dtype="Int64").mask(without)
            for name, values in self.details.items()
        }
        return pd.DataFrame({**columns, **counts})

    def sentences(self) -> list[str]:
        """What it says and what it does not."""
        return [f"It says: {self.covers}", f"It does not say: {self.leaves_out}"]

    def statement(self) -> dict[str, Any]:
        """What all rows share, JSON-able."""
        return {
            "kind": self.kind,
            "at": self.at,
            "confidence": self.confidence,
            "parameters": dict(self.parameters),
            "model": self.model,
            "covers": self.covers,
            "leaves_out": self.leaves_out,
        }

    def levels(self) -> list[dict[str, Any]]:
        """What differs from row to row, JSON-able."""
        columns = {"level": self.level}
        columns |= {} if self.holds is None else {"holds": self.holds}
        told = [_jsonable(column) for column in (*columns.values(), *self.details.values())]
        names, known = (*columns, *self.details), np.isfinite(self.level).tolist()
        return [
            {name: value if there else None for name, value in zip(names, values, strict=True)}
            for there, *values in zip(known, *told, strict=True)
        ]

    def to_records(self) -> list[dict[str, Any] | None]:
        """One JSON-able record a row with all that is certified of it; None without advice."""
        shared, there = self.statement(), (~np.isnan(self.level)).tolist()
        pairs = zip(self.levels(), there, strict=True)
        return [{**shared, **level} if known else None for level, known in pairs]


def _jsonable(values: np.ndarray) -> list[Any]:
    """JSON has no NaN and no infinity."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [value if np.isfinite(value) else None for value in values.tolist()]
