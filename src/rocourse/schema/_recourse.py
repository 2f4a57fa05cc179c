"""The record of recourses: the only thing methods emit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._lazy import above
from rocourse._wording import listed
from rocourse.errors import DataError
from rocourse.schema._certificate import Certificate
from rocourse.schema._cost import features_changed, proximity
from rocourse.schema._describe import describe_changes
from rocourse.schema._encoding import decode_column
from rocourse.schema._features import Categorical, Feature, positioned
from rocourse.schema._filling import gaps_by_feature
from rocourse.schema._frames import like
from rocourse.schema._layout import Positions, Rows, Selection, check_layout
from rocourse.schema._overlay import in_form_of, overlay
from rocourse.schema._proof import Proof
from rocourse.schema._record_cells import json_cells, json_list
from rocourse.schema._schema import Schema
from rocourse.schema._validation import Mask
from rocourse.schema._wishes import Wishes

Objects = npt.NDArray[np.object_]

# What the options of a row share with its record.
_COMMON = frozenset({"index", "predicted", "desired", "reason"})

FOUND, UNSURE, NOT_FOUND, NOT_NEEDED = "found", "found_unsure", "not_found", "not_needed"
STATUSES = (FOUND, UNSURE, NOT_FOUND, NOT_NEEDED)


@dataclass(frozen=True, eq=False)
class Recourse:
    """Recourses for a batch of rows.

    Not finding one is data, not an error: the status of such a row is `"not_found"`, and `frame`
    leaves the row as it was. Methods that promise a share of their promises to be kept say
    `"found_unsure"` of advice that is valid today and that they do not promise.

    Attributes:
        schema: Schema of the rows.
        original: The rows as the caller gave them, columns in schema order.
        original_rows: The same rows, encoded.
        attempts: Settled proposal for every row, also where it did not succeed.
        status: `"found"`, `"found_unsure"`, `"not_found"` or `"not_needed"` for each row.
        predicted: Class predicted for the original row.
        desired: Class asked for.
        probability: Probability of the desired class after the change, by the model that issued it.
        method: Name of the method.
        robustness: Estimated chance of each attempt to be given the desired class by the next
            model; None where the method has no idea.
        reasons: Why wishes cannot be met, of rows that are not given advice for it, else None; None
            without wishes.
        others: Further options for the same rows, as many records as were asked for besides this
            one. Where a row has fewer, its status there is `"not_found"`.
        wishes: What was wished for each row, None for nothing; None without wishes.
        proofs: Of each row without a recourse what is known about it, else None; None where it was
            not asked for.
        certificate: What is proved of each attempt; None where it was not asked for.

    Examples:
        >>> advice = model.recourse(X_refused)
        >>> len(advice.frame()) == len(X_refused)
        True
        >>> all("→" in line for line in advice.describe(0))
        True
    """

    schema: Schema
    original: pd.DataFrame
    original_rows: Rows
    attempts: Rows
    status: npt.NDArray[np.str_]
    predicted: npt.NDArray[Any]
    desired: npt.NDArray[Any]
    probability: npt.NDArray[np.float64]
    method: str
    robustness: npt.NDArray[np.float64] | None = None
    reasons: Objects | None = None
    others: tuple["Recourse", ...] = ()
    wishes: tuple[Wishes | None, ...] | None = None
    proofs: tuple[Proof | None, ...] | None = None
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        if tuple(self.original.columns) != self.schema.names:
            raise DataError(
                f"The columns of a recourse must be {listed(self.schema.names)} in this order, but "
                f"got {listed(self.original.columns)}; select them by schema.names."
            )
        check_layout(self.original_rows, self.schema.layout)
        check_layout(self.attempts, self.schema.layout)
        object.__setattr__(self, "original", self.original.copy())
        for name, dtype in (
            ("status", str),
            ("predicted", None),
            ("desired", None),
            ("probability", np.float64),
        ):
            array = np.asarray(getattr(self, name), dtype=dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        n = len(self.original)
        optional = ("robustness", "reasons", "wishes", "proofs", "certificate")
        told = [name for name in optional if getattr(self, name) is not None]
        for name in (
            *("original_rows", "attempts", "status", "predicted", "desired", "probability"),
            *told,
        ):
            if len(getattr(self, name)) != n:
                raise DataError(
                    f"{name} of a recourse must have one entry for each of {n} rows, but got "
                    f"{len(getattr(self, name))}; give one per row."
                )
        if strange := sorted(set(np.unique(self.status)) - set(STATUSES)):
            raise DataError(
                f"The status of a recourse must be one of {listed(STATUSES)}, but got "
                f"{listed(strange)}; use one of them."
            )
        if not (sound := (self.probability >= 0) & (self.probability <= 1)).all():
            raise DataError(
                "The probability of a recourse must lie between 0 and 1, but got "
                f"{self.probability[~sound][0]}; the model that issued it is unsound, so train it "
                "anew."
            )

    def __len__(self) -> int:
        return len(self.original)

    def __repr__(self) -> str:
        counts = [f"{n} {status}" for status in STATUSES if (n := sum(self.status == status))]
        return f"<Recourse by {self.method}: {len(self)} rows, {', '.join(counts) or 'none'}>"

    plot = above("rocourse.reports.plots", "plot_recourse", "plots")
    plot_changes = above("rocourse.reports.plots", "plot_changes", "plots")
    _repr_html_ = above("rocourse.reports", "recourse_html", "plots")

    def __getitem__(self, selection: Selection) -> "Recourse":
        where = np.atleast_1d(np.arange(len(self))[selection])
        return Recourse(
            schema=self.schema,
            original=self.original.iloc[where],
            original_rows=self.original_rows.take(where),
            attempts=self.attempts.take(where),
            status=self.status[where],
            predicted=self.predicted[where],
            desired=self.desired[where],
            probability=self.probability[where],
            method=self.method,
            robustness=None if self.robustness is None else self.robustness[where],
            reasons=None if self.reasons is None else self.reasons[where],
            others=tuple(other[where] for other in self.others),
            wishes=None if self.wishes is None else tuple(self.wishes[k] for k in where),
            proofs=None if self.proofs is None else tuple(self.proofs[k] for k in where),
            certificate=None if self.certificate is None else self.certificate[where],
        )

    @property
    def options(self) -> tuple["Recourse", ...]:
        """All options, one record each: this one first, without others, and the others."""
        return (replace(self, others=()) if self.others else self, *self.others)

    @property
    def advised(self) -> Mask:
        """Whether there is advice for the row, promised or not: bool [n]."""
        return np.asarray((self.status == FOUND) | (self.status == UNSURE))

    @property
    def valid(self) -> Mask:
        """Whether the row ends up in the desired class by the issuing model: bool [n]."""
        return np.asarray(self.status != NOT_FOUND)

    @cached_property
    def proximity(self) -> npt.NDArray[np.float64]:
        """L1 distance of each attempt from its row in the encoded space: float64 [n]."""
        return proximity(self.original_rows, self.attempts, self.schema.layout)

    @cached_property
    def cost(self) -> npt.NDArray[np.float64]:
        """What each attempt costs by the schema: float64 [n]; the proximity, if it says nothing."""
        pricing = self.schema.actions.pricing
        return pricing.cost(self.original_rows, self.attempts) if pricing.priced else self.proximity

    @cached_property
    def months(self) -> npt.NDArray[np.float64] | None:
        """How long each attempt takes, the longest of its changes: float64 [n].

        None where the schema says nothing of time.
        """
        actions = self.schema.actions
        if not actions.pricing.timed:
            return None
        raw = actions.numbers(self.original)
        return actions.pricing.months(raw, self.original_rows, self.attempts)

    @cached_property
    def features_changed(self) -> npt.NDArray[np.int64]:
        """Number of raw features each attempt changes: int64 [n]."""
        return features_changed(self.original_rows, self.attempts)

    @cached_property
    def imputed(self) -> list[tuple[str, ...]]:
        """Of each row: the features that were missing and read by their fill, on which it rests."""
        names: list[tuple[str, ...]] = [()] * len(self)
        features = [feature for feature in self.schema.features if feature.missing == "impute"]
        for feature, gaps in gaps_by_feature(self.original, features):
            for place in np.flatnonzero(gaps).tolist():
                names[place] = (*names[place], feature.name)
        return names

    def frame(self, *, stable: bool = False) -> pd.DataFrame:
        """The advice: rows with advice changed, all other rows as the applicant gave them.

        Unchanged cells are the caller's values exactly, and columns keep their dtype where it can
        hold the new values.

        Args:
            stable: Whether columns have the dtype that any advice would fit in, so that it does not
                depend on which rows are in this batch.
        """
        return self._overlaid(self.advised, stable=stable)

    def frame_like(self, table: Any) -> Any:
        """The advice as a table of the kind of `table`: of pandas', polars' or pyarrow's."""
        return like(self.frame(), table)

    def attempted(self) -> pd.DataFrame:
        """Every attempt, also the unsuccessful ones, for other models to judge."""
        return self._overlaid(np.ones(len(self), dtype=bool), stable=False)

    def changes(self) -> pd.DataFrame:
        """One line per changed cell of rows with advice: row (index label), feature, from, to."""
        where, names, before, after = self._changed_cells(self.advised)
        return pd.DataFrame(
            {
                "row": self.original.index.take(where).to_flat_index(),
                "feature": pd.Series(names, dtype="str"),
                "from": pd.Series(before, dtype=object),
                "to": pd.Series(after, dtype=object),
            }
        )

    def describe(self, i: int) -> list[str]:
        """The changes of the row at position `i` in words; empty without advice."""
        return self[[i]].descriptions()[0]

    def descriptions(self) -> list[list[str]]:
        """The changes of every row in words, as `describe` gives them for one."""
        texts, spans = self._described_changes()
        return [texts[start:stop] for start, stop in spans]

    def summaries(self, separator: str = "; ") -> list[str]:
        """The changes of every row in words, each row a single text."""
        texts, spans = self._described_changes()
        return [separator.join(texts[start:stop]) for start, stop in spans]

    def _described_changes(self) -> tuple[list[str], list[tuple[int, int]]]:
        """All changes in words, row by row, and where those of each row begin and end."""
        where, texts = [], []
        for feature, positions, after in self._changes(self.advised):
            before = self.original[feature.name].iloc[positions]
            where.append(positions)
            texts.append(np.array(describe_changes(feature, before, after), dtype=object))
        rows = np.concatenate(where)
        ordered = np.concatenate(texts)[np.argsort(rows, kind="stable")].tolist()
        ends = np.bincount(rows, minlength=len(self)).cumsum().tolist()
        return ordered, list(zip([0, *ends], ends, strict=False))

    def to_records(self) -> list[dict[str, Any]]:
        """One JSON-able record per row; with `proof`, `loosen`, `certificate` where asked for."""
        changes: list[list[dict[str, Any]]] = [[] for _ in range(len(self))]
        for feature, where, after in self._changes(self.advised):
            before = self.original[feature.name].iloc[where]
            for position, old, new in zip(
                where.tolist(), json_cells(feature, before), json_cells(feature, after), strict=True
            ):
                changes[position].append({"feature": feature.name, "from": old, "to": new})
        columns = {
            "index": json_list(self.original.index),
            "status": self.status.tolist(),
            "predicted": json_list(self.predicted),
            "desired": json_list(self.desired),
            "probability": self.probability.tolist(),
            "proximity": self.proximity.tolist(),
            "features_changed": self.features_changed.tolist(),
            "changes": changes,
            "robustness": [None] * len(self)
            if self.robustness is None
            else self.robustness.tolist(),
            "cost": self.cost.tolist(),
            "months": [None] * len(self) if self.months is None else self.months.tolist(),
            "imputed": [list(names) for names in self.imputed],
        }
        if self.reasons is not None:
            columns["reason"] = self.reasons.tolist()
        if self.others:
            columns["options"] = _options(self.options)
        if self.proofs is not None:
            columns["proof"] = [proof and proof.text for proof in self.proofs]
            columns["loosen"] = [
                proof.loosen.to_record() if proof and proof.loosen else None
                for proof in self.proofs
            ]
        if self.certificate is not None:
            columns["certificate"] = self.certificate.to_records()
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]

    def _changes(self, rows: Mask) -> Iterator[tuple[Feature, Positions, pd.Series]]:
        """For each feature: in which of the rows it changes, and the values that it gets there."""
        for feature, k in positioned(self.schema.features):
            if isinstance(feature, Categorical):
                before, after = self.original_rows.categories, self.attempts.categories
            else:
                before, after = self.original_rows.continuous, self.attempts.continuous
            where = np.flatnonzero((before[:, k] != after[:, k]) & rows)
            yield feature, where, decode_column(after[where, k], feature)

    def _overlaid(self, rows: Mask, *, stable: bool) -> pd.DataFrame:
        return pd.DataFrame(
            {
                feature.name: overlay(
                    self.original[feature.name], feature, where, fresh, stable=stable
                )
                for feature, where, fresh in self._changes(rows)
            }
        )

    def _changed_cells(self, rows: Mask) -> tuple[Positions, Objects, Objects, Objects]:
        """Position, feature name, old and new value of each changed cell, row by row."""
        where, names, before, after = [], [], [], []
        for feature, cells, fresh in self._changes(rows):
            where.append(cells)
            names.append(np.full(len(cells), feature.name, dtype=object))
            column = self.original[feature.name].iloc[cells]
            before.append(column.to_numpy(dtype=object))
            after.append(in_form_of(column, feature, fresh).to_numpy(dtype=object))
        positions = np.concatenate(where)
        order = np.argsort(positions, kind="stable")
        return (
            positions[order],
            np.concatenate(names)[order],
            np.concatenate(before)[order],
            np.concatenate(after)[order],
        )


def _options(options: tuple[Recourse, ...]) -> list[list[dict[str, Any]]]:
    """Of each row, the records of its options, without what they have in common."""
    kept = [
        [
            {name: value for name, value in record.items() if name not in _COMMON}
            for record in option.to_records()
        ]
        for option in options
    ]
    advised = [option.advised.tolist() for option in options]
    return [
        [record for record, there in zip(row, given, strict=True) if there]
        for row, given in zip(zip(*kept, strict=True), zip(*advised, strict=True), strict=True)
    ]
