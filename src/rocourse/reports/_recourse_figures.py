"""Pictures of recourses: of one applicant, and of what a group is told."""

import textwrap
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from rocourse._wording import show
from rocourse.errors import DataError
from rocourse.reports._axes import clear_frame
from rocourse.reports._theme import LIGHT
from rocourse.reports._tracks import draw_track
from rocourse.schema import Categorical, Continuous, Recourse, Rows, describe_value

_WIDTH, _MARGIN, _LINE, _TRACK, _GAP = 5.2, 0.16, 0.22, 0.36, 0.2
_LETTERS = 62
# Between these shares of those who are accepted lie the middle eight of ten.
_MIDDLE = (0.1, 0.9)
_NOTHING = {
    "not_needed": "needs no change",
    "not_found": "no recourse was found",
}


def plot_recourse(recourse: Recourse, i: int = 0, *, accepted: Any = None) -> Figure:
    """What an applicant is told: each change from the old value to the new one on its range.

    Args:
        recourse: The recourses.
        i: Which of them, by position.
        accepted: Rows of people who were accepted, as a table: the middle eight in ten of them are
            shown as a darker part of each range.
    """
    if not -len(recourse) <= i < len(recourse):
        raise DataError(
            f"The position of a recourse must be below {len(recourse)}, but got {show(i)}; choose "
            "another."
        )
    one, schema = recourse[[i]], recourse.schema
    bands = {} if accepted is None else _bands(schema.encode(accepted), schema.features)
    texts = {text.partition(": ")[0]: text for text in one.describe(0)}
    parts = [
        (feature, _places(one, feature.name, k))
        for feature, k in _numbered(schema.features)
        if feature.name in texts
    ]
    blocks = [
        (feature, places, textwrap.wrap(texts[feature.name].partition(": ")[2], _LETTERS))
        for feature, places in parts
    ]
    head = _headline(one)
    if blocks and bands:
        head[-1] += "   ▬ eight in ten of those who were accepted"
    height = 2 * _MARGIN + _LINE * (1 + len(head)) + _GAP
    for feature, _, lines in blocks:
        height += _LINE * (1 + len(lines)) + _track_height(feature) + _GAP
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, _WIDTH), ylim=(height, 0))
    axes.axis("off")
    theme, y = LIGHT, _MARGIN
    name = f"Applicant {recourse.original.index[i]}"
    axes.text(_MARGIN, y, name, color=theme.ink, fontsize=13, fontweight="bold", va="center")
    for line in head:
        y += _LINE
        axes.text(_MARGIN, y, line, color=theme.muted, fontsize=9.5, va="center")
    y += _LINE + _GAP
    for feature, (before, after), lines in blocks:
        axes.text(_MARGIN, y, feature.name, color=theme.ink, fontsize=11.5, fontweight="bold")
        for line in lines:
            y += _LINE
            axes.text(_MARGIN, y, line, color=theme.ink, fontsize=10)
        ends = None
        if isinstance(feature, Continuous):
            ends = describe_value(feature, feature.low), describe_value(feature, feature.high)
        stops = len(feature.categories) if isinstance(feature, Categorical) else 0
        draw_track(
            axes,
            (_MARGIN + 0.08, _WIDTH - _MARGIN - 0.08),
            y + 0.6 * _LINE,
            before,
            after,
            theme.shades[0],
            theme,
            ends=ends,
            stops=stops,
            band=bands.get(feature.name),
        )
        y += _LINE + _track_height(feature) + _GAP
    return figure


def plot_changes(recourse: Recourse, *, most: int = 12) -> Figure:
    """What a group is told: how many of those who are advised are to change what, and how.

    Args:
        recourse: The recourses.
        most: How many features to show at most, the most frequent first.
    """
    advised = int(recourse.advised.sum())
    changes = recourse.changes()
    counts = Counter(changes["feature"].tolist()).most_common(most)
    figure = Figure(figsize=(6.4, 1.2 + 0.42 * max(len(counts), 1)), layout="constrained")
    axes = figure.add_subplot()
    names = [name for name, _ in counts][::-1]
    shares = [count / advised for _, count in counts][::-1]
    bars = axes.barh(names, shares, height=0.62, color=LIGHT.shades[0])
    words = [_typical(changes[changes["feature"] == name], recourse.schema[name]) for name in names]
    labels = [f"{share:.0%}  {text}" for share, text in zip(shares, words, strict=True)]
    axes.bar_label(bars, labels, padding=5, color=LIGHT.ink, fontsize=9.5)
    axes.set_xlim(0, 1.75 * max(shares, default=1.0))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    title = f"What {advised:,} of {len(recourse):,} people are told to change"
    axes.set_title(title, loc="left", color=LIGHT.ink, fontsize=11.5, fontweight="bold")
    axes.set_xlabel("share of those who are advised", color=LIGHT.muted, fontsize=10)
    clear_frame(axes, LIGHT, label_color=LIGHT.ink, label_size=10)
    axes.grid(False)
    axes.set_xticks([])
    return figure


def _headline(one: Recourse) -> list[str]:
    status = str(one.status[0])
    if status in _NOTHING:
        return [f"predicted {one.predicted[0]}; {_NOTHING[status]}"]
    line = f"{one.predicted[0]} → {one.desired[0]}, probability {one.probability[0]:.0%}"
    if one.robustness is not None:
        line += f"; kept by the next model with a chance of {one.robustness[0]:.0%}"
    return [line, "○ today   ● after the advice"]


def _track_height(feature: Any) -> float:
    # Only numbers have the ends of their range written below the track.
    return _TRACK if isinstance(feature, Continuous) else _TRACK / 2


def _numbered(features: Any) -> list[tuple[Any, int]]:
    """Each feature with its place among those of its kind."""
    seen: Counter[bool] = Counter()
    found = []
    for feature in features:
        kind = isinstance(feature, Categorical)
        found.append((feature, seen[kind]))
        seen[kind] += 1
    return found


def _places(one: Recourse, name: str, k: int) -> tuple[float | None, float]:
    """Where the old and the new value lie on their range, from 0 to 1."""
    feature = one.schema[name]
    if isinstance(feature, Categorical):
        last = max(len(feature.categories) - 1, 1)
        old, new = (int(rows.categories[0, k]) for rows in (one.original_rows, one.attempts))
        # A gap is a category of its own, behind the others.
        return None if old > last else old / last, min(new / last, 1.0)
    before, after = (float(rows.continuous[0, k]) for rows in (one.original_rows, one.attempts))
    missing = bool(pd.isna(one.original[name].iloc[0]))
    return None if missing else min(max(before, 0.0), 1.0), min(max(after, 0.0), 1.0)


def _bands(rows: Rows, features: Any) -> dict[str, tuple[float, float]]:
    return {
        feature.name: tuple(np.quantile(rows.continuous[:, k], _MIDDLE).clip(0, 1).tolist())
        for feature, k in _numbered(features)
        if isinstance(feature, Continuous)
    }


def _typical(changes: pd.DataFrame, feature: Any) -> str:
    """The median change, or the category that most are told."""
    if isinstance(feature, Categorical):
        value, count = Counter(changes["to"].tolist()).most_common(1)[0]
        return f"mostly to {describe_value(feature, value)} ({count / len(changes):.0%})"
    if feature.date:
        return ""
    old, new = (pd.to_numeric(changes[name], errors="coerce") for name in ("from", "to"))
    step = float((new - old).median())
    if np.isnan(step):
        return ""
    sign = "+" if step > 0 else "−"
    return f"median {sign}{abs(step):,.4g} {feature.unit}".strip()
