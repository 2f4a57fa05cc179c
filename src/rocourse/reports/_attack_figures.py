"""Figures of the attacker: how much of the advice survives it, by its steps T and its radius E."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

from rocourse.evaluation import Aggregate
from rocourse.reports._axes import Line, add_legend, draw_line, dress, new_figure
from rocourse.reports._names import METHOD_TITLES
from rocourse.reports._paper import PAPER_ATTACKED_VALIDITY
from rocourse.reports._parts import Part, Picture, Table, grouped, shown
from rocourse.reports._theme import Theme

ATTACK_MEASURES = ("validity", "robust_validity", "attacked_accuracy")
"""What is measured of an attack."""


@dataclass(frozen=True)
class Attacked:
    """A method under attackers whose one option is varied.

    Attributes:
        method: Who is attacked.
        attacker: What tells the attacker apart in the legend.
        found: For each value of what is varied, each of `ATTACK_MEASURES`.
        dashes: The style of the line.
    """

    method: str
    attacker: str
    found: Sequence[Mapping[str, Aggregate]]
    dashes: str = "-"


@dataclass(frozen=True)
class Sweep:
    """A panel.

    Attributes:
        title: What it shows.
        symbol: What is varied.
        values: Its values.
        lines: Methods, each under all attackers.
        steps: Whether the attacker's steps are varied, and not how far it goes.
    """

    title: str
    symbol: str
    values: Sequence[float]
    lines: Sequence[Attacked]
    steps: bool


def attack_parts(
    name: str, title: str, sweeps: Sequence[Sweep], *, beside_paper: bool
) -> list[Part]:
    """A panel a sweep, and the numbers behind them.

    Args:
        name: What the picture's files are called.
        title: What it shows.
        sweeps: The panels.
        beside_paper: Whether the paper has figures of such attackers.
    """
    table = _table(sweeps, beside_paper)
    if not table.rows:
        return []
    picture = Picture(
        name,
        title,
        partial(_draw, sweeps, beside_paper),
        description=f"{title}: one line a method and attacker.",
        note=(
            "The share of recourses that the model still honours after the attack, on its own "
            "test rows, batch by batch as in training."
        ),
    )
    return [picture, table]


def _draw(sweeps: Sequence[Sweep], beside_paper: bool, theme: Theme) -> Figure:
    figure, panels = new_figure(1, len(sweeps))
    for axes, sweep in zip(panels, sweeps, strict=True):
        alone = len({line.attacker for line in sweep.lines}) == 1
        for attacked in sweep.lines:
            title = METHOD_TITLES[attacked.method]
            shares = [point["robust_validity"] for point in attacked.found]
            line = Line(
                title if alone else f"{title}, {attacked.attacker}",
                attacked.method,
                sweep.values,
                [share.mean for share in shares],
                [share.std for share in shares],
                attacked.dashes,
            )
            draw_line(axes, line, theme)
        steps, _, share = PAPER_ATTACKED_VALIDITY
        if sweep.steps and beside_paper:
            axes.plot(
                steps,
                share,
                marker="x",
                markersize=8,
                markeredgewidth=2,
                linestyle="none",
                color=theme.method_color("counternet"),
                label="CounterNet in the paper",
            )
        dress(
            axes,
            theme,
            title=sweep.title,
            xlabel=sweep.symbol,
            ylabel="recourses that survive",
            share=True,
            ticks=sweep.values,
            ratios=not sweep.steps,
        )
    add_legend(figure, panels, theme)
    return figure


def _table(sweeps: Sequence[Sweep], beside_paper: bool) -> Table:
    rows = []
    for sweep in sweeps:
        for attacker in dict.fromkeys(line.attacker for line in sweep.lines):
            lines = [line for line in sweep.lines if line.attacker == attacker]
            for place, value in enumerate(sweep.values):
                figures = [
                    line.found[place][name].mean for line in lines for name in ATTACK_MEASURES
                ]
                if any(figure is not None for figure in figures):
                    rows.append((f"{sweep.symbol} = {value:g}", attacker, *map(shown, figures)))
    methods = dict.fromkeys(line.method for line in sweeps[0].lines)
    columns = grouped(
        ("", ("varied", "attacker")),
        *(
            (METHOD_TITLES[method], ("validity", "robust validity", "accuracy after"))
            for method in methods
        ),
    )
    steps, epsilon, share = PAPER_ATTACKED_VALIDITY
    note = (
        f"The paper: at T = {steps}, E = {epsilon:g} the robust validity of CounterNet falls to "
        f"{share:.3f} from a validity of 0.998, and RoCourseNet is about 28% above it; at E = 0.5 "
        "about 10%."
    )
    return Table("Under attack", columns, tuple(rows), note if beside_paper else "")
