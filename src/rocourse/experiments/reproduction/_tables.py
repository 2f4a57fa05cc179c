"""Which jobs the tables ask for, and what of their results they show."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from rocourse.experiments._tuning_result import TuningResult
from rocourse.experiments.reproduction._candidates import choices, fold_job, inlier_job
from rocourse.experiments.reproduction._comparisons import (
    method_cells,
    robustness_cells,
    simulated_cells,
    tuning_jobs,
)
from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._results import Results, measured
from rocourse.experiments.reproduction._scales import Scale
from rocourse.reports import (
    BASE,
    EXTENSION,
    SAMPLES,
    Advice,
    FoundParameters,
    Part,
    choice_tables,
    comparison_table,
    oracle_tables,
    plausible_tables,
    predictive_tables,
    protocol_tables,
    recourse_tables,
    search_table,
    time_tables,
)

Cells = Callable[[Scale], Sequence[Cell]]
Jobs = Callable[[Scale], Sequence[Job]]
Render = Callable[[Scale, Results], Sequence[Part]]

_DATASETS = ("loan", "german_credit", "student")
_READ = ("loan", "german_credit")


def cells_of(
    methods: Sequence[str], datasets: Sequence[str] = _DATASETS, **titles: str
) -> Callable[[Scale], list[Cell]]:
    """The cells of some methods on some data sets, as a function of the scale."""

    def cells(scale: Scale) -> list[Cell]:
        return [
            scale.settings[dataset].cell(method, titles.get(method, ""))
            for dataset in datasets
            for method in methods
        ]

    return cells


def judged(cells: Cells) -> Jobs:
    """The judgements of some cells, as a function of the scale."""
    return lambda scale: seed_by_seed(cells(scale))


def recourses(cells: Cells) -> Render:
    """What recourses of some cells are worth, beside the paper's figures."""
    return lambda scale, results: recourse_tables([measured(c, results) for c in cells(scale)])


# Accuracy and AUC are measured where recourses are judged, times in fits and judgements.
predictors = cells_of((BASE, "rocoursenet", EXTENSION), **{BASE: "base model"})
timed = cells_of(("counternet", "rocoursenet", "roar", "rbr", EXTENSION))
_plausible = cells_of(("counternet", "rocoursenet", EXTENSION))


def show_predictions(scale: Scale, results: Results) -> list[Part]:
    """How well models predict."""
    return predictive_tables([measured(cell, results) for cell in predictors(scale)])


def show_times(scale: Scale, results: Results) -> list[Part]:
    """How long models train, and how long a recourse takes."""
    return time_tables([measured(cell, results) for cell in timed(scale)])


def plausible_jobs(scale: Scale) -> list[Job]:
    """The judgements of the methods, and samples of our own advice."""
    samples = [job for dataset in _READ for _, job in _samples(scale, dataset)]
    return [*seed_by_seed(_plausible(scale)), *samples]


def show_plausibility(scale: Scale, results: Results) -> list[Part]:
    """Whether advice looks real."""

    def advice(dataset: str) -> list[Advice]:
        return [
            (subset, applicant)
            for subset, job in _samples(scale, dataset)
            for applicant in results.get(job, {}).get("applicants", ())
        ]

    lines = [measured(cell, results) for cell in _plausible(scale)]
    return plausible_tables(lines, {dataset: advice(dataset) for dataset in _READ})


def _samples(scale: Scale, dataset: str) -> list[tuple[str, Job]]:
    """Samples of the first seed's models, about as many of each subset."""
    cell = scale.settings[dataset].cell(EXTENSION)
    subsets = cell.source.subsets
    rows = math.ceil(SAMPLES / len(subsets))
    return [(subset, cell.sample(subset, cell.seeds[0], rows)) for subset in subsets]


def _beside_oracle(scale: Scale) -> list[Cell]:
    # Of loan one seed: 16 models judge in it, and what the oracle reaches is a bound, no estimate.
    loan = replace(scale.settings["loan"], seeds=1)
    settings = {**scale.settings, "loan": loan}
    return [
        settings[dataset].cell(method)
        for dataset in _DATASETS
        for method in ("rocoursenet", EXTENSION)
    ]


def oracle_jobs(scale: Scale) -> list[Job]:
    """The judgements of both methods, and of the oracle."""
    cells = _beside_oracle(scale)
    panels = [cell for cell in cells if cell.method == EXTENSION]
    foretold = [job for cell in panels for seed in cell.seeds for job in cell.oracles(seed)]
    return [*seed_by_seed(cells), *foretold]


def show_oracle(scale: Scale, results: Results) -> list[Part]:
    """A line a data set and method, and one of what could be had."""
    lines = []
    for cell in _beside_oracle(scale):
        lines.append(measured(cell, results))
        if cell.method == EXTENSION:
            lines.append(measured(cell, results, Cell.oracles, "oracle"))
    return oracle_tables(lines)


def robustness_jobs(scale: Scale) -> list[Job]:
    """The judgements of RoCourseNet and CounterNet in many configurations."""
    return seed_by_seed([*robustness_cells(scale), *simulated_cells(scale)])


def show_robustness(scale: Scale, results: Results) -> list[Part]:
    """One table of the data sets, and one of the simulated shifts."""
    return [
        comparison_table(title, [measured(cell, results) for cell in cells(scale)])
        for title, cells in (
            ("RoCourseNet beside CounterNet", robustness_cells),
            ("Simulated shifts", simulated_cells),
        )
    ]


def show_methods(scale: Scale, results: Results) -> list[Part]:
    """All measures of every method."""
    return [*protocol_tables([measured(cell, results) for cell in method_cells(scale)])]


def show_searches(scale: Scale, results: Results) -> list[Part]:
    """What each search for parameters has found."""
    found = [
        (job.inputs, TuningResult.from_dict(results[job]))
        for job in tuning_jobs(scale)
        if job in results
    ]
    searches = [
        FoundParameters(
            inputs["dataset"],
            result.method,
            inputs["tested"],
            len(result.trials),
            result.best.score,
            result.best.parameters,
        )
        for inputs, result in found
    ]
    return [search_table(searches)]


def show_choices(scale: Scale, results: Results) -> list[Part]:
    """What came of the candidates for the settings of RoCoursePanel."""
    return choice_tables(
        [(proxy, title, results[job]) for proxy, title, job in choices(scale) if job in results],
        results.get(fold_job(scale), {}).get("trials", ()),
        results.get(inlier_job(scale), {}).get("shares", ()),
    )
