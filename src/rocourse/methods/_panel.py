"""A panel of retrained models: what recourses have to convince beside the model itself."""

import jax
import jax.numpy as jnp
import numpy as np

from rocourse.methods._inference import predict_probabilities
from rocourse.methods._shifted_rows import ShiftConfig, shift_rows
from rocourse.methods._training import TrainingPlan, train
from rocourse.methods.search import Edits, Panel
from rocourse.networks import Predictor
from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import ConstraintLayer

# A member that finds less than this share of a class is no judge of it: it calls (nearly) all rows
# by the other name. Another shift is drawn then, a few times; the best of them is taken.
_LEAST_RECALL = 0.02
_MOST_DRAWS = 3
_LEAST_MARGIN = 0.05
# Numbers that edits choose from, as quantiles of the training rows.
_QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
# Rarer categories than this are not asked for.
_LEAST_FREQUENCY = 0.002
# Rows that each class is given in every category before counting.
_PRIOR_ROWS = 2.0
_LEAST_VARIANCE = 1e-3
# Encoded values are float32: a whole number need not be one to the last digit.
_ROUNDING = 1e-3


def train_members(
    predictor: Predictor,
    rows: Rows,
    labels: np.ndarray,
    constraints: ConstraintLayer,
    plan: TrainingPlan,
    *,
    members: int,
    shift: ShiftConfig,
    seed: int,
) -> list[Predictor]:
    """The predictor itself, and as many more trained on shifted rows.

    Args:
        predictor: That of the model.
        rows: Its training rows.
        labels: Class indices, `[n]`.
        constraints: Of the rows' schema.
        plan: How the predictor was trained.
        members: How many there shall be, with the predictor.
        shift: How far the rows may shift.
        seed: Decides the shifts and the starts.
    """
    rng = np.random.default_rng(seed)
    layout, n_classes = constraints.layout, predictor.n_classes

    def draw() -> Predictor:
        shifted = shift_rows(rows, labels, n_classes, layout, shift, rng)
        start = int(rng.integers(2**31))
        return train(*shifted, n_classes, constraints, plan, seed=start).predictor

    panel = [predictor]
    for _ in range(members - 1):
        best, best_recall = predictor, -1.0
        for _ in range(_MOST_DRAWS):
            member = draw()
            recall = _least_recall(member, rows, labels, layout)
            if recall > best_recall:
                best, best_recall = member, recall
            if best_recall >= _LEAST_RECALL:
                break
        panel.append(best)
    return panel


def _least_recall(member: Predictor, rows: Rows, labels: np.ndarray, layout: Layout) -> float:
    found = predict_probabilities(member, rows, layout).argmax(axis=1)
    return min(float((found[labels == c] == c).mean()) for c in np.unique(labels))


def make_panel(
    members: list[Predictor],
    rows: Rows,
    labels: np.ndarray,
    layout: Layout,
    *,
    typicality: float,
    trust: float | None,
) -> Panel:
    """The members' weights, the evidence of the training rows, and how sure all have to be.

    A class's margin is the quantile `typicality` of the lead that it has among its own training
    rows that are told right: 0 asks for the least typical of them, one half for an ordinary one.
    `trust` is what the evidence of categories counts; None does without any evidence.
    """
    x = one_hot(rows, layout)
    bare = exact_panel(members)
    scores = [_scores(np.asarray(member(jnp.asarray(x.T)))) for member in members]
    if trust is not None:
        evidence, bias = class_evidence(rows, labels, members[0].n_classes, layout, trust=trust)
        scores.append(evidence @ x.T + bias[:, None])
        bare = bare._replace(evidence=evidence[None], evidence_bias=bias[None])
    return bare._replace(margins=np.stack([_margins(one, labels, typicality) for one in scores]))


def exact_panel(members: list[Predictor]) -> Panel:
    """The members alone, each content with the least lead there can be."""
    n_classes = members[0].n_classes
    weights, biases = _stacked(members)
    width = weights[0].shape[2]
    return Panel(
        weights,
        biases,
        np.zeros((0, n_classes, width), np.float32),
        np.zeros((0, n_classes), np.float32),
        np.full((len(members), n_classes), _LEAST_MARGIN, np.float32),
    )


def class_evidence(
    rows: Rows, labels: np.ndarray, n_classes: int, layout: Layout, *, trust: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods of a row by class, feature by feature (naive Bayes), up to a common term.

    Categories by their frequencies, numbers by Gaussians of one variance, classes as if equally
    frequent. Each feature speaks for itself: what it says survives a change of how features go
    together, which networks do not.

    Args:
        rows: Training rows.
        labels: Their class indices.
        n_classes: How many classes there are.
        layout: Of the rows.
        trust: What the evidence of categories counts, from 0 to 1.

    Returns:
        Weights `[n_classes, width]` of the encoded row, and biases `[n_classes]`.
    """
    x = one_hot(rows, layout)
    cut = layout.n_continuous
    weights = np.zeros((n_classes, layout.width), np.float32)
    bias = np.zeros(n_classes, np.float32)
    present = np.unique(labels)
    means = np.stack([x[labels == c].mean(axis=0) for c in present])
    within = np.mean([x[labels == c, :cut].var(axis=0) for c in present], axis=0)
    variance = within + _LEAST_VARIANCE
    for c, mean in zip(present, means, strict=True):
        weights[c, :cut] = mean[:cut] / variance
        bias[c] = -0.5 * np.sum(mean[:cut] ** 2 / variance)
        n = np.sum(labels == c)
        for group in layout.group_slices:
            counts = mean[group] * n + _PRIOR_ROWS
            weights[c, group] = trust * np.log(counts / counts.sum())
    return weights, bias


def make_edits(rows: Rows, layout: Layout, steps: np.ndarray, firsts: np.ndarray) -> Edits:
    """The values that training rows have: quantiles of numbers, categories that are not too rare.

    Args:
        rows: Training rows.
        layout: Theirs.
        steps: Of each number, the distance between whole numbers in encoded units; 0 where any
            value goes.
        firsts: The least whole number of each, in encoded units.
    """
    low, high = np.quantile(rows.continuous, (0.01, 0.99), axis=0)
    edits: list[tuple[int, int, float]] = []
    for i, (step, first) in enumerate(zip(steps, firsts, strict=True)):
        values = np.quantile(rows.continuous[:, i], _QUANTILES)
        if step > 0.0:
            # The whole numbers within the percentiles, not next to them.
            places = (np.array([low[i], high[i]]) - first) / step
            within = np.ceil(places[0] - _ROUNDING), np.floor(places[1] + _ROUNDING)
            values = first + step * np.clip(np.round((values - first) / step), *within)
        edits += [(i, i, float(value)) for value in np.unique(values.astype(np.float32))]
    for g, (group, codes) in enumerate(zip(layout.group_slices, rows.categories.T, strict=True)):
        counts = np.bincount(codes, minlength=group.stop - group.start)
        usual = np.flatnonzero(counts >= max(1.0, _LEAST_FREQUENCY * len(rows)))
        edits += [(layout.n_continuous + g, int(group.start + code), 1.0) for code in usual]
    feature, column, value = zip(*edits, strict=True)
    return Edits(
        np.asarray(feature, np.int32),
        np.asarray(column, np.int32),
        np.asarray(value, np.float32),
        low.astype(np.float32),
        high.astype(np.float32),
    )


def _stacked(
    members: list[Predictor],
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    layers = zip(*(member.layers for member in members), strict=True)
    stacked = [jax.tree.map(lambda *parts: np.stack(parts), *layer) for layer in layers]
    return tuple(layer.weight for layer in stacked), tuple(layer.bias for layer in stacked)


def _scores(logits: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros_like(logits), logits]) if len(logits) == 1 else logits


def _margins(scores: np.ndarray, labels: np.ndarray, typicality: float) -> np.ndarray:
    margins = np.full(len(scores), _LEAST_MARGIN, np.float32)
    for c in np.unique(labels):
        own = scores[:, labels == c]
        leads = own[c] - np.delete(own, c, axis=0).max(axis=0)
        if (leads > 0.0).any():
            margins[c] = max(np.quantile(leads[leads > 0.0], typicality), _LEAST_MARGIN)
    return margins
