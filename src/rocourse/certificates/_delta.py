"""Certificates about a box of models: every weight and bias of the networks may move by δ."""

from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from rocourse.certificates._counts import draws_for, lower_bound
from rocourse.certificates._exact import exact_radii, holds
from rocourse.certificates._intervals import Layers, layers_of, margins_of_draw, radii
from rocourse.errors import ConfigError
from rocourse.models.adapters import model_name
from rocourse.recourse import Context
from rocourse.recourse.proof import margins_of
from rocourse.schema import Certificate, Recourse, one_hot

# Of the box that draws are to speak for, unless another share is asked for.
_SHARE = 0.995


def certify_delta(
    context: Context,
    recourse: Recourse,
    target: np.ndarray,
    *,
    at: float | None,
    exact: bool,
    model: str | None,
) -> Certificate:
    """How far every weight and bias may move before a recourse could lose its class.

    Args:
        context: The model that decides.
        recourse: The recourses.
        target: The class index that each was made for, `[n]`.
        at: The δ that is asked for.
        exact: Whether to search where intervals do not suffice: for `at`, or for the largest δ.
        model: The digest of the stored model.
    """
    level = np.full(len(recourse), np.nan)
    with _pools().limit(limits=1):
        for layers, places, x in _by_class(context, recourse, target):
            level[places] = _radii(layers, x, at, exact)
    return Certificate(
        "delta",
        level,
        at,
        None,
        {"exact": exact},
        model,
        "Every model whose weights and biases each differ from this one's by at most the level, "
        "network by network, gives the changed row its class at today's cut-off.",
        "Training anew moves weights further than that as a rule, and in arithmetic of float32 a "
        "margin is rounded.",
    )


def _radii(layers: Layers, x: np.ndarray, at: float | None, exact: bool) -> np.ndarray:
    found = radii(layers, x)
    if not exact:
        return found
    if at is None:
        return exact_radii(layers, x)
    rows = np.flatnonzero((found < at) & (found > 0.0))
    found[rows[holds(layers, x[rows], at)]] = at
    return found


def certify_sampled(
    context: Context,
    recourse: Recourse,
    target: np.ndarray,
    *,
    delta: float,
    at: float | None,
    confidence: float,
    seed: int,
    model: str | None,
) -> Certificate:
    """How much of the box of models within δ gives a recourse its class, by fresh draws (APΔS).

    As many models are drawn as show the share that is asked for where all of them agree.

    Args:
        context: The model that decides.
        recourse: The recourses.
        target: The class index that each was made for, `[n]`.
        delta: How far every weight and bias may move.
        at: The share of the box that is asked for.
        confidence: How sure the share is to be.
        seed: Of the draws, which no search has seen.
        model: The digest of the stored model.
    """
    draws = draws_for(_SHARE if at is None else at, confidence)
    honoured = np.full(len(recourse), 0)
    rng = np.random.default_rng(seed)
    with _pools().limit(limits=1):
        for layers, places, x in _by_class(context, recourse, target):
            for _ in range(draws):
                honoured[places] += margins_of_draw(layers, x, delta, rng) > 0.0
    level = np.where(recourse.advised, lower_bound(honoured, draws, confidence), np.nan)
    return Certificate(
        "sampled",
        level,
        at,
        confidence,
        {"delta": delta, "draws": draws, "seed": seed},
        model,
        f"At least this share of all models whose weights and biases each differ from this one's by"
        f" at most {delta:g} gives the changed row its class at today's cut-off.",
        "The rest of the box may break it, a retrained model is no uniform draw from the box, and "
        "the confidence is that of each row by itself.",
        {"honoured": np.where(recourse.advised, honoured, 0)},
    )


@cache
def _pools() -> ThreadpoolController:
    """Products here are small: threads that share them mostly wait for each other."""
    return ThreadpoolController()


def _by_class(
    context: Context, recourse: Recourse, target: np.ndarray
) -> list[tuple[Layers, np.ndarray, np.ndarray]]:
    """Of each class that was asked for the committee, the rows with advice, and these encoded."""
    layout, found = context.schema.layout, []
    for wanted in np.unique(target[recourse.advised]).tolist():
        margins = margins_of(context.trained, wanted, context.cut_off, layout)
        if margins is None:
            raise ConfigError(
                "A certificate about weights must be of a model whose networks are at hand, but "
                f"this one explains a {model_name(context.trained)}; ask for kind='witnesses'."
            )
        places = np.flatnonzero(recourse.advised & (target == wanted))
        x = one_hot(recourse.attempts.take(places), layout).astype(np.float64)
        found.append((layers_of(margins), places, x))
    return found
