"""Which jobs the figures ask for, and what of their results they show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._results import Results, measured
from rocourse.experiments.reproduction._scales import L2_EPSILON, Scale
from rocourse.reports import (
    METHOD_TITLES,
    Frontier,
    Part,
    Series,
    curve_parts,
    matrix_parts,
    pareto_parts,
    series_parts,
    size_parts,
)

Jobs = Callable[[Scale], list[Job]]
Render = Callable[[Scale, Results], list[Part]]

_DATASETS = ("loan", "german_credit", "student")


Points = list[tuple[str, Cell]]
"""The value of what is varied, as text, and the cell that has it."""


def _pareto_points(scale: Scale, dataset: str) -> dict[str, Points]:
    """What is varied for each method, as the paper says."""
    # Loan's own setting takes too long for many values.
    setting = scale.parameters if dataset == "loan" else scale.settings[dataset]
    attacked = scale.trained if dataset == "loan" else setting
    prices = {
        method: [
            (f"λ3 = {price:g}", where.cell(method, proposer__proximity_weight=price))
            for price in scale.prices
        ]
        for method, where in (("counternet", setting), ("rocoursenet", attacked))
    }
    roar = [
        (f"λ = {price:g}", setting.cell("roar", proposer__proximity_weights=(price,)))
        for price in scale.search_prices
    ]
    rbr = [
        (
            f"ε₁ = {op:g}, ε₂ = {pe:g}",
            setting.cell("rbr", proposer__epsilon_op=op, proposer__epsilon_pe=pe),
        )
        for op, pe in scale.ambiguities
    ]
    panel = [
        (
            f"margin quantile {quantile:g}, least gain {gain:g}",
            setting.cell(
                "rocourse-panel", proposer__margin_quantile=quantile, proposer__min_gain=gain
            ),
        )
        for quantile, gain in scale.panels
    ]
    return {"roar": roar, "rbr": rbr, **prices, "rocourse-panel": panel}


def pareto_jobs(scale: Scale) -> list[Job]:
    """The judgements of all points."""
    return seed_by_seed(
        [
            cell
            for dataset in _DATASETS
            for points in _pareto_points(scale, dataset).values()
            for _, cell in points
        ]
    )


def show_pareto(scale: Scale, results: Results) -> list[Part]:
    """One line a method."""
    return pareto_parts(
        {
            dataset: [
                Frontier(METHOD_TITLES[method], _measured_points(points, results))
                for method, points in _pareto_points(scale, dataset).items()
            ]
            for dataset in _DATASETS
        }
    )


def _measured_points(points: Points, results: Results) -> tuple[tuple[str, Any], ...]:
    return tuple((value, measured(cell, results)) for value, cell in points)


def _size_points(scale: Scale) -> dict[float, Points]:
    """RoCourseNet on shares of the training rows, its price varied."""
    return {
        fraction: [
            (
                f"λ3 = {price:g}",
                scale.trained.fraction(fraction).cell(
                    "rocoursenet", f"{fraction:.0%} of the rows", proposer__proximity_weight=price
                ),
            )
            for price in scale.prices
        ]
        for fraction in scale.fractions
    }


def size_jobs(scale: Scale) -> list[Job]:
    """The judgements of all points."""
    return seed_by_seed([cell for points in _size_points(scale).values() for _, cell in points])


def show_sizes(scale: Scale, results: Results) -> list[Part]:
    """One line a share of the training rows."""
    return size_parts(
        [
            Frontier(
                f"{fraction:.0%} of the training rows", _measured_points(points, results), shade
            )
            for shade, (fraction, points) in enumerate(_size_points(scale).items())
        ]
    )


@dataclass(frozen=True)
class Varied:
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

    def cells(self, scale: Scale) -> list[tuple[float, Cell]]:
        """One cell a value."""
        return [
            (
                value,
                scale.trained.cell(
                    "rocoursenet", self.title, **{self.parameter: value}, **self.fixed
                ),
            )
            for value in self.values(scale)
        ]


STEPS = Varied("RoCourseNet", "attack__steps", lambda scale: scale.steps, {})
EPSILONS = Varied("RoCourseNet", "attack__epsilon", lambda scale: scale.epsilons, {})
LINF_STEPS = Varied("ℓ∞ ball, E = 0.1", "attack__steps", lambda scale: scale.steps, {}, shade=0)
L2_STEPS = Varied(
    f"ℓ2 ball, E = {L2_EPSILON:g}",
    "attack__steps",
    lambda scale: scale.steps,
    {"attack__norm": "l2", "attack__epsilon": L2_EPSILON},
    dashes="--",
    shade=1,
)
LINEAR = Varied(
    "linear: ε grows to E", "attack__epsilon", lambda scale: scale.epsilons, {}, shade=0
)
CONSTANT = Varied(
    "constant: ε is E throughout",
    "attack__epsilon",
    lambda scale: scale.epsilons,
    {"attack__schedule": "constant"},
    dashes="--",
    shade=1,
)


def varied_jobs(*lines: Varied) -> Jobs:
    """The judgements of all values."""
    return lambda scale: seed_by_seed([cell for one in lines for _, cell in one.cells(scale)])


def show_varied(name: str, title: str, symbol: str, *lines: Varied) -> Render:
    """Robust validity and proximity by a parameter.

    Args:
        name: What the picture's files are called.
        title: What it shows.
        symbol: What was varied.
        *lines: The lines.
    """

    def render(scale: Scale, results: Results) -> list[Part]:
        series = [
            Series(
                one.title,
                tuple((value, measured(cell, results)) for value, cell in one.cells(scale)),
                one.dashes,
                one.shade,
            )
            for one in lines
        ]
        ratios = all(one.parameter == "attack__epsilon" for one in lines)
        return series_parts(name, title, symbol, series, ratios=ratios)

    return render


# Without and with robust training. The last pair, of the heuristics, the paper has in a table only.
_PAIRS = (
    ("counternet", "rocoursenet"),
    ("cf-model", "robust-cf-model"),
    ("vae-cf", "robust-vae-cf"),
    ("vanillacf-random", "rocoursenet-random"),
)


def _pairs(scale: Scale) -> list[list[Cell]]:
    return [[scale.settings["loan"].cell(method) for method in pair] for pair in _PAIRS]


def matrix_jobs(scale: Scale) -> list[Job]:
    """The judgements that the tables have too."""
    return seed_by_seed([cell for pair in _pairs(scale) for cell in pair])


def show_matrices(scale: Scale, results: Results) -> list[Part]:
    """Validity matrices of methods with and without robust training."""
    return matrix_parts([[measured(cell, results) for cell in pair] for pair in _pairs(scale)])


def curve_jobs(scale: Scale) -> list[Job]:
    """The histories of the models that the main table has."""
    cell = scale.settings["loan"].cell("rocoursenet")
    return [cell.history(subset, seed) for seed in cell.seeds for subset in cell.source.subsets]


def show_curves(scale: Scale, results: Results) -> list[Part]:
    """Losses and robust validity by epoch."""
    return curve_parts([results[job]["history"] for job in curve_jobs(scale) if job in results])
