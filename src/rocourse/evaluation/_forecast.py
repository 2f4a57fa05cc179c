"""How many of the open promises the next model will honour, before there is one.

Models are retrained as the one in force may be, on rows that shift as is assumed, and took no part
in any search. Each honours some share V of all open promises. The k-th smallest of N such shares is
exceeded by 95% of such models with the confidence P(Bin(N, .05) ≥ k): k = 1 for N = 59.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation._audit_reading import PromiseReader
from rocourse.evaluation._audit_report import AuditReport
from rocourse.evaluation._model import Model
from rocourse.evaluation._results import check_format
from rocourse.evaluation._segments import FEW, segments
from rocourse.schema import ClippedWarning

if TYPE_CHECKING:
    from rocourse.ledger import PromisedRows

FORMAT = "rocourse-forecast"
VERSION = 1
# Of the models to come, the share that a forecast is to speak for.
MODELS = 0.95
ENOUGH = 59
"""Retrained models that make a forecast for 95% of models at a confidence of .95."""


class Successors(Protocol):
    """Models that may follow one, as `RecourseClassifier.successors` gives them."""

    @property
    def count(self) -> int:
        """How many."""

    @property
    def stated(self) -> Mapping[str, Any]:
        """How they came about, JSON-able."""

    def honour(self, frame: pd.DataFrame, target: np.ndarray, /) -> np.ndarray:
        """Which of them give rows the classes of these indices: bool `[models, n]`."""


@dataclass(frozen=True, slots=True)
class ForecastShare:
    """Some open promises, and the share of them that the next model will honour.

    Attributes:
        promises: How many.
        expected: The share that retrained models honour on average.
        low: The share that nearly all of such models honour at least, at the forecast's confidence.
    """

    promises: int
    expected: float
    low: float

    @property
    def small(self) -> bool:
        """Whether they are few."""
        return self.promises < FEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected of the next model.

    Attributes:
        model: Digest of the model in force.
        at: The moment for which promises were open.
        witnesses: How many retrained models were asked.
        confidence: How sure `low` is, of all promises and of each segment by itself.
        models: The share of such models that `low` speaks for.
        stated: How these models came about.
        total: All open promises; None of none.
        by_segment: The same by segment.
        unreadable: Promises that the model cannot read, which are not honoured.
    """

    model: str
    at: datetime
    witnesses: int
    confidence: float
    models: float
    stated: Mapping[str, Any]
    total: ForecastShare | None
    by_segment: Mapping[str, ForecastShare] = field(default_factory=dict)
    unreadable: int = 0

    covers = (
        "Of models retrained as this one was, each on rows that were shifted at random in the way "
        "stated, the stated share honours at least `low` of these promises."
    )
    leaves_out = (
        "It speaks of the shift that was assumed, not of what the next rows will be like, and its "
        "confidence is that of each line by itself."
    )

    def score(self, report: AuditReport) -> "ForecastScore | None":
        """What came of it, by the audit of the model that did come; None without promises."""
        if self.total is None or report.total.share is None:
            return None
        by = {
            name: (told.low, found.share)
            for name, told in self.by_segment.items()
            if (found := report.by_segment.get(name)) is not None and found.share is not None
        }
        return ForecastScore(self.total.low, self.total.expected, report.total.share, by)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            **{name: getattr(self, name) for name in ("model", "witnesses", "confidence")},
            "at": self.at.isoformat(),
            "models": self.models,
            "stated": dict(self.stated),
            "total": None if self.total is None else asdict(self.total),
            "by_segment": {name: asdict(share) for name, share in self.by_segment.items()},
            "unreadable": self.unreadable,
            "covers": self.covers,
            "leaves_out": self.leaves_out,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: The record is none of a forecast, or of another version.
        """
        remedy = "make it again with this release of rocourse"
        check_format(record, FORMAT, VERSION, what="A forecast", remedy=remedy)
        return cls(
            **{name: record[name] for name in ("model", "witnesses", "confidence", "models")},
            at=datetime.fromisoformat(record["at"]),
            stated=record["stated"],
            total=None if record["total"] is None else ForecastShare(**record["total"]),
            by_segment={
                name: ForecastShare(**share) for name, share in record["by_segment"].items()
            },
            unreadable=record["unreadable"],
        )


@dataclass(frozen=True, slots=True)
class ForecastScore:
    """A forecast beside what a model honoured.

    Attributes:
        low: The share that it was to honour at least.
        expected: The share that was expected.
        honoured: The share that it did honour.
        by_segment: The least and the true share of each segment.
    """

    low: float
    expected: float
    honoured: float
    by_segment: Mapping[str, tuple[float, float]]

    @property
    def held(self) -> bool:
        """Whether the model honours as much as was forecast."""
        return self.honoured >= self.low

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        by = {
            name: {"low": low, "honoured": share, "held": share >= low}
            for name, (low, share) in self.by_segment.items()
        }
        return {
            "low": self.low,
            "expected": self.expected,
            "honoured": self.honoured,
            "held": self.held,
            "by_segment": by,
        }


def forecast(
    pages: "Iterable[PromisedRows]",
    model: Model,
    successors: Successors,
    *,
    digest: str,
    at: datetime,
    by: Sequence[str] = (),
    confidence: float = 0.95,
    on_page: Callable[[int], None] | None = None,
) -> Forecast:
    """What share of open promises the next model will honour.

    Args:
        pages: The promises, as `Ledger.promised_rows` gives them.
        model: The model in force, which says how rows are read.
        successors: Models that may follow it, none of which took part in a search.
        digest: Of the model.
        at: The moment for which promises are open, with a time zone.
        by: Columns to tell segments by; several by themselves and crossed.
        confidence: How sure to be.
        on_page: Told how many promises each page has.
    """
    reader = PromiseReader(model)
    unknown = [name for name in by if name not in reader.names]
    if unknown:
        raise ConfigError(
            f"Segments must be told by columns of the model, but {unknown[0]!r} is none of "
            f"{', '.join(reader.names)}; name one of them."
        )
    votes: list[np.ndarray] = []
    values: dict[str, list[Any]] = {name: [] for name in by}
    unreadable = 0
    for page in pages:
        faults = reader.faults(page.rows, page.desired)
        told = np.zeros((successors.count, len(page)), bool)
        places = np.array([k for k in range(len(page)) if k not in faults], int)
        if len(places):
            told[:, places] = _votes(reader, successors, page, places)
        votes.append(told)
        unreadable += len(faults)
        for name in by:
            values[name] += [row.get(name) for row in page.rows]
        if on_page is not None:
            on_page(len(page))
    honoured = np.concatenate([np.zeros((successors.count, 0), bool), *votes], axis=1)
    rank, models = _rank(successors.count, confidence)

    def share(chosen: np.ndarray) -> ForecastShare:
        each = np.sort(honoured[:, chosen].mean(axis=1))
        return ForecastShare(int(len(chosen)), float(each.mean()), float(each[rank]))

    everyone = np.arange(honoured.shape[1])
    groups: dict[str, ForecastShare] = {}
    if by and len(everyone):
        groups = {name: share(places) for name, places in segments(values).items()}
    return Forecast(
        model=digest,
        at=at,
        witnesses=successors.count,
        confidence=confidence,
        models=models,
        stated=successors.stated,
        total=share(everyone) if len(everyone) else None,
        by_segment=groups,
        unreadable=unreadable,
    )


def _votes(
    reader: PromiseReader, successors: Successors, page: "PromisedRows", places: np.ndarray
) -> np.ndarray:
    rows = [page.rows[k] for k in places.tolist()]
    wanted = np.array(reader.places([page.desired[k] for k in places.tolist()]), int)
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in reader.names})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClippedWarning)
            return successors.honour(frame, wanted)
    except DataError:
        # As in an audit: rows that the model refuses are not honoured.
        if len(places) == 1:
            return np.zeros((successors.count, 1), bool)
        half = len(places) // 2
        halves = (places[:half], places[half:])
        return np.concatenate([_votes(reader, successors, page, part) for part in halves], axis=1)


def _rank(count: int, confidence: float) -> tuple[int, float]:
    """Which of the ascending shares is exceeded by how many models, at a confidence.

    The largest one that 95% of models exceed; the least, by fewer, where models asked are too few.
    """
    from scipy.stats import binom

    # P(Bin(N, .05) ≥ k) ≥ confidence: k is the place from 1.
    least = np.flatnonzero(binom.sf(np.arange(count), count, 1.0 - MODELS) >= confidence)
    if len(least):
        return int(least[-1]), MODELS
    return 0, float((1.0 - confidence) ** (1.0 / count))
