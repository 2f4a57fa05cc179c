"""What commands ask a model about a batch of rows, wherever it is answered."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from rocourse.console._advice import AdviceSummary
from rocourse.console._output import native_output_to_stderr
from rocourse.schema import CertificateKind, EachWishes
from rocourse.tables import as_records, prediction_table, recourse_table, with_ids

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier


@dataclass(frozen=True)
class Answered:
    """What a model says of a batch.

    Attributes:
        told: What the screen needs of it.
        table: A line a row or more; None if nobody writes it.
        records: The same for JSON; None if nobody prints them.
        counts: What is counted in it.
    """

    told: Any
    table: pd.DataFrame | None = None
    records: list[dict[str, Any]] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


def certified(
    model: "RecourseClassifier",
    kind: CertificateKind,
    levels: Mapping[str, Any],
    reference: tuple[Any, Any],
) -> "RecourseClassifier":
    """A model whose advice is searched for until it is certified; see `certifying`."""
    return model.certifying(kind, **levels, X=reference[0], y=reference[1])


@dataclass(frozen=True, kw_only=True)
class PredictionRequest:
    """Classes and probabilities.

    Attributes:
        id: The column that tells rows apart, if there is one.
        shown: How many rows of a batch the screen may show.
        table: Whether a table is written.
        records: Whether records are printed.
    """

    id: str | None
    shown: int
    table: bool
    records: bool

    def __call__(self, model: "RecourseClassifier", rows: pd.DataFrame, _: None) -> Answered:
        """The answer."""
        table = prediction_table(model, rows, self.id)
        return Answered(
            table.head(self.shown),
            table if self.table else None,
            as_records(table) if self.records else None,
        )


@dataclass(frozen=True, kw_only=True)
class CertificateRequest:
    """What each row must change, and what is proved of it.

    Attributes:
        desired: The class to ask for.
        kind: As of `RecourseClassifier.certify`.
        levels: What else is asked for there.
        reference: The rows that the model was fitted to, and their classes, if they are needed.
        id: The column that tells rows apart, if there is one.
        stable: Whether the types must be those of any other batch too.
        table: Whether a table is written.
        records: Whether records are printed.
    """

    desired: Any
    kind: CertificateKind
    levels: Mapping[str, Any]
    reference: tuple[Any, Any]
    id: str | None
    stable: bool
    table: bool
    records: bool

    def __call__(self, model: "RecourseClassifier", rows: pd.DataFrame, _: None) -> Answered:
        """The answer."""
        X, y = self.reference
        found = model.recourse(rows, desired=self.desired)
        with native_output_to_stderr():
            told = model.certify(found, self.kind, **self.levels, X=X, y=y)
        ids = None if self.id is None else rows[self.id]
        counts = {"advised": int(found.advised.sum())}
        if told.holds is not None:
            counts["certified"] = int(told.holds.sum())
        table = records = None
        if self.table:
            certified = replace(found, certificate=told)
            table = recourse_table(certified, stable=self.stable, ids=ids)
        if self.records:
            pairs = zip(with_ids(found.to_records(), ids), told.levels(), strict=True)
            records = [record | {"certificate": level} for record, level in pairs]
        return Answered(replace(told, details={}), table, records, counts)


@dataclass(frozen=True, kw_only=True)
class AdviceRequest:
    """What each row must change.

    Attributes:
        desired: The class to ask for; None: the other one of two.
        options: The most options for a row.
        prove: Whether to look through everything where nothing is found.
        loosen: With that, the columns whose limits might be loosened; none stands for any.
        silenced: Whether native code that prints to standard output may be asked.
        id: The column that tells rows apart, if there is one.
        stable: Whether the types must be those of any other batch too.
        shown: How many rows of a batch the screen may show.
        table: Whether a table is written.
        records: Whether records are printed.
    """

    desired: Any
    options: int
    prove: bool
    loosen: tuple[str, ...]
    silenced: bool
    id: str | None
    stable: bool
    shown: int
    table: bool
    records: bool

    def __call__(
        self, model: "RecourseClassifier", rows: pd.DataFrame, wishes: EachWishes
    ) -> Answered:
        """The answer."""
        asked: dict[str, Any] = {"wishes": wishes, "options": self.options}
        with native_output_to_stderr() if self.silenced else nullcontext():
            found = model.recourse(rows, desired=self.desired, **asked)
        if self.prove:
            found = model.prove(found, loosen=self.loosen or True)
        ids = None if self.id is None else rows[self.id]
        summary = AdviceSummary.of(found, ids, self.shown)
        return Answered(
            summary,
            recourse_table(found, stable=self.stable, ids=ids) if self.table else None,
            with_ids(found.to_records(), ids) if self.records else None,
            summary.counts,
        )
