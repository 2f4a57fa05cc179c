"""Which attacks on trained models the figures ask for, and what of their results they show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocourse.evaluation import Aggregate
from rocourse.experiments.reproduction._jobs import Cell, Job
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._scales import L2_EPSILON, Scale
from rocourse.reports import ATTACK_MEASURES, Attacked, Part, Sweep, attack_parts

Jobs = Callable[[Scale], list[Job]]
Render = Callable[[Scale, Results], list[Part]]


@dataclass(frozen=True)
class Attacker:
    """One way to attack.

    Attributes:
        title: What tells it apart in the legend.
        options: Of `Attack`.
        dashes: The style of its lines.
    """

    title: str
    options: Mapping[str, Any]
    dashes: str = "-"


# Algorithm 1 to the letter, with the paper's η for loan, hardly moves the weights; Adam, which the
# authors' code runs, does.
ATTACKERS = (
    Attacker("Adam, η = 0.003", {"optimizer": "adam", "learning_rate": 0.003}),
    Attacker("SGD, η = 0.03", {"optimizer": "sgd", "learning_rate": 0.03}, dashes=":"),
)
L2_ATTACKERS = (Attacker("Adam, η = 0.003, ℓ2 ball", {**ATTACKERS[0].options, "norm": "l2"}),)


@dataclass(frozen=True)
class AttackPanel:
    """Attackers whose one option is varied.

    Attributes:
        title: What the panel shows.
        symbol: What is varied.
        option: Its name.
        values: Its values, given the scale.
        fixed: The other options.
    """

    title: str
    symbol: str
    option: str
    values: Callable[[Scale], Sequence[float]]
    fixed: Mapping[str, Any]


PANELS = (
    AttackPanel(
        "By the attacker's steps, E = 0.1",
        "T",
        "steps",
        lambda scale: scale.attack_steps,
        {"epsilon": 0.1},
    ),
    AttackPanel(
        "By the largest shift, T = 15",
        "E",
        "epsilon",
        lambda scale: scale.epsilons,
        {"steps": 15},
    ),
)
L2_PANELS = (
    AttackPanel(
        f"By the steps of an ℓ2 attacker, E = {L2_EPSILON:g}",
        "T",
        "steps",
        lambda scale: scale.attack_steps,
        {"epsilon": L2_EPSILON},
    ),
)


def attack_jobs(attackers: Sequence[Attacker], panels: Sequence[AttackPanel]) -> Jobs:
    """The attacks on all models of CounterNet and RoCourseNet."""
    return lambda scale: [
        job
        for cell in _attacked(scale)
        for attacker in attackers
        for panel in panels
        for value in panel.values(scale)
        for run in _attacks(scale, cell, attacker, panel, value)
        for job in run
    ]


def show_attacks(
    name: str,
    title: str,
    attackers: Sequence[Attacker],
    panels: Sequence[AttackPanel],
    *,
    beside_paper: bool,
) -> Render:
    """How much of the advice survives."""

    def render(scale: Scale, results: Results) -> list[Part]:
        sweeps = [
            Sweep(
                panel.title,
                panel.symbol,
                panel.values(scale),
                [
                    Attacked(
                        cell.method,
                        attacker.title,
                        [
                            _measure(_attacks(scale, cell, attacker, panel, value), results)
                            for value in panel.values(scale)
                        ],
                        attacker.dashes,
                    )
                    for cell in _attacked(scale)
                    for attacker in attackers
                ],
                steps=panel.option == "steps",
            )
            for panel in panels
        ]
        return attack_parts(name, title, sweeps, beside_paper=beside_paper)

    return render


def _attacked(scale: Scale) -> list[Cell]:
    return [scale.trained.cell(method) for method in ("counternet", "rocoursenet")]


def _attacks(
    scale: Scale, cell: Cell, attacker: Attacker, panel: AttackPanel, value: float
) -> list[list[Job]]:
    """The attacks on the models of one cell, by seed."""
    options = {**panel.fixed, **attacker.options, panel.option: value}
    return [
        [cell.attack(subset, seed, options, scale.attacked_rows) for subset in cell.source.subsets]
        for seed in cell.seeds
    ]


def _measure(runs: Sequence[Sequence[Job]], results: Results) -> dict[str, Aggregate]:
    """Measures of attacks over seeds, of means over subsets; seeds with gaps are left out."""
    whole = [run for run in runs if all(job in results for job in run)]
    return {
        name: Aggregate.of(Aggregate.of(results[job][name] for job in run).mean for run in whole)
        for name in ATTACK_MEASURES
    }
