"""The picture of one applicant before and after the advice."""

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rocourse.reports._theme import LIGHT, Theme
from rocourse.reports._tracks import draw_track
from rocourse.reports.demo._result import Change, DemoResult, SampleRecourse
from rocourse.schema import Categorical, Continuous, Feature

_WIDTH = 4.6
_MARGIN = 0.14
_LINE = 0.21
_TRACK = 0.36
_TITLE = 0.46
_GAP = 0.22
_CHARACTERS = 54
_FOOTER = 68
_DIRECTION_WORDS = {"up": "may only rise", "down": "may only fall"}


def draw_applicant(
    result: DemoResult, sample: SampleRecourse, theme: Theme = LIGHT, *, titled: bool = False
) -> Figure:
    """One applicant's changed features, each from its old to its new value on its range.

    Distances are in inches from the top of the figure: the height follows from what there is to
    say.

    Args:
        result: The run that the sample is of, for its schema and method.
        sample: The applicant.
        theme: Colours.
        titled: Whether to say above it whose picture it is; a page says so itself.
    """
    blocks = [(change, _wrap(_words(change))) for change in sample.changes]
    footer = [line for text in _unchanged(result, sample) for line in _wrap(text, _FOOTER)]
    height = (
        _MARGIN
        + titled * _TITLE
        + sum(
            _LINE * (1 + len(lines)) + _track_height(result.schema[change.feature]) + _GAP
            for change, lines in blocks
        )
        + _LINE * 0.85 * len(footer)
    )
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, _WIDTH), ylim=(height, 0))
    axes.axis("off")
    color = theme.method_color(result.adviser.name)
    y = _MARGIN
    if titled:
        _draw_title(axes, y, sample, color, theme)
        y += _TITLE
    for change, lines in blocks:
        y = _draw_block(axes, y, result.schema[change.feature], change, lines, color, theme)
    for line in footer:
        axes.text(_MARGIN, y, line, color=theme.muted, fontsize=8.5, va="center")
        y += _LINE * 0.85
    return figure


def value_words(feature: Feature, value: Any) -> str:
    """A value in words, with its unit."""
    if isinstance(feature, Categorical):
        words = feature.labels or tuple(str(category) for category in feature.categories)
        return words[feature.categories.index(value)]
    return f"{value:g} {feature.unit}".strip()


def _draw_title(axes: Axes, y: float, sample: SampleRecourse, color: str, theme: Theme) -> None:
    axes.text(
        _MARGIN,
        y,
        f"Applicant {sample.applicant}",
        color=theme.ink,
        fontsize=13,
        fontweight="bold",
        va="center",
    )
    axes.text(
        _WIDTH - _MARGIN,
        y,
        "○ today   ● after the advice",
        color=color,
        fontsize=10,
        ha="right",
        va="center",
    )


def _draw_block(
    axes: Axes,
    y: float,
    feature: Feature,
    change: Change,
    lines: list[str],
    color: str,
    theme: Theme,
) -> float:
    left, right = _MARGIN, _WIDTH - _MARGIN
    axes.text(left, y, feature.name, color=theme.ink, fontsize=11.5, fontweight="bold", va="center")
    if feature.direction is not None:
        rule = _DIRECTION_WORDS[feature.direction]
        axes.text(right, y, rule, color=theme.muted, fontsize=8.5, ha="right", va="center")
    y += _LINE
    for line in lines:
        axes.text(left, y, line, color=theme.ink, fontsize=10, va="center")
        y += _LINE
    _draw_track(axes, y, feature, change, color, theme)
    return y + _track_height(feature) + _GAP


def _track_height(feature: Feature) -> float:
    # Only numbers have the ends of their range written below the track.
    return _TRACK if isinstance(feature, Continuous) else _TRACK / 2


def _draw_track(
    axes: Axes, y: float, feature: Feature, change: Change, color: str, theme: Theme
) -> None:
    left, right = _MARGIN + 0.08, _WIDTH - _MARGIN - 0.08
    ends, stops = None, 0
    if isinstance(feature, Continuous):
        ends = value_words(feature, feature.low), value_words(feature, feature.high)
    else:
        stops = len(feature.categories)
    before, after = (_share(feature, value) for value in (change.before, change.after))
    draw_track(axes, (left, right), y, before, after, color, theme, ends=ends, stops=stops)


def _share(feature: Feature, value: Any) -> float:
    """Where a value lies on its track, from 0 to 1; values beyond the range lie at its end."""
    if isinstance(feature, Categorical):
        return feature.categories.index(value) / (len(feature.categories) - 1)
    return min(1.0, max(0.0, (float(value) - feature.low) / feature.span))


def _words(change: Change) -> str:
    return change.text.removeprefix(f"{change.feature}: ")


def _unchanged(result: DemoResult, sample: SampleRecourse) -> list[str]:
    """The rest of the applicant in words: what was left alone, and what may not be changed."""
    changed = {change.feature for change in sample.changes}
    rest = [feature for feature in result.schema.features if feature.name not in changed]
    sentences = []
    for start, immutable in (("Unchanged", False), ("May not be changed", True)):
        words = [
            f"{feature.name} {value_words(feature, sample.values[feature.name])}"
            for feature in rest
            if feature.immutable is immutable
        ]
        if words:
            sentences.append(f"{start}: {'; '.join(words)}.")
    return sentences


def _wrap(text: str, width: int = _CHARACTERS) -> list[str]:
    return textwrap.wrap(text, width)
