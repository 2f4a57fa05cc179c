"""Variants of a method beside each other, over all tables and on each."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from rocourse.reports._names import data_title
from rocourse.reports._parts import Part, Table, grouped, shown
from rocourse.reports._promise_reading import (
    PROTOCOLS,
    PromiseLine,
    average,
    beside_oracle,
    by_kind,
    coverage_of_reached,
    over_promises,
    scores_at,
)
from rocourse.reports._promise_tables import promise_tables

Variants = Mapping[str, Sequence[PromiseLine]]


class _Worth(NamedTuple):
    """What a variant's promises on one table are worth."""

    kept: float | None
    coverage: float | None
    cost: float | None
    ratio: float | None
    """Of the cost to the oracle's, for the same people."""


def development_parts(variants: Variants, levels: Sequence[float], sampled: float) -> list[Part]:
    """What variants come to, and all tables of promises for the first of them.

    Args:
        variants: What was measured, by what a variant is called.
        levels: The shares that are stated.
        sampled: The one of them whose advice is shown.
    """
    names = [f"{level:g}" for level in levels]
    first = next(iter(variants.values()))
    return [
        _summary(variants, names),
        _by_table(variants, names),
        *promise_tables(first, levels, sampled),
    ]


def _summary(variants: Variants, levels: Sequence[str]) -> Table:
    rows = []
    for variant, lines in variants.items():
        for protocol in PROTOCOLS:
            found = [line for line in lines if line.title == protocol and line.records]
            rows += [_mean_row(variant, protocol, level, found) for level in levels if found]
    columns = grouped(
        ("", ("variant", "protocol", "stated")),
        ("kept", ("mean of tables", "worst table", "share")),
        ("", ("tables that promise", "coverage of the oracle's")),
        ("cost", ("mean of tables", "to the oracle's")),
    )
    note = (
        "Judged by models of the same kind. Shares and costs are means over the tables that "
        "promise anything, coverage over all. To the oracle's: the ratio for the same people."
    )
    return Table("What was tried", columns, tuple(rows), note)


def _mean_row(
    variant: str, protocol: str, level: str, lines: Sequence[PromiseLine]
) -> tuple[str, ...]:
    worth = {data_title(line.dataset): _worth(line, level) for line in lines}
    kept = {name: each.kept for name, each in worth.items() if each.kept is not None}
    worst = min(kept, key=lambda name: kept[name], default=None)
    means = _Worth(*(average(values) for values in zip(*worth.values(), strict=True)))
    return (
        variant,
        PROTOCOLS[protocol],
        level,
        shown(means.kept),
        worst or "–",
        shown(None if worst is None else kept[worst]),
        f"{len(kept)} of {len(lines)}",
        shown(means.coverage, 2),
        shown(means.cost, 2),
        shown(means.ratio, 2),
    )


def _by_table(variants: Variants, levels: Sequence[str]) -> Table:
    """Without groups: with them there is but one variant."""
    alone = {
        variant: {line.dataset: line for line in lines if line.title == "subset"}
        for variant, lines in variants.items()
    }
    datasets = dict.fromkeys(
        dataset for lines in alone.values() for dataset, line in lines.items() if line.records
    )
    rows = []
    for dataset in datasets:
        for level in levels:
            worths = [_worth(lines[dataset], level) for lines in alone.values()]
            cells = ((shown(w.kept), shown(w.coverage, 2), shown(w.cost, 2)) for w in worths)
            refused = max(_refused(lines[dataset], level) for lines in alone.values())
            rows.append(
                (data_title(dataset), str(refused), level)
                + tuple(cell for each in cells for cell in each)
            )
    columns = grouped(
        ("", ("data", "refused", "stated")),
        *((variant, ("kept", "coverage", "cost")) for variant in variants),
    )
    note = (
        f"{PROTOCOLS['subset'].capitalize()}: models of each other group judge. Refused: who is "
        "asked for; of few, a share says little."
    )
    return Table("What was tried, table by table", columns, tuple(rows), note)


def _refused(line: PromiseLine, level: str) -> int:
    found = (scores_at(record, level) for record in line.records)
    return sum(scores["refused"] for scores in found if scores is not None)


def _worth(line: PromiseLine, level: str) -> _Worth:
    ours, oracles = (beside_oracle(line, level, cost) for cost in ("proximity", "oracle_proximity"))
    return _Worth(
        over_promises(line, level, by_kind("own")).mean,
        coverage_of_reached(line, level).mean,
        over_promises(line, level, itemgetter("proximity")).mean,
        ours / oracles if ours is not None and oracles else None,
    )
