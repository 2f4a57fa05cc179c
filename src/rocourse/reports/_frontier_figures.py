"""Figures of what validity costs: one line a method, or one a share of the training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rocourse.reports._axes import Line, add_legend, dress, line_color, new_figure
from rocourse.reports._measured import Measured
from rocourse.reports._names import data_title
from rocourse.reports._parts import Part, Picture, Table, grouped
from rocourse.reports._recourse_tables import figure_table
from rocourse.reports._theme import Theme

_MEASURES = (("validity", "Validity"), ("robust_validity", "Robust validity"))


@dataclass(frozen=True)
class Frontier:
    """One method with its trade-off varied.

    Attributes:
        title: What the legend calls it.
        points: The value of what was varied, as text, and what was measured there.
        shade: Its colour, where all are of one method.
    """

    title: str
    points: tuple[tuple[str, Measured], ...]
    shade: int | None = None


def pareto_parts(frontiers: Mapping[str, Sequence[Frontier]]) -> list[Part]:
    """A panel a data set and measure, and the numbers behind them.

    Args:
        frontiers: Those of all methods by data set, RoCoursePanel's last.
    """
    panels = [
        (f"{data_title(dataset)}: {title.lower()}", metric, lines)
        for metric, title in _MEASURES
        for dataset, lines in frontiers.items()
    ]
    picture = Picture(
        "fig-pareto",
        "What validity costs",
        partial(_draw, panels, len(frontiers)),
        description="Validity and robust validity by proximity, one line a method.",
        note=(
            "Upper left is better. A line joins the points that no other of the method beats in "
            "both; the others are hollow. Varied are λ3 of CounterNet and RoCourseNet, λ of "
            "ROAR-LIME, ε₁ and ε₂ of RBR, and of RoCoursePanel the quantile of the margin and the "
            "least gain that a unit of cost has to buy."
        ),
    )
    lines = [point for one in frontiers.values() for frontier in one for point in frontier.points]
    numbers = figure_table("The numbers", "varied", lines)
    return [picture, _beaten_table(frontiers), numbers]


def _beaten_table(frontiers: Mapping[str, Sequence[Frontier]]) -> Table:
    rows = []
    for dataset, (*others, own) in frontiers.items():
        ours = _points(own, "robust_validity")
        for other in others:
            theirs = _points(other, "robust_validity")
            outdone = sum(any(x <= cost and y >= gain for x, y in ours) for cost, gain in theirs)
            below = sum(gain <= frontier_at(ours, cost) for cost, gain in theirs)
            counts = (len(theirs), below, outdone)
            rows.append((data_title(dataset), other.title, *map(str, counts)))
    note = (
        "Of a method's points those on or below the line of RoCoursePanel in the figure of robust "
        "validity, and those for which it has a point itself that costs no more and is no less "
        "robust."
    )
    columns = grouped(
        ("", ("data", "method", "points")), ("of them", ("below the line", "outdone"))
    )
    return Table("Beaten by RoCoursePanel", columns, tuple(rows), note)


def size_parts(frontiers: Sequence[Frontier]) -> list[Part]:
    """A panel a measure, and the numbers behind them."""
    panels = [(title, metric, frontiers) for metric, title in _MEASURES]
    picture = Picture(
        "fig-data-size",
        "RoCourseNet with fewer training rows",
        partial(_draw, panels, len(_MEASURES)),
        description="Validity and robust validity by proximity, one line a share of the rows.",
        note=(
            "Upper left is better. λ3 is varied; test rows and epochs are the same for all, so "
            "that fewer rows also make fewer steps. A line joins the points that no other of the "
            "same share beats in both; the others are hollow."
        ),
    )
    lines = [point for frontier in frontiers for point in frontier.points]
    return [picture, figure_table("The numbers", "varied", lines)]


def efficient(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which points (cost, gain) no other one beats in one without losing in the other."""
    return [
        not any(x <= cost and y >= gain and (x, y) != (cost, gain) for x, y in points)
        for cost, gain in points
    ]


def frontier_at(points: Sequence[tuple[float, float]], cost: float) -> float:
    """What the line through the efficient points gains for a cost: nothing for less than any."""
    best = _line(points)
    if not best or cost < best[0][0]:
        return -np.inf
    costs, gains = zip(*best, strict=True)
    return float(np.interp(cost, costs, gains))


def _line(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The efficient points, the cheapest first."""
    return sorted(point for point, good in zip(points, efficient(points), strict=True) if good)


def _points(frontier: Frontier, metric: str) -> list[tuple[float, float]]:
    """What each point that has results costs, and what it gains."""
    found = []
    for _, line in frontier.points:
        cost, gain = (line.measure(name)[0].mean for name in ("proximity", metric))
        if cost is not None and gain is not None:
            found.append((cost, gain))
    return found


def _draw(
    panels: Sequence[tuple[str, str, Sequence[Frontier]]],
    columns: int,
    theme: Theme,
) -> Figure:
    figure, grid = new_figure(len(panels) // columns, columns)
    for axes, (title, metric, frontiers) in zip(grid, panels, strict=True):
        for frontier in frontiers:
            _draw_frontier(axes, frontier, metric, theme)
        dress(axes, theme, title=title, xlabel="proximity", share=True)
        axes.set_xlim(left=0)
    add_legend(figure, grid, theme)
    return figure


def _draw_frontier(axes: Axes, frontier: Frontier, metric: str, theme: Theme) -> None:
    found = _points(frontier, metric)
    if not found:
        return
    method = frontier.points[0][1].method
    color = line_color(Line(frontier.title, method, (), (), shade=frontier.shade), theme)
    best = _line(found)
    axes.plot(
        *zip(*best, strict=True),
        color=color,
        linewidth=1.8,
        marker="o",
        markersize=5.5,
        markeredgecolor=theme.surface,
        markeredgewidth=0.8,
        label=frontier.title,
        zorder=3,
    )
    beaten = [point for point in found if point not in best]
    if beaten:
        axes.plot(
            *zip(*beaten, strict=True),
            linestyle="none",
            marker="o",
            markersize=5,
            markerfacecolor="none",
            markeredgecolor=color,
            markeredgewidth=1.1,
            zorder=2,
        )
