"""Recourses and predictions as tables, and tables as records of JSON."""

import json
from collections.abc import Collection
from typing import Any, Protocol

import numpy as np
import pandas as pd

from rocourse.schema import Certificate, CutOff, Recourse, Schema, is_gap, verdicts


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


def recourse_table(
    recourse: Recourse, *, stable: bool = False, ids: "pd.Series[Any] | None" = None
) -> pd.DataFrame:
    """One line per row: what came of it, the advised values, and the changes in words.

    Rows for which nothing was found keep their own values; proximity, the number of features
    changed, the cost and, where they are known, the robustness and the months are then those of the
    attempt.
    Where several options were asked for, each is a line with its number, `option`, from 1; a row
    without advice has one line.

    Args:
        recourse: The advice for a batch of rows.
        stable: Whether the types must be those of any other batch too.
        ids: What tells rows apart, to come first under its name.
    """
    if not recourse.others:
        return _one_line_a_row(recourse, ids, stable=stable)
    lines, numbers = [], []
    for k, option in enumerate(recourse.options):
        where = np.flatnonzero(option.advised | (k == 0))
        own = None if ids is None else ids.iloc[where]
        table = _one_line_a_row(option[where], own, stable=stable)
        numbers.append(np.stack([where, np.full(len(where), k)]))
        # After the row, before what came of it.
        place = 1 if ids is None else 2
        table.insert(place, _free_name("option", table.columns), k + 1)
        lines.append(table)
    row, number = np.concatenate(numbers, axis=1)
    return pd.concat(lines, ignore_index=True).iloc[np.lexsort((number, row))]


def _one_line_a_row(
    recourse: Recourse, ids: "pd.Series[Any] | None", *, stable: bool
) -> pd.DataFrame:
    features = _whole_numbers(recourse.frame(stable=stable), recourse.schema)
    columns: dict[str, Any] = {} if ids is None else {str(ids.name): ids.array}
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
    if recourse.robustness is not None:
        record["robustness"] = recourse.robustness
    if recourse.months is not None:
        record["months"] = recourse.months
    taken = {*columns, *features.columns}
    columns |= {_free_name(name, taken): values for name, values in record.items()}
    columns |= {name: features[name].array for name in features.columns if name not in columns}
    columns[_free_name("changes", taken)] = recourse.summaries()
    columns[_free_name("imputed", taken)] = ["; ".join(names) for names in recourse.imputed]
    if recourse.proofs is not None:
        texts = [
            (p.text, p.loosen.text if p.loosen else "") if p else ("", "") for p in recourse.proofs
        ]
        for place, name in enumerate(("proof", "loosen")):
            columns[_free_name(name, taken)] = [text[place] for text in texts]
    if recourse.certificate is not None:
        told = _certificate_columns(recourse.certificate)
        columns |= {_free_name(name, taken): values for name, values in told.items()}
    return pd.DataFrame(columns)


def _certificate_columns(certificate: Certificate) -> dict[str, Any]:
    """Its kind, what it says of each row, and last, as JSON, all that rows have in common."""
    levels = certificate.frame()
    stated = json.dumps(certificate.statement(), ensure_ascii=False)
    there = ~np.isnan(certificate.level)
    return {
        "certificate": np.where(there, certificate.kind, ""),
        **{f"certificate_{name}": levels[name].array for name in levels},
        "certificate_statement": np.where(there, stated, ""),
    }


def _whole_numbers(features: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Whole numbers as such, which pandas has as decimals where some are missing."""
    names = [
        feature.name
        for feature in schema.continuous
        if feature.integer and features[feature.name].dtype == np.float64
    ]
    return features.astype(dict.fromkeys(names, "Int64")) if names else features


def prediction_table(model: Classifier, rows: pd.DataFrame, id: str | None = None) -> pd.DataFrame:
    """One line per row: its class, and the probability of each class.

    Args:
        model: The model.
        rows: The rows.
        id: The column of them that tells them apart, to come first.
    """
    probabilities = model.predict_proba(rows)
    return pd.DataFrame(
        {
            **({} if id is None else {id: rows[id].array}),
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
    columns = {name: _json_list(table[name]) for name in table.columns}
    return [
        {name: values[position] for name, values in columns.items()}
        for position in range(len(table))
    ]


def with_ids(records: list[dict[str, Any]], ids: "pd.Series[Any] | None") -> list[dict[str, Any]]:
    """Records of JSON, with what tells their rows apart as `id` at the head of each."""
    if ids is None:
        return records
    return [{"id": id, **record} for id, record in zip(_json_list(ids), records, strict=True)]


def _json_list(values: "pd.Series[Any]") -> list[Any]:
    """Values as JSON has them, None where they are missing."""
    return [None if is_gap(value) else value for value in values.tolist()]


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name, or one like it that no other column has."""
    while name in taken:
        name = f"{name}_"
    return name
