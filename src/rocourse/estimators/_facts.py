"""What is told of a fitted model besides what it has learned: its rows, figures and promises.

Stored with the model, it fills the model card. Where something was not measured there is None.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rocourse.models import (
    BatchModel,
    Refittable,
    Shift,
    TrainingRows,
    held_out_answers,
    predict_rows,
)
from rocourse.models.training import Trained
from rocourse.options import Options, parameter_docs, plain
from rocourse.schema import one_hot, verdicts

if TYPE_CHECKING:
    from rocourse.estimators._base import RecourseClassifier

Facts = dict[str, Any]

# Rows that a model of the user's is asked about, which may take long to answer.
_ASKED_ROWS = 2000
# The share of rows that a refit, made to be measured, does not learn from.
_HELD_OUT = 0.2


def told_rows(data: TrainingRows, *, labelled: bool) -> Facts:
    """How many rows there were of each class, and in how many groups they came."""
    counts = np.bincount(data.labels, minlength=data.n_classes).tolist()
    groups = None if data.groups is None else len(np.unique(data.groups))
    return {"rows": len(data.labels), "classes": counts if labelled else None, "groups": groups}


def held_out_figures(trained: Trained, data: TrainingRows) -> Facts | None:
    """How well networks predict rows that they did not learn from."""
    answers = held_out_answers(trained, data)
    if answers is None:
        return None
    return {
        "rows_are": "held out",
        "networks": len(trained.networks),
        **_figures(answers.probabilities, answers.labels, data),
    }


def given_figures(model: BatchModel, data: TrainingRows, *, refit: bool, seed: int) -> Facts | None:
    """How well a model of the user's predicts.

    It may have learned from all rows of a fit: where it can be fitted again, a refit on most of
    them is asked about the others.

    Args:
        model: The model.
        data: The rows of the fit.
        refit: Whether to fit it again for this.
        seed: Decides which rows are held out or asked about.
    """
    if (data.labels == data.labels[0]).all():
        # It was given without labels.
        return None
    layout = data.schema.layout
    places = np.random.default_rng(seed).permutation(len(data.labels))
    asked, others = np.split(places, [math.ceil(_HELD_OUT * len(places))])
    every = len(np.unique(data.labels[others])) == len(np.unique(data.labels))
    if refit and every and isinstance(model, Refittable) and model.can_be_refitted:
        x = one_hot(data.rows.take(others), layout)
        model, rows_are = model.refitted(x, data.labels[others], seed), "of a refit"
    else:
        asked, rows_are = places, "given"
    asked = asked[:_ASKED_ROWS]
    told = predict_rows(model, data.rows.take(asked), layout)
    return {"rows_are": rows_are, **_figures(told, data.labels[asked], data)}


def _figures(probabilities: np.ndarray, labels: np.ndarray, data: TrainingRows) -> Facts:
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from rocourse.evaluation import accuracy, auc, brier_score

    classes = list(range(data.n_classes))
    return {
        "rows": len(labels),
        "accuracy": accuracy(labels, verdicts(probabilities, data.cut_off)),
        "majority": float(np.bincount(labels).max() / len(labels)),
        "brier": brier_score(labels, probabilities, classes),
        "auc": auc(labels, probabilities, classes),
    }


def promise_facts(estimator: "RecourseClassifier") -> Facts | None:
    """What is promised to those who want the favourable class; None: nothing."""
    target = estimator.schema_.target
    if target is None or target.favourable is None:
        return None
    wanted = target.classes.index(target.favourable)
    pledge = estimator.proposer_.pledge(estimator.state_, wanted)
    return None if pledge is None else dict(pledge._asdict())


def assumed_facts(estimator: "RecourseClassifier") -> Facts:
    """What the model is prepared for: the shifts and the attack by whom they are used."""
    grouped = (estimator.training_ or {}).get("groups") is not None
    assumed: dict[str, Options] = dict(estimator.proposer_.assumed(grouped=grouped))
    if estimator.witnesses_:
        assumed["witnesses"] = Shift()
    if estimator.attack_ is not None:
        assumed["attack"] = estimator.attack_
    return {who: _in_words(options) for who, options in assumed.items()}


def _in_words(options: Options) -> Facts:
    """What is not switched off, with what it means."""
    docs, values = parameter_docs(type(options)), options.to_dict()
    return {
        name: {"value": plain(values[name]), "means": doc}
        for name, doc in docs.items()
        if values.get(name) not in (0, None, False)
    }
