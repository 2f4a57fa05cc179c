"""What a report consists of: tables and pictures, whatever they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rocourse.evaluation import Aggregate
from rocourse.reports._theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABSENT = "–"


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        title: What it shows.
        columns: Titles of the columns, each with that of the group that it stands in, or "".
        rows: Its lines.
        note: What to know when reading it.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    words: ClassVar[frozenset[str]] = frozenset(
        {"attacker", "changes", "data", "method", "model", "protocol", "subset", "varied"}
    )
    """Columns that hold words and not numbers."""

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups in their order, with their numbers of columns."""
        found: list[tuple[str, int]] = []
        for group, _ in self.columns:
            if found and found[-1][0] == group != "":
                found[-1] = (group, found[-1][1] + 1)
            else:
                found.append((group, 1))
        return found

    def to_markdown(self) -> str:
        """As Markdown, where a column has its group's title before its own."""
        header = [f"{group}: {name}" if group else name for group, name in self.columns]
        return as_markdown([header, *self.rows])

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        header = [f"{group}: {name}" if group else name for group, name in self.columns]
        return {"title": self.title, "columns": header, "rows": [list(row) for row in self.rows]}


@dataclass(frozen=True)
class Picture:
    """A figure that is drawn when it is asked for.

    Attributes:
        name: What its files are called.
        title: What it shows.
        draw: Draws it in the colours of a theme.
        description: For those who cannot see it.
        note: What to know when looking at it.
    """

    name: str
    title: str
    draw: "Callable[[Theme], Figure]"
    description: str
    note: str = ""

    def figure(self, theme: Theme = LIGHT) -> "Figure":
        """The figure, drawn."""
        return self.draw(theme)


Part = Table | Picture


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first being the header, as a Markdown table."""
    header, *body = rows
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in body]
    return "\n".join(lines)


def grouped(*groups: tuple[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """The columns of a table, given the titles of its groups and of the columns in each."""
    return tuple((group, name) for group, names in groups for name in names)


def shown(value: float | None, digits: int = 3) -> str:
    """A figure as text."""
    return ABSENT if value is None else f"{value:.{digits}f}"


def spread(mean: float | None, *stds: float | None, digits: int = 3) -> str:
    """A mean with its standard deviations, as far as there are any."""
    if mean is None:
        return ABSENT
    told = [f"± {shown(std, digits)}" for std in stds if std is not None]
    return " ".join([shown(mean, digits), *told])


def two_spreads(over_seeds: Aggregate, over_subsets: Aggregate, digits: int = 3) -> str:
    """A mean over seeds, ± its standard deviation over seeds, ± that over subsets.

    Where one of them cannot be had, a dash keeps its place: they would be taken for each other.
    """
    if over_seeds.mean is None:
        return ABSENT
    stds = (shown(aggregate.std, digits) for aggregate in (over_seeds, over_subsets))
    return " ± ".join([shown(over_seeds.mean, digits), *stds])


def difference(ours: float | None, theirs: float | None, digits: int = 3) -> str:
    """How much ours is above theirs, with its sign."""
    if ours is None or theirs is None:
        return ABSENT
    return f"{ours - theirs:+.{digits}f}".replace("-", "−")
