"""The panel: as few changes as convince a panel of models retrained on shifted rows."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models import Shift, TrainingRows
from rocourse.options import Span, either, instance, many, number, option, share, whole
from rocourse.recourse._eager import search_twice
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.panel._edits import Panel, panel_recourses
from rocourse.recourse.panel._members import (
    Layers,
    exact_panel,
    make_edits,
    make_panel,
    own_committee,
    train_members,
)
from rocourse.recourse.search import Edits, FromHere, Space
from rocourse.schema import Rows


class PanelProposer(Proposer, kind="panel"):
    """Searches for as few changes as a panel of retrained models agrees on.

    Beside the model, others of its kind are trained on shifted training rows: numbers with noise,
    categories redrawn, rows drawn with unequal weights. A recourse changes one feature after the
    other, the one that convinces the panel most for its cost first, until every member finds it a
    typical row of the desired class; then whatever the panel can do without is taken back. Values
    are asked for that training rows have.
    """

    needs_network: ClassVar[bool] = True

    members: int = option(
        default=6, doc="Models in the panel, with the model itself.", rule=whole()
    )
    margin_quantile: float | tuple[float, ...] = option(
        default=0.6,
        doc="How typical a recourse has to look to each member: the quantile of the lead that "
        "training rows of the class have; one number, or one of each class in the order of "
        "`classes_`. The price of robustness: higher costs more.",
        rule=either(share(), many(share(), "such numbers, one a class")),
        tune=Span(0.0, 0.95),
    )
    shift: Shift = option(
        default=Shift(),
        doc="How far rows shift that members are trained on.",
        rule=instance(Shift),
        tune={"shuffle": Span(0.0, 1.0)},
    )
    min_gain: float = option(
        default=0.01,
        doc="How much of the panel's consent, from 0 to 1, a unit of cost has to buy; edits that "
        "buy less are not made.",
        rule=number(at_least=0.0),
        tune=Span(0.002, 0.1, log=True),
    )
    min_category_share: float = option(
        default=0.002,
        doc="The least share of the training rows that a category must have to be asked for; half "
        "of it must lie on either side of a number.",
        rule=share(),
    )
    max_changes: int = option(default=14, doc="The most edits of a row.", rule=whole())

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """The panel's weights and margins, and the values that may be asked for."""
        members = train_members(
            fitting.networks,
            data,
            fitting.trainer,
            members=self.members,
            shift=self.shift,
            seed=context.seed,
        )
        panel = make_panel(members, data, margin_quantile=self._quantiles(data.n_classes))
        space = context.space
        edits = make_edits(
            data.rows,
            data.schema.layout,
            np.asarray(space.step),
            np.asarray(space.first),
            min_category_share=self.min_category_share,
            limited=[i for i, one in enumerate(data.schema.continuous) if one.change is not None],
        )
        return _named(panel, edits)

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        return self._search(state, context, rows, target)

    def vary(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        closed: np.ndarray,
        starts: Rows,
    ) -> Rows:
        """As `propose`, with what is closed to each row; all go together."""
        return self._search(state, context, rows, target, (closed, starts))

    def _search(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        from_here: FromHere | None = None,
    ) -> Rows:
        panel, edits = _unnamed(state)

        def search(space: Space, where: np.ndarray) -> Rows:
            begin = None if from_here is None else (from_here[0][where], from_here[1].take(where))
            return panel_recourses(
                panel,
                edits,
                rows.take(where),
                target[where],
                space,
                max_changes=self.max_changes,
                min_gain=self.min_gain,
                from_here=begin,
            )

        return search_twice(search, context, target)

    def _quantiles(self, n_classes: int) -> list[float]:
        told = self.margin_quantile
        quantiles = told if isinstance(told, tuple) else (told,) * n_classes
        if len(quantiles) != n_classes:
            raise ConfigError(
                "The option 'margin_quantile' of PanelProposer must be one number or one for each "
                f"of the {n_classes} classes, in their order: got {len(quantiles)} numbers."
            )
        return list(quantiles)


def own_networks(state: State) -> list[Layers]:
    """The networks of the model that a panel is of."""
    return own_committee(_unnamed(state)[0])


def convincing(state: State, committees: Sequence[Sequence[Layers]]) -> State:
    """The state of a panel that has to convince the given models, barely, and no others."""
    _, edits = _unnamed(state)
    return _named(exact_panel(committees), edits)


def _named(panel: Panel, edits: Edits) -> dict[str, np.ndarray]:
    named: dict[str, Any] = panel._asdict() | edits._asdict()
    for part in ("weights", "biases"):
        named |= {f"{part}.{i}": array for i, array in enumerate(named.pop(part))}
    return {name: np.asarray(array) for name, array in named.items()}


def _unnamed(named: Mapping[str, np.ndarray]) -> tuple[Panel, Edits]:
    layers = range(sum(name.startswith("weights.") for name in named))
    weights, biases = (
        tuple(named[f"{part}.{i}"] for i in layers) for part in ("weights", "biases")
    )
    return Panel(weights, biases, named["margins"]), Edits(*(named[name] for name in Edits._fields))
