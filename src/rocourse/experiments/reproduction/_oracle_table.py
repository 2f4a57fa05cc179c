"""What a method could do that knew all future models, beside what is done without."""

from collections.abc import Sequence

from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._names import data_title, method_title
from rocourse.experiments.reproduction._parts import Part, Table, grouped, spread
from rocourse.experiments.reproduction._results import Results, collect, measure
from rocourse.experiments.reproduction._scales import Scale

_DATASETS = ("loan", "german_credit", "student")
_METHODS = ("rocoursenet", "rocourse-panel")
_MEASURES = ("robust_validity", "proximity", "features_changed")
_NOTE = (
    "The oracle edits rows as RoCoursePanel does, with the judges themselves as its panel: no "
    "margins, no guessing. What it misses, no single edits reach: most of it are models that give "
    "all rows one class. Mean ± standard deviation over seeds."
)


def _cells(scale: Scale, dataset: str) -> list[Cell]:
    return [scale.settings[dataset].cell(method) for method in _METHODS]


def oracle_jobs(scale: Scale) -> list[Job]:
    """The judgements of both methods, and of the oracle."""
    cells = [cell for dataset in _DATASETS for cell in _cells(scale, dataset)]
    panels = [cell for cell in cells if cell.method == "rocourse-panel"]
    foretold = [job for cell in panels for seed in cell.seeds for job in cell.oracles(seed)]
    return [*seed_by_seed(cells), *foretold]


def oracle_tables(scale: Scale, results: Results) -> list[Part]:
    """A line a data set and method, and one of what could be had."""
    rows = []
    for dataset in _DATASETS:
        cells = _cells(scale, dataset)
        rows += [_row(cell, method_title(cell), results) for cell in cells]
        rows.append(_row(cells[-1], "oracle", results, oracle=True))
    columns = grouped(
        ("", ("data", "method")),
        *((f"protocol {name}", [m.replace("_", " ") for m in _MEASURES]) for name in _PROTOCOLS),
    )
    return [Table("How far from the oracle", columns, tuple(rows), _NOTE)]


_PROTOCOLS: Sequence[str] = ("all", "adverse")


def _row(cell: Cell, title: str, results: Results, *, oracle: bool = False) -> tuple[str, ...]:
    result = collect(cell, results, Cell.oracles if oracle else Cell.judges)
    figures = (
        measure(result, metric, protocol)[0] for protocol in _PROTOCOLS for metric in _MEASURES
    )
    return (
        data_title(cell.source.dataset),
        title,
        *(spread(figure.mean, figure.std) for figure in figures),
    )
