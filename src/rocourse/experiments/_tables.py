"""Tables of stored comparisons: they read what the runs wrote and compute nothing anew."""

from collections.abc import Sequence

from rocourse.evaluation import Aggregate
from rocourse.experiments._comparison import ComparisonCell

# Title, measure, and protocol (None: a measure of the predictor).
_COLUMNS: tuple[tuple[str, str, str | None], ...] = (
    ("accuracy", "accuracy", None),
    ("validity", "validity", "all"),
    ("robust validity", "robust_validity", "all"),
    ("proximity", "proximity", "all"),
    ("features changed", "features_changed", "all"),
    ("adverse: robust validity", "robust_validity", "adverse"),
    ("adverse: proximity", "proximity", "adverse"),
)


def comparison_rows(cells: Sequence[ComparisonCell]) -> list[list[str]]:
    """A header and one row a cell: mean ± standard deviation over the seeds."""
    rows = [["data", "variant", *(title for title, _, _ in _COLUMNS), "constant models"]]
    for cell in cells:
        summary = cell.result.summary()
        values = [
            _shown((summary.protocols[protocol] if protocol else summary.model)[metric])
            for _, metric, protocol in _COLUMNS
        ]
        constant = sum(cell.result.constant.values())
        models = len(cell.result.names) * len(cell.result.seeds)
        rows.append([cell.setting, cell.variant, *values, f"{constant} of {models}"])
    return rows


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first being the header, as a Markdown table."""
    header, *body = rows
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in body]
    return "\n".join(lines)


def _shown(aggregate: Aggregate) -> str:
    if aggregate.mean is None:
        return "–"
    spread = "" if aggregate.std is None else f" ± {aggregate.std:.3f}"
    return f"{aggregate.mean:.3f}{spread}"
