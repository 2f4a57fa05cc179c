"""The picture of one applicant before and after the advice."""

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from rocourse.experiments._demo_result import Change, DemoResult, SampleRecourse
from rocourse.experiments._theme import LIGHT, Theme
from rocourse.schema import Categorical, Continuous, Feature

_WIDTH = 5.6
_MARGIN = 0.25
_LINE = 0.21
_TRACK = 0.36
_GAP = 0.22
_CHARACTERS = 66
_DIRECTION_WORDS = {"up": "may only rise", "down": "may only fall"}


def draw_applicant(result: DemoResult, sample: SampleRecourse, theme: Theme = LIGHT) -> Figure:
    """One applicant's changed features, each from its old to its new value on its range.

    Distances are in inches from the top of the figure: the height follows from what there is to
    say.
    """
    blocks = [(change, _wrap(_words(change))) for change in sample.changes]
    footer = _wrap("Unchanged: " + "; ".join(_unchanged(result, sample)) + ".", _CHARACTERS + 8)
    height = (
        _MARGIN
        + sum(_LINE * (1 + len(lines)) + _TRACK + _GAP for _, lines in blocks)
        + _LINE * 0.85 * len(footer)
        + _MARGIN
    )
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, _WIDTH), ylim=(height, 0))
    axes.axis("off")
    color = theme.method_color(result.adviser.name)
    y = _MARGIN
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
    return y + _TRACK + _GAP


def _draw_track(
    axes: Axes, y: float, feature: Feature, change: Change, color: str, theme: Theme
) -> None:
    left, right = _MARGIN + 0.08, _WIDTH - _MARGIN - 0.08

    def place(share: float) -> float:
        return left + share * (right - left)

    axes.plot(
        (left, right), (y, y), color=theme.grid, linewidth=5, solid_capstyle="round", zorder=1
    )
    if isinstance(feature, Continuous):
        for x, value, align in ((left, feature.low, "left"), (right, feature.high, "right")):
            words = value_words(feature, value)
            shift = -0.08 if align == "left" else 0.08
            axes.text(
                x + shift, y + 0.2, words, color=theme.muted, fontsize=8.5, ha=align, va="center"
            )
    else:
        stops = len(feature.categories)
        axes.plot(
            [place(stop / (stops - 1)) for stop in range(stops)],
            [y] * stops,
            marker="o",
            markersize=4,
            color=theme.muted,
            linestyle="none",
            zorder=2,
        )
    before, after = (place(_share(feature, value)) for value in (change.before, change.after))
    axes.add_patch(
        FancyArrowPatch(
            (before, y),
            (after, y),
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
        before,
        y,
        marker="o",
        markersize=9,
        color=theme.surface,
        markeredgecolor=theme.ink,
        markeredgewidth=1.6,
        zorder=4,
    )
    axes.plot(after, y, marker="o", markersize=9.5, color=color, zorder=5)


def _share(feature: Feature, value: Any) -> float:
    """Where a value lies on its track, from 0 to 1; values beyond the range lie at its end."""
    if isinstance(feature, Categorical):
        return feature.categories.index(value) / (len(feature.categories) - 1)
    return min(1.0, max(0.0, (value - feature.low) / feature.span))


def _words(change: Change) -> str:
    return change.text.removeprefix(f"{change.feature}: ")


def _unchanged(result: DemoResult, sample: SampleRecourse) -> list[str]:
    changed = {change.feature for change in sample.changes}
    return [
        f"{feature.name} {value_words(feature, sample.values[feature.name])}"
        + (" (fixed)" if feature.immutable else "")
        for feature in result.schema.features
        if feature.name not in changed
    ]


def _wrap(text: str, width: int = _CHARACTERS) -> list[str]:
    return textwrap.wrap(text, width)
