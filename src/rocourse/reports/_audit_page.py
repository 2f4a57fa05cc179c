"""An audit as a picture and as a page, made from its reports alone."""

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from rocourse.evaluation import FEW, AuditCounts, AuditReport, difference_from_others
from rocourse.reports._axes import clear_frame
from rocourse.reports._templates import template_environment
from rocourse.reports._theme import LIGHT, SERIES, page_colors

_TEMPLATE = "audit.html.j2"
_ABSENT = "–"

# The series of a page differ in their markers too.
_SERIES = LIGHT.shades[:SERIES]
_MARKERS = ("s", "^", "D", "v", "P")

# The listing of a page that is not unfolded by the reader.
_SHOWN_AT_ONCE = 10


@dataclass(frozen=True)
class _Series:
    """A line of the picture: shares, by their place on the horizontal axis."""

    label: str
    tallies: Mapping[int, AuditCounts]
    color: str
    marker: str
    width: float = 1.4


def draw_audits(
    audits: Mapping[str, Sequence[AuditReport]], *, required: float | None = None
) -> Figure:
    """The shares honoured in several audits, a line for each, over the models that were audited.

    Args:
        audits: Reports by a label, such as the method that issued the promises; those that stand
            above each other have the same `name`, such as a year.
        required: A share to mark by a line.
    """
    names = list(dict.fromkeys(report.name for found in audits.values() for report in found))
    series = [
        _Series(
            label,
            {names.index(report.name): report.total for report in reports},
            _SERIES[k % len(_SERIES)],
            _MARKERS[k % len(_MARKERS)],
            1.8,
        )
        for k, (label, reports) in enumerate(audits.items())
    ]
    return _draw(series, names, required)


def render_audit(
    reports: Sequence[AuditReport], *, ledger: str, required: float | None = None
) -> str:
    """The reports of one or more models as a self-contained HTML page.

    Args:
        reports: In the order of the page.
        ledger: What to call the ledger; no password, for it is shown.
        required: The share that each model has to honour.
    """
    environment = template_environment()
    environment.filters.update(percent=_percent, interval=_interval)
    environment.globals["telling_percent"] = _telling_percent
    known = {report.model: report.name for report in reports}
    environment.filters["issuer"] = lambda digest: known.get(digest) or _short(digest)
    promised = any(report.total.promises for report in reports)
    return environment.get_template(_TEMPLATE).render(
        reports=reports,
        ledger=ledger,
        required=required,
        colors=page_colors(),
        picture=_as_inline_svg(_picture(reports, known, required)) if promised else None,
        picture_words=_words(reports),
        drawn=len(_SERIES),
        shown_at_once=_SHOWN_AT_ONCE,
        absent=_ABSENT,
        few=FEW,
        difference_from_others=difference_from_others,
    )


def _picture(
    reports: Sequence[AuditReport], known: Mapping[str, str], required: float | None
) -> Figure:
    issued: dict[str, int] = {}
    for report in reports:
        for issuer, tally in report.by_issuer.items():
            issued[issuer] = max(issued.get(issuer, 0), tally.promises)
    # Of one issuer, its line would be that of all promises.
    largest = sorted(issued, key=lambda issuer: -issued[issuer])[: len(_SERIES)]
    series = [
        _Series(
            f"issued by {known.get(issuer) or _short(issuer)}",
            {
                place: report.by_issuer[issuer]
                for place, report in enumerate(reports)
                if issuer in report.by_issuer
            },
            _SERIES[k],
            _MARKERS[k],
        )
        for k, issuer in enumerate(largest if len(issued) > 1 else ())
    ]
    everything = {place: report.total for place, report in enumerate(reports)}
    series.append(_Series("all promises", everything, LIGHT.ink, "o", 2.2))
    return _draw(series, [report.name for report in reports], required)


def _draw(series: Sequence[_Series], names: Sequence[str], required: float | None) -> Figure:
    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    axes = figure.add_subplot()
    lowest = 1.0 if required is None else required
    for k, line in enumerate(series):
        # Side by side, so that the bars of one do not hide those of another.
        shift = 0.09 * (k - (len(series) - 1) / 2)
        lowest = min(lowest, _draw_series(axes, line, shift))
    if required is not None:
        axes.axhline(required, color=LIGHT.no[0], linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(-0.5, max(len(names), 1) - 0.5)
    room = max(0.06 * (1 - lowest), 0.004)
    axes.set_ylim(max(lowest - room, -0.02), 1 + room)
    labels = [_axis_label(name) for name in names]
    axes.set_xticks(range(len(names)), labels)
    if sum(map(len, labels)) > 60:
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("share honoured", color=LIGHT.muted, fontsize=10)
    clear_frame(axes, LIGHT, label_color=LIGHT.ink, label_size=10)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=min(len(series), 2),
        frameon=False,
        fontsize=10,
        labelcolor=LIGHT.ink,
    )
    return figure


def _draw_series(axes: Axes, line: _Series, shift: float) -> float:
    """Draws one line, and returns how far down it reaches."""
    # Where there were no promises, there is neither share nor interval.
    points = [
        (place + shift, tally.share, tally.interval)
        for place, tally in sorted(line.tallies.items())
        if tally.share is not None and tally.interval is not None
    ]
    axes.errorbar(
        [place for place, _, _ in points],
        [share for _, share, _ in points],
        # Rounding may put the share of all promises a little outside of its interval.
        yerr=[
            [max(share - low, 0.0) for _, share, (low, _) in points],
            [max(high - share, 0.0) for _, share, (_, high) in points],
        ],
        color=line.color,
        marker=line.marker,
        markersize=6,
        linewidth=line.width,
        elinewidth=1.2,
        capsize=3,
        label=_plain(line.label),
        zorder=3,
    )
    return min((low for _, _, (low, _) in points), default=1.0)


def _as_inline_svg(figure: Figure) -> str:
    """The picture as a part of the page, in the page's own colours, light or dark."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    # Text as outlines: it looks the same where the fonts are other ones.
    with mpl.rc_context({"svg.hashsalt": "rocourse", "svg.fonttype": "path"}), _any_script():
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    # Inside of a page, comments and the names of dialects say nothing, and the width is the page's.
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' (xmlns(:xlink)?|version|width|height)="[^"]*"', "", text, count=5)
    text = text.replace("xlink:href", "href")
    for name, (light, _) in page_colors().items():
        text = text.replace(f": {light}", f": var(--{name})")
    return text


@contextmanager
def _any_script() -> Iterator[None]:
    """Lets names be in a script that the font has not: they stand in the tables too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        yield


def _words(reports: Sequence[AuditReport]) -> str:
    shares = [f"{report.name} {_percent(report.total.share)}" for report in reports]
    return f"Share of all promises honoured: {'; '.join(shares)}."


def _axis_label(name: str) -> str:
    """The end of a name, which in a path is what tells models apart."""
    return _plain(name if len(name) <= 18 else f"…{name[-17:]}")


def _plain(text: str) -> str:
    """Text in which Matplotlib sees neither formulas nor labels to leave out."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _short(digest: str) -> str:
    return digest if len(digest) <= 16 else f"{digest[:12]}…"


def _percent(share: float | None) -> str:
    return _ABSENT if share is None else f"{share:.1%}"


def _telling_percent(share: float | None, required: float | None) -> str:
    """A share with as many decimals as it takes not to look enough where it is not."""
    if share is None or required is None or share >= required:
        return _percent(share)
    texts = ((f"{share:.{n}%}", f"{required:.{n}%}") for n in range(1, 12))
    return next((text for text, wanted in texts if text != wanted), _percent(share))


def _interval(tally: AuditCounts) -> str:
    interval = tally.interval
    return _ABSENT if interval is None else f"{interval[0]:.1%} to {interval[1]:.1%}"
