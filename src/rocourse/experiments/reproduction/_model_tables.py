"""Tables of models: how well they predict, how long they train, how long a recourse takes."""

from collections.abc import Sequence
from statistics import fmean, median

from rocourse.evaluation import Aggregate, SeedsResult
from rocourse.experiments._paper import (
    PAPER_PREDICTIONS,
    PAPER_RECOURSE_MS,
    PAPER_TRAINING_SECONDS,
)
from rocourse.experiments.reproduction._jobs import Cell, Job, seed_by_seed
from rocourse.experiments.reproduction._names import data_title, method_title
from rocourse.experiments.reproduction._parts import (
    ABSENT,
    Part,
    Table,
    difference,
    grouped,
    spread,
    two_spreads,
)
from rocourse.experiments.reproduction._results import Results, collect, measure, seeds_text
from rocourse.experiments.reproduction._scales import Scale

_DATASETS = ("loan", "german_credit", "student")
# The base model is that of the post-hoc methods; VanillaCF asks it as it is.
_BASE = "vanillacf"
_EXTENSION = "rocourse-panel"
_PREDICTORS = ((_BASE, "base model"), ("rocoursenet", ""), (_EXTENSION, ""))
_TIMED = ("counternet", "rocoursenet", "roar", "rbr", _EXTENSION)
# The others explain the base model.
_TRAINED = ("counternet", "rocoursenet", _EXTENSION)


def predictive_cells(scale: Scale) -> list[Cell]:
    """The base model of the post-hoc methods, RoCourseNet, and our extension, which has its own."""
    return [
        scale.settings[dataset].cell(method, title)
        for dataset in _DATASETS
        for method, title in _PREDICTORS
    ]


def predictive_jobs(scale: Scale) -> list[Job]:
    """Accuracy and AUC are measured where recourses are judged."""
    return seed_by_seed(predictive_cells(scale))


def predictive_tables(scale: Scale, results: Results) -> list[Part]:
    """Accuracy and AUC beside the paper's."""
    rows = []
    for cell in predictive_cells(scale):
        result = collect(cell, results)
        who = "base" if cell.method == _BASE else cell.method
        paper = PAPER_PREDICTIONS[cell.source.dataset].get(who)
        row = [data_title(cell.source.dataset), method_title(cell)]
        for metric in ("accuracy", "auc"):
            theirs = None if paper is None else getattr(paper, metric)
            std = None if paper is None else getattr(paper, f"{metric}_std")
            over_seeds, over_subsets = measure(result, metric)
            row += [
                spread(theirs, std),
                two_spreads(over_seeds, over_subsets),
                difference(over_seeds.mean, theirs),
            ]
        rows.append((*row, seeds_text(cell, result)))
    columns = grouped(
        ("", ("data", "model")),
        ("accuracy", ("paper", "ours", "difference")),
        ("AUC", ("paper", "ours", "difference")),
        ("", ("seeds",)),
    )
    note = (
        "On each subset's own test rows. Ours: mean ± standard deviation over seeds, then ± that "
        "over subsets, which is what the paper prints. The attack never touches the predictor, and "
        "the base model is trained with the same seed and steps: where the parameters are the "
        "same, so are the predictions. RoCoursePanel trains a model of its own."
    )
    return [Table("Accuracy and AUC", columns, tuple(rows), note), _own_model_table(scale, results)]


def _own_model_table(scale: Scale, results: Results) -> Table:
    """How the extension's model does beside the base model, of the same rows and seed."""
    rows = []
    for dataset in _DATASETS:
        base, own = (
            collect(scale.settings[dataset].cell(method), results) for method in (_BASE, _EXTENSION)
        )
        row = [data_title(dataset)]
        for metric in ("accuracy", "auc"):
            gain = Aggregate.of(_gains(base, own, metric))
            error = "" if gain.std is None else f" ± {gain.std / gain.n**0.5:.3f}"
            row.append(difference(gain.mean, 0.0) + error)
        rows.append((*row, str(gain.n)))
    columns = grouped(("", ("data", "accuracy", "AUC", "models")))
    note = (
        "What RoCoursePanel's model has more than the base model of the same training rows: mean ± "
        "standard error over all subsets and seeds."
    )
    return Table("RoCoursePanel's model against the base model", columns, tuple(rows), note)


def _gains(base: SeedsResult | None, own: SeedsResult | None, metric: str) -> list[float]:
    """By how much each model that both have is better."""
    before, after = (
        {
            (run.seed, name): value
            for run in (() if result is None else result.runs)
            for name, value in run.values(metric).items()
            if value is not None
        }
        for result in (base, own)
    )
    return [after[key] - value for key, value in before.items() if key in after]


def time_cells(scale: Scale) -> list[Cell]:
    """The methods whose times the paper prints, and our extension."""
    return [scale.settings[dataset].cell(method) for dataset in _DATASETS for method in _TIMED]


def time_jobs(scale: Scale) -> list[Job]:
    """Times are measured in fits and judgements."""
    return seed_by_seed(time_cells(scale))


def time_tables(scale: Scale, results: Results) -> list[Part]:
    """Seconds of training and milliseconds a recourse, beside the paper's."""
    cells = time_cells(scale)
    return [_training_table(cells, results), _recourse_table(cells, results)]


def _training_table(cells: Sequence[Cell], results: Results) -> Table:
    rows = []
    for cell in cells:
        if cell.method not in _TRAINED:
            continue
        paper = PAPER_TRAINING_SECONDS[cell.source.dataset].get(cell.method)
        result = collect(cell, results)
        wall, cpu = (
            [sum(run) for run in _values(result, metric)]
            for metric in ("train_seconds", "train_cpu_seconds")
        )
        rows.append(
            (
                data_title(cell.source.dataset),
                method_title(cell),
                str(len(cell.source.subsets)),
                ABSENT if paper is None else str(paper),
                _median(wall, 1),
                _median(cpu, 1),
                f"{median(cpu) / paper:.2f}" if cpu and paper else ABSENT,
                seeds_text(cell, result),
            )
        )
    columns = grouped(
        ("", ("data", "method", "models", "paper, s")),
        ("ours", ("wall clock, s", "processor, s", "processor time by the paper's")),
        ("", ("seeds",)),
    )
    note = (
        "All models of a data set, one after the other on one core; the paper's times are of a "
        "machine with 16 cores. Median over seeds, with the least and the most: the first fit of a "
        "process includes compilation. Wall clock also counts what else the machine had to do."
    )
    return Table("Training", columns, tuple(rows), note)


def _values(result: SeedsResult | None, metric: str) -> list[list[float]]:
    """What was measured of each subset, run by run."""
    runs = [] if result is None else [run.values(metric).values() for run in result.runs]
    return [[value for value in run if value is not None] for run in runs]


def _median(times: Sequence[float], digits: int) -> str:
    if not times:
        return ABSENT
    ends = f" ({min(times):.{digits}f}–{max(times):.{digits}f})" if len(times) > 1 else ""
    return f"{median(times):.{digits}f}{ends}"


def _recourse_table(cells: Sequence[Cell], results: Results) -> Table:
    rows = []
    for cell in cells:
        paper = PAPER_RECOURSE_MS[cell.source.dataset].get(cell.method)
        result = collect(cell, results)
        ours = [1e3 * fmean(run) for run in _values(result, "seconds_per_recourse") if run]
        rows.append(
            (
                data_title(cell.source.dataset),
                method_title(cell),
                ABSENT if paper is None else f"{paper:.2f}",
                _median(ours, 3),
                f"{paper / median(ours):,.0f}" if ours and paper else ABSENT,
                seeds_text(cell, result),
            )
        )
    columns = grouped(
        ("", ("data", "method", "paper, ms")),
        ("ours", ("ms", "times as fast")),
        ("", ("seeds",)),
    )
    note = (
        "Wall clock of a whole test set divided by its rows, without compilation: a batch shares "
        "what a single row would pay alone. With several processes (--jobs) each has one core. "
        "Median over seeds, with the least and the most: what else the machine has to do counts."
    )
    return Table("One recourse", columns, tuple(rows), note)
