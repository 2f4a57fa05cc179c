"""A value before and after, on the range of its feature."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from rocourse.reports._theme import Theme


def draw_track(
    axes: Axes,
    across: tuple[float, float],
    y: float,
    before: float | None,
    after: float,
    color: str,
    theme: Theme,
    *,
    ends: tuple[str, str] | None = None,
    stops: int = 0,
    band: tuple[float, float] | None = None,
) -> None:
    """A track with an arrow from the old value, a ring, to the new one, a dot.

    Args:
        axes: What to draw on; distances are in its units.
        across: Where the track begins and ends.
        y: Its height.
        before: Where the old value lies, from 0 to 1; None where it is missing.
        after: Where the new one lies.
        color: Of the new value.
        theme: The other colours.
        ends: What to write below its ends.
        stops: How many categories to mark.
        band: From where to where others lie, as a darker part.
    """
    left, right = across

    def place(share: float) -> float:
        return left + share * (right - left)

    axes.plot(across, (y, y), color=theme.grid, linewidth=5, solid_capstyle="round", zorder=1)
    if band is not None:
        where = [place(share) for share in band]
        axes.plot(where, (y, y), color=theme.muted, linewidth=11, alpha=0.35, zorder=1.5)
    if ends is not None:
        for x, words, align, shift in zip(
            across, ends, ("left", "right"), (-0.08, 0.08), strict=True
        ):
            axes.text(
                x + shift, y + 0.2, words, color=theme.muted, fontsize=8.5, ha=align, va="center"
            )
    if stops > 1:
        axes.plot(
            [place(stop / (stops - 1)) for stop in range(stops)],
            [y] * stops,
            marker="o",
            markersize=4,
            color=theme.muted,
            linestyle="none",
            zorder=2,
        )
    if before is not None:
        axes.add_patch(
            FancyArrowPatch(
                (place(before), y),
                (place(after), y),
                arrowstyle="-|>",
                mutation_scale=11,
                shrinkA=4,
                shrinkB=4.5,
                color=color,
                linewidth=2,
                zorder=3,
            )
        )
        axes.plot(
            place(before),
            y,
            marker="o",
            markersize=9,
            color=theme.surface,
            markeredgecolor=theme.ink,
            markeredgewidth=1.6,
            zorder=4,
        )
    axes.plot(place(after), y, marker="o", markersize=9.5, color=color, zorder=5)
