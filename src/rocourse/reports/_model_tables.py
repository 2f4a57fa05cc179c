"""Tables of models: how well they predict, how long they train, how long a recourse takes."""

from collections.abc import Sequence
from statistics import fmean, median

from rocourse.evaluation import Aggregate, SeedsResult
from rocourse.reports._measured import Measured
from rocourse.reports._names import data_title
from rocourse.reports._paper import (
    PAPER_PREDICTIONS,
    PAPER_RECOURSE_MS,
    PAPER_TRAINING_SECONDS,
)
from rocourse.reports._parts import (
    ABSENT,
    Part,
    Table,
    difference,
    grouped,
    spread,
    two_spreads,
)

BASE = "vanillacf"
"""The base model is that of the post-hoc methods; VanillaCF asks it as it is."""
EXTENSION = "rocourse-panel"
# The others explain the base model.
_TRAINED = ("counternet", "rocoursenet", EXTENSION)


def predictive_tables(lines: Sequence[Measured]) -> list[Part]:
    """Accuracy and AUC beside the paper's."""
    rows = []
    for line in lines:
        who = "base" if line.method == BASE else line.method
        paper = PAPER_PREDICTIONS[line.dataset].get(who)
        row = [data_title(line.dataset), line.name]
        for metric in ("accuracy", "auc"):
            theirs = None if paper is None else getattr(paper, metric)
            std = None if paper is None else getattr(paper, f"{metric}_std")
            over_seeds, over_subsets = line.measure(metric)
            row += [
                spread(theirs, std),
                two_spreads(over_seeds, over_subsets),
                difference(over_seeds.mean, theirs),
            ]
        rows.append((*row, line.seeds_text))
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
    return [Table("Accuracy and AUC", columns, tuple(rows), note), _own_model_table(lines)]


def _own_model_table(lines: Sequence[Measured]) -> Table:
    """How the extension's model does beside the base model, of the same rows and seed."""
    found = {(line.dataset, line.method): line.result for line in lines}
    rows = []
    for dataset in dict.fromkeys(line.dataset for line in lines):
        base, own = found[dataset, BASE], found[dataset, EXTENSION]
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


def time_tables(lines: Sequence[Measured]) -> list[Part]:
    """Seconds of training and milliseconds a recourse, beside the paper's."""
    return [_training_table(lines), _recourse_table(lines)]


def _training_table(lines: Sequence[Measured]) -> Table:
    rows = []
    for line in lines:
        if line.method not in _TRAINED:
            continue
        paper = PAPER_TRAINING_SECONDS[line.dataset].get(line.method)
        wall, cpu = (
            [sum(run) for run in _values(line.result, metric)]
            for metric in ("train_seconds", "train_cpu_seconds")
        )
        rows.append(
            (
                data_title(line.dataset),
                line.name,
                str(len(line.subsets)),
                ABSENT if paper is None else str(paper),
                _median(wall, 1),
                _median(cpu, 1),
                f"{median(cpu) / paper:.2f}" if cpu and paper else ABSENT,
                line.seeds_text,
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


def _recourse_table(lines: Sequence[Measured]) -> Table:
    rows = []
    for line in lines:
        paper = PAPER_RECOURSE_MS[line.dataset].get(line.method)
        ours = [1e3 * fmean(run) for run in _values(line.result, "seconds_per_recourse") if run]
        rows.append(
            (
                data_title(line.dataset),
                line.name,
                ABSENT if paper is None else f"{paper:.2f}",
                _median(ours, 3),
                f"{paper / median(ours):,.0f}" if ours and paper else ABSENT,
                line.seeds_text,
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
