"""The demo's pictures, drawn from a stored result and nothing else.

Each picture can be had in panels, which a page arranges to its width and in its own colours, and
whole, for use elsewhere. Figures are made without pyplot, so that no global state is touched.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from rocourse.reports._axes import CURVES, clear_frame
from rocourse.reports._theme import LIGHT, Theme
from rocourse.reports.demo._result import CORRECTED, ORIGINAL, DemoResult, MethodRun
from rocourse.reports.demo._wording import PROTOCOLS, SUBSETS

_LOSS_UNITS = {"mse": "mean squared error", "cross_entropy": "cross-entropy", "hinge": "hinge loss"}
_DISTANCE_UNITS = {
    "mse": "mean squared change",
    "l1": "mean absolute change",
    "l1_sum": "summed absolute change",
}


def draw_matrix(method: MethodRun, protocol: str, theme: Theme = LIGHT) -> Figure:
    """One validity matrix as a heat map: row, whose recourses; column, judged by whose model."""
    figure = Figure(figsize=(3.6, 3.3), layout="constrained")
    _heat_map(figure.add_subplot(), method, protocol, theme)
    return figure


def draw_matrices(result: DemoResult, protocols: Sequence[str], theme: Theme = LIGHT) -> Figure:
    """The validity matrices of all methods side by side, one line of them per protocol."""
    columns, lines = len(result.methods), len(protocols)
    figure = Figure(figsize=(3.7 * columns, 3.6 * lines), layout=_spaced_layout())
    grid = figure.subplots(lines, columns, squeeze=False)
    for line, protocol in zip(grid, protocols, strict=True):
        for axes, method in zip(line, result.methods, strict=True):
            _heat_map(axes, method, protocol, theme, subtitle=PROTOCOLS[protocol])
    return figure


def draw_curve(result: DemoResult, measure: str, theme: Theme = LIGHT) -> Figure:
    """One measure per epoch, for every method's model of the original data."""
    figure = Figure(figsize=(4.2, 2.9), layout="constrained")
    _curve(figure.add_subplot(), result, measure, theme)
    return figure


def draw_curves(result: DemoResult, theme: Theme = LIGHT) -> Figure:
    """All measures per epoch."""
    figure = Figure(figsize=(8.4, 5.8), layout=_spaced_layout())
    panels = figure.subplots(2, 2)
    for axes, measure in zip(panels.flat, CURVES, strict=True):
        _curve(axes, result, measure, theme)
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(),
        loc="outside upper left",
        ncols=len(result.methods),
        frameon=False,
        fontsize=11,
        labelcolor=theme.ink,
        handlelength=2.2,
    )
    return figure


def _spaced_layout() -> ConstrainedLayoutEngine:
    return ConstrainedLayoutEngine(hspace=0.06, wspace=0.06)


def _heat_map(
    axes: Axes, method: MethodRun, protocol: str, theme: Theme, subtitle: str | None = None
) -> None:
    names = [SUBSETS[name] for name in method.subsets.names]
    shades = LinearSegmentedColormap.from_list("validity", theme.scale)
    size = len(names)
    color = theme.method_color(method.name)
    # The demo's own question: advice from the original data, judged after the correction.
    asked = (method.subsets.names.index(ORIGINAL), method.subsets.names.index(CORRECTED))
    for row, line in enumerate(method.subsets.matrix(protocol)):
        for column, share in enumerate(line):
            fill = theme.grid if share is None else shades(share)
            corner = (column + 0.02, row + 0.02)
            axes.add_patch(Rectangle(corner, 0.96, 0.96, facecolor=fill, linewidth=0))
            text = "no rows" if share is None else f"{share:.0%}"
            axes.text(
                column + 0.5,
                row + 0.46,
                text,
                ha="center",
                va="center",
                fontsize=19 if share is not None else 11,
                fontweight="bold",
                color=theme.ink,
            )
            kind = "validity" if row == column else "robust validity"
            axes.text(
                column + 0.5,
                row + 0.72,
                kind,
                ha="center",
                va="center",
                fontsize=9.5,
                color=theme.ink,
            )
            if (row, column) == asked:
                outline = Rectangle(corner, 0.96, 0.96, fill=False, edgecolor=color, linewidth=3)
                axes.add_patch(outline)
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    centres = [index + 0.5 for index in range(size)]
    axes.set_xticks(centres, names)
    axes.set_yticks(centres, names, rotation=90, va="center")
    axes.set_xlabel("judged by the model of the … data", color=theme.muted, fontsize=10)
    axes.set_ylabel("recourses from the\nmodel of the … data", color=theme.muted, fontsize=10)
    axes.tick_params(length=0, colors=theme.ink, labelsize=10.5, pad=4)
    axes.spines[:].set_visible(False)
    title = method.title if subtitle is None else f"{method.title}: {subtitle}"
    size_of_title = 13 if subtitle is None else 11
    axes.set_title(title, color=color, fontsize=size_of_title, fontweight="bold")


def _curve(axes: Axes, result: DemoResult, measure: str, theme: Theme) -> None:
    for place, method in enumerate(result.methods):
        # Where curves coincide, the dashes of the first lie on the line of the last.
        layer = 3 - 0.1 * place
        history = method.histories[ORIGINAL]
        epochs = [record["epoch"] for record in history]
        values = [record[measure] for record in history]
        color, dashes = theme.method_color(method.name), theme.method_dashes(method.name)
        axes.plot(
            epochs,
            values,
            color=color,
            linestyle=dashes,
            linewidth=1.8,
            zorder=layer,
            label=method.title,
        )
        kept = method.best_epochs[ORIGINAL]
        if kept in epochs:
            at = epochs.index(kept)
            axes.plot(
                epochs[at],
                values[at],
                marker="o",
                markersize=7,
                color=color,
                markeredgecolor=theme.surface,
                markeredgewidth=1.2,
                linestyle="none",
                zorder=layer + 1,
            )
    axes.set_title(CURVES[measure], loc="left", color=theme.ink, fontsize=11.5, fontweight="bold")
    axes.set_xlabel("epoch", color=theme.muted, fontsize=10)
    axes.set_ylabel(_unit(result, measure), color=theme.muted, fontsize=10)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.set_xlim(left=0)
    if measure == "robust_validity":
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    clear_frame(axes, theme)


def _unit(result: DemoResult, measure: str) -> str:
    """What a measure counts, which for losses is an option of training."""
    if measure == "robust_validity":
        return "share of recourses"
    parameters = result.adviser.parameters
    if measure == "l3":
        return _DISTANCE_UNITS[parameters["proposer.proximity_loss"]]
    return _LOSS_UNITS[parameters["trainer.loss" if measure == "l1" else "proposer.validity_loss"]]
