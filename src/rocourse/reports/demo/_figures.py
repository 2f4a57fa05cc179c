"""The demo's picture, drawn from a stored result and nothing else.

It can be had in panels, which a page arranges to its width and in its own colours, and whole, for
use elsewhere. Figures are made without pyplot, so that no global state is touched.
"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import PercentFormatter

from rocourse.reports._theme import LIGHT, Theme
from rocourse.reports.demo._result import DemoResult, MethodRun
from rocourse.reports.demo._wording import KINDS, percent


def draw_panel(result: DemoResult, method: MethodRun, theme: Theme = LIGHT) -> Figure:
    """One method: by kind of judge, approved without any change and with the advice."""
    figure = Figure(figsize=(4.8, 3.1), layout="constrained")
    _panel(figure.add_subplot(), result, method, theme, named=True)
    return figure


def draw_kept(result: DemoResult, theme: Theme = LIGHT) -> Figure:
    """All methods side by side."""
    count = len(result.methods)
    figure = Figure(figsize=(3.1 * count + 1.4, 3.3), layout=ConstrainedLayoutEngine(wspace=0.05))
    panels = figure.subplots(1, count, sharey=True, squeeze=False)[0]
    for place, (axes, method) in enumerate(zip(panels, result.methods, strict=True)):
        _panel(axes, result, method, theme, named=place == 0)
    figure.suptitle(
        "Refused applicants whom retrained models approve:  ○ nothing changed   ● changed as told",
        x=0.01,
        ha="left",
        fontsize=11,
        color=theme.ink,
    )
    return figure


def _panel(axes: Axes, result: DemoResult, method: MethodRun, theme: Theme, *, named: bool) -> None:
    color, kinds = theme.method_color(method.name), result.kinds
    if method.stated is not None:
        axes.axvline(method.stated, color=theme.muted, linewidth=1, linestyle=":", zorder=1)
        axes.text(
            method.stated - 0.015,
            -0.62,
            f"stated {percent(method.stated)}",
            color=theme.muted,
            fontsize=8.5,
            ha="right",
            va="center",
        )
    for y, kind in enumerate(kinds):
        if kind in method.told:
            _dumbbell(axes, y, method, kind, color, theme)
    axes.set_ylim(len(kinds) - 0.4, -0.9)
    names = [f"{KINDS[kind]}{' *' if kind == method.own and named else ''}" for kind in kinds]
    axes.set_yticks(range(len(kinds)), names if named else [KINDS[kind] for kind in kinds])
    axes.set_xlim(-0.02, 1.03)
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(axis="x", color=theme.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_facecolor("none")
    axes.tick_params(length=0, colors=theme.muted, labelsize=9)
    axes.tick_params(axis="y", colors=theme.ink, labelsize=9.5, labelleft=named)
    axes.spines[:].set_visible(False)
    title = f"{method.title}\n"
    axes.set_title(title, loc="left", color=color, fontsize=11.5, fontweight="bold")
    axes.text(0, 1.02, _told(method), color=theme.ink, fontsize=9, transform=axes.transAxes)


def _told(method: MethodRun) -> str:
    """How many are told something, and how odd it is."""
    if method.stated is None:
        told = f"{method.counted} told, none promised"
    else:
        told = f"{method.promised} of {method.refused} promised"
    return told if method.unusual is None else f"{told}; unusual loans {percent(method.unusual)}"


def _dumbbell(axes: Axes, y: int, method: MethodRun, kind: str, color: str, theme: Theme) -> None:
    told = method.told[kind]
    before, after = told.mean_unchanged, told.mean_kept
    assert before.mean is not None and after.mean is not None  # judged, so there are shares
    axes.plot((before.mean, after.mean), (y, y), color=color, linewidth=2, alpha=0.45, zorder=2)
    for share, std, filled in ((before.mean, before.std, False), (after.mean, after.std, True)):
        axes.errorbar(
            share,
            y,
            xerr=std or 0.0,
            marker="o",
            markersize=8,
            color=color,
            markerfacecolor=color if filled else theme.surface,
            markeredgewidth=1.6,
            elinewidth=1.2,
            capsize=3,
            zorder=4 if filled else 3,
        )
    words = f"{percent(before.mean)} → {percent(after.mean)}"
    axes.text(
        (before.mean + after.mean) / 2,
        y - 0.27,
        words,
        color=theme.ink,
        fontsize=8.5,
        ha="center",
        va="center",
    )
