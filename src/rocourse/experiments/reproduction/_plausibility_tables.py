"""Whether advice looks real: usual values, inliers, and some of it to read."""

import math

from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._names import data_title
from rocourse.experiments.reproduction._parts import Part, Table, grouped, shown
from rocourse.experiments.reproduction._recourse_tables import spread_row
from rocourse.experiments.reproduction._results import Results, collect
from rocourse.experiments.reproduction._scales import Scale

_DATASETS = ("loan", "german_credit", "student")
_METHODS = ("counternet", "rocoursenet", "rocourse-panel")
_READ = ("loan", "german_credit")
_SAMPLES = 20
_MEASURES = (
    ("usual values", "usual"),
    ("inliers", "inliers"),
    ("neighbour distance", "neighbour_distance"),
)
_NOTE = (
    "Usual values: the share of recourses that take every number they change to within the 1st and "
    "99th percentile of its column among the training rows. Inliers: the share whose local outlier "
    "factor among training rows of the desired class is no higher than that of 95% of these rows. "
    "Neighbour distance: the mean L1 distance from the five nearest of them. Mean ± standard "
    "deviation over seeds."
)
_PROTOCOLS = ("all", "adverse")


def _cells(scale: Scale) -> list[Cell]:
    return [scale.settings[dataset].cell(method) for dataset in _DATASETS for method in _METHODS]


def _samples(scale: Scale, dataset: str) -> list[tuple[str, Job]]:
    """Samples of the first seed's models, about as many of each subset."""
    cell = scale.settings[dataset].cell("rocourse-panel")
    subsets = cell.source.subsets
    rows = math.ceil(_SAMPLES / len(subsets))
    return [(subset, cell.sample(subset, cell.seeds[0], rows)) for subset in subsets]


def plausible_jobs(scale: Scale) -> list[Job]:
    """The judgements of the methods, and samples of our own advice."""
    samples = [job for dataset in _READ for _, job in _samples(scale, dataset)]
    return [*seed_by_seed(_cells(scale)), *samples]


def plausible_tables(scale: Scale, results: Results) -> list[Part]:
    """One table of measures, and one a data set with advice in raw units."""
    measures = [(protocol, metric) for protocol in _PROTOCOLS for _, metric in _MEASURES]
    rows = [spread_row(cell, collect(cell, results), measures) for cell in _cells(scale)]
    columns = grouped(
        ("", ("data", "method")),
        *((f"protocol {name}", [title for title, _ in _MEASURES]) for name in _PROTOCOLS),
    )
    read = (_sample_table(scale, dataset, results) for dataset in _READ)
    return [Table("Plausibility", columns, tuple(rows), _NOTE), *read]


def _sample_table(scale: Scale, dataset: str, results: Results) -> Table:
    rows = [
        (
            subset,
            "; ".join(applicant["changes"]) or "nothing found",
            shown(applicant["proximity"], 2),
        )
        for subset, job in _samples(scale, dataset)
        for applicant in results.get(job, {}).get("applicants", ())
    ]
    return Table(
        f"{data_title(dataset)}: what refused applicants are told by RoCoursePanel",
        (("", "subset"), ("", "changes"), ("", "proximity")),
        tuple(rows[:_SAMPLES]),
        "Drawn at random among refused test rows of the first seed.",
    )
