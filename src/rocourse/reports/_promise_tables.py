"""What promises are worth: stated against kept, what they cost beside the oracle's."""

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter

from rocourse.reports._parts import Part, Picture, Table, grouped, shown
from rocourse.reports._promise_figure import draw_promises
from rocourse.reports._promise_reading import (
    COMMON,
    ORACLE,
    PROTOCOLS,
    PromiseLine,
    average,
    beside_oracle,
    by_kind,
    coverage,
    coverage_of_reached,
    over_promises,
    over_records,
    over_seeds,
    told,
    verdict,
)
from rocourse.reports._sense_tables import sample_tables, sense_table

# How far below the stated share what is kept may be: with groups of each set; without, of the mean
# over sets, and of each set.
_WITH_GROUPS, _MEAN_WITHOUT, _EACH_WITHOUT = 0.02, 0.05, 0.15
_LEAST_COVERAGE = 0.7
# The share kept counts as the oracle's from so much below it; then the cost may be so many times
# the oracle's, on average.
_BELOW_ORACLE, _MOST_COST = 0.03, 2.0
_MOST_ACCURACY_LOST = 0.005

_NOTE = (
    "Refused test rows, realistic constraints. Rolling: a model of all years so far promises, the "
    "one retrained with the next year judges. One more subset: a model of all subsets but one, the "
    "one retrained with it judges. Another subset: models of each other subset judge, of which the "
    "promising model knows nothing. Own: the same kind of model; network, boosting, logistic: "
    "common judges of the same rows; alone: a model of the new rows only; unchanged: by the own "
    "kind, without a change. Of all promises of a seed, mean ± standard deviation over seeds. The "
    "oracle knows the judges of the own kind."
)


def promise_parts(
    lines: Sequence[PromiseLine], levels: Sequence[float], sampled: float
) -> list[Part]:
    """The targets and how far they are met, a picture, all figures, and advice to be read.

    Args:
        lines: What was measured.
        levels: The shares that are stated.
        sampled: The one of them whose advice is shown.
    """
    picture = Picture(
        "table-promises",
        "Promises, stated and kept",
        partial(draw_promises, lines, levels),
        description="The share of promises that retrained models keep, by the share stated.",
        note="Points and bars: mean and standard deviation over seeds. On the dotted line, what is "
        "stated is kept; the dashed ones are .02 and .05 below it.",
    )
    return [picture, *promise_tables(lines, levels, sampled)]


def promise_tables(
    lines: Sequence[PromiseLine], levels: Sequence[float], sampled: float
) -> list[Table]:
    """As `promise_parts`, without the picture."""
    names = [f"{level:g}" for level in levels]
    return [
        _calibration_table(lines, names),
        _cost_table(lines, names),
        sense_table(lines, names),
        _all_figures(lines, names),
        _accuracy_table(lines),
        *sample_tables(lines, sampled),
    ]


def _calibration_table(lines: Sequence[PromiseLine], levels: Sequence[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    for line in lines:
        allowed = _EACH_WITHOUT if line.title == "subset" else _WITH_GROUPS
        for level in levels:
            kept = over_promises(line, level, by_kind("own"))
            reached = coverage_of_reached(line, level)
            least, covers = float(level) - allowed, reached.mean
            met = None if kept.mean is None else kept.mean >= least
            if line.title != "subset" and line.records:
                met = bool(met) and covers is not None and covers >= _LEAST_COVERAGE
            rows.append(
                (
                    line.name,
                    level,
                    told(kept),
                    f"{least:.2f}",
                    shown(over_records(line, level, by_kind("own")).mean),
                    told(over_promises(line, level, by_kind("alone")), 2),
                    told(reached, 2),
                    "–" if line.title == "subset" else f"{_LEAST_COVERAGE:.2f}",
                    verdict(met),
                )
            )
    rows += [_mean_without_groups(lines, level) for level in levels]
    columns = grouped(
        ("", ("data", "stated")),
        ("kept", ("of all promises", "at least", "mean of transitions", "by the new subset alone")),
        ("coverage of the oracle's", ("share", "at least")),
        ("", ("met",)),
    )
    note = (
        "Judged by the retrained model of the same kind. Coverage: of the refused for whom the "
        "oracle finds something that the judges keep, the share who are promised something. The "
        "mean of sets is over those that promise anything."
    )
    return Table("Calibrated: as many are kept as stated", columns, tuple(rows), note)


def _mean_without_groups(lines: Sequence[PromiseLine], level: str) -> tuple[str, ...]:
    kept = average(
        over_promises(line, level, by_kind("own")).mean for line in lines if line.title == "subset"
    )
    least = float(level) - _MEAN_WITHOUT
    return (
        f"mean of sets, {PROTOCOLS['subset']}",
        level,
        shown(kept),
        f"{least:.2f}",
        *("–",) * 4,
        verdict(None if kept is None else kept >= least),
    )


def _cost_table(lines: Sequence[PromiseLine], levels: Sequence[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    ratios: dict[tuple[str, str], float | None] = {}
    for line in lines:
        foretold = over_promises(line, ORACLE, by_kind("own")).mean
        # An oracle that convinces nobody sets no bar.
        bar = None if foretold is None else foretold - _BELOW_ORACLE
        kept = {level: over_promises(line, level, by_kind("own")).mean for level in levels}
        known = {level: share for level, share in kept.items() if share is not None}
        enough = [level for level, share in known.items() if share >= (bar or 0.0)]
        best = max(known, key=lambda level: known[level], default=None)
        level = enough[0] if enough else best
        costs = [
            None if level is None else beside_oracle(line, level, cost)
            for cost in ("proximity", "oracle_proximity")
        ]
        ratio = costs[0] / costs[1] if costs[0] is not None and costs[1] else None
        ratios[line.title, line.dataset] = ratio if enough else None
        rows.append(
            (
                line.name,
                shown(bar),
                level or "–",
                shown(None if level is None else known[level]),
                verdict(bool(enough) if line.records else None),
                shown(costs[0], 2),
                shown(costs[1], 2),
                shown(ratio, 2),
            )
        )
    rows += _mean_ratios(ratios)
    columns = grouped(
        ("", ("data",)),
        ("kept", ("oracle's − .03", "at stated", "share", "reached")),
        ("cost for the same people", ("ours", "oracle's", "ratio")),
    )
    note = (
        "At the lowest stated share at which as many promises are kept as the oracle's, less .03; "
        "where none reaches that, at the one that keeps most, which the means leave out. To be at "
        f"most {_MOST_COST:g} on average, over all sets."
    )
    return Table("Cheap: what is asked, beside the oracle", columns, tuple(rows), note)


def _mean_ratios(ratios: Mapping[tuple[str, str], float | None]) -> list[tuple[str, ...]]:
    """Without groups, and with groups of those sets that have any."""
    grouped_sets = {
        dataset: ratio for (title, dataset), ratio in ratios.items() if title != "subset"
    }
    alone = {dataset: ratio for (title, dataset), ratio in ratios.items() if title == "subset"}
    rows: list[tuple[str, ...]] = []
    for name, chosen in (("without groups", alone), ("with groups if any", alone | grouped_sets)):
        mean = average(chosen.values())
        missing = sum(ratio is None for ratio in chosen.values())
        met = mean is not None and mean <= _MOST_COST and not missing
        reached = f"{len(chosen) - missing} of {len(chosen)}"
        rows.append(
            (f"mean of sets, {name}; met: {verdict(met)}", *("–",) * 3, reached, "–", "–")
            + (shown(mean, 2),)
        )
    return rows


def _all_figures(lines: Sequence[PromiseLine], levels: Sequence[str]) -> Table:
    rows = [
        (
            line.name,
            level,
            told(over_promises(line, level, by_kind("own"))),
            *(told(over_promises(line, level, by_kind(kind)), 2) for kind in (*COMMON, "alone")),
            told(over_promises(line, level, by_kind("own", "unchanged")), 2),
            told(coverage(line, level), 2),
            told(coverage(line, ORACLE), 2),
            told(over_promises(line, level, itemgetter("proximity")), 2),
            told(over_promises(line, ORACLE, itemgetter("proximity")), 2),
        )
        for line in lines
        for level in levels
    ]
    columns = grouped(
        ("", ("data", "stated")),
        ("kept by", ("own", *COMMON, "alone")),
        ("", ("unchanged",)),
        ("coverage", ("ours", "oracle")),
        ("cost", ("ours", "oracle")),
    )
    return Table("Promises, stated and kept", columns, tuple(rows), _NOTE)


def _accuracy_table(lines: Sequence[PromiseLine]) -> Table:
    rows = []
    for line in lines:
        plain, ours = (
            over_seeds(line, itemgetter(name)) for name in ("plain_accuracy", "accuracy")
        )
        lost = None if plain.mean is None or ours.mean is None else plain.mean - ours.mean
        met = None if lost is None else lost <= _MOST_ACCURACY_LOST
        rows.append((line.name, told(plain), told(ours), verdict(met)))
    return Table(
        "Accuracy of who promises",
        grouped(("", ("data", "plain network", "RoCourse", "met"))),
        tuple(rows),
        "On all test rows of those who are asked; "
        f"to lose at most {_MOST_ACCURACY_LOST:g}. Mean ± standard deviation over seeds.",
    )
