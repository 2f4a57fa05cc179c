"""Tables of recourses: the paper's figures beside ours, and what a lender asks besides."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rocourse.reports._measured import Measured
from rocourse.reports._names import data_title
from rocourse.reports._paper import PAPER_RESULTS, PAPER_SPREADS, PaperFigures
from rocourse.reports._parts import (
    Part,
    Table,
    difference,
    grouped,
    shown,
    spread,
    two_spreads,
)

# The measure that all is about comes first: wide tables are read from the left.
_MEASURES = ("robust_validity", "validity", "proximity")
_BESIDE = ("paper", "ours", "difference")
_NOTE = (
    "Every test row is flipped, in either direction (protocol all). Ours: mean ± standard "
    "deviation over seeds (of the mean over subsets), then ± that over subsets, which is what the "
    "paper prints. A changed category counts 2 in proximity. A constant model gives every test row "
    "the same class, so that what it says of recourses means little."
)
_ADVERSE_NOTE = (
    "Protocol adverse: only rows that the model refuses, asking for approval. Unchanged: the share "
    "that the other models approve without any change. Inliers: the share of advice that lies "
    "where 95% of approved training rows do. The last two columns are the other direction, from "
    "approved to refused, which the paper's figures also count. Mean ± standard deviation over "
    "seeds."
)
_PROTOCOLS = ("all", "adverse")
_ORACLE_MEASURES = ("robust_validity", "proximity", "features_changed")
_ORACLE_NOTE = (
    "The oracle edits rows as RoCoursePanel does, with the judges themselves as its panel: no "
    "margins, no guessing. What it misses, no single edits reach: most of it are models that give "
    "all rows one class. Mean ± standard deviation over seeds."
)
# Title, protocol and measure.
_ADVERSE_COLUMNS = (
    ("validity", "adverse", "validity"),
    ("robust validity", "adverse", "robust_validity"),
    ("unchanged", "adverse", "unchanged_validity"),
    ("proximity", "adverse", "proximity"),
    ("features changed", "adverse", "features_changed"),
    ("inliers", "adverse", "inliers"),
    ("validity", "to_unfavourable", "validity"),
    ("robust validity", "to_unfavourable", "robust_validity"),
)


def recourse_tables(lines: Sequence[Measured]) -> list[Part]:
    """A table a data set with the paper's figures, and one of refused rows."""
    *first, last = (
        _paper_table(data_title(dataset), group) for dataset, group in _by_dataset(lines).items()
    )
    return [*first, replace(last, note=_NOTE), _adverse_table(lines)]


def oracle_tables(lines: Sequence[Measured]) -> list[Part]:
    """What a method could do that knew all future models, beside what is done without."""
    measures = [(protocol, metric) for protocol in _PROTOCOLS for metric in _ORACLE_MEASURES]
    columns = grouped(
        ("", ("data", "method")),
        *(
            (f"protocol {name}", [m.replace("_", " ") for m in _ORACLE_MEASURES])
            for name in _PROTOCOLS
        ),
    )
    rows = tuple(spread_row(line, measures) for line in lines)
    return [Table("How far from the oracle", columns, rows, _ORACLE_NOTE)]


def _by_dataset(lines: Sequence[Measured]) -> dict[str, list[Measured]]:
    groups: dict[str, list[Measured]] = {}
    for line in lines:
        groups.setdefault(line.dataset, []).append(line)
    return groups


def _paper_table(title: str, lines: Sequence[Measured]) -> Table:
    columns = grouped(
        ("", ("method",)),
        *((name.replace("_", " "), _BESIDE) for name in _MEASURES),
        ("", ("constant models", "seeds")),
    )
    return Table(title, columns, tuple(map(_paper_row, lines)))


def _paper_row(line: Measured) -> tuple[str, ...]:
    means, stds = (
        by_dataset.get(line.dataset, {}).get(line.method, PaperFigures(None, None, None))
        for by_dataset in (PAPER_RESULTS, PAPER_SPREADS)
    )
    row = [line.name]
    for name in _MEASURES:
        theirs = getattr(means, name)
        over_seeds, over_subsets = line.measure(name)
        row += [
            spread(theirs, getattr(stds, name)),
            two_spreads(over_seeds, over_subsets),
            difference(over_seeds.mean, theirs),
        ]
    constant = "–" if line.result is None else str(sum(line.result.constant.values()))
    return (*row, constant, line.seeds_text)


def _adverse_table(lines: Sequence[Measured]) -> Table:
    measures = [(protocol, metric) for _, protocol, metric in _ADVERSE_COLUMNS]
    rows = tuple(spread_row(line, measures) for line in lines)
    columns = grouped(
        ("", ("data", "method")),
        ("refused rows", [name for name, protocol, _ in _ADVERSE_COLUMNS if protocol == "adverse"]),
        (
            "approved rows",
            [name for name, protocol, _ in _ADVERSE_COLUMNS if protocol != "adverse"],
        ),
    )
    return Table("What refused applicants are told", columns, rows, _ADVERSE_NOTE)


def spread_row(line: Measured, measures: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Data, method, and some measures (protocol, name) with their spread over seeds."""
    figures = (line.measure(metric, protocol)[0] for protocol, metric in measures)
    return (
        data_title(line.dataset),
        line.name,
        *(spread(figure.mean, figure.std) for figure in figures),
    )


def figure_table(
    title: str, first: str, lines: Sequence[tuple[str, Measured]], note: str = ""
) -> Table:
    """The numbers behind a figure, as far as there are any: what was varied, what came of it.

    Args:
        title: Of the table.
        first: What was varied.
        lines: Its value, as text, and what was measured there.
        note: What to know when reading it.
    """
    rows = []
    for value, line in lines:
        if line.result is None:
            continue
        row = [value, data_title(line.dataset), line.name]
        for name in _MEASURES:
            over_seeds, over_subsets = line.measure(name)
            row += [shown(over_seeds.mean), shown(over_seeds.std), shown(over_subsets.std)]
        rows.append((*row, line.seeds_text))
    columns = grouped(
        ("", (first, "data", "method")),
        *((name.replace("_", " "), ("mean", "± seeds", "± subsets")) for name in _MEASURES),
        ("", ("seeds",)),
    )
    return Table(title, columns, tuple(rows), note)
