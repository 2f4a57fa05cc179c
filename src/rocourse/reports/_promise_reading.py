"""What is read off the records of promises: shares of all promises of a seed, over seeds."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rocourse.evaluation import Aggregate
from rocourse.reports._names import data_title
from rocourse.reports._parts import spread

COMMON = ("network", "boosting", "logistic")
"""The kinds of common judges."""

ORACLE = "oracle"
"""Where the scores of the oracle stand, as if it were a level."""

PROTOCOLS = {"rolling": "rolling", "groups": "one more subset", "subset": "another subset"}
"""What protocols are called."""

Scores = Mapping[str, Any]
Read = Callable[[Scores], float | None]


class PromiseLine(NamedTuple):
    """What was measured of one protocol or method on one data set."""

    title: str
    dataset: str
    records: Sequence[Mapping[str, Any]]
    """Of each transition and seed."""

    @property
    def name(self) -> str:
        """The data set and the protocol."""
        return f"{data_title(self.dataset)}, {PROTOCOLS[self.title]}"


def by_kind(kind: str, part: str = "kept") -> Read:
    """The mean share over judges of a kind."""

    def read(scores: Scores) -> float | None:
        return average(share for name, share in scores[part].items() if name.split(" ")[0] == kind)

    return read


def by_common(part: str = "kept") -> Read:
    """The mean share over the kinds of common judges."""
    return lambda scores: average(by_kind(kind, part)(scores) for kind in COMMON)


def average(values: Any) -> float | None:
    """The mean of those that there are."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def scores_at(record: Mapping[str, Any], level: str) -> Scores | None:
    """What a level came to, or the oracle."""
    found: Scores | None = record["oracle"] if level == ORACLE else record["levels"].get(level)
    return found


def over_promises(line: PromiseLine, level: str, read: Read, count: str = "promised") -> Aggregate:
    """Over seeds, of the mean over all promises of a seed.

    Args:
        line: Whose records.
        level: As records call it.
        read: A mean over the promises of a record.
        count: Which number there were of them; `advised` of all advice.
    """
    return over_counts(line, level, lambda scores: (read(scores), scores[count]))


def over_counts(
    line: PromiseLine, level: str, read: Callable[[Scores], tuple[float | None, int]]
) -> Aggregate:
    """Over seeds, of the mean that counts each record as often as it says."""
    sums: dict[int, float] = defaultdict(float)
    counts: dict[int, int] = defaultdict(int)
    for record in line.records:
        scores = scores_at(record, level)
        value, count = (None, 0) if scores is None else read(scores)
        if value is not None and count:
            sums[record["seed"]] += value * count
            counts[record["seed"]] += count
    return Aggregate.of(sums[seed] / counts[seed] for seed in counts)


def over_records(line: PromiseLine, level: str, read: Read) -> Aggregate:
    """Over seeds, of the mean over records, however many promises each has."""

    def value(record: Mapping[str, Any]) -> float | None:
        scores = scores_at(record, level)
        return None if scores is None else read(scores)

    return over_seeds(line, value)


def over_seeds(line: PromiseLine, read: Callable[[Mapping[str, Any]], float | None]) -> Aggregate:
    """Over seeds, of the mean of something about a whole record."""
    by_seed: dict[int, list[float]] = defaultdict(list)
    for record in line.records:
        value = read(record)
        if value is not None:
            by_seed[record["seed"]].append(value)
    return Aggregate.of(sum(values) / len(values) for values in by_seed.values())


def coverage(line: PromiseLine, level: str) -> Aggregate:
    """The share of the refused who are promised something."""
    return over_counts(line, level, lambda s: (_share(s["promised"], s["refused"]), s["refused"]))


def coverage_of_reached(line: PromiseLine, level: str) -> Aggregate:
    """The share of those for whom the oracle finds something who are promised something."""

    def read(scores: Scores) -> tuple[float | None, int]:
        beside = scores["beside_oracle"]
        return _share(beside["promised"], beside["reached"]), beside["reached"]

    return over_counts(line, level, read)


def beside_oracle(line: PromiseLine, level: str, cost: str) -> float | None:
    """The mean cost for those whom both the method and the oracle promise something."""

    def read(scores: Scores) -> tuple[float | None, int]:
        return scores["beside_oracle"][cost], scores["beside_oracle"]["promised"]

    return over_counts(line, level, read).mean


def told(found: Aggregate, digits: int = 3) -> str:
    """A mean with its spread over seeds."""
    return spread(found.mean, found.std, digits=digits)


def verdict(met: bool | None) -> str:
    """Whether a target is met, of what there is so far."""
    return "–" if met is None else "yes" if met else "no"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
