"""Tables of comparisons: a line a data set and variant, mean ± standard deviation over seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocourse.evaluation import Aggregate, SeedsResult, Summary
from rocourse.reports._measured import Measured
from rocourse.reports._paper import PAPER_RESULTS, PaperFigures
from rocourse.reports._parts import ABSENT, Table, grouped, shown

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


@dataclass(frozen=True)
class FoundParameters:
    """A search for parameters.

    Attributes:
        dataset: On whose rows.
        method: Of which method.
        seeds: Of which runs the test rows were left out.
        trials: How many sets of parameters were tried.
        score: The best one's.
        parameters: The best ones.
    """

    dataset: str
    method: str
    seeds: Sequence[int]
    trials: int
    score: float | None
    parameters: Mapping[str, Any]


def comparison_table(title: str, lines: Sequence[Measured]) -> Table:
    """A line a variant; measures that none has, because they were not taken, have no column."""
    found = _with_results(lines)
    summaries = [result.summary() for _, result in found]
    columns = [
        (group, name, values)
        for group, name, metric, protocol in _COLUMNS
        if any(values := _column(summaries, metric, protocol)) or not found
    ]
    rows = [
        (
            _rows_title(line),
            line.name,
            *(values[k] or ABSENT for *_, values in columns),
            _constant(result),
        )
        for k, (line, result) in enumerate(found)
    ]
    header = [("", "data"), ("", "variant"), *((group, name) for group, name, _ in columns)]
    return Table(title, (*header, ("", "constant models")), tuple(rows))


def protocol_tables(lines: Sequence[Measured]) -> list[Table]:
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


def search_table(searches: Sequence[FoundParameters]) -> Table:
    """What searches for parameters have found."""
    rows = tuple(
        (
            search.dataset,
            search.method,
            ", ".join(map(str, search.seeds)),
            str(search.trials),
            shown(search.score, 4),
            "; ".join(
                f"{name.replace('__', '.')} = {value}" for name, value in search.parameters.items()
            ),
        )
        for search in searches
    )
    columns = grouped(("", ("data", "method", "seeds", "trials", "best score", "changes")))
    return Table("What was chosen", columns, rows, "All trials are in the packed file.")


def _with_results(lines: Sequence[Measured]) -> list[tuple[Measured, SeedsResult]]:
    return [(line, line.result) for line in lines if line.result is not None]


def _rows_title(line: Measured) -> str:
    # Of loan's years there are more than those compared.
    return "-".join((line.dataset, *(line.subsets if line.dataset == "loan" else ())))


def _protocol_rows(
    lines: Sequence[Measured], protocol: str, beside: Callable[[Measured], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    rows = []
    for line, result in _with_results(lines):
        measures = result.summary().protocols[protocol]
        ours = (_shown(measures[metric]) or ABSENT for _, metric in _MEASURES)
        rows.append((_rows_title(line), line.name, *ours, *beside(line)))
    return tuple(rows)


def _paper(line: Measured) -> tuple[str, ...]:
    by_method = PAPER_RESULTS.get(line.dataset, {})
    figures = by_method.get(line.method, PaperFigures(None, None, None))
    return tuple(map(shown, (figures.validity, figures.robust_validity, figures.proximity)))


def _model_table(lines: Sequence[Measured]) -> Table:
    rows = []
    for line, result in _with_results(lines):
        model = result.summary().model
        rows.append(
            (
                _rows_title(line),
                line.name,
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
