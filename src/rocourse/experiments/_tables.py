"""Tables of stored comparisons: they read what the runs wrote and compute nothing anew."""

from collections.abc import Sequence

from rocourse.evaluation import Aggregate, Summary
from rocourse.experiments._comparison import ComparisonCell

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
        constant = sum(cell.result.constant.values())
        models = len(cell.result.names) * len(cell.result.seeds)
        shown = (values[position] or _ABSENT for _, values in columns)
        rows.append([cell.setting, cell.variant, *shown, f"{constant} of {models}"])
    return rows


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
