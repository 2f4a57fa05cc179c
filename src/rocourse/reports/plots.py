"""Pictures for notebooks and reports, each a Matplotlib figure; `figure.savefig` writes one.

All have the colours of the reports. Lines differ in their markers and dashes too, so that they are
told apart in grey and by people of any colour vision.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rocourse._wording import listed, show
from rocourse.errors import ConfigError
from rocourse.evaluation import (
    GroupFigures,
    Model,
    promise_alarm,
    promise_evidence,
    reliability,
    robust_validity,
)
from rocourse.reports._axes import add_legend, clear_frame, dress, new_figure
from rocourse.reports._recourse_figures import plot_changes, plot_recourse
from rocourse.reports._reliability_figure import reliability_figure
from rocourse.reports._theme import LIGHT
from rocourse.schema import Recourse

__all__ = [
    "plot_calibration",
    "plot_changes",
    "plot_drift",
    "plot_fairness",
    "plot_frontier",
    "plot_recourse",
    "plot_validity",
]

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES = ("-", "--", "-.", ":")
_MEASURES = ("refused", "coverage", "promised", "certified", "certainty", "cost", "kept")
_SHARES = frozenset(_MEASURES) - {"cost"}


def plot_validity(recourses: Mapping[str, Recourse], models: Mapping[str, Model]) -> Figure:
    """The share of advice that each of several models honours, a line a method.

    Args:
        recourses: Advice by the name of what gave it, for rows that it refused.
        models: What judges it, by name and in order: the model of today, next year's and so on.
    """
    figure, (axes,) = new_figure(1, 1)
    for k, (name, recourse) in enumerate(recourses.items()):
        shares = [robust_validity(recourse, [model.predict]) for model in models.values()]
        _line(axes, range(len(models)), shares, k, name)
    title, ylabel = "Advice that is honoured", "share of those who were refused"
    dress(axes, LIGHT, title=title, xlabel="by the model", ylabel=ylabel, share=True)
    axes.set_xticks(range(len(models)), list(models))
    axes.set_xlim(-0.4, len(models) - 0.6)
    add_legend(figure, [axes], LIGHT)
    return figure


def plot_frontier(
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    xlabel: str = "cost",
    ylabel: str = "share that is honoured",
) -> Figure:
    """What is gained at which cost; upper left is better.

    A line joins the points of a method that no other of its own beats in both; the others are
    hollow.

    Args:
        points: Cost and gain, a share, of each setting that was tried, by method.
        xlabel: What it costs.
        ylabel: What is gained.
    """
    figure, (axes,) = new_figure(1, 1)
    for k, (name, found) in enumerate(points.items()):
        best = [p for p in found if not any(_beats(q, p) for q in found)]
        best.sort()
        _line(axes, [x for x, _ in best], [y for _, y in best], k, name)
        rest = [p for p in found if p not in best]
        axes.scatter(
            [x for x, _ in rest],
            [y for _, y in rest],
            marker=_MARKERS[k % len(_MARKERS)],
            s=30,
            facecolors="none",
            edgecolors=LIGHT.shades[k % len(LIGHT.shades)],
        )
    title = "What certainty costs"
    dress(axes, LIGHT, title=title, xlabel=xlabel, ylabel=ylabel, share=True)
    axes.set_xlim(left=0)
    add_legend(figure, [axes], LIGHT)
    return figure


def plot_calibration(
    probabilities: Sequence[float] | np.ndarray,
    happened: Sequence[bool] | np.ndarray,
    *,
    title: str = "Is a probability what it says?",
    bins: int = 10,
) -> Figure:
    """How often it came true, by the probability that was told.

    Args:
        probabilities: What was told, of a class or of a promise, `[n]`.
        happened: Whether it came true, `[n]`.
        title: What the probabilities are of.
        bins: Into how many equal parts probabilities are cut.
    """
    told = np.asarray(probabilities, float)
    both = np.column_stack([1.0 - told, told])
    classes = np.array([False, True])
    return reliability_figure(
        reliability(np.asarray(happened, bool), both, classes, bins=bins), title=title
    )


def plot_drift(
    honoured: Sequence[float] | np.ndarray, *, kept: float, false_alarms: float = 0.05
) -> Figure:
    """The evidence that promises are kept less often than stated, promise by promise.

    Args:
        honoured: Whether each promise was kept, in the order of time; of audits, the shares.
        kept: The share that was stated.
        false_alarms: The chance of an alarm, ever, while promises are kept as stated.
    """
    evidence = promise_evidence(honoured, kept=kept)
    alarm = promise_alarm(honoured, kept=kept, false_alarms=false_alarms)
    figure, (axes,) = new_figure(1, 1)
    axes.plot(np.arange(1, len(evidence) + 1), evidence, color=LIGHT.shades[0], linewidth=1.8)
    limit = 1.0 / false_alarms
    axes.axhline(limit, color=LIGHT.no[0], linewidth=1.2, linestyle=(0, (4, 3)))
    told = "no alarm" if alarm is None else f"alarm at promise {alarm + 1}"
    axes.set_yscale("log")
    top = max(limit * 4, float(evidence.max(initial=1.0)) * 2)
    title = f"{kept:.0%} kept, as stated? {told.capitalize()}"
    _frame(axes, title, "promise", f"evidence (alarm at {limit:g})")
    axes.set_ylim(min(0.5, float(evidence.min(initial=1.0))), top)
    if alarm is not None:
        axes.plot(alarm + 1, evidence[alarm], marker="D", markersize=8, color=LIGHT.no[0])
    return figure


def plot_fairness(figures: Mapping[str, GroupFigures], measure: str = "cost") -> Figure:
    """How each group differs from everyone else, with 95% intervals; filled where it is clear.

    Args:
        figures: As `rocourse.evaluation.fairness` gives them.
        measure: What of: refused, coverage, promised, certified, certainty, cost or kept.
    """
    if measure not in _MEASURES:
        raise ConfigError(
            f"measure must be one of {listed(_MEASURES)}, but got {show(measure)}; choose one."
        )
    told = {
        name: group.differences[measure]
        for name, group in figures.items()
        if measure in group.differences
    }
    figure = Figure(figsize=(6.0, 1.3 + 0.4 * max(len(told), 1)), layout="constrained")
    axes = figure.add_subplot()
    for y, (value, low, high) in enumerate(reversed(told.values())):
        clear = not low <= 0.0 <= high
        axes.plot((low, high), (y, y), color=LIGHT.muted, linewidth=2, zorder=2)
        axes.plot(
            value,
            y,
            marker="D" if clear else "o",
            markersize=8,
            color=LIGHT.no[0] if clear else LIGHT.surface,
            markeredgecolor=LIGHT.no[0] if clear else LIGHT.ink,
            markeredgewidth=1.5,
            zorder=3,
        )
    axes.axvline(0.0, color=LIGHT.ink, linewidth=1, linestyle="--", zorder=1)
    axes.set_ylim(-0.6, len(told) - 0.4)
    unit = "share" if measure in _SHARES else "mean"
    title = f"{measure.capitalize()}: each group less everyone else"
    _frame(axes, title, f"difference of the {unit} (95% interval; ◆ clear, ○ may be chance)")
    axes.set_yticks(range(len(told)), list(reversed(told)), color=LIGHT.ink)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=LIGHT.grid, linewidth=0.8)
    return figure


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] >= other[1]


def _frame(axes: Axes, title: str, xlabel: str, ylabel: str = "") -> None:
    axes.set_title(title, loc="left", color=LIGHT.ink, fontsize=11.5, fontweight="bold")
    axes.set_xlabel(xlabel, color=LIGHT.muted, fontsize=10)
    axes.set_ylabel(ylabel, color=LIGHT.muted, fontsize=10)
    clear_frame(axes, LIGHT)


def _line(axes: Axes, x: Any, y: Any, k: int, label: str) -> None:
    axes.plot(
        x,
        y,
        color=LIGHT.shades[k % len(LIGHT.shades)],
        marker=_MARKERS[k % len(_MARKERS)],
        linestyle=_DASHES[k % len(_DASHES)],
        markersize=6,
        linewidth=1.8,
        label=label,
        zorder=3,
    )
