"""What promises are worth: stated against kept, and methods before common judges."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from rocourse.evaluation import Aggregate
from rocourse.reports._axes import dress, new_figure
from rocourse.reports._names import METHOD_TITLES, data_title
from rocourse.reports._parts import Part, Picture, Table, grouped, shown
from rocourse.reports._theme import Theme

_COMMON = ("network", "boosting", "logistic")
_PROTOCOLS = {"rolling": "rolling", "groups": "one more subset", "subset": "another subset"}
_NOTE = (
    "Refused test rows, realistic constraints. Rolling: a model of all years so far promises, the "
    "one retrained with the next year judges. One more subset: a model of all subsets but one, the "
    "one retrained with it judges. Another subset: models of each other subset judge, of which the "
    "promising model knows nothing. Own: the same kind of model; network, boosting, logistic: "
    "common judges of the same rows; alone: a model of the new rows only; unchanged: by the own "
    "kind, without a change. Mean ± standard deviation over seeds of the mean over transitions. "
    "The oracle knows the judges of the own kind."
)


class PromiseLine(NamedTuple):
    """What was measured of one protocol or method on one data set."""

    title: str
    dataset: str
    records: Sequence[Mapping[str, Any]]
    """Of each transition and seed."""


Read = Callable[[Mapping[str, Any]], float | None]


def _by(kind: str, part: str = "kept") -> Read:
    """The mean share over judges of a kind."""

    def read(scores: Mapping[str, Any]) -> float | None:
        shares = [
            share
            for name, share in scores[part].items()
            if name.split(" ")[0] == kind and share is not None
        ]
        return sum(shares) / len(shares) if shares else None

    return read


def _common(scores: Mapping[str, Any], part: str = "kept") -> float | None:
    shares = [_by(kind, part)(scores) for kind in _COMMON]
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _coverage(scores: Mapping[str, Any]) -> float | None:
    return scores["promised"] / scores["refused"] if scores["refused"] else None


def _over_seeds(line: PromiseLine, level: str, read: Read) -> Aggregate:
    """Over seeds, of the mean over transitions."""

    def value(record: Mapping[str, Any]) -> float | None:
        scores = record["oracle"] if level == "oracle" else record["levels"].get(level)
        return None if scores is None else read(scores)

    return _mean(line, value)


def _mean(line: PromiseLine, read: Read) -> Aggregate:
    by_seed: dict[int, list[float]] = {}
    for record in line.records:
        value = read(record)
        if value is not None:
            by_seed.setdefault(record["seed"], []).append(value)
    return Aggregate.of(sum(values) / len(values) for values in by_seed.values())


def _told(found: Aggregate, digits: int = 3) -> str:
    if found.mean is None:
        return "–"
    spread = "" if found.std is None else f" ± {found.std:.{digits}f}"
    return f"{shown(found.mean, digits)}{spread}"


def promise_parts(lines: Sequence[PromiseLine], levels: Sequence[float]) -> list[Part]:
    """A line a protocol, data set and level; and a picture of stated against kept."""
    rows = []
    for line in lines:
        for level in levels:
            read = partial(_over_seeds, line, f"{level:g}")
            rows.append(
                (
                    f"{data_title(line.dataset)}, {_PROTOCOLS[line.title]}",
                    f"{level:g}",
                    _told(read(_by("own"))),
                    *(_told(read(_by(kind)), 2) for kind in _COMMON),
                    _told(read(_by("alone")), 2),
                    _told(read(_by("own", "unchanged")), 2),
                    _told(read(_coverage), 2),
                    _told(_over_seeds(line, "oracle", _coverage), 2),
                    _told(read(lambda scores: scores["proximity"]), 2),
                    _told(_over_seeds(line, "oracle", lambda scores: scores["proximity"]), 2),
                )
            )
    columns = grouped(
        ("", ("data", "stated")),
        ("kept by", ("own", *_COMMON, "alone")),
        ("", ("unchanged",)),
        ("coverage", ("ours", "oracle")),
        ("cost", ("ours", "oracle")),
    )
    picture = Picture(
        "table-promises",
        "Promises, stated and kept",
        partial(_draw, lines, levels),
        description="The share of promises that retrained models keep, by the share stated.",
        note="Mean over transitions and seeds. On the dotted line, what is stated is kept.",
    )
    return [
        picture,
        Table("Promises, stated and kept", columns, tuple(rows), _NOTE),
        _accuracy_table(lines),
    ]


def _accuracy_table(lines: Sequence[PromiseLine]) -> Table:
    rows = tuple(
        (
            f"{data_title(line.dataset)}, {_PROTOCOLS[line.title]}",
            _told(_mean(line, lambda record: record["plain_accuracy"])),
            _told(_mean(line, lambda record: record["accuracy"])),
        )
        for line in lines
    )
    return Table(
        "Accuracy of who promises",
        grouped(("", ("data", "plain network", "RoCourse"))),
        rows,
        "On all test rows of those who are asked.",
    )


def judge_table(lines: Sequence[PromiseLine], levels: Sequence[float]) -> Table:
    """A line a data set and method: what is promised, and all that is advised."""
    rows = []
    for line in lines:
        own = line.title == "rocourse"
        for level in [f"{level:g}" for level in levels] if own else ["none"]:
            read = partial(_over_seeds, line, level)
            rows.append(
                (
                    data_title(line.dataset),
                    METHOD_TITLES[line.title] + (f", kept {level}" if own else ""),
                    _told(read(_common)),
                    *(_told(read(_by(kind)), 2) for kind in (*_COMMON, "own")),
                    _told(read(partial(_common, part="unchanged")), 2),
                    _told(read(_coverage), 2),
                    _told(read(lambda scores: scores["proximity"]), 2),
                    _told(read(partial(_common, part="kept_advised")), 2),
                    _told(read(lambda scores: scores["advised_proximity"]), 2),
                )
            )
    columns = grouped(
        ("", ("data", "method")),
        ("promises kept by", ("common judges", *_COMMON, "own", "unchanged")),
        ("", ("coverage", "cost")),
        ("all advice", ("common judges", "cost")),
    )
    note = (
        "Refused test rows, realistic constraints, models of each other subset as judges, library "
        "defaults. Common judges: mean of the three. Methods that do not promise are taken at "
        "their word: what is valid today is promised. " + "Mean ± standard deviation over seeds."
    )
    return Table("Methods before common judges", columns, tuple(rows), note)


def _draw(lines: Sequence[PromiseLine], levels: Sequence[float], theme: Theme) -> Figure:
    figure, panels = new_figure(1, len(_PROTOCOLS))
    for axes, (protocol, title) in zip(panels, _PROTOCOLS.items(), strict=True):
        axes.plot([0.75, 1.0], [0.75, 1.0], linestyle=":", color=theme.muted)
        for place, line in enumerate(line for line in lines if line.title == protocol):
            kept = [_over_seeds(line, f"{level:g}", _by("own")).mean for level in levels]
            known = [(x, y) for x, y in zip(levels, kept, strict=True) if y is not None]
            if known:
                axes.plot(
                    *zip(*known, strict=True),
                    marker="o",
                    color=theme.shades[place % len(theme.shades)],
                    label=data_title(line.dataset),
                )
        dress(axes, theme, title=title, xlabel="stated", share=False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize="small")
    panels[0].set_ylabel("kept")
    return figure
