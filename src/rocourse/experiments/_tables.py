"""Tables of stored comparisons: they read what the runs wrote and compute nothing anew."""

from collections.abc import Sequence

from rocourse.evaluation import Aggregate, Summary
from rocourse.experiments._comparison import ComparisonCell
from rocourse.experiments._paper import PAPER_RESULTS, PaperFigures

# Title, measure, and protocol (None: a measure of the predictor).
_COLUMNS: tuple[tuple[str, str, str | None], ...] = (
    ("accuracy", "accuracy", None),
    ("validity", "validity", "all"),
    ("robust validity", "robust_validity", "all"),
    ("unchanged", "unchanged_validity", "all"),
    ("proximity", "proximity", "all"),
    ("features changed", "features_changed", "all"),
    ("neighbour distance", "neighbour_distance", "all"),
    ("inliers", "inliers", "all"),
    ("adverse: robust validity", "robust_validity", "adverse"),
    ("adverse: unchanged", "unchanged_validity", "adverse"),
    ("adverse: proximity", "proximity", "adverse"),
    ("adverse: neighbour distance", "neighbour_distance", "adverse"),
    ("adverse: inliers", "inliers", "adverse"),
)
_ABSENT = "–"


def comparison_rows(cells: Sequence[ComparisonCell]) -> list[list[str]]:
    """A header and one row a cell: mean ± standard deviation over the seeds.

    Measures that no cell has, because it was stored before they were taken, have no column.
    """
    summaries = [cell.result.summary() for cell in cells]
    columns = [
        (title, values)
        for title, metric, protocol in _COLUMNS
        if any(values := _column(summaries, metric, protocol)) or not cells
    ]
    rows = [["data", "variant", *(title for title, _ in columns), "constant models"]]
    for position, cell in enumerate(cells):
        shown = (values[position] or _ABSENT for _, values in columns)
        rows.append([cell.setting, cell.variant, *shown, _constant(cell)])
    return rows


def protocol_tables(cells: Sequence[ComparisonCell]) -> list[tuple[str, list[list[str]]]]:
    """One table a protocol with all measures of the recourses, and one of the models.

    In protocol `all` the paper's figures stand beside ours; each table has a header first.
    """
    return [
        ("Protocol all: every test row, in either direction", _protocol_rows(cells, "all")),
        ("Protocol adverse: refused rows only", _protocol_rows(cells, "adverse")),
        ("Models", _model_rows(cells)),
    ]


def _protocol_rows(cells: Sequence[ComparisonCell], protocol: str) -> list[list[str]]:
    beside = protocol == "all"
    titles = [title for title, _, where in _COLUMNS if where == "all"]
    paper = ["paper: validity", "robust", "proximity"] if beside else []
    rows = [["data", "variant", *titles, *paper]]
    for cell in cells:
        measures = cell.result.summary().protocols[protocol]
        shown = [
            _shown(measures[metric]) or _ABSENT for _, metric, where in _COLUMNS if where == "all"
        ]
        rows.append([cell.setting, cell.variant, *shown, *(_paper(cell) if beside else [])])
    return rows


def _paper(cell: ComparisonCell) -> list[str]:
    # Settings are named after their data set, with the subsets behind it.
    by_method = next(
        (found for name, found in PAPER_RESULTS.items() if cell.setting.startswith(name)), {}
    )
    figures: PaperFigures | None = by_method.get(cell.method)
    if figures is None:
        return [_ABSENT] * 3
    shown = (figures.validity, figures.robust_validity, figures.proximity)
    return [_ABSENT if figure is None else f"{figure:.3f}" for figure in shown]


def _model_rows(cells: Sequence[ComparisonCell]) -> list[list[str]]:
    rows = [
        ["data", "variant", "accuracy", "AUC", "fit, CPU s", "ms a recourse", "constant models"]
    ]
    for cell in cells:
        model = cell.result.summary().model
        rows.append(
            [
                cell.setting,
                cell.variant,
                _shown(model["accuracy"]) or _ABSENT,
                _shown(model["auc"]) or _ABSENT,
                _mean(model["train_cpu_seconds"], 1.0, ".1f"),
                _mean(model["seconds_per_recourse"], 1e3, ".3f"),
                _constant(cell),
            ]
        )
    return rows


def _mean(aggregate: Aggregate, scale: float, form: str) -> str:
    return _ABSENT if aggregate.mean is None else format(scale * aggregate.mean, form)


def _constant(cell: ComparisonCell) -> str:
    models = len(cell.result.names) * len(cell.result.seeds)
    return f"{sum(cell.result.constant.values())} of {models}"


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first being the header, as a Markdown table."""
    header, *body = rows
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in body]
    return "\n".join(lines)


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
