"""Certificates of what a fitted estimator advises: which kind takes what."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from rocourse._wording import did_you_mean, listed, show
from rocourse.certificates import (
    Judge,
    certify_delta,
    certify_ellipsoid,
    certify_sampled,
    certify_votes,
    certify_witnesses,
    fresh_witnesses,
    last_layers,
    stored_witnesses,
    witnesses_for,
)
from rocourse.errors import ConfigError, DataError
from rocourse.estimators._reading import known_labels, read_frame
from rocourse.models import Shift, TrainingRows
from rocourse.options import plain
from rocourse.recourse import TIMES
from rocourse.schema import CERTIFICATES, Certificate, CertificateKind, Recourse, Rows

if TYPE_CHECKING:
    from rocourse.estimators._base import RecourseClassifier

# What a kind can be asked for besides a level.
_TAKES: dict[CertificateKind, tuple[str, ...]] = {
    "delta": ("exact",),
    "sampled": ("delta",),
    "witnesses": ("X", "y", "count"),
    "ellipsoid": ("X", "y"),
    "votes": (),
}


Certifier = Callable[[Recourse], Certificate]


def certify(
    estimator: "RecourseClassifier", recourse: Recourse, kind: CertificateKind, **asked: Any
) -> Certificate:
    """The certificate of `RecourseClassifier.certify`."""
    return certifier(estimator, kind, **asked)(recourse)


def certifier(
    estimator: "RecourseClassifier",
    kind: CertificateKind,
    *,
    at: float | None,
    confidence: float,
    looks: int = 1,
    **asked: Any,
) -> Certifier:
    """What certifies any recourses of an estimator; what it takes is trained and fitted here.

    Args:
        estimator: A fitted one.
        kind: What to go by.
        at: The level that is asked for.
        confidence: How sure a level is to be that rests on draws.
        looks: How many recourses of a row are certified at most, to take the first that holds:
            bounds by draws hold for all of them together.
        **asked: What the kind can be asked for besides.
    """
    _check(kind, at, confidence, asked)
    each = 1.0 - (1.0 - confidence) / looks
    prove = _PROVERS[kind](estimator, at, each, asked)

    def certified(recourse: Recourse) -> Certificate:
        _check_recourse(estimator, recourse)
        target = np.searchsorted(estimator.classes_, recourse.desired)
        told = prove(recourse, target)
        if looks == 1 or told.confidence is None:
            return told
        return replace(told, confidence=confidence, parameters={**told.parameters, "looks": looks})

    return certified


def searching(
    estimator: "RecourseClassifier", kind: CertificateKind, at: float | None, **asked: Any
) -> Certifier:
    """What certifies in a search that goes on until the certificate holds."""
    proposer = estimator.proposer_
    if proposer.surer(estimator.state_, 1.0) is None:
        raise ConfigError(
            "Advice that is searched for until it is certified needs a method that can be asked "
            f"for more, RoCourse or RoCoursePanel, but this is {type(estimator).__name__}; ask "
            "what is proved of its advice with model.certify(recourse, ...)."
        )
    if at is None:
        raise ConfigError(
            f"Advice that is searched for until a certificate ({kind!r}) holds needs a level, but "
            "got none; give at (--at)."
        )
    return certifier(estimator, kind, at=at, looks=len(TIMES), **asked)


Prove = Callable[[Recourse, np.ndarray], Certificate]


def _by_delta(
    estimator: "RecourseClassifier", at: float | None, confidence: float, asked: dict[str, Any]
) -> Prove:
    context, model = estimator._advisor.context, _digest(estimator)
    return partial(certify_delta, context, at=at, exact=bool(asked["exact"]), model=model)


def _by_draws(
    estimator: "RecourseClassifier", at: float | None, confidence: float, asked: dict[str, Any]
) -> Prove:
    delta = _above_zero("delta", asked["delta"])
    context, model = estimator._advisor.context, _digest(estimator)

    def prove(recourse: Recourse, target: np.ndarray) -> Certificate:
        seed = _fresh_seed(estimator.seed_, recourse)
        levels: dict[str, Any] = {"delta": delta, "at": at, "confidence": confidence}
        return certify_sampled(context, recourse, target, **levels, seed=seed, model=model)

    return prove


def _by_last_layers(
    estimator: "RecourseClassifier", at: float | None, confidence: float, asked: dict[str, Any]
) -> Prove:
    if asked["X"] is None:
        raise ConfigError(
            "A certificate about last layers needs the rows that they are fitted to, but got "
            "none; pass X and y (--reference), those of the fit."
        )
    context = estimator._advisor.context
    last = last_layers(context, _training_rows(estimator, asked["X"], asked["y"]))
    return partial(certify_ellipsoid, last, context, at=at, model=_digest(estimator))


def _by_votes(
    estimator: "RecourseClassifier", at: float | None, confidence: float, asked: dict[str, Any]
) -> Prove:
    context, model = estimator._advisor.context, _digest(estimator)
    return partial(certify_votes, context, at=at, confidence=confidence, model=model)


def _by_witnesses(
    estimator: "RecourseClassifier", at: float | None, confidence: float, asked: dict[str, Any]
) -> Prove:
    count = asked["count"] or witnesses_for(at, confidence)
    judge, count, shift = witnesses_of(estimator, asked["X"], asked["y"], count)
    stated = {"shift": _told(shift)}

    def prove(recourse: Recourse, target: np.ndarray) -> Certificate:
        honoured = judge(recourse.attempts, target).sum(axis=0)
        told: dict[str, Any] = {"at": at, "confidence": confidence, "parameters": stated}
        return certify_witnesses(honoured, count, recourse, **told, model=_digest(estimator))

    return prove


_PROVERS: dict[CertificateKind, Callable[..., Prove]] = {
    "delta": _by_delta,
    "sampled": _by_draws,
    "witnesses": _by_witnesses,
    "ellipsoid": _by_last_layers,
    "votes": _by_votes,
}


def witnesses_of(
    estimator: "RecourseClassifier", X: Any, y: Any, count: int, shift: Shift | None = None
) -> tuple[Judge, int, Shift]:
    """Witnesses that took no part in the search: how they judge, how many, of which shift.

    Args:
        estimator: A fitted one.
        X: The rows to train them on; None: those are asked that the model was fitted with.
        y: The class of each.
        count: How many to train.
        shift: How far rows shift; None: as the method assumes.
    """
    context = estimator._advisor.context
    if X is None:
        own = estimator.witnesses_
        if not own:
            raise ConfigError(
                "A certificate by witnesses needs the rows that they are trained on, but got none "
                "and a model that has no witnesses of its own; pass X and y (--reference), those "
                "of the fit."
            )
        return stored_witnesses(context, own), len(own), Shift()
    data, shift = _training_rows(estimator, X, y), shift or _assumed(estimator)
    judge = fresh_witnesses(context, estimator.trainer_, data, count=count, shift=shift)
    return judge, count, shift


@dataclass(frozen=True, eq=False)
class Successors:
    """Models that may follow one: retrained as it was on shifted rows, outside of any search.

    Attributes:
        count: How many.
        stated: How they came about, JSON-able.
    """

    count: int
    stated: Mapping[str, Any]
    _judge: Judge
    _encode: Callable[[Any], Rows]

    def honour(self, X: Any, target: np.ndarray, /) -> np.ndarray:
        """Which of them give rows the classes of these indices: bool `[models, n]`."""
        return self._judge(self._encode(X), target)


def successors(
    estimator: "RecourseClassifier", X: Any, y: Any, count: int, shift: Shift | None
) -> Successors:
    """The models of `RecourseClassifier.successors`."""
    judge, count, shift = witnesses_of(estimator, X, y, count, shift)

    def encode(rows: Any) -> Rows:
        frame = read_frame(estimator, rows, fitting=False)
        return estimator.schema_.encode(frame, out_of_range=estimator.out_of_range)

    return Successors(count, {"shift": _told(shift)}, judge, encode)


def _told(shift: Shift) -> dict[str, Any]:
    return {name: plain(value) for name, value in shift.to_dict().items()}


def _digest(estimator: "RecourseClassifier") -> str | None:
    return getattr(estimator, "digest_", None)


def _fresh_seed(seed: int, recourse: Recourse) -> int:
    """Of draws that no search can have seen: another for every other recourse."""
    attempts = recourse.attempts.continuous, recourse.attempts.categories
    content = b"".join(np.ascontiguousarray(part).tobytes() for part in attempts)
    return int.from_bytes(sha256(f"{seed}".encode() + content).digest()[:6])


def _assumed(estimator: "RecourseClassifier") -> Shift:
    """The shift that the method's own witnesses are of, if it has any."""
    assumed = estimator.proposer_.assumed(grouped=False)
    own = [shift for who, shift in assumed.items() if "witnesses" in who]
    return own[0] if own else Shift()


def _training_rows(estimator: "RecourseClassifier", X: Any, y: Any) -> TrainingRows:
    """Rows and labels that are given as those of the fit."""
    frame = read_frame(estimator, X, fitting=False)
    schema, name = estimator.schema_, type(estimator).__name__
    labels = known_labels(y, len(frame), estimator.classes_, asker=f"{name}.certify")
    rows = schema.encode(frame, out_of_range=estimator.out_of_range)
    return TrainingRows(rows, labels, len(estimator.classes_), schema, cut_off=estimator.cut_off_)


def _check(
    kind: CertificateKind, at: float | None, confidence: float, asked: dict[str, Any]
) -> None:
    if kind not in CERTIFICATES:
        raise ConfigError(
            f"kind must be one of {listed(CERTIFICATES)}, but got {show(kind)}"
            f"{did_you_mean(kind, CERTIFICATES)}; choose one."
        )
    for name, value in asked.items():
        if name not in _TAKES[kind] and value is not None and value is not False:
            takers = [known for known in CERTIFICATES if name in _TAKES[known]]
            raise ConfigError(
                f"{name} goes with kind {listed(takers)}, but got it with {kind!r}; leave it out."
            )
    _below_one("confidence", confidence)
    if at is not None:
        _above_zero("at", at) if kind in ("delta", "ellipsoid") else _below_one("at", at)
    count = asked.get("count")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ConfigError(
            f"count must be a whole number of at least 1, but got {show(count)}; give one."
        )


def _check_recourse(estimator: "RecourseClassifier", recourse: Recourse) -> None:
    if recourse.schema.names != estimator.schema_.names:
        raise DataError(
            "The recourses to certify must be of rows with the features "
            f"{listed(estimator.schema_.names)}, but got {listed(recourse.schema.names)}; give "
            "what this model's `recourse` gave."
        )
    unknown = [label for label in np.unique(recourse.desired) if label not in estimator.classes_]
    if unknown:
        raise DataError(
            f"The recourses to certify must ask for one of the classes "
            f"{listed(estimator.classes_.tolist())}, but got {show(unknown[0])}; give what this "
            "model's `recourse` gave."
        )


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]


def _above_zero(name: str, value: Any) -> float:
    if not _is_number(value) or value <= 0.0:
        raise ConfigError(f"{name} must be a number above 0, but got {show(value)}; give one.")
    return float(value)


def _below_one(name: str, value: Any) -> float:
    if not _is_number(value) or not 0.0 < value < 1.0:
        raise ConfigError(
            f"{name} must be a number between 0 and 1, but got {show(value)}; give one."
        )
    return float(value)
