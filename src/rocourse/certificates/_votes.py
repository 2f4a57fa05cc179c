"""Certificates by the votes of a forest's trees, which are drawn one like the other."""

import math

import numpy as np

from rocourse.certificates._counts import lower_bound
from rocourse.errors import ConfigError
from rocourse.models import has_network
from rocourse.models.adapters import model_name, tree_votes
from rocourse.recourse import Context
from rocourse.schema import Certificate, Recourse, one_hot


def majority_chance(votes: np.ndarray, trees: int, needed: float, confidence: float) -> np.ndarray:
    """The chance that more than a share of as many new trees vote alike, at least: `[n]`.

    Trees are independent given the rows, each votes for a row's class with one chance; what the
    forest's own trees say bounds it from below, and a forest of that chance is counted exactly.

    Args:
        votes: How many trees vote for the class, `[n]`.
        trees: How many there are.
        needed: The share that has to be exceeded.
        confidence: How sure the chance is to be.
    """
    from scipy.special import bdtrc

    least = lower_bound(votes, trees, confidence)
    # A hair more, so that a whole number is not lowered by rounding.
    return np.asarray(bdtrc(math.floor(trees * needed + 1e-9), trees, least))


def certify_votes(
    context: Context,
    recourse: Recourse,
    target: np.ndarray,
    *,
    at: float | None,
    confidence: float,
    model: str | None,
) -> Certificate:
    """The chance that a forest grown anew on the same rows votes as this one does.

    Args:
        context: The model that decides.
        recourse: The recourses.
        target: The class index that each was made for, `[n]`.
        at: The chance that is asked for.
        confidence: How sure it is to be.
        model: The digest of the stored model.
    """
    x = one_hot(recourse.attempts, context.schema.layout)
    told = tree_votes(context.trained, x)
    if told is None or told.shape[1] < 2:
        network = has_network(context.trained)
        name = "network" if network else model_name(context.trained)
        raise ConfigError(
            "A certificate by votes must be of a forest of scikit-learn, but the model is a "
            f"{name}; ask for kind='witnesses'."
        )
    votes = (told == target[:, None]).sum(axis=1)
    needed = np.full(len(target), 0.5)
    if context.cut_off is not None:
        favourable = target == context.cut_off.favourable
        threshold = context.cut_off.threshold
        needed = np.where(favourable, threshold, 1.0 - threshold)
    level = np.full(len(recourse), np.nan)
    for share in np.unique(needed).tolist():
        own = recourse.advised & (needed == share)
        level[own] = majority_chance(votes[own], told.shape[1], share, confidence)
    return Certificate(
        "votes",
        level,
        at,
        confidence,
        {"trees": told.shape[1]},
        model,
        "A forest of as many trees, grown anew on the same rows by other draws, gives the changed "
        "row its class by the votes of its trees with at least this chance.",
        "Other rows grow other trees, a forest that averages leaves of mixed classes may decide "
        "otherwise than its votes, a search that asked these very trees has flattered them, and "
        "the confidence is that of each row by itself.",
        {"votes": np.where(recourse.advised, votes, 0)},
    )
