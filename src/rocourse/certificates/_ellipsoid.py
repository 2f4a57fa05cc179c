"""The ellipsoid of near-optimal last layers (ElliCE): the loss that a refit may give away.

The last layer θ is fitted anew, by Newton's method, to what the last hidden units h say of the
training rows, 1 appended: mean cross-entropy and λ‖θ‖²/2. Near its least the loss is the least and
½dᵀHd, with H = mean p(1 − p)hhᵀ + λI, so the last layers that lose at most ε lie in an ellipsoid;
over it dᵀh is least at −√(2ε hᵀH⁻¹h). A margin m of the refit is thus left above zero by all of
them if and only if ε < m² / (2 hᵀH⁻¹h).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from rocourse.certificates._intervals import Layers, layers_of, rectified
from rocourse.errors import ConfigError
from rocourse.models import TrainingRows
from rocourse.models.adapters import model_name
from rocourse.recourse import Context
from rocourse.recourse.proof import margins_of
from rocourse.schema import Certificate, Recourse, Rows, one_hot

# λ: enough to keep units apart that say the same.
_PENALTY = 1e-3
_MOST_STEPS = 100
# Where Newton stops: what another step would gain.
_DECREMENT = 1e-12


class Ellipsoid(NamedTuple):
    """Last layers that lose little."""

    centre: np.ndarray
    """The best one, float64 `[units + 1]`, the bias last."""
    curvature: np.ndarray
    """H, `[units + 1, units + 1]`."""
    least: float
    """The loss of the best one."""


def loss(theta: np.ndarray, hidden: np.ndarray, labels: np.ndarray) -> float:
    """Mean cross-entropy of a last layer, with its penalty.

    Args:
        theta: `[d]`.
        hidden: `[n, d]`, the last column 1.
        labels: 0 or 1, `[n]`.
    """
    scores = hidden @ theta
    entropy = np.logaddexp(0.0, scores) - labels * scores
    return float(entropy.mean() + 0.5 * _PENALTY * theta @ theta)


def near_optimal(hidden: np.ndarray, labels: np.ndarray) -> Ellipsoid:
    """The best last layer, by Newton's method with halved steps, and the curvature there.

    Args:
        hidden: float64 `[n, d]`, the last column 1.
        labels: 0 or 1, `[n]`.
    """
    theta = np.zeros(hidden.shape[1])
    value = loss(theta, hidden, labels)
    for _ in range(_MOST_STEPS):
        gradient, curvature = _derivatives(theta, hidden, labels)
        step = cho_solve(cho_factor(curvature), gradient)
        share = 1.0
        while (lower := loss(theta - share * step, hidden, labels)) > value and share > 1e-6:
            share *= 0.5
        if lower <= value:
            theta, value = theta - share * step, lower
        if 0.5 * gradient @ step < _DECREMENT:
            break
    return Ellipsoid(theta, _derivatives(theta, hidden, labels)[1], value)


def _derivatives(
    theta: np.ndarray, hidden: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    likely = expit(hidden @ theta)
    gradient = hidden.T @ (likely - labels) / len(hidden) + _PENALTY * theta
    weighted = hidden * (likely * (1.0 - likely))[:, None]
    return gradient, hidden.T @ weighted / len(hidden) + _PENALTY * np.eye(len(theta))


def tolerances(ellipsoid: Ellipsoid, hidden: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """The loss that last layers may give away before one of them turns a margin: ε*, `[n]`.

    Args:
        ellipsoid: Of the training rows.
        hidden: Of the rows to certify, `[n, d]`, the last column 1.
        margin: By how much the best last layer leads for what each wants, `[n]`.
    """
    spread = np.einsum("nd,dn->n", hidden, cho_solve(cho_factor(ellipsoid.curvature), hidden.T))
    return np.asarray(np.where(margin > 0.0, margin**2 / (2.0 * spread), 0.0))


class LastLayers(NamedTuple):
    """What the last layers of a model, fitted anew, are like."""

    layers: Layers
    """Of the model."""
    found: Ellipsoid
    cut: float
    """The score above which as many of the rows lie as the model grants."""
    rows: int
    """How many rows they were fitted to."""
    own_excess: float
    """What the model's own last layer loses to the best one."""


def last_layers(context: Context, data: TrainingRows) -> LastLayers:
    """Fits a model's last layer anew.

    Args:
        context: The model that decides.
        data: The rows that it was trained on.
    """
    margins = None
    if data.n_classes == 2:
        margins = margins_of(context.trained, 1, None, context.schema.layout)
    if margins is None:
        many = f"has {data.n_classes} classes"
        name = f"is a {model_name(context.trained)}" if data.n_classes == 2 else many
        raise ConfigError(
            "A certificate about last layers must be of a network of two classes, but the model "
            f"{name}; ask for kind='witnesses'."
        )
    layers = layers_of(margins)
    hidden = _seen(layers, context, data.rows)
    labels = data.labels.astype(np.float64)
    found = near_optimal(hidden, labels)
    own = np.append(layers.last[:, 0].ravel(), layers.offset)
    granted = int((context.verdicts(context.predict(data.rows)) == 1).sum())
    cut = _cut(hidden @ found.centre, granted)
    return LastLayers(layers, found, cut, len(labels), loss(own, hidden, labels) - found.least)


def certify_ellipsoid(
    last: LastLayers,
    context: Context,
    recourse: Recourse,
    target: np.ndarray,
    *,
    at: float | None,
    model: str | None,
) -> Certificate:
    """The loss that a refit of the last layer may give away before a recourse could break.

    Args:
        last: What such refits are like.
        context: The model that decides.
        recourse: The recourses.
        target: The class index that each was made for, `[n]`.
        at: The loss that is asked for.
        model: The digest of the stored model.
    """
    changed = _seen(last.layers, context, recourse.attempts)
    margin = np.where(target == 1, 1.0, -1.0) * (changed @ last.found.centre - last.cut)
    level = np.where(recourse.advised, tolerances(last.found, changed, margin), np.nan)
    return Certificate(
        "ellipsoid",
        level,
        at,
        None,
        {
            "penalty": _PENALTY,
            "rows": last.rows,
            "least_loss": last.found.least,
            "own_excess": last.own_excess,
        },
        model,
        "Every last layer that loses at most the level to the best one, in mean cross-entropy on "
        "the rows that were given, gives the changed row its class at the cut-off at which the "
        "best one grants as many of these rows as the model does.",
        "The layers before stay as they are, the loss is taken for the quadratic function that it "
        "is near its least, and other rows have another least.",
    )


def _seen(layers: Layers, context: Context, rows: Rows) -> np.ndarray:
    return hidden_units(layers, one_hot(rows, context.schema.layout).astype(np.float64))


def hidden_units(layers: Layers, x: np.ndarray) -> np.ndarray:
    """The last hidden units of all networks, and 1: `[n, units + 1]`."""
    hidden = x
    for weight, bias in zip(layers.weights, layers.biases, strict=True):
        hidden = rectified(hidden @ weight.swapaxes(1, 2) + bias[:, None])
    together = hidden.swapaxes(0, 1).reshape(len(x), -1)
    return np.column_stack([together, np.ones(len(x))])


def _cut(scores: np.ndarray, granted: int) -> float:
    """The score above which as many rows lie; zero where that is none or all of them."""
    if granted in (0, len(scores)):
        return 0.0
    ranked = np.sort(scores)[::-1]
    return float(0.5 * (ranked[granted - 1] + ranked[granted]))
