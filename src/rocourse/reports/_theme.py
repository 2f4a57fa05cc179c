"""Colours that the pictures and the report share, for light and for dark pages."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one kind of page.

    The methods' are of the Okabe–Ito palette, which people with any colour vision can tell apart;
    on dark ground they are lighter.

    Attributes:
        surface: Ground of the page.
        raised: Ground of what is set off from it.
        ink: Text.
        muted: Text of less weight.
        grid: Lines and empty cells.
        scale: From a share of 0 to a share of 1, so near to the ground that ink is read on all.
        methods: By method.
        shades: For lines that are told apart by something other than their method.
        yes: What went well, and its ground.
        no: What did not, and its ground.
        warn: What to beware of, and its ground.
    """

    surface: str
    raised: str
    ink: str
    muted: str
    grid: str
    scale: tuple[str, ...]
    methods: Mapping[str, str]
    shades: tuple[str, ...]
    yes: tuple[str, str]
    no: tuple[str, str]
    warn: tuple[str, str]

    def method_color(self, name: str) -> str:
        """The colour of a method."""
        return self.methods.get(name, self.muted)


LIGHT = Theme(
    surface="#ffffff",
    raised="#f5f7f8",
    ink="#1c2529",
    muted="#56646b",
    grid="#dde4e7",
    scale=("#f3f5f6", "#c3e3e0", "#74c1ba"),
    methods={
        "rocourse": "#4b2e83",
        "counternet": "#c25400",
        "rocoursenet": "#0072b2",
        "roar": "#00805e",
        "rbr": "#b0518a",
        "rocourse-panel": "#1c2529",
    },
    shades=("#0072b2", "#c25400", "#00805e", "#b0518a", "#7a6a00", "#56646b"),
    yes=("#0b5f5b", "#e0f1ef"),
    no=("#8f2d1c", "#fbe9e4"),
    warn=("#6b4a00", "#fdf3d7"),
)
DARK = Theme(
    surface="#14191c",
    raised="#1c2327",
    ink="#e6ecee",
    muted="#9fadb4",
    grid="#333d43",
    scale=("#20282c", "#214a49", "#257a75"),
    methods={
        "rocourse": "#b9a3f5",
        "counternet": "#f0a04b",
        "rocoursenet": "#56b4e9",
        "roar": "#3fc79a",
        "rbr": "#e08fc0",
        "rocourse-panel": "#e6ecee",
    },
    shades=("#56b4e9", "#f0a04b", "#3fc79a", "#e08fc0", "#d8c84a", "#9fadb4"),
    yes=("#7adcd4", "#143533"),
    no=("#ffb09c", "#412019"),
    warn=("#ffd98a", "#3b2f10"),
)

SERIES = 5
"""How many of the shades tell lines apart; the last one is that of the rest."""


def page_colors() -> dict[str, tuple[str, str]]:
    """What pages call the colours, on light and on dark ground."""
    light, dark = map(_named, (LIGHT, DARK))
    return {name: (color, dark[name]) for name, color in light.items()}


def _named(theme: Theme) -> dict[str, str]:
    verdicts = {"yes": theme.yes, "no": theme.no, "warn": theme.warn}
    return {
        "surface": theme.surface,
        "raised": theme.raised,
        "ink": theme.ink,
        "muted": theme.muted,
        "line": theme.grid,
        **{name: color for name, (color, _) in verdicts.items()},
        **{f"{name}-ground": ground for name, (_, ground) in verdicts.items()},
        **{f"series-{k}": color for k, color in enumerate(theme.shades[:SERIES])},
    }
