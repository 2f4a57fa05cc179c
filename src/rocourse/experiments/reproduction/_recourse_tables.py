"""Tables of recourses: the paper's figures beside ours, and what a lender asks besides."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rocourse.evaluation import SeedsResult
from rocourse.experiments._paper import PAPER_RESULTS, PAPER_SPREADS, PaperFigures
from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._names import data_title, method_title
from rocourse.experiments.reproduction._parts import (
    Part,
    Table,
    difference,
    grouped,
    shown,
    spread,
    two_spreads,
)
from rocourse.experiments.reproduction._results import Results, collect, measure, seeds_text
from rocourse.experiments.reproduction._scales import Scale

Cells = Callable[[Scale], Sequence[Cell]]

# The measure that all is about comes first: wide tables are read from the left.
_MEASURES = ("robust_validity", "validity", "proximity")
_BESIDE = ("paper", "ours", "difference")
_NOTE = (
    "Every test row is flipped, in either direction (protocol all). Ours: mean ± standard "
    "deviation over seeds (of the mean over subsets), then ± that over subsets, which is what the "
    "paper prints. A changed category counts 2 in proximity. A constant model gives every test row "
    "the same class, so that what it says of recourses means little."
)
_ADVERSE_NOTE = (
    "Protocol adverse: only rows that the model refuses, asking for approval. Unchanged: the share "
    "that the other models approve without any change. Inliers: the share of advice that lies "
    "where 95% of approved training rows do. The last two columns are the other direction, from "
    "approved to refused, which the paper's figures also count. Mean ± standard deviation over "
    "seeds."
)
# Title, protocol and measure.
_ADVERSE_COLUMNS = (
    ("validity", "adverse", "validity"),
    ("robust validity", "adverse", "robust_validity"),
    ("unchanged", "adverse", "unchanged_validity"),
    ("proximity", "adverse", "proximity"),
    ("features changed", "adverse", "features_changed"),
    ("inliers", "adverse", "inliers"),
    ("validity", "to_unfavourable", "validity"),
    ("robust validity", "to_unfavourable", "robust_validity"),
)


def cells_of(methods: Sequence[str], datasets: Sequence[str]) -> Cells:
    """The cells of some methods on some data sets, as a function of the scale."""

    def cells(scale: Scale) -> list[Cell]:
        return [scale.settings[dataset].cell(method) for dataset in datasets for method in methods]

    return cells


def judgements(cells: Cells) -> Callable[[Scale], list[Job]]:
    """The judgements of some cells, as a function of the scale."""
    return lambda scale: seed_by_seed(cells(scale))


def recourse_tables(cells: Cells) -> Callable[[Scale, Results], list[Part]]:
    """A table a data set with the paper's figures, and one of refused rows."""

    def render(scale: Scale, results: Results) -> list[Part]:
        chosen = cells(scale)
        *first, last = (
            _paper_table(data_title(dataset), group, results)
            for dataset, group in _by_dataset(chosen).items()
        )
        return [*first, replace(last, note=_NOTE), _adverse_table(chosen, results)]

    return render


def _by_dataset(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.source.dataset, []).append(cell)
    return groups


def _paper_table(title: str, cells: Sequence[Cell], results: Results) -> Table:
    columns = grouped(
        ("", ("method",)),
        *((name.replace("_", " "), _BESIDE) for name in _MEASURES),
        ("", ("constant models", "seeds")),
    )
    return Table(title, columns, tuple(_paper_row(cell, results) for cell in cells))


def _paper_row(cell: Cell, results: Results) -> tuple[str, ...]:
    result = collect(cell, results)
    means, stds = (
        by_dataset.get(cell.source.dataset, {}).get(cell.method, PaperFigures(None, None, None))
        for by_dataset in (PAPER_RESULTS, PAPER_SPREADS)
    )
    row = [method_title(cell)]
    for name in _MEASURES:
        theirs = getattr(means, name)
        over_seeds, over_subsets = measure(result, name)
        row += [
            spread(theirs, getattr(stds, name)),
            two_spreads(over_seeds, over_subsets),
            difference(over_seeds.mean, theirs),
        ]
    constant = "–" if result is None else str(sum(result.constant.values()))
    return (*row, constant, seeds_text(cell, result))


def _adverse_table(cells: Sequence[Cell], results: Results) -> Table:
    rows = []
    for cell in cells:
        measures = [(protocol, metric) for _, protocol, metric in _ADVERSE_COLUMNS]
        rows.append(spread_row(cell, collect(cell, results), measures))
    columns = grouped(
        ("", ("data", "method")),
        ("refused rows", [name for name, protocol, _ in _ADVERSE_COLUMNS if protocol == "adverse"]),
        (
            "approved rows",
            [name for name, protocol, _ in _ADVERSE_COLUMNS if protocol != "adverse"],
        ),
    )
    return Table("What refused applicants are told", columns, tuple(rows), _ADVERSE_NOTE)


def spread_row(
    cell: Cell, result: SeedsResult | None, measures: Iterable[tuple[str, str]], title: str = ""
) -> tuple[str, ...]:
    """Data, method, and some measures with their spread over seeds.

    Args:
        cell: Whose line.
        result: What came of it.
        measures: Protocols and measures.
        title: What to call the method, if not by the cell's title.
    """
    figures = (measure(result, metric, protocol)[0] for protocol, metric in measures)
    return (
        data_title(cell.source.dataset),
        title or method_title(cell),
        *(spread(figure.mean, figure.std) for figure in figures),
    )


def figure_table(
    title: str, first: str, lines: Sequence[tuple[str, Cell]], results: Results, note: str = ""
) -> Table:
    """The numbers behind a figure, as far as there are any: what was varied, what came of it.

    Args:
        title: Of the table.
        first: What was varied.
        lines: Its value, as text, and the cell that has it.
        results: Of the jobs.
        note: What to know when reading it.
    """
    rows = []
    for value, cell in lines:
        result = collect(cell, results)
        if result is None:
            continue
        row = [value, data_title(cell.source.dataset), method_title(cell)]
        for name in _MEASURES:
            over_seeds, over_subsets = measure(result, name)
            row += [shown(over_seeds.mean), shown(over_seeds.std), shown(over_subsets.std)]
        rows.append((*row, seeds_text(cell, result)))
    columns = grouped(
        ("", (first, "data", "method")),
        *((name.replace("_", " "), ("mean", "± seeds", "± subsets")) for name in _MEASURES),
        ("", ("seeds",)),
    )
    return Table(title, columns, tuple(rows), note)
