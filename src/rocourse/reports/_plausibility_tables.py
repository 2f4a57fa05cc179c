"""Whether advice looks real: usual values, inliers, and some of it to read."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocourse.reports._measured import Measured
from rocourse.reports._names import data_title
from rocourse.reports._parts import Part, Table, grouped, shown
from rocourse.reports._recourse_tables import spread_row

SAMPLES = 20
"""How many recourses of a data set are there to read."""

Advice = tuple[str, Mapping[str, Any]]
"""A subset, and what one of its refused applicants is told."""

_MEASURES = (
    ("usual values", "usual"),
    ("inliers", "inliers"),
    ("neighbour distance", "neighbour_distance"),
)
_NOTE = (
    "Usual values: the share of recourses that take every number they change to within the 1st and "
    "99th percentile of its column among the training rows. Inliers: the share whose local outlier "
    "factor among training rows of the desired class is no higher than that of 95% of these rows. "
    "Neighbour distance: the mean L1 distance from the five nearest of them. Mean ± standard "
    "deviation over seeds."
)
_PROTOCOLS = ("all", "adverse")


def plausible_tables(
    lines: Sequence[Measured], samples: Mapping[str, Sequence[Advice]]
) -> list[Part]:
    """One table of measures, and one a data set with advice in raw units."""
    measures = [(protocol, metric) for protocol in _PROTOCOLS for _, metric in _MEASURES]
    columns = grouped(
        ("", ("data", "method")),
        *((f"protocol {name}", [title for title, _ in _MEASURES]) for name in _PROTOCOLS),
    )
    rows = tuple(spread_row(line, measures) for line in lines)
    read = (_sample_table(dataset, advice) for dataset, advice in samples.items())
    return [Table("Plausibility", columns, rows, _NOTE), *read]


def _sample_table(dataset: str, advice: Sequence[Advice]) -> Table:
    rows = tuple(
        (
            subset,
            "; ".join(applicant["changes"]) or "nothing found",
            shown(applicant["proximity"], 2),
        )
        for subset, applicant in advice[:SAMPLES]
    )
    return Table(
        f"{data_title(dataset)}: what refused applicants are told by RoCoursePanel",
        (("", "subset"), ("", "changes"), ("", "proximity")),
        rows,
        "Drawn at random among refused test rows of the first seed.",
    )
