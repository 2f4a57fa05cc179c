"""How the figures look: the house's colours and lines, without pyplot and its global state."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

from rocourse.reports._theme import Theme

CURVES = {
    "l1": "L1: prediction loss",
    "l2": "L2: validity loss",
    "l3": "L3: distance loss",
    "robust_validity": "Robust validity under attack",
}
"""What is drawn per epoch: titles, by name in the history."""

PANEL = (4.2, 3.0)
"""Width and height of one panel, in inches."""

# Of the legend: about what a letter takes, and what a line's sample takes with its margins.
_LETTER_INCHES = 0.085
_HANDLE_INCHES = 0.65


@dataclass(frozen=True)
class Line:
    """A measure by what was varied; values that were not measured are None.

    Attributes:
        title: What the legend calls it.
        method: Decides the colour.
        x: What was varied.
        y: The measure.
        error: Its standard deviation.
        dashes: The line's style.
        shade: Which of several colours, where lines are of one method.
    """

    title: str
    method: str
    x: Sequence[float]
    y: Sequence[float | None]
    error: Sequence[float | None] = ()
    dashes: str = "-"
    shade: int | None = None


def new_figure(lines: int, columns: int) -> tuple[Figure, list[Axes]]:
    """A figure of panels, and its panels line by line."""
    width, height = PANEL
    layout = ConstrainedLayoutEngine(hspace=0.06, wspace=0.06)
    # Above the panels is room for the legend.
    figure = Figure(figsize=(width * columns, height * lines + 0.4), layout=layout)
    grid = figure.subplots(lines, columns, squeeze=False)
    return figure, [axes for line in grid for axes in line]


def line_color(line: Line, theme: Theme) -> str:
    """The colour of a line."""
    if line.shade is None:
        return theme.method_color(line.method)
    return theme.shades[line.shade % len(theme.shades)]


def draw_line(axes: Axes, line: Line, theme: Theme) -> None:
    """A line with its markers, and the spread as a band."""
    points = [
        (x, y, error)
        for x, y, error in zip(line.x, line.y, line.error or [None] * len(line.x), strict=True)
        if y is not None
    ]
    if not points:
        return
    x, y, errors = zip(*points, strict=True)
    color = line_color(line, theme)
    axes.plot(
        x,
        y,
        color=color,
        linestyle=line.dashes,
        linewidth=1.8,
        marker="o",
        markersize=5,
        markeredgecolor=theme.surface,
        markeredgewidth=0.8,
        label=line.title,
        zorder=3,
    )
    if any(errors):
        low = [value - (error or 0.0) for value, error in zip(y, errors, strict=True)]
        high = [value + (error or 0.0) for value, error in zip(y, errors, strict=True)]
        axes.fill_between(x, low, high, color=color, alpha=0.12, linewidth=0, zorder=2)


def dress(
    axes: Axes,
    theme: Theme,
    *,
    title: str,
    xlabel: str,
    ylabel: str = "",
    share: bool = False,
    ticks: Sequence[float] = (),
    ratios: bool = False,
) -> None:
    """Titles, ticks and grid.

    Args:
        axes: A panel that has been drawn.
        theme: The colours.
        title: What the panel shows.
        xlabel: What was varied.
        ylabel: What was measured.
        share: Whether that is a share of a whole.
        ticks: The values to mark, where they are few and not evenly apart.
        ratios: Whether what was varied grows by factors, and is drawn so.
    """
    axes.set_title(title, loc="left", color=theme.ink, fontsize=11.5, fontweight="bold")
    axes.set_xlabel(xlabel, color=theme.muted, fontsize=10)
    axes.set_ylabel(ylabel, color=theme.muted, fontsize=10)
    if ratios:
        axes.set_xscale("log")
    if ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    if share:
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    else:
        # Room above the highest point, so that its marker is whole.
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    clear_frame(axes, theme)


def clear_frame(
    axes: Axes, theme: Theme, *, label_color: str | None = None, label_size: float = 9.5
) -> None:
    """Leaves horizontal lines and the axis below, on the ground of the page."""
    axes.set_facecolor("none")
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=label_color or theme.muted, labelsize=label_size)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(theme.grid)


def add_legend(figure: Figure, panels: Sequence[Axes], theme: Theme) -> None:
    """One legend for all panels, above them, each line once."""
    handles: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(label), handle)
    if not handles:
        return
    # As many columns as fit above the panels.
    width = max(map(len, handles)) * _LETTER_INCHES + _HANDLE_INCHES
    columns = max(1, int(figure.get_figwidth() / width))
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper left",
        ncols=min(columns, len(handles)),
        frameon=False,
        fontsize=10.5,
        labelcolor=theme.ink,
        handlelength=2.2,
    )
