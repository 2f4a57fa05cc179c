"""Methods before common judges: what each keeps and costs, and who is beaten."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from rocourse.evaluation import Aggregate
from rocourse.reports._names import METHOD_TITLES, data_title
from rocourse.reports._parts import Part, Table, grouped, shown
from rocourse.reports._promise_reading import (
    COMMON,
    PromiseLine,
    Scores,
    average,
    by_common,
    by_kind,
    coverage,
    over_counts,
    over_promises,
    told,
    verdict,
)

_OURS = "rocourse"
_STATED, _LEAST_AVERAGE = "0.95", 0.9
_PLACES = ("promises", "all advice")


class _Point(NamedTuple):
    """What one method, at one level, keeps and costs on a data set."""

    level: str
    kept: float
    cost: float
    coverage: float | None


def judge_parts(lines: Sequence[PromiseLine]) -> list[Part]:
    """Who is beaten on which data set, and a line a data set, method and level."""
    by_data: dict[str, dict[str, PromiseLine]] = {}
    for line in lines:
        if line.records:
            by_data.setdefault(line.dataset, {})[line.title] = line
    return [_beaten_table(by_data), _average_table(by_data), _all_figures(by_data)]


def _levels(line: PromiseLine) -> list[str]:
    return list(dict.fromkeys(level for record in line.records for level in record["levels"]))


def _points(line: PromiseLine, place: str) -> list[_Point]:
    """Of promises or of all advice."""
    promised = place == "promises"
    count, kept, cost = (
        ("promised", "kept", "proximity")
        if promised
        else ("advised", "kept_advised", "advised_proximity")
    )
    points = []
    for level in _levels(line):
        share = over_promises(line, level, by_common(kept), count).mean
        mean_cost = over_promises(line, level, itemgetter(cost), count).mean
        if share is not None and mean_cost is not None:
            covered = (coverage(line, level) if promised else _advised(line, level)).mean
            points.append(_Point(level, share, mean_cost, covered))
    return points


def _advised(line: PromiseLine, level: str) -> Aggregate:
    def read(scores: Scores) -> tuple[float | None, int]:
        return scores["advised"] / max(scores["refused"], 1), scores["refused"]

    return over_counts(line, level, read)


def _beaten_table(by_data: dict[str, dict[str, PromiseLine]]) -> Table:
    rows = []
    for dataset, methods in by_data.items():
        ours = methods.get(_OURS)
        for method, line in methods.items():
            theirs = _points(line, "all advice")
            if method == _OURS or not theirs:
                continue
            other = theirs[0]
            row = [data_title(dataset), METHOD_TITLES[method]]
            row += [shown(other.kept), shown(other.cost, 2), shown(other.coverage, 2)]
            for place in _PLACES:
                row += _against(other, [] if ours is None else _points(ours, place))
            rows.append(tuple(row))
    told_of = ("at", "kept", "cost", "coverage", "beaten")
    columns = grouped(
        ("", ("data", "method")),
        ("it", ("kept", "cost", "coverage")),
        *((f"RoCourse, {place}", told_of) for place in _PLACES),
    )
    note = (
        "Kept: mean over the three common judges, of each other subset's rows. RoCourse stands "
        "there at the cheapest stated share at which it keeps at least as many, or, where none "
        "does, at the one that keeps most; the other is beaten if that costs no more. Coverage: "
        "the share of the refused who are told something; promises are made to fewer people."
    )
    return Table("Before common judges at equal or lower cost", columns, tuple(rows), note)


def _against(other: _Point, ours: Sequence[_Point]) -> list[str]:
    if not ours:
        return ["–"] * 5
    enough = [point for point in ours if point.kept >= other.kept]
    if enough:
        best = min(enough, key=lambda point: point.cost)
    else:
        best = max(ours, key=lambda point: point.kept)
    beaten = bool(enough) and best.cost <= other.cost
    figures = (shown(best.kept), shown(best.cost, 2), shown(best.coverage, 2))
    return [best.level, *figures, verdict(beaten)]


def _average_table(by_data: dict[str, dict[str, PromiseLine]]) -> Table:
    """What is kept at the usual share."""
    rows: list[tuple[str, ...]] = []
    found: dict[str, list[float]] = {place: [] for place in _PLACES}
    for dataset, methods in by_data.items():
        row = [data_title(dataset)]
        for place in _PLACES:
            points = _points(methods[_OURS], place) if _OURS in methods else []
            at = [point for point in points if point.level == _STATED]
            found[place] += [point.kept for point in at]
            row += [shown(at[0].kept), shown(at[0].coverage, 2)] if at else ["–", "–"]
        rows.append((*row, "–"))
    means = {place: average(shares) for place, shares in found.items()}
    promised = means["promises"]
    met = None if promised is None else promised >= _LEAST_AVERAGE
    rows.append(
        ("mean", shown(promised), "–", shown(means["all advice"]), "–", verdict(met)),
    )
    columns = grouped(
        ("", ("data",)),
        *((place, ("kept", "coverage")) for place in _PLACES),
        ("", (f"met, at least {_LEAST_AVERAGE:g}",)),
    )
    note = f"RoCourse at {_STATED}. The mean is over sets where anything is promised."
    return Table("What common judges keep on average", columns, tuple(rows), note)


def _all_figures(by_data: dict[str, dict[str, PromiseLine]]) -> Table:
    rows = []
    for dataset, methods in by_data.items():
        for method, line in methods.items():
            for level in _levels(line):
                read: Callable[..., Aggregate] = partial(over_promises, line, level)
                stated = f", kept {level}" if method == _OURS else ""
                rows.append(
                    (
                        data_title(dataset),
                        METHOD_TITLES[method] + stated,
                        told(read(by_common())),
                        *(told(read(by_kind(kind)), 2) for kind in (*COMMON, "own")),
                        told(read(by_common("unchanged")), 2),
                        told(coverage(line, level), 2),
                        told(read(itemgetter("proximity")), 2),
                        told(read(by_common("kept_advised"), "advised"), 2),
                        told(read(itemgetter("advised_proximity"), "advised"), 2),
                        told(over_counts(line, level, _usual), 2),
                        told(over_counts(line, level, _inliers), 2),
                    )
                )
    columns = grouped(
        ("", ("data", "method")),
        ("promises kept by", ("common judges", *COMMON, "own", "unchanged")),
        ("", ("coverage", "cost")),
        ("all advice", ("common judges", "cost", "usual numbers", "inliers")),
    )
    note = (
        "Refused test rows, realistic constraints, models of each other subset as judges, library "
        "defaults. Common judges: mean of the three. Methods that do not promise are taken at "
        "their word: what is valid today is promised. Usual numbers: within the 1st and 99th "
        "percentile of the training rows. Mean ± standard deviation over seeds."
    )
    return Table("Methods before common judges", columns, tuple(rows), note)


def _usual(scores: Scores) -> tuple[float | None, int]:
    sense = scores["sense"]["advice"]
    return (sense["usual_numbers"] / max(sense["numbers"], 1), sense["numbers"])


def _inliers(scores: Scores) -> tuple[float | None, int]:
    sense = scores["sense"]["advice"]
    return sense["inliers"], sense["people"]
