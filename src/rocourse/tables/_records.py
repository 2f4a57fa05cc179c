"""Recourses and predictions as tables, and tables as records of JSON."""

from typing import Any, Protocol

import numpy as np
import pandas as pd

from rocourse.schema import CutOff, Recourse, verdicts


class Classifier(Protocol):
    """What a table of predictions asks of a fitted model."""

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The labels, in the order of the columns of `predict_proba`."""

    @property
    def cut_off_(self) -> CutOff | None:
        """By which it decides, if not for the most probable class."""

    def predict_proba(self, X: pd.DataFrame, /) -> Any:
        """Probabilities, rows by classes."""


def recourse_table(recourse: Recourse, *, stable: bool = False) -> pd.DataFrame:
    """One line per row: what came of it, the advised values, and the changes in words.

    Rows for which nothing was found keep their own values; proximity, the number of features
    changed, the cost and, where the schema knows of time, the months are then those of the attempt.
    Where several options were asked for, each is a line with its number, `option`, from 1; a row
    without advice has one line.

    Args:
        recourse: The advice for a batch of rows.
        stable: Whether the types must be those of any other batch too.
    """
    if not recourse.others:
        return _one_line_a_row(recourse, stable=stable)
    lines, numbers = [], []
    for k, option in enumerate(recourse.options):
        where = np.flatnonzero(option.advised | (k == 0))
        table = _one_line_a_row(option[where], stable=stable)
        numbers.append(np.stack([where, np.full(len(where), k)]))
        # After the row, before what came of it.
        table.insert(1, _free_name("option", recourse.original), k + 1)
        lines.append(table)
    row, number = np.concatenate(numbers, axis=1)
    return pd.concat(lines, ignore_index=True).iloc[np.lexsort((number, row))]


def _one_line_a_row(recourse: Recourse, *, stable: bool) -> pd.DataFrame:
    features = recourse.frame(stable=stable)
    record: dict[str, Any] = {
        "row": recourse.original.index,
        "status": recourse.status,
        "predicted": recourse.predicted,
        "desired": recourse.desired,
        "probability": recourse.probability,
        "proximity": recourse.proximity,
        "features_changed": recourse.features_changed,
        "cost": recourse.cost,
    }
    if recourse.months is not None:
        record["months"] = recourse.months
    columns = {_free_name(name, features): values for name, values in record.items()}
    columns |= {name: features[name].array for name in features.columns}
    columns[_free_name("changes", features)] = recourse.summaries()
    if recourse.proofs is not None:
        texts = [
            (p.text, p.loosen.text if p.loosen else "") if p else ("", "") for p in recourse.proofs
        ]
        for place, name in enumerate(("proof", "loosen")):
            columns[_free_name(name, features)] = [text[place] for text in texts]
    return pd.DataFrame(columns)


def prediction_table(model: Classifier, rows: pd.DataFrame) -> pd.DataFrame:
    """One line per row: its class, and the probability of each class."""
    probabilities = model.predict_proba(rows)
    return pd.DataFrame(
        {
            "row": rows.index,
            "predicted": model.classes_[verdicts(probabilities, model.cut_off_)],
            **{
                f"probability_{label}": probabilities[:, k].astype(float)
                for k, label in enumerate(model.classes_)
            },
        }
    )


def as_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One JSON-able object per row."""
    columns = {name: table[name].tolist() for name in table.columns}
    return [
        {name: values[position] for name, values in columns.items()}
        for position in range(len(table))
    ]


def _free_name(name: str, features: pd.DataFrame) -> str:
    """The name, or one like it that no feature has."""
    while name in features.columns:
        name = f"{name}_"
    return name
