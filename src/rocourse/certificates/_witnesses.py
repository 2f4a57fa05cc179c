"""Certificates by witnesses: models retrained on shifted rows that took no part in a search."""

from collections.abc import Callable, Mapping

import numpy as np

from rocourse.certificates._counts import draws_for, lower_bound, more_for
from rocourse.errors import ConfigError
from rocourse.models import (
    Refittable,
    Shift,
    Trainer,
    TrainingRows,
    has_network,
    train_witnesses,
    votes_of_witnesses,
    with_scores,
)
from rocourse.models.adapters import model_name
from rocourse.models.jurors import refit_shifted
from rocourse.networks import Predictor
from rocourse.recourse import Context
from rocourse.schema import Certificate, Recourse, Rows, one_hot

# Apart from the witnesses that a fit makes of the same seed.
_STREAM = 0x43455254
# The share that witnesses are to show where none is asked for: 29 of them at a confidence of .95.
_SHARE = 0.9


Judge = Callable[[Rows, np.ndarray], np.ndarray]
"""Which of some models give rows the classes of these indices: bool `[models, n]`."""


def fresh_witnesses(
    context: Context, trainer: Trainer, data: TrainingRows, *, count: int, shift: Shift
) -> Judge:
    """What models say that took no part in any search, each of rows that were shifted anew.

    Args:
        context: The model that decides.
        trainer: How it was trained.
        data: The rows that it was trained on, with its cut-off.
        count: How many models.
        shift: How far rows may shift.
    """
    data = with_scores(data) if shift.drift else data
    seed = int(np.random.SeedSequence([context.seed, _STREAM]).generate_state(1)[0] >> 1)
    given = context.trained
    if not has_network(given):
        if not isinstance(given, Refittable) or not given.can_be_refitted:
            raise ConfigError(
                f"Witnesses must be trained as the model was, but it is not known how to fit the "
                f"{model_name(given)} again; say it with adapt(model, schema, refit=...)."
            )
        refits = refit_shifted(given, data, shift, count=count, seed=seed)

        def asked(rows: Rows, target: np.ndarray) -> np.ndarray:
            x = one_hot(rows, context.schema.layout)
            told = [refit.probabilities(x).argmax(axis=1) == target for refit in refits]
            return np.stack(told)

        return asked
    return stored_witnesses(
        context, train_witnesses(trainer, data, count=count, seed=seed, shift=shift)
    )


def stored_witnesses(context: Context, witnesses: list[Predictor]) -> Judge:
    """What some networks say.

    Args:
        context: The model that decides.
        witnesses: The networks.
    """

    return lambda rows, target: votes_of_witnesses(witnesses, rows, target, context.schema.layout)


def witnesses_for(at: float | None, confidence: float) -> int:
    """How many witnesses show a share if all of them agree."""
    return draws_for(_SHARE if at is None else at, confidence)


def certify_witnesses(
    honoured: np.ndarray,
    count: int,
    recourse: Recourse,
    *,
    at: float | None,
    confidence: float,
    parameters: Mapping[str, object],
    model: str | None,
) -> Certificate:
    """What share of such models honours each recourse at least.

    Args:
        honoured: By how many witnesses each recourse is honoured, `[n]`.
        count: How many there are.
        recourse: The recourses.
        at: The share that is asked for.
        confidence: How sure the share is to be.
        parameters: How the witnesses came about.
        model: The digest of the stored model.
    """
    advised = recourse.advised
    level = np.where(advised, lower_bound(honoured, count, confidence), np.nan)
    details = {"honoured": np.where(advised, honoured, 0)}
    if at is not None:
        more = more_for(honoured, count, at, confidence)
        details["more_witnesses"] = np.where(advised, more, 0)
    return Certificate(
        "witnesses",
        level,
        at,
        confidence,
        {"witnesses": count, **parameters},
        model,
        "Of models retrained as this one was, each on rows that were shifted at random in the way "
        "stated, at least this share gives the changed row its class.",
        "It speaks of the shift that was assumed, not of next year's, and the confidence is that "
        "of each row by itself.",
        details,
    )
