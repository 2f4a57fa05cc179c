"""Promises judged by what comes next: jobs, work, and what is shown of them.

Three protocols. `rolling`: a model of all periods up to one promises to the refused of that period;
the model retrained with the next period judges. `groups`: a model of all subsets but one promises
to their refused; the model retrained with the last one judges. `subset`: a model of one subset,
without a look at any other, promises; models of each other subset judge.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rocourse.datasets import list_datasets
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._promise_work import LOCAL, SAMPLED_LEVEL
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._scales import Scale
from rocourse.reports import Part, PromiseLine, judge_parts, promise_parts

LEVELS = (0.8, 0.9, 0.95, 0.99)
# What it costs to keep as many promises as other methods do: some keep few, and cheaply.
FRONTIER = (0.5, 0.65, *LEVELS)

_LOAN = tuple(next(info.subsets for info in list_datasets() if info.name == "loan"))
_YEARS = ("1999", "2004", "2009")
_OTHERS = ("counternet", "rocoursenet", "roar", "rbr")


def promise_jobs(scale: Scale) -> list[Job]:
    """Our own method at all levels, in all protocols."""
    jobs = [job for _, jobs in _lines(scale) for job in jobs]
    return sorted(jobs, key=lambda job: int(job.inputs["seed"]))


def show_promises(scale: Scale, results: Results) -> list[Part]:
    """Stated against kept."""
    lines = [
        PromiseLine(*title, [results[job] for job in jobs if job in results])
        for title, jobs in _lines(scale)
    ]
    return promise_parts(lines, LEVELS, SAMPLED_LEVEL)


def judge_jobs(scale: Scale) -> list[Job]:
    """Our own method and others with their defaults, on the same rows and judges."""
    jobs = [job for *_, jobs in _compared(scale) for job in jobs]
    # Methods that have their judges in common come after each other, which trains them once.
    return sorted(jobs, key=lambda job: (job.inputs["seed"], job.inputs["dataset"], job.label))


def show_judges(scale: Scale, results: Results) -> list[Part]:
    """What judges of three kinds keep."""
    lines = [
        PromiseLine(method, dataset, [results[job] for job in jobs if job in results])
        for method, dataset, jobs in _compared(scale)
    ]
    return judge_parts(lines)


def _compared(scale: Scale) -> list[tuple[str, str, list[Job]]]:
    return [
        (method, dataset, _alone(dataset, subsets, rows, seeds, method))
        for dataset, subsets, rows, seeds in _singles(scale)
        for method in (*_OTHERS, "rocourse")
    ]


def _alone(
    dataset: str, subsets: Sequence[str], rows: int | None, seeds: int, method: str
) -> list[Job]:
    """A method on each subset by itself, judged by models of the others."""
    return [
        promise_job("subset", dataset, (name,), others, seed, method, rows)
        for seed in range(seeds)
        for name, others in each_and_others(subsets)
    ]


def _lines(scale: Scale) -> list[tuple[tuple[str, str], list[Job]]]:
    small = scale.name == "quick"
    seeds, loan_seeds, loan_rows = (1, 1, 1500) if small else (5, 3, 1500)
    years = _LOAN[:3] if small else _LOAN
    lines = [
        (
            ("rolling", "loan"),
            [
                promise_job(
                    "rolling",
                    "loan",
                    years[: place + 1],
                    (years[place + 1],),
                    seed,
                    "rocourse",
                    loan_rows,
                )
                for seed in range(loan_seeds)
                for place in range(len(years) - 1)
            ],
        )
    ]
    for dataset, known in LOCAL.items():
        jobs = [
            promise_job("groups", dataset, others, (name,), seed, "rocourse", None)
            for seed in range(seeds)
            for name, others in each_and_others(known.subsets)
        ]
        lines.append((("groups", dataset), jobs))
    for dataset, subsets, rows, count in _singles(scale):
        lines.append((("subset", dataset), _alone(dataset, subsets, rows, count, "rocourse")))
    return lines


def _singles(scale: Scale) -> list[tuple[str, tuple[str, ...], int | None, int]]:
    """Data set, subsets, most rows of each, and seeds."""
    small = scale.name == "quick"
    seeds, loan_seeds = (1, 1) if small else (5, 3)
    return [
        ("german_credit", ("org", "upt"), None, seeds),
        ("student", ("gp", "ms"), None, seeds),
        ("loan", _YEARS, 1500 if small else 3000, loan_seeds),
        *((name, known.subsets, None, seeds) for name, known in LOCAL.items()),
    ]


def each_and_others(names: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Each name with all the others."""
    return [(name, tuple(other for other in names if other != name)) for name in names]


def promise_job(
    protocol: str,
    dataset: str,
    known: Sequence[str],
    new: Sequence[str],
    seed: int,
    method: str,
    rows: int | None,
    *,
    options: Mapping[str, Any] | None = None,
    levels: Sequence[float] | None = None,
) -> Job:
    """A job about promises.

    Args:
        protocol: One of those above.
        dataset: A name that the work knows how to load.
        known: The subsets that the promising model learns from.
        new: Those that the judges learn from.
        seed: Of draws and fits.
        method: Who promises.
        rows: The most rows of each subset.
        options: What differs from the method's defaults.
        levels: The shares to state, if not those that the protocol is shown with.
    """
    shown = () if method != "rocourse" else FRONTIER if protocol == "subset" else LEVELS
    inputs = {
        "protocol": protocol,
        "dataset": dataset,
        "subset": f"{known[-1]} → {'+'.join(new)}" if protocol != "subset" else known[0],
        "known": tuple(known),
        "new": tuple(new),
        "seed": seed,
        "method": method,
        "options": options or {},
        "levels": shown if levels is None else levels,
    }
    return Job("promises", inputs if rows is None else {**inputs, "rows": rows})
