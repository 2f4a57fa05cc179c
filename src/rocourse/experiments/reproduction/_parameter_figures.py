"""Figures of one parameter of robust training: what it does to robust validity and proximity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from rocourse.experiments._theme import Theme
from rocourse.experiments.reproduction._axes import Line, add_legend, draw_line, dress, new_figure
from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._parts import Part, Picture
from rocourse.experiments.reproduction._recourse_tables import figure_table
from rocourse.experiments.reproduction._results import Results, collect, measure
from rocourse.experiments.reproduction._scales import L2_EPSILON, Scale

_METHOD = "rocoursenet"

_PANELS = (("robust_validity", "Robust validity", True), ("proximity", "Proximity", False))


@dataclass(frozen=True)
class Series:
    """RoCourseNet with one parameter varied.

    Attributes:
        title: What the legend calls it.
        parameter: What is varied.
        values: Its values, given the scale.
        fixed: What else differs from the paper's parameters.
        dashes: The line's style.
        shade: Its colour, where there are several lines.
    """

    title: str
    parameter: str
    values: Callable[[Scale], Sequence[float]]
    fixed: Mapping[str, Any]
    dashes: str = "-"
    shade: int | None = None

    def cells(self, scale: Scale) -> list[Cell]:
        """One cell a value."""
        return [
            scale.parameters.cell(_METHOD, self.title, **{self.parameter: value}, **self.fixed)
            for value in self.values(scale)
        ]


STEPS = Series("RoCourseNet", "attack_steps", lambda scale: scale.steps, {})
EPSILONS = Series("RoCourseNet", "epsilon", lambda scale: scale.epsilons, {})
LINF_STEPS = Series("ℓ∞ ball, E = 0.1", "attack_steps", lambda scale: scale.steps, {}, shade=0)
L2_STEPS = Series(
    f"ℓ2 ball, E = {L2_EPSILON:g}",
    "attack_steps",
    lambda scale: scale.steps,
    {"norm": "l2", "epsilon": L2_EPSILON},
    dashes="--",
    shade=1,
)
LINEAR = Series("linear: ε grows to E", "epsilon", lambda scale: scale.epsilons, {}, shade=0)
CONSTANT = Series(
    "constant: ε is E throughout",
    "epsilon",
    lambda scale: scale.epsilons,
    {"epsilon_schedule": "constant"},
    dashes="--",
    shade=1,
)


def series_jobs(*series: Series) -> Callable[[Scale], list[Job]]:
    """The judgements of all cells."""
    return lambda scale: seed_by_seed([cell for one in series for cell in one.cells(scale)])


def series_parts(
    name: str, title: str, symbol: str, *series: Series
) -> Callable[[Scale, Results], list[Part]]:
    """Two panels, robust validity and proximity, and the numbers behind them.

    Args:
        name: What the picture's files are called.
        title: What it shows.
        symbol: What was varied.
        *series: The lines.
    """

    def render(scale: Scale, results: Results) -> list[Part]:
        picture = Picture(
            name,
            title,
            partial(_draw, scale, results, series, symbol),
            description=f"{title}: robust validity and proximity by {symbol}.",
            note="Judged by the models of the other years. Bands: standard deviation over seeds.",
        )
        lines = [
            (f"{value:g}", cell)
            for one in series
            for value, cell in zip(one.values(scale), one.cells(scale), strict=True)
        ]
        note = _mean_gain(scale, results, series)
        return [picture, figure_table("The numbers", symbol, lines, results, note)]

    return render


def _draw(
    scale: Scale, results: Results, series: Sequence[Series], symbol: str, theme: Theme
) -> Figure:
    figure, panels = new_figure(1, len(_PANELS))
    for axes, (metric, title, share) in zip(panels, _PANELS, strict=True):
        for one in series:
            found = [measure(collect(cell, results), metric)[0] for cell in one.cells(scale)]
            line = Line(
                one.title,
                _METHOD,
                one.values(scale),
                [aggregate.mean for aggregate in found],
                [aggregate.std for aggregate in found],
                one.dashes,
                one.shade,
            )
            draw_line(axes, line, theme)
        ticks = sorted({value for one in series for value in one.values(scale)})
        ratios = all(one.parameter == "epsilon" for one in series)
        dress(axes, theme, title=title, xlabel=symbol, share=share, ticks=ticks, ratios=ratios)
    if len(series) > 1:
        add_legend(figure, panels, theme)
    return figure


def _mean_gain(scale: Scale, results: Results, series: Sequence[Series]) -> str:
    """How much the first of two lines is above the second, in one sentence."""
    if len(series) != 2:
        return ""
    gains = []
    for first, second in zip(*(one.cells(scale) for one in series), strict=True):
        ours, theirs = (
            measure(collect(cell, results), "robust_validity")[0].mean for cell in (first, second)
        )
        if ours is not None and theirs is not None:
            gains.append(ours - theirs)
    if not gains:
        return ""
    points = f"{100 * sum(gains) / len(gains):+.2f}".replace("-", "−")
    first, second = (one.title.split(":")[0] for one in series)
    return f"Robust validity, {first} less {second}, mean over the values: {points} points."
