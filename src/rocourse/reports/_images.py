"""Figures as files."""

import io

import matplotlib as mpl
from matplotlib.figure import Figure

from rocourse.reports._theme import LIGHT

_PNG_DPI = 160


def to_png(figure: Figure, *, source: str | None = None) -> bytes:
    """The figure as a PNG, on its own ground and with a margin.

    Args:
        figure: What to draw.
        source: What it was made from, for the file's own text `Source`.
    """
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format="png",
        dpi=_PNG_DPI,
        facecolor=LIGHT.surface,
        bbox_inches="tight",
        pad_inches=0.15,
        metadata=None if source is None else {"Source": source},
    )
    return buffer.getvalue()


def to_svg(figure: Figure) -> bytes:
    """The figure as an SVG on a transparent ground; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    # Text as outlines: it looks the same where the fonts are other ones.
    with mpl.rc_context({"svg.hashsalt": "rocourse", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()
