"""From the results of jobs to what evaluation makes of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocourse.evaluation import SeedsResult, SubsetResult, SubsetsResult
from rocourse.experiments.reproduction._jobs import Cell, Job
from rocourse.reports import Measured

Results = Mapping[Job, dict[str, Any]]
"""What jobs came to; jobs without a result are not in it."""


def collect(
    cell: Cell, results: Results, jobs: Callable[[Cell, int], Sequence[Job]] = Cell.judges
) -> SeedsResult | None:
    """The runs of a cell whose judgements are all there; None if there is none.

    Args:
        cell: Which.
        results: Of all jobs.
        jobs: The judgements of a cell for a seed.
    """
    runs = []
    for seed in cell.seeds:
        found = [results.get(job) for job in jobs(cell, seed)]
        if all(found):
            runs.append(_run(seed, [record for record in found if record is not None]))
    return SeedsResult(tuple(runs)) if runs else None


def _run(seed: int, records: Sequence[Mapping[str, Any]]) -> SubsetsResult:
    return SubsetsResult(
        target=records[0]["target"],
        seed=seed,
        test_size=records[0]["test_size"],
        subsets=tuple(SubsetResult.from_dict(record["subset"]) for record in records),
    )


def measured(
    cell: Cell,
    results: Results,
    jobs: Callable[[Cell, int], Sequence[Job]] = Cell.judges,
    title: str = "",
) -> Measured:
    """A cell as tables and figures take it.

    Args:
        cell: Which.
        results: Of all jobs.
        jobs: The judgements of a cell for a seed.
        title: What to call it, if not by the cell's title.
    """
    return Measured(
        cell.source.dataset,
        cell.method,
        cell.source.subsets,
        len(cell.seeds),
        collect(cell, results, jobs),
        title or cell.title,
    )
