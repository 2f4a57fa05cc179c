"""Whether promises are sensible, and some of them to be read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rocourse.reports._names import data_title
from rocourse.reports._parts import Table, grouped, shown
from rocourse.reports._plausibility_tables import SAMPLES
from rocourse.reports._promise_reading import PROTOCOLS, PromiseLine, scores_at, verdict

LEAST_INLIERS = 0.95
# A value that more of the people are told to reach must be one that more of the accepted have.
_MOST_TOLD, _LEAST_ACCEPTED = 0.3, 0.15
# Of fewer people, one in three may be one person.
_FEWEST_PEOPLE = 10


class _Sense(NamedTuple):
    """How sensible what was told at a level is, over all records of a line."""

    usual: float | None
    inliers: float | None
    models: int
    """That told something to enough people."""
    uniform: int
    """Those of them that told too many of them the same."""
    worst: tuple[float, str]


def sense_table(lines: Sequence[PromiseLine], levels: Sequence[str]) -> Table:
    """A line a protocol and data set: usual numbers, inliers, and values that too many are told."""
    rows = []
    for line in lines:
        promises = [_sense(line, level, "promises") for level in levels]
        advice = [_sense(line, level, "advice") for level in levels]
        usual, inliers = _least(promises, "usual"), _least(promises, "inliers")
        uniform = sum(sense.uniform for sense in promises)
        met = usual == 1.0 and (inliers or 0.0) >= LEAST_INLIERS and not uniform
        rows.append(
            (
                line.name,
                shown(usual),
                shown(inliers),
                f"{uniform} of {sum(sense.models for sense in promises)}",
                max(sense.worst for sense in promises)[1] or "–",
                shown(_least(advice, "usual")),
                shown(_least(advice, "inliers")),
                verdict(None if usual is None and inliers is None else met),
            )
        )
    columns = grouped(
        ("", ("data",)),
        ("promises", ("usual numbers", "inliers", "models that tell one value", "changes")),
        ("all advice", ("usual numbers", "inliers")),
        ("", ("met",)),
    )
    note = (
        "Usual numbers: the share of changed numbers within the 1st and 99th percentile of the "
        f"training rows; to be 1. Inliers: to be {LEAST_INLIERS:g}. The least of both over the "
        "stated shares. Models that tell one value: of fitted models and stated shares with at "
        f"least {_FEWEST_PEOPLE} promises, those that tell more than {_MOST_TOLD:.0%} of people to "
        f"reach a value that at most {_LEAST_ACCEPTED:.0%} of the accepted training rows have; "
        "and the value that most are told so."
    )
    return Table("Sensible: what people are told", columns, tuple(rows), note)


def _sense(line: PromiseLine, level: str, of: str) -> _Sense:
    records = [
        scores["sense"][of]
        for record in line.records
        if (scores := scores_at(record, level)) is not None
    ]
    numbers = sum(each["numbers"] for each in records)
    measured = [each for each in records if each["inliers"] is not None]
    people = sum(each["people"] for each in measured)
    enough = [each for each in records if each["people"] >= _FEWEST_PEOPLE]
    uniform = [found for each in enough if (found := list(_uniform(each)))]
    return _Sense(
        sum(each["usual_numbers"] for each in records) / numbers if numbers else None,
        sum(each["inliers"] * each["people"] for each in measured) / people if people else None,
        len(enough),
        len(uniform),
        max((max(found) for found in uniform), default=(0.0, "")),
    )


def _uniform(sense: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Values that too many are told to reach, each with the share of people."""
    for value in sense["frequent"]:
        share = value["told"] / sense["people"]
        if share > _MOST_TOLD and value["accepted"] <= _LEAST_ACCEPTED:
            text = f"{value['feature']}: {value['value']}"
            yield share, f"{text} ({share:.0%} of people, {value['accepted']:.0%} of accepted)"


def _least(senses: Sequence[_Sense], name: str) -> float | None:
    return min((v for sense in senses if (v := getattr(sense, name)) is not None), default=None)


def sample_tables(lines: Sequence[PromiseLine], level: float) -> list[Table]:
    """Twenty recourses of each data set, of as many models as there are."""
    tables = []
    for dataset in dict.fromkeys(line.dataset for line in lines):
        drawn = [
            ((place, record["seed"]), PROTOCOLS[line.title], record["subset"], sample)
            for line in lines
            if line.dataset == dataset
            for record in line.records
            for place, sample in enumerate(record["samples"])
        ]
        # The first of every model before the second of any.
        drawn.sort(key=lambda each: each[0])
        if drawn:
            tables.append(
                Table(
                    f"{data_title(dataset)}: what refused applicants are told by RoCourse",
                    grouped(("", ("protocol", "subset", "changes", "cost", "promised"))),
                    tuple(map(_sample, drawn[:SAMPLES])),
                    f"Drawn at random among promises at {level:g}; of models that promise nothing, "
                    "among what else they advise.",
                )
            )
    return tables


def _sample(drawn: tuple[tuple[int, int], str, str, Mapping[str, Any]]) -> tuple[str, ...]:
    _, protocol, subset, sample = drawn
    changes = "; ".join(sample["changes"])
    return protocol, subset, changes, shown(sample["proximity"], 2), verdict(sample["promised"])
