"""What recourse is like for groups of people, in a table."""

from collections.abc import Mapping

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rocourse.evaluation import FEW, FOUR_FIFTHS, GroupFigures

_COLUMNS = {
    "refused": "refused",
    "coverage": "advised",
    "promised": "promised",
    "certified": "certified",
    "certainty": "certainty",
    "cost": "cost",
    "kept": "kept",
}


def fairness_lines(groups: Mapping[str, GroupFigures]) -> list[RenderableType]:
    """A line a group: its figures, each with how far it lies from everyone else's.

    Args:
        groups: By their names.
    """
    if not groups:
        return []
    told = [
        name for name in _COLUMNS if any(getattr(one, name) is not None for one in groups.values())
    ]
    table = Table(title="By people", title_justify="left")
    table.add_column("people", overflow="fold")
    table.add_column("rows", justify="right")
    for name in told:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    for name, one in groups.items():
        label = f"{name} (few)" if one.small else name
        table.add_row(escape(label), f"{one.people:,}", *(_cell(one, column) for column in told))
    return [
        table,
        "Below each figure: how far it lies from everyone else's, and the 95% interval of that; an "
        "asterisk where zero lies outside.",
        "Ratio: the share that is approved, to that of the group with the highest; an "
        f"exclamation mark below {FOUR_FIFTHS:g} (the four-fifths rule).",
        *(
            [f"Groups with fewer than {FEW} refused are marked: their figures are mostly chance."]
            if any(one.small for one in groups.values())
            else []
        ),
    ]


def _cell(one: GroupFigures, name: str) -> str:
    value = getattr(one, name)
    if value is None:
        return "–"
    style = ".2f" if name == "cost" else ".1%"
    apart = one.differences.get(name)
    lines = [f"{value:{style}}"]
    if apart is not None:
        lines += [
            f"{apart.value:+{style}}{'*' if apart.clear else ''}",
            f"({apart.low:+{style}} to {apart.high:+{style}})",
        ]
    if name == "refused" and one.ratio is not None:
        lines.append(f"ratio {one.ratio:.2f}{'!' if one.adverse else ''}")
    return "\n".join(lines)
