"""Tables of comparisons: a line a data set and variant, mean ± standard deviation over seeds."""

from collections.abc import Callable, Sequence

from rocourse.evaluation import Aggregate, SeedsResult, Summary
from rocourse.experiments._paper import PAPER_RESULTS, PaperFigures
from rocourse.experiments._tuning_result import TuningResult
from rocourse.experiments.reproduction._comparisons import (
    method_cells,
    robustness_cells,
    simulated_cells,
    tuning_jobs,
)
from rocourse.experiments.reproduction._jobs import Cell
from rocourse.experiments.reproduction._parts import ABSENT, Part, Table, grouped, shown
from rocourse.experiments.reproduction._results import Results, collect
from rocourse.experiments.reproduction._scales import Scale

Line = tuple[str, str, str, SeedsResult]
"""What a table calls rows and variant, the method, and what came of it."""

# Group, title, measure, and protocol (None: a measure of the predictor).
_COLUMNS: tuple[tuple[str, str, str, str | None], ...] = (
    ("", "accuracy", "accuracy", None),
    ("", "validity", "validity", "all"),
    ("", "robust validity", "robust_validity", "all"),
    ("", "unchanged", "unchanged_validity", "all"),
    ("", "proximity", "proximity", "all"),
    ("", "features changed", "features_changed", "all"),
    ("", "neighbour distance", "neighbour_distance", "all"),
    ("", "inliers", "inliers", "all"),
    ("adverse", "robust validity", "robust_validity", "adverse"),
    ("adverse", "unchanged", "unchanged_validity", "adverse"),
    ("adverse", "proximity", "proximity", "adverse"),
    ("adverse", "neighbour distance", "neighbour_distance", "adverse"),
    ("adverse", "inliers", "inliers", "adverse"),
)
_MEASURES = [(title, metric) for _, title, metric, protocol in _COLUMNS if protocol == "all"]


def robustness_tables(scale: Scale, results: Results) -> list[Part]:
    """One table of the data sets, and one of the simulated shifts."""
    return [
        comparison_table(title, _lines(cells(scale), results))
        for title, cells in (
            ("RoCourseNet beside CounterNet", robustness_cells),
            ("Simulated shifts", simulated_cells),
        )
    ]


def method_tables(scale: Scale, results: Results) -> list[Part]:
    """A table a protocol with all measures of the recourses, and one of the models."""
    return list(protocol_tables(_lines(method_cells(scale), results)))


def tuning_tables(scale: Scale, results: Results) -> list[Part]:
    """What each search has found."""
    rows = []
    for job in tuning_jobs(scale):
        if job not in results:
            continue
        found = TuningResult.from_dict(results[job])
        chosen = "; ".join(f"{name} = {value}" for name, value in found.best.parameters.items())
        rows.append(
            (
                job.inputs["dataset"],
                found.method,
                ", ".join(map(str, job.inputs["tested"])),
                str(len(found.trials)),
                shown(found.best.score, 4),
                chosen,
            )
        )
    columns = grouped(("", ("data", "method", "seeds", "trials", "best score", "changes")))
    return [Table("What was chosen", columns, tuple(rows), "All trials are in the packed file.")]


def comparison_table(title: str, lines: Sequence[Line]) -> Table:
    """A line a variant; measures that none has, because they were not taken, have no column."""
    summaries = [result.summary() for *_, result in lines]
    columns = [
        (group, name, values)
        for group, name, metric, protocol in _COLUMNS
        if any(values := _column(summaries, metric, protocol)) or not lines
    ]
    rows = [
        (data, variant, *(values[k] or ABSENT for *_, values in columns), _constant(result))
        for k, (data, variant, _, result) in enumerate(lines)
    ]
    header = [("", "data"), ("", "variant"), *((group, name) for group, name, _ in columns)]
    return Table(title, (*header, ("", "constant models")), tuple(rows))


def protocol_tables(lines: Sequence[Line]) -> list[Table]:
    """All measures of the recourses by protocol, in `all` the paper's beside ours; the models."""
    paper = (("paper", "validity"), ("", "robust"), ("", "proximity"))
    names = grouped(("", ("data", "variant", *(title for title, _ in _MEASURES))))
    return [
        Table(
            "Protocol all: every test row, in either direction",
            (*names, *paper),
            _protocol_rows(lines, "all", _paper),
        ),
        Table(
            "Protocol adverse: refused rows only",
            names,
            _protocol_rows(lines, "adverse", lambda line: ()),
        ),
        _model_table(lines),
    ]


def _lines(cells: Sequence[Cell], results: Results) -> list[Line]:
    found = [(cell, collect(cell, results)) for cell in cells]
    return [
        (_rows_title(cell), cell.title, cell.method, result)
        for cell, result in found
        if result is not None
    ]


def _rows_title(cell: Cell) -> str:
    source = cell.source
    years = source.subsets if source.dataset == "loan" else ()
    return "-".join((source.dataset, *years))


def _protocol_rows(
    lines: Sequence[Line], protocol: str, beside: Callable[[Line], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    rows = []
    for line in lines:
        data, variant, _, result = line
        measures = result.summary().protocols[protocol]
        ours = (_shown(measures[metric]) or ABSENT for _, metric in _MEASURES)
        rows.append((data, variant, *ours, *beside(line)))
    return tuple(rows)


def _paper(line: Line) -> tuple[str, ...]:
    data, _, method, _ = line
    # Rows are named after their data set, with the subsets behind it.
    by_method = next((found for name, found in PAPER_RESULTS.items() if data.startswith(name)), {})
    figures = by_method.get(method, PaperFigures(None, None, None))
    return tuple(map(shown, (figures.validity, figures.robust_validity, figures.proximity)))


def _model_table(lines: Sequence[Line]) -> Table:
    rows = []
    for data, variant, _, result in lines:
        model = result.summary().model
        rows.append(
            (
                data,
                variant,
                _shown(model["accuracy"]) or ABSENT,
                _shown(model["auc"]) or ABSENT,
                _mean(model["train_cpu_seconds"], 1.0, ".1f"),
                _mean(model["seconds_per_recourse"], 1e3, ".3f"),
                _constant(result),
            )
        )
    names = ("data", "variant", "accuracy", "AUC", "fit, CPU s", "ms a recourse", "constant models")
    return Table("Models", grouped(("", names)), tuple(rows))


def _mean(aggregate: Aggregate, scale: float, form: str) -> str:
    return ABSENT if aggregate.mean is None else format(scale * aggregate.mean, form)


def _constant(result: SeedsResult) -> str:
    models = len(result.names) * len(result.seeds)
    return f"{sum(result.constant.values())} of {models}"


def _column(summaries: Sequence[Summary], metric: str, protocol: str | None) -> list[str | None]:
    return [
        _shown((summary.protocols[protocol] if protocol else summary.model)[metric])
        for summary in summaries
    ]


def _shown(aggregate: Aggregate) -> str | None:
    if aggregate.mean is None:
        return None
    spread = "" if aggregate.std is None else f" ± {aggregate.std:.3f}"
    return f"{aggregate.mean:.3f}{spread}"
