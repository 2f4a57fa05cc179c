"""Figures as files."""

import io
import re
from urllib.parse import quote

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from rocourse.reports._theme import LIGHT

_PNG_DPI = 160
# What may stand in an address within quotes, and in HTML, as it is.
_PLAIN = " '=:/,;.-_()!*?>+"
# An outline to the hundredth of a point: what is finer is not seen.
_OUTLINE, _FINER = re.compile(r" d='[^']*'"), re.compile(r"(\.\d\d)\d+")


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


def inlined(figure: Figure) -> Markup:
    """The figure as an address for a page's own picture: an SVG as text, shorter than base64."""
    text = re.sub(r"<!--.*?-->", "", to_svg(figure).decode(), flags=re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r">\s+<", "><", text)).replace('"', "'")
    text = _OUTLINE.sub(lambda outline: _FINER.sub(r"\1", outline[0]), text)
    # Nothing is left in it that a template would have to escape.
    return Markup(f"data:image/svg+xml,{quote(text, safe=_PLAIN)}")
