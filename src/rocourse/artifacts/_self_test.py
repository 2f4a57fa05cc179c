"""Rows that nobody is, and what a model says of them: stored with it, and asked again on loading.

Digests say that a file is as it was written; they do not say that what was written works here.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from rocourse.errors import ArtifactError
from rocourse.schema import Rows

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

_ROWS = 16
# Of a probability: machines and libraries differ in the sixth digit, other models in the first.
_TOLERANCE = 1e-3
_DIGITS = 6
# Of what is proposed, and of chances: what rounds otherwise on another machine may be another
# category, or one witness more. What may not change is the same in any model.
_NEAR, _MOSTLY = 1e-2, 0.9


def make_self_test(model: "RecourseClassifier") -> dict[str, Any]:
    """Rows all over the schema, encoded, the model's probabilities, and what else was learned.

    Raises:
        ArtifactError: The model does not give probabilities, or proposes what is none.
    """
    layout, random = model.schema_.layout, np.random.default_rng(0)
    numbers = random.random((_ROWS, layout.n_continuous)).round(3)
    codes = random.integers(0, layout.group_sizes, (_ROWS, layout.n_categorical))
    answers = _ask(model, numbers, codes)
    return {
        "continuous": numbers.tolist(),
        "categories": codes.tolist(),
        "probabilities": answers.astype(float).round(_DIGITS).tolist(),
        "learned": {
            name: array.round(_DIGITS).tolist()
            for name, array in _learned(model, numbers, codes).items()
        },
    }


def check_self_test(model: "RecourseClassifier", stored: Any) -> None:
    """Asks a model that was loaded what it was asked when it was stored.

    Args:
        model: The model.
        stored: What `make_self_test` gave; None for a model of a release that stored none, which is
            only asked whether it gives probabilities.

    Raises:
        ArtifactError: It gives none, or others than it gave.
    """
    if stored is None:
        make_self_test(model)
        return
    layout = model.schema_.layout
    numbers = _array(stored, "continuous", float, layout.n_continuous)
    codes = _array(stored, "categories", int, layout.n_categorical)
    wanted = _array(stored, "probabilities", float, len(model.classes_))
    if ((codes < 0) | (codes >= np.array(layout.group_sizes, dtype=int))).any():
        raise ArtifactError("its self-test names categories that it has not; train it again.")
    if not len(numbers) == len(codes) == len(wanted):
        raise ArtifactError("its self-test has answers to other rows; train it again.")
    if np.abs(_ask(model, numbers, codes) - wanted).max() > _TOLERANCE:
        raise ArtifactError(
            "it does not answer as it did when it was stored, for all that its files are as they "
            "were written; train it again, or use the versions that its header names."
        )
    if "learned" in stored:
        _check_learned(stored["learned"], _learned(model, numbers, codes))


def _check_learned(stored: Any, learned: dict[str, np.ndarray]) -> None:
    for name, found in learned.items():
        wanted = _array(stored, name, float, found.shape[1])
        if wanted.shape != found.shape:
            raise ArtifactError("its self-test has answers to other rows; train it again.")
        if (np.abs(found - wanted) <= _NEAR).mean() < _MOSTLY:
            raise ArtifactError(
                "it does not advise as it did when it was stored, for all that its files are as "
                "they were written; train it again, or use the versions that its header names."
            )


def _learned(
    model: "RecourseClassifier", numbers: np.ndarray, codes: np.ndarray
) -> dict[str, np.ndarray]:
    target = model.schema_.target
    assert target is not None  # every fitted model has one
    # The last one, where none is favourable.
    wanted = target.classes.index(target.favourable) if target.favourable is not None else -1
    places = np.full(len(numbers), wanted % len(target.classes))
    found = model.learned(_rows(model, numbers, codes), places)
    if not all(np.isfinite(array).all() for array in found.values()):
        raise ArtifactError(
            "what it advises is NaN or infinite for some rows; train it again with a lower "
            "learning_rate."
        )
    return {name: array.astype(float) for name, array in found.items()}


def _rows(model: "RecourseClassifier", numbers: np.ndarray, codes: np.ndarray) -> Rows:
    dtype = model.schema_.layout.category_dtype
    return Rows(numbers.astype(np.float32), codes.astype(dtype))


def _ask(model: "RecourseClassifier", numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
    answers = model.probabilities(_rows(model, numbers, codes))
    given = np.isfinite(answers) & (answers >= 0.0) & (answers <= 1.0 + _TOLERANCE)
    if not given.all() or not np.allclose(answers.sum(axis=1), 1.0, atol=_TOLERANCE):
        raise ArtifactError(
            "it gives no probabilities for some rows, but NaN or numbers beyond 0 to 1; train it "
            "again with a lower learning_rate."
        )
    return answers


def _array(stored: Any, name: str, kind: type, width: int) -> np.ndarray:
    try:
        array: np.ndarray = np.asarray(stored[name], dtype=kind)
        if len(array) and array.reshape(len(array), -1).shape[1] == width:
            return array.reshape(len(array), width)
    except (KeyError, OverflowError, TypeError, ValueError):
        pass
    raise ArtifactError(f"its self-test must have {name} of {width} columns; train it again.")
