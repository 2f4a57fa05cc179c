"""Models that call every row the same: noticed, trained again, and given a cut-off that decides.

Where a class is rare, giving it to nobody is nearly always right; but such a model decides nothing,
and there is no recourse from a verdict that nothing can change.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from rocourse.estimators._given import learned_cut_off
from rocourse.estimators._parameters import Composed, resolved, states_cut_off
from rocourse.models import BatchModel, NetworkModel, Trainer, TrainingRows, predict_rows
from rocourse.models.training import Beside, History, Trained
from rocourse.schema import CutOff, threshold_of_rate

# A class that fewer rows have is rare. Where none is, a model that calls all rows the same has not
# learned enough, and it would be wrong to make something of what it says.
_RARE = 0.2
# Squared errors of probabilities have no slope where a network is sure; these have.
_LEARNS_RARE = "cross_entropy"


class OneVerdictWarning(UserWarning):
    """A model gives every training row the same class."""


class Training(NamedTuple):
    """How a model was trained in the end, and what came of it."""

    trainer: Trainer
    trained: Trained
    model: NetworkModel
    only: int | None
    """The class that it gave to every row at first, if it did."""


def train_to_decide(
    trainer: Trainer, data: TrainingRows, *, seed: int, beside: Beside, history: History
) -> Training:
    """Trains a model, and once more where it calls every row the same because a class is rare.

    The second time the loss is cross-entropy, which goes on learning of rows that a sure network
    gets wrong. A model that was trained by it already is left as it is.

    Args:
        trainer: How to train.
        data: Rows to learn from.
        seed: As for `Trainer.train`.
        beside: As for `Trainer.train`.
        history: Told of each epoch; of the second training alone, if there is one.
    """
    trained = trainer.train(data, seed=seed, beside=beside, history=history)
    model = NetworkModel.of(trained.networks)
    only = _only_verdict(model, data)
    if only is None or trainer.loss == _LEARNS_RARE or not _has_rare_class(data):
        return Training(trainer, trained, model, only)
    history.restart()
    trainer = trainer(loss=_LEARNS_RARE)
    trained = trainer.train(data, seed=seed, beside=beside, history=history)
    return Training(trainer, trained, NetworkModel.of(trained.networks), only)


def cut_off_of(
    estimator: Composed, model: BatchModel, data: TrainingRows, only: int | None, given: Any
) -> CutOff | None:
    """From which probability on the favourable class is granted; None: the most probable class.

    What the user has stated wins. Else, where one of two classes is rare, a model of ours that gave
    only the other grants the favourable one to as many training rows as have it; a model of the
    user's keeps its verdicts.

    Args:
        estimator: What the user has stated.
        model: The model that decides.
        data: The training rows.
        only: The class that it gave to every row when it was trained, if it did.
        given: The estimator that the model was trained by, if that is another one.
    """
    if given is not None and not states_cut_off(estimator):
        cut_off: CutOff | None = given.cut_off_
        return cut_off
    if given is None and estimator.model is not None:
        only = _only_verdict(model, data)
    if only is not None:
        _warn(_told(estimator, model, data, only))
    if states_cut_off(estimator):
        return learned_cut_off(estimator.threshold, estimator.approval_rate, model, data)
    if only is None or estimator.model is not None:
        return None
    return _deciding_cut_off(model, data)


def _deciding_cut_off(model: BatchModel, data: TrainingRows) -> CutOff | None:
    """The cut-off that grants the favourable class to as many rows as have it.

    None where there is none: of many classes or of none that is rare, or where the model ranks no
    row before another.
    """
    target = data.schema.target
    assert target is not None  # a fitted schema has one
    if len(target.classes) > 2 or not _has_rare_class(data):
        return None
    wanted = 1 if target.favourable is None else target.classes.index(target.favourable)
    likely = predict_rows(model, data.rows, data.schema.layout)[:, wanted]
    cut_off = CutOff(threshold_of_rate(likely, float(np.mean(data.labels == wanted))), wanted)
    granted = likely >= np.float32(cut_off.threshold)
    return None if granted.all() or not granted.any() else cut_off


def _told(estimator: Composed, model: BatchModel, data: TrainingRows, only: int) -> str:
    """What was noticed, what was done about it, and what else helps."""
    target = data.schema.target
    assert target is not None
    said = f"The model called every training row {target.name} = {target.classes[only]}"
    if estimator.model is not None:
        if states_cut_off(estimator):
            return f"{said} before the cut-off that you state."
        return (
            f"{said}, so that no recourse can be found; state a cut-off, as with approval_rate= or "
            "threshold=."
        )
    if not _has_rare_class(data):
        return f"{said}: it has learned too little; train it longer, as with trainer__epochs=200."
    learned = resolved(estimator)[0].loss == _LEARNS_RARE
    again = "" if learned else f"; it was trained anew with trainer__loss={_LEARNS_RARE!r}"
    if states_cut_off(estimator):
        return f"{said}{again}; the cut-off is the one that you state."
    cut_off = _deciding_cut_off(model, data)
    if cut_off is None:
        return f"{said}{again}; if no recourse is found, train it longer or on more rows."
    share = float(np.mean(data.labels == cut_off.favourable))
    return (
        f"{said}{again}; it grants {target.name} = {target.classes[cut_off.favourable]} from a "
        f"probability of {cut_off.threshold:.2g} on, to {share:.1%} of the training rows, as many "
        "as have it; state approval_rate= or threshold= for another cut-off."
    )


def _only_verdict(model: BatchModel, data: TrainingRows) -> int | None:
    """The class that a model gives to every training row; None where there are several.

    Rows of a single class, as of a model that was given without labels, tell nothing.
    """
    if (data.labels == data.labels[0]).all():
        return None
    verdicts = predict_rows(model, data.rows, data.schema.layout).argmax(axis=1)
    return int(verdicts[0]) if (verdicts == verdicts[0]).all() else None


def _has_rare_class(data: TrainingRows) -> bool:
    counts = np.bincount(data.labels)
    return bool(counts[counts > 0].min() < _RARE * len(data.labels))


def _warn(sentence: str) -> None:
    warnings.warn(sentence, OneVerdictWarning, stacklevel=2)
