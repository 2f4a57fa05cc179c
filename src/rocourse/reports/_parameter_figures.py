"""Figures of one parameter of robust training: what it does to robust validity and proximity."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

from rocourse.reports._axes import Line, add_legend, draw_line, dress, new_figure
from rocourse.reports._measured import Measured
from rocourse.reports._parts import Part, Picture
from rocourse.reports._recourse_tables import figure_table
from rocourse.reports._theme import Theme

_PANELS = (("robust_validity", "Robust validity", True), ("proximity", "Proximity", False))


@dataclass(frozen=True)
class Series:
    """A method with one parameter varied.

    Attributes:
        title: What the legend calls it.
        points: The values of the parameter, and what was measured there.
        dashes: The line's style.
        shade: Its colour, where there are several lines.
    """

    title: str
    points: tuple[tuple[float, Measured], ...]
    dashes: str = "-"
    shade: int | None = None


def series_parts(
    name: str, title: str, symbol: str, series: Sequence[Series], *, ratios: bool
) -> list[Part]:
    """Two panels, robust validity and proximity, and the numbers behind them.

    Args:
        name: What the picture's files are called.
        title: What it shows.
        symbol: What was varied.
        series: The lines.
        ratios: Whether it grows by factors, and is drawn so.
    """
    picture = Picture(
        name,
        title,
        partial(_draw, series, symbol, ratios),
        description=f"{title}: robust validity and proximity by {symbol}.",
        note="Judged by the models of the other years. Bands: standard deviation over seeds.",
    )
    lines = [(f"{value:g}", line) for one in series for value, line in one.points]
    return [picture, figure_table("The numbers", symbol, lines, _mean_gain(series))]


def _draw(series: Sequence[Series], symbol: str, ratios: bool, theme: Theme) -> Figure:
    figure, panels = new_figure(1, len(_PANELS))
    for axes, (metric, title, share) in zip(panels, _PANELS, strict=True):
        for one in series:
            found = [line.measure(metric)[0] for _, line in one.points]
            drawn = Line(
                one.title,
                one.points[0][1].method,
                [value for value, _ in one.points],
                [aggregate.mean for aggregate in found],
                [aggregate.std for aggregate in found],
                one.dashes,
                one.shade,
            )
            draw_line(axes, drawn, theme)
        ticks = sorted({value for one in series for value, _ in one.points})
        dress(axes, theme, title=title, xlabel=symbol, share=share, ticks=ticks, ratios=ratios)
    if len(series) > 1:
        add_legend(figure, panels, theme)
    return figure


def _mean_gain(series: Sequence[Series]) -> str:
    """How much the first of two lines is above the second, in one sentence."""
    if len(series) != 2:
        return ""
    gains = []
    for (_, first), (_, second) in zip(*(one.points for one in series), strict=True):
        ours, theirs = (line.measure("robust_validity")[0].mean for line in (first, second))
        if ours is not None and theirs is not None:
            gains.append(ours - theirs)
    if not gains:
        return ""
    points = f"{100 * sum(gains) / len(gains):+.2f}".replace("-", "−")
    plain, other = (one.title.split(":")[0] for one in series)
    return f"Robust validity, {plain} less {other}, mean over the values: {points} points."
