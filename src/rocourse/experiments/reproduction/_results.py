"""From the results of jobs to what evaluation makes of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rocourse.evaluation import Aggregate, SeedsResult, SubsetResult, SubsetsResult
from rocourse.experiments.reproduction._jobs import Cell, Job

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


def measure(
    result: SeedsResult | None, metric: str, protocol: str = "all"
) -> tuple[Aggregate, Aggregate]:
    """A measure over seeds (of the means over subsets), and over subsets as in the paper."""
    if result is None:
        return Aggregate.of(()), Aggregate.of(())
    values = [run.values(metric, protocol) for run in result.runs]
    over_seeds = Aggregate.of(Aggregate.of(run.values()).mean for run in values)
    over_subsets = Aggregate.of(
        Aggregate.of(run[name] for run in values).mean for name in result.names
    )
    return over_seeds, over_subsets


def seeds_text(cell: Cell, result: SeedsResult | None) -> str:
    """How many of a cell's seeds there are."""
    found = 0 if result is None else len(result.seeds)
    return str(found) if found == len(cell.seeds) else f"{found} of {len(cell.seeds)}"
