"""Everything measured about one model on one set of rows."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Self

import numpy as np
import pandas as pd

from rocourse.errors import DataError
from rocourse.evaluation._aggregate import mean_present
from rocourse.evaluation._metrics import accuracy, auc, constant_class, honoured, mean, needed
from rocourse.evaluation._model import (
    Model,
    Scalar,
    as_labels,
    favourable_class,
    predicted_labels,
    to_plain,
)
from rocourse.evaluation._plausibility import Plausibility
from rocourse.evaluation._probabilities import (
    brier_score,
    calibration_error,
    log_loss,
    reliability,
)
from rocourse.schema import Recourse

PROTOCOLS = ("all", "adverse", "to_favourable", "to_unfavourable")
"""The selections of rows that are reported, see `select_rows`."""

MAX_PLAUSIBILITY_ROWS = 1000
"""Attempts of one protocol whose plausibility is measured; of more, a seeded draw.

The cost grows with attempts times training rows. A share is known to 0.016 from this many.
"""

_RETIMED_BELOW_SECONDS = 10.0

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Values = np.ndarray[Any, np.dtype[np.float64]]
_Measured = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class RecourseScores:
    """The recourses of one selection of rows; None where there was nothing to measure.

    Attributes:
        rows: How many recourses were judged.
        validity: The share honoured by the model that issued them.
        robust_validity: The share honoured by a judge, mean over the judges.
        judged: The share honoured, by judge.
        proximity: Mean L1 distance in the encoded space.
        features_changed: Mean number of raw features changed.
        unchanged_validity: The share of the same rows to which a judge gives the desired class
            without any change, mean over the judges: what robust validity has to be compared with.
        unchanged: This share, by judge.
        neighbour_distance: Mean distance of the attempts from the nearest training rows of the
            desired class; see `Plausibility`. None without training rows, as is the next.
        inliers: The share of attempts that are inliers among the training rows of that class.
        usual: The share of attempts that make every number they change a usual one.
    """

    rows: int
    validity: float | None
    robust_validity: float | None
    judged: Mapping[str, float | None]
    proximity: float | None
    features_changed: float | None
    # Results that were stored before these were measured do not have them.
    unchanged_validity: float | None = None
    unchanged: Mapping[str, float | None] = field(default_factory=dict)
    neighbour_distance: float | None = None
    inliers: float | None = None
    usual: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(**record)


@dataclass(frozen=True, slots=True)
class ModelScores:
    """One model on one set of rows.

    Attributes:
        rows: How many rows the model was tested on.
        accuracy: None without labels.
        auc: None without labels, or where only one class is present.
        favourable: The class that people want.
        constant: The class that the predictor gives to every row, None if it gives several. On
            such a predictor validity says nothing.
        seconds_per_recourse: Wall clock, without one-off compilation.
        protocols: The scores by selection of rows, keys `PROTOCOLS`.
        brier: The Brier score of the probabilities; None without labels.
        log_loss: Theirs; None without labels.
        calibration_error: How far they are from observed shares; None without labels.
    """

    rows: int
    accuracy: float | None
    auc: float | None
    favourable: Scalar
    constant: Scalar | None
    seconds_per_recourse: float | None
    protocols: Mapping[str, RecourseScores]
    # Results that were stored before these were measured do not have them.
    brier: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        protocols = {
            name: RecourseScores.from_dict(scores) for name, scores in record["protocols"].items()
        }
        return cls(**{**record, "protocols": protocols})


def evaluate_model(
    model: Model,
    X: pd.DataFrame,
    y: Any = None,
    *,
    judges: Mapping[str, Model] | None = None,
    favourable: Scalar | None = None,
    reference: Plausibility | None = None,
) -> ModelScores:
    """Measure a model and its recourses on rows that it was not trained on.

    With two classes every prediction is flipped; with more, the favourable class is asked for, and
    rows that have it already are left out. Each recourse is computed once and counted in every
    protocol that it belongs to.

    Args:
        model: The model that predicts and gives recourses.
        X: Raw rows.
        y: Their labels, if known.
        judges: Other models, by name, whose verdict on the recourses is robust validity.
        favourable: The class that people want, if it is not the one in the model's schema.
        reference: The rows that the model was trained on, to measure plausibility by; made by
            `Plausibility.fit(model.schema_, ...)`.

    Raises:
        DataError: If there are no rows, or labels that the model does not know.
    """
    if len(X) == 0:
        raise DataError("The rows to evaluate must not be empty, but there are 0: pass some rows.")
    labels = None if y is None else as_labels(y, rows=len(X), source="y")
    if labels is not None:
        _check_labels(pd.unique(labels), model)
    if reference is not None:
        _check_labels(reference.classes, model)
    return score_model(
        model, X, labels, judges=judges or {}, favourable=favourable, reference=reference
    )


def score_model(
    model: Model,
    X: pd.DataFrame,
    labels: np.ndarray[Any, Any] | None,
    *,
    judges: Mapping[str, Model],
    favourable: Scalar | None,
    reference: Plausibility | None = None,
) -> ModelScores:
    """As `evaluate_model`, of rows and labels that need no check.

    A label that the model does not know is no error here: a class so rare that none of its rows
    fell into the training part is a row predicted wrong, not a reason to lose k fitted models.
    """
    wanted = favourable_class(model, favourable)
    predicted = predicted_labels(model, X)
    asked = favourable if len(model.classes_) > 2 else None
    recourse, seconds = _timed_recourse(model, X, asked)

    attempts = recourse.attempted()
    own = honoured(recourse, predicted_labels(model, attempts))
    verdicts, unchanged = (
        {name: honoured(recourse, predicted_labels(judge, rows)) for name, judge in judges.items()}
        for rows in (attempts, recourse.original)
    )
    selected = select_rows(recourse, wanted)
    plausible = _plausibility(recourse, selected, reference)
    known: dict[str, float | None] = {"accuracy": None, "auc": None}
    if labels is not None:
        told = (labels, model.predict_proba(X), model.classes_)
        known = {
            "accuracy": accuracy(labels, predicted),
            "auc": auc(*told),
            "brier": brier_score(*told),
            "log_loss": log_loss(*told),
            "calibration_error": calibration_error(reliability(*told)),
        }
    return ModelScores(
        rows=len(X),
        **known,
        favourable=wanted,
        constant=constant_class(predicted),
        seconds_per_recourse=seconds,
        protocols={
            name: _score(recourse, where, own, verdicts, unchanged, plausible[name])
            for name, where in selected.items()
        },
    )


def select_rows(recourse: Recourse, favourable: Scalar) -> dict[str, Mask]:
    """Which rows each protocol judges, by the names in `PROTOCOLS`, each `[n]`.

    `all` is every row that needed a recourse, `adverse` those of them that were predicted an
    unfavourable class; the last two are the directions of what was asked for. Rows that had the
    desired class from the start are in none of them.
    """
    asks = needed(recourse)
    predicted_favourable = np.asarray(np.asarray(recourse.predicted) == favourable, dtype=bool)
    desired_favourable = np.asarray(np.asarray(recourse.desired) == favourable, dtype=bool)
    return {
        "all": asks,
        "adverse": asks & ~predicted_favourable,
        "to_favourable": asks & desired_favourable,
        "to_unfavourable": asks & ~desired_favourable,
    }


def _score(
    recourse: Recourse,
    where: Mask,
    own: Mask,
    verdicts: Mapping[str, Mask],
    unchanged: Mapping[str, Mask],
    plausible: _Measured,
) -> RecourseScores:
    judged = {name: mean(verdict[where]) for name, verdict in verdicts.items()}
    before = {name: mean(verdict[where]) for name, verdict in unchanged.items()}
    neighbour_distance, inliers, usual = plausible
    return RecourseScores(
        rows=int(where.sum()),
        validity=mean(own[where]),
        robust_validity=mean_present(judged.values()),
        judged=judged,
        proximity=mean(recourse.proximity[where]),
        features_changed=mean(recourse.features_changed[where]),
        unchanged_validity=mean_present(before.values()),
        unchanged=before,
        neighbour_distance=neighbour_distance,
        inliers=inliers,
        usual=usual,
    )


def _plausibility(
    recourse: Recourse, selected: Mapping[str, Mask], reference: Plausibility | None
) -> dict[str, _Measured]:
    """Mean distance from the training rows, shares of inliers and of usual values, by protocol.

    A protocol with more than `MAX_PLAUSIBILITY_ROWS` attempts is measured by as many of them.
    """
    if reference is None:
        return dict.fromkeys(selected, (None, None, None))
    # One order for all protocols, so that their draws overlap and few attempts are measured.
    order = np.random.default_rng(0).permutation(len(recourse))
    drawn = {name: order[where[order]][:MAX_PLAUSIBILITY_ROWS] for name, where in selected.items()}
    some = np.unique(np.concatenate(list(drawn.values())))
    attempts = recourse[some]
    measured = np.full((len(recourse), 3), np.nan)
    measured[some] = np.column_stack(
        [reference.distances(attempts), reference.inliers(attempts), reference.usual(attempts)]
    )
    shares = {name: [_mean_measured(c) for c in measured[rows].T] for name, rows in drawn.items()}
    return {name: (first, second, third) for name, (first, second, third) in shares.items()}


def _mean_measured(values: Values) -> float | None:
    return mean(values[~np.isnan(values)])


def _timed_recourse(model: Model, X: pd.DataFrame, desired: Any) -> tuple[Recourse, float]:
    """The recourses and the seconds that one takes.

    The first call of a compiled method mostly compiles, so a quick call is timed once more. In a
    slow one, compilation does not count, and nobody wants to wait for it twice.
    """
    start = perf_counter()
    recourse = model.recourse(X, desired=desired)
    seconds = perf_counter() - start
    if seconds < _RETIMED_BELOW_SECONDS:
        start = perf_counter()
        model.recourse(X, desired=desired)
        seconds = min(seconds, perf_counter() - start)
    return recourse, seconds / len(X)


def _check_labels(labels: Iterable[Any], model: Model) -> None:
    known = [to_plain(label) for label in model.classes_]
    unknown = [to_plain(label) for label in labels if label not in known]
    if unknown:
        raise DataError(
            f"The labels must be among {known}, the classes of the model, but {unknown[0]!r} was "
            "found: correct the labels, or evaluate without them."
        )
