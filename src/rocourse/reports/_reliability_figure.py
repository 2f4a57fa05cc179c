"""A reliability figure: how often people had the class, by the probability that they were given."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from rocourse.evaluation import ReliabilityBin, calibration_error
from rocourse.reports._axes import dress, new_figure
from rocourse.reports._parts import shown
from rocourse.reports._theme import LIGHT, Theme


def reliability_figure(
    bins: Sequence[ReliabilityBin], *, title: str, theme: Theme = LIGHT
) -> Figure:
    """Observed shares over mean probabilities, with the line where both are equal.

    Args:
        bins: As `rocourse.evaluation.reliability` gives them.
        title: What the probabilities are of.
        theme: The colours.
    """
    figure, (axes,) = new_figure(1, 1)
    axes.plot([0, 1], [0, 1], color=theme.muted, linewidth=1, linestyle="--", zorder=2)
    total = sum(one.rows for one in bins)
    x, y = ([getattr(one, name) for one in bins] for name in ("predicted", "observed"))
    axes.plot(x, y, color=theme.shades[0], linewidth=1.8, zorder=3)
    # As large as its share of the rows.
    sizes = [20 + 300 * one.rows / total for one in bins]
    axes.scatter(x, y, s=sizes, color=theme.shades[0], alpha=0.85, linewidth=0, zorder=4)
    error = shown(calibration_error(bins))
    label = f"probability of the model ({total} rows, calibration error {error})"
    dress(axes, theme, title=title, xlabel=label, ylabel="observed share", share=True)
    axes.set_xlim(-0.03, 1.03)
    return figure
