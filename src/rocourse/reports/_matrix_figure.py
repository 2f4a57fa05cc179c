"""Who honours whose advice: validity matrices of a method with and without robust training."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine

from rocourse.reports._measured import Measured
from rocourse.reports._parts import Part, Picture, Table, grouped, shown
from rocourse.reports._theme import Theme

# In larger matrices numbers would not be legible.
_MOST_NUMBERS = 6

Matrix = tuple[tuple[float | None, ...], ...]


def matrix_parts(pairs: Sequence[Sequence[Measured]]) -> list[Part]:
    """A picture a pair (without and with robust training) that has results, and its numbers."""
    parts: list[Part] = []
    rows = []
    for pair in pairs:
        matrices = [
            (line.name, line.result.names, line.result.matrix())
            for line in pair
            if line.result is not None
        ]
        rows += [(title, *_ends(matrix)) for title, _, matrix in matrices]
        if len(matrices) == len(pair):
            titles = " and ".join(title for title, _, _ in matrices)
            parts.append(
                Picture(
                    f"fig-matrix-{pair[1].method}",
                    titles,
                    partial(_draw, matrices),
                    description=f"Validity matrices of {titles}: {_words(matrices)}.",
                    note=(
                        "Row: whose recourses; column: judged by the model of which year. Mean "
                        "over seeds, every test row flipped."
                    ),
                )
            )
    columns = grouped(
        ("", ("method",)),
        ("validity", ("on the diagonal",)),
        ("robust validity", ("mean", "lowest", "highest")),
    )
    return [*parts, Table("On and off the diagonal", columns, tuple(rows))]


def _ends(matrix: Matrix) -> tuple[str, str, str, str]:
    size = range(len(matrix))
    own = [matrix[i][i] for i in size]
    others = [matrix[i][j] for i in size for j in size if i != j]
    present = [value for value in others if value is not None]
    held = [value for value in own if value is not None]
    if not present or not held:
        return shown(None), shown(None), shown(None), shown(None)
    return (
        shown(sum(held) / len(held)),
        shown(sum(present) / len(present)),
        shown(min(present)),
        shown(max(present)),
    )


def _words(matrices: Sequence[tuple[str, tuple[str, ...], Matrix]]) -> str:
    return "; ".join(
        f"{title} {_ends(matrix)[1]} off the diagonal on average" for title, _, matrix in matrices
    )


def _draw(matrices: Sequence[tuple[str, tuple[str, ...], Matrix]], theme: Theme) -> Figure:
    figure = Figure(
        figsize=(4.6 * len(matrices) + 0.7, 4.6),
        layout=ConstrainedLayoutEngine(hspace=0.04, wspace=0.06),
    )
    panels = list(figure.subplots(1, len(matrices), squeeze=False)[0])
    shades = LinearSegmentedColormap.from_list("validity", theme.scale)
    for axes, (title, names, matrix) in zip(panels, matrices, strict=True):
        image = _heat_map(axes, title, names, matrix, shades, theme)
    panels[0].set_ylabel("recourses from the model of", color=theme.muted, fontsize=10)
    bar = figure.colorbar(image, ax=panels, shrink=0.8, format=lambda share, _: f"{share:.0%}")
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=theme.muted, labelsize=9)
    return figure


def _heat_map(
    axes: Axes,
    title: str,
    names: Sequence[str],
    matrix: Matrix,
    shades: LinearSegmentedColormap,
    theme: Theme,
) -> AxesImage:
    values = np.asarray([[np.nan if v is None else v for v in line] for line in matrix], float)
    image = axes.imshow(values, cmap=shades, vmin=0.0, vmax=1.0)
    if len(names) <= _MOST_NUMBERS:
        for row, column in np.ndindex(values.shape):
            share = matrix[row][column]
            axes.text(
                column,
                row,
                "no rows" if share is None else f"{share:.0%}",
                ha="center",
                va="center",
                color=theme.ink,
                fontsize=12,
                fontweight="bold" if row == column else "normal",
            )
    places = range(len(names))
    crowded = len(names) > _MOST_NUMBERS
    axes.set_xticks(places, names, rotation=90 if crowded else 0)
    axes.set_yticks(places, names)
    # Thin lines of the ground between the cells.
    axes.set_xticks(np.arange(-0.5, len(names)), minor=True)
    axes.set_yticks(np.arange(-0.5, len(names)), minor=True)
    axes.grid(which="minor", color=theme.surface, linewidth=1.0 if crowded else 2.5)
    axes.tick_params(which="both", length=0, colors=theme.ink, labelsize=9.5)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("judged by the model of", color=theme.muted, fontsize=10)
    axes.set_title(title, loc="left", color=theme.ink, fontsize=12, fontweight="bold")
    return image
