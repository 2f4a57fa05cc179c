"""What RoCourse was to reach in the paper's protocol."""

from collections.abc import Sequence
from typing import NamedTuple

from rocourse.reports._measured import Measured
from rocourse.reports._names import data_title
from rocourse.reports._parts import Table, grouped, shown, spread
from rocourse.reports._promise_reading import average, verdict


class _Target(NamedTuple):
    robust_validity: float
    proximity: float


_TARGETS = {
    "loan": _Target(0.96, 2.6),
    "german_credit": _Target(0.96, 3.5),
    "student": _Target(0.99, 8.0),
}
_MOST_ACCURACY_LOST = 0.005


class FlagshipLine(NamedTuple):
    """A data set."""

    ours: Measured
    plain_accuracies: Sequence[float]
    """Of plain networks of the same rows."""


def flagship_table(lines: Sequence[FlagshipLine]) -> Table:
    """A line a data set: measures, and what they were to be."""
    columns = grouped(
        ("", ("data",)),
        ("robust validity", ("ours", "at least")),
        ("proximity", ("ours", "at most")),
        ("", ("validity",)),
        ("accuracy", ("ours", "plain network", "at least")),
        ("", ("met",)),
    )
    note = (
        "Every test row is flipped, in either direction, and every attempt is judged, promised or "
        "not, by models of the same kind of all other subsets. Plain network: library defaults, of "
        "the same rows. Mean ± standard deviation over seeds."
    )
    rows = tuple(map(_row, lines))
    return Table("Paper's protocol: what was to be reached", columns, rows, note)


def _row(line: FlagshipLine) -> tuple[str, ...]:
    target = _TARGETS[line.ours.dataset]
    robust, cost, valid, right = (
        line.ours.measure(name)[0]
        for name in ("robust_validity", "proximity", "validity", "accuracy")
    )
    plain = average(line.plain_accuracies)
    least = None if plain is None else plain - _MOST_ACCURACY_LOST
    met = None
    if robust.mean is not None and cost.mean is not None and right.mean is not None:
        met = robust.mean >= target.robust_validity and cost.mean <= target.proximity
        met = met and least is not None and right.mean >= least
    return (
        data_title(line.ours.dataset),
        spread(robust.mean, robust.std),
        f"{target.robust_validity:.2f}",
        spread(cost.mean, cost.std, digits=2),
        f"{target.proximity:.1f}",
        spread(valid.mean, valid.std),
        spread(right.mean, right.std),
        shown(plain),
        shown(least),
        verdict(met),
    )
