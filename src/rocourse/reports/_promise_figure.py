"""Stated against kept, as a picture."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from rocourse.reports._axes import add_legend, dress, new_figure
from rocourse.reports._names import data_title
from rocourse.reports._promise_reading import PROTOCOLS, PromiseLine, by_kind, over_promises
from rocourse.reports._theme import Theme

# What may be missing of the share that is stated.
_ALLOWANCES = (0.02, 0.05)
# Apart, so that the points of one share do not hide each other.
_STEP = 0.003
_LOWEST = 0.7


def draw_promises(lines: Sequence[PromiseLine], levels: Sequence[float], theme: Theme) -> Figure:
    """A panel a protocol, a colour a data set."""
    figure, panels = new_figure(1, len(PROTOCOLS))
    colors = dict(zip(dict.fromkeys(line.dataset for line in lines), theme.shades, strict=False))
    ends = [min(levels) - 0.03, 1.0]
    lowest = _LOWEST
    for axes, (protocol, title) in zip(panels, PROTOCOLS.items(), strict=True):
        axes.plot(ends, ends, linestyle=":", color=theme.muted, linewidth=1.2)
        for missing in _ALLOWANCES:
            below = [end - missing for end in ends]
            axes.plot(
                ends, below, linestyle=(0, (4, 4)), color=theme.muted, alpha=0.5, linewidth=1.0
            )
        shown = [line for line in lines if line.title == protocol]
        for place, line in enumerate(shown):
            points = [
                (level + (place - (len(shown) - 1) / 2) * _STEP, kept.mean, kept.std or 0.0)
                for level in levels
                if (kept := over_promises(line, f"{level:g}", by_kind("own"))).mean is not None
            ]
            if not points:
                continue
            x, y, errors = zip(*points, strict=True)
            lowest = min(lowest, *(low - error for low, error in zip(y, errors, strict=True)))
            axes.errorbar(
                x,
                y,
                # A share is at most one.
                yerr=[errors, [min(e, 1.0 - v) for v, e in zip(y, errors, strict=True)]],
                color=colors[line.dataset],
                linewidth=1.4,
                elinewidth=1.0,
                marker="o",
                markersize=5,
                markeredgecolor=theme.surface,
                markeredgewidth=0.8,
                label=data_title(line.dataset),
                zorder=3,
            )
        dress(axes, theme, title=title, xlabel="stated", ticks=levels)
    for axes in panels:
        axes.set_ylim(max(0.0, lowest - 0.03), 1.02)
    panels[0].set_ylabel("kept", color=theme.muted)
    add_legend(figure, panels, theme)
    return figure
