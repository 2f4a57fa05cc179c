"""How training goes: losses, and robust validity on held-out rows, by epoch."""

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rocourse.evaluation import Aggregate
from rocourse.reports._axes import CURVES, dress, new_figure
from rocourse.reports._parts import Part, Picture, Table, grouped, shown
from rocourse.reports._theme import Theme

_METHOD = "rocoursenet"
_SHOWN_EPOCHS = 6

Curves = Mapping[str, list[Aggregate]]
"""By measure, one aggregate an epoch."""


def curve_parts(histories: Sequence[Sequence[Mapping[str, float]]]) -> list[Part]:
    """Four panels, and some of the numbers behind them.

    Args:
        histories: One a model of RoCourseNet: a record an epoch.
    """
    epochs = min(map(len, histories))
    curves = {
        measure: [
            Aggregate.of(history[epoch].get(measure) for history in histories)
            for epoch in range(epochs)
        ]
        for measure in CURVES
    }
    picture = Picture(
        "fig-curves",
        "Training of RoCourseNet on loan",
        partial(_draw, curves),
        description="L1, L2 and L3 by epoch, and robust validity on held-out rows under attack.",
        note=(
            "Mean over all models, with bands of one standard deviation. Losses are of the "
            "training rows, L2 under attack; robust validity is of held-out rows under the attack "
            "that is trained against, with all of E. In training ε grows from epoch to epoch."
        ),
    )
    return [picture, _table(curves, epochs, len(histories))]


def _draw(curves: Curves, theme: Theme) -> Figure:
    figure, panels = new_figure(2, 2)
    color = theme.method_color(_METHOD)
    for axes, (measure, title) in zip(panels, CURVES.items(), strict=True):
        points = [
            (epoch, value.mean, value.std or 0.0)
            for epoch, value in enumerate(curves[measure], start=1)
            if value.mean is not None
        ]
        if points:
            epochs, means, stds = zip(*points, strict=True)
            axes.plot(epochs, means, color=color, linewidth=1.8, zorder=3)
            low = [mean - std for mean, std in zip(means, stds, strict=True)]
            high = [mean + std for mean, std in zip(means, stds, strict=True)]
            axes.fill_between(epochs, low, high, color=color, alpha=0.15, linewidth=0)
        share = measure == "robust_validity"
        dress(axes, theme, title=title, xlabel="epoch", share=share)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    return figure


def _table(curves: Curves, epochs: int, models: int) -> Table:
    stride = max(1, epochs // (_SHOWN_EPOCHS - 1))
    chosen = sorted({1, *range(stride, epochs, stride), epochs})
    rows = tuple(
        (str(epoch), *(shown(curves[measure][epoch - 1].mean, 4) for measure in CURVES))
        for epoch in chosen
    )
    columns = grouped(("", ("epoch", *CURVES.values())))
    note = (
        f"Means over {models} models. The paper: L1 and L3 fall smoothly, L2 fluctuates at first "
        "and starts to converge after 10 epochs."
    )
    return Table("Some of the numbers", columns, rows, note)
