"""Recourses for a handful of applicants, without a table.

A table of a few rows costs many times what the networks do: its columns are checked and converted
one by one. Rows that are beyond doubt need none of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from rocourse.schema import EncodedRow, Recourse, RowCodes, Rows, Schema

Applicant = Mapping[str, Any]


class Answering(Protocol):
    """What is asked of a fitted model."""

    @property
    def schema_(self) -> Schema:
        """The features."""

    @property
    def classes_(self) -> np.ndarray:
        """The labels."""

    def recourse(self, X: Any, *, desired: Any = None) -> Recourse:
        """Recourses for a table."""

    def _probabilities(self, rows: Rows) -> np.ndarray:
        """Class probabilities, `[n, n_classes]`."""

    def _targets(self, desired: Any, predicted: np.ndarray) -> np.ndarray:
        """Class indices that are asked for, `[n]`."""

    def _propose(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""

    def _share_of_witnesses(self, rows: Rows, target: np.ndarray) -> np.ndarray | None:
        """The share of witnesses that give each row its target class."""


def answer_each(
    model: Answering, applicants: Sequence[Applicant], desired: Any
) -> list[dict[str, Any]]:
    """The records of `RecourseClassifier.recourse_each`."""
    encoded = [model.schema_.row_codec.encode(applicant) for applicant in applicants]
    pairs = zip(applicants, encoded, strict=True)
    clear = iter(_answer_clear(model, [(a, row) for a, row in pairs if row is not None], desired))
    return [
        _answer_by_table(model, applicant, desired) if row is None else next(clear)
        for applicant, row in zip(applicants, encoded, strict=True)
    ]


def _answer_clear(
    model: Answering, applicants: Sequence[tuple[Applicant, EncodedRow]], desired: Any
) -> list[dict[str, Any]]:
    if not applicants:
        return []
    schema, codec = model.schema_, model.schema_.row_codec
    settled = [row.codes for _, row in applicants]
    rows = _stacked(settled, schema)
    before = model._probabilities(rows)
    predicted = before.argmax(axis=1)
    target = model._targets(desired, predicted)
    needy = np.flatnonzero(target != predicted)
    if len(needy):
        proposed = model._propose(rows.take(needy), target[needy])
        for place, change in zip(needy.tolist(), _unstacked(proposed), strict=True):
            settled[place] = codec.settle(applicants[place][1], change)
    attempts = _stacked(settled, schema)
    after = model._probabilities(attempts)
    shares = model._share_of_witnesses(attempts, target)
    found = after.argmax(axis=1) == target
    classes = model.classes_.tolist()
    records = []
    for i, ((applicant, row), attempt) in enumerate(zip(applicants, settled, strict=True)):
        wanted, given = int(target[i]), int(predicted[i])
        changes = codec.changes(applicant, row.codes, attempt)
        status = "not_needed" if given == wanted else "found" if found[i] else "not_found"
        records.append(
            {
                "status": status,
                "predicted": classes[given],
                "desired": classes[wanted],
                "probability_before": float(before[i, wanted]),
                "probability": float(after[i, wanted]),
                "proximity": codec.proximity(row.codes, attempt),
                "features_changed": len(changes),
                "changes": changes if status == "found" else [],
                "robustness": None if shares is None else float(shares[i]),
            }
        )
    return records


def _answer_by_table(model: Answering, applicant: Applicant, desired: Any) -> dict[str, Any]:
    """Of a row whose values a table's checks must look at."""
    known = {name: applicant[name] for name in model.schema_.names if name in applicant}
    recourse = model.recourse(pd.DataFrame([known | dict(applicant)]), desired=desired)
    target = np.searchsorted(model.classes_, recourse.desired)
    before = model._probabilities(recourse.original_rows)
    shares = model._share_of_witnesses(recourse.attempts, target)
    (record,) = recourse.to_records()
    del record["index"]
    record["probability_before"] = float(before[0, target[0]])
    record["robustness"] = None if shares is None else float(shares[0])
    return record


def _stacked(codes: Sequence[RowCodes], schema: Schema) -> Rows:
    n, layout = len(codes), schema.layout
    values = np.array([row.values for row in codes], np.float32)
    categories = np.array([row.categories for row in codes], layout.category_dtype)
    return Rows(values.reshape(n, layout.n_continuous), categories.reshape(n, layout.n_categorical))


def _unstacked(rows: Rows) -> list[RowCodes]:
    return [
        RowCodes(tuple(values), tuple(codes))
        for values, codes in zip(rows.continuous.tolist(), rows.categories.tolist(), strict=True)
    ]
