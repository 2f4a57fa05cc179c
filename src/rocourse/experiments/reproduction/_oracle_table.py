"""What a method could do that knew all future models, beside what is done without."""

from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._parts import Part, Table, grouped
from rocourse.experiments.reproduction._recourse_tables import spread_row
from rocourse.experiments.reproduction._results import Results, collect
from rocourse.experiments.reproduction._scales import Scale

_DATASETS = ("loan", "german_credit", "student")
_METHODS = ("rocoursenet", "rocourse-panel")
_PROTOCOLS = ("all", "adverse")
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
    measures = [(protocol, metric) for protocol in _PROTOCOLS for metric in _MEASURES]
    rows = []
    for dataset in _DATASETS:
        cells = _cells(scale, dataset)
        rows += [spread_row(cell, collect(cell, results), measures) for cell in cells]
        told = collect(cells[-1], results, Cell.oracles)
        rows.append(spread_row(cells[-1], told, measures, "oracle"))
    columns = grouped(
        ("", ("data", "method")),
        *((f"protocol {name}", [m.replace("_", " ") for m in _MEASURES]) for name in _PROTOCOLS),
    )
    return [Table("How far from the oracle", columns, tuple(rows), _NOTE)]
