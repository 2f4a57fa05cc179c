"""The rolling protocol's transitions, for people."""

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocourse.evaluation import RollingResult

_SHARES = {
    "coverage": "coverage",
    "kept": "kept",
    "kept_alone": "kept alone",
    "unchanged": "unchanged",
    "proximity": "cost",
}


def rolling_lines(result: "RollingResult") -> list["RenderableType"]:
    """A line a transition, their means, and what the columns say."""
    table = Table(title="Evaluation, rolling", title_justify="left")
    judges, mean = sorted(result.transitions[0].judged), result.means()
    for title in ("promised in", "next", "refused", "promised", *_SHARES.values()):
        table.add_column(title)
    for judge in judges:
        table.add_column(f"by {judge}")
    for one in result.transitions:
        measures = [getattr(one, name) for name in _SHARES]
        figures = [*measures, *(one.judged[judge] for judge in judges)]
        counts = (str(one.refused), str(one.promised))
        table.add_row(one.period, one.following, *counts, *map(_figure, figures))
    table.add_section()
    means = [*(mean[name] for name in _SHARES), *(mean[f"by {judge}"] for judge in judges)]
    refused, promised = (
        sum(getattr(one, name) for one in result.transitions) for name in ("refused", "promised")
    )
    table.add_row("total, mean", "", str(refused), str(promised), *map(_figure, means))
    return [
        table,
        "kept: by the model retrained with the next period; kept alone: by a model of that period "
        "alone; unchanged: granted without any change.",
    ]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
