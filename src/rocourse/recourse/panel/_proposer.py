"""The panel: as few changes as convince a panel of models retrained on shifted rows."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models import BatchModel, Shift, TrainingRows, has_network
from rocourse.options import Span, either, instance, many, number, option, share, whole
from rocourse.recourse._eager import search_twice
from rocourse.recourse._given import convince, has_refits, refits_of
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.panel._edits import Panel, panel_recourses
from rocourse.recourse.panel._members import (
    Layers,
    class_margins,
    exact_panel,
    make_edits,
    make_panel,
    own_committee,
    train_members,
)
from rocourse.recourse.search import (
    Asked,
    Edits,
    FromHere,
    Grid,
    Space,
    log_shares,
    usual_values,
)
from rocourse.schema import Rows, one_hot

# Shares of margins are sums: nothing is missing of a panel that has nearly all of them.
_CONVINCED = 1.0 - 1e-6


class RefitPanel(NamedTuple):
    """A panel of a model that is given: what may be asked of rows, and how sure refits have to be.

    Attributes:
        edits: What may be done.
        grid: Where numbers may stop on their way back.
        margins: The lead that the model, and each refit, has to have, `[models, classes]`.
        members: The refits.
    """

    edits: Edits
    grid: Grid
    margins: np.ndarray
    members: tuple[BatchModel, ...] = ()


class PanelProposer(Proposer, kind="panel"):
    """Searches for as few changes as a panel of retrained models agrees on.

    Beside the model, others of its kind are trained on shifted training rows: numbers with noise,
    categories redrawn, rows drawn with unequal weights. A recourse changes one feature after the
    other, the one that convinces the panel most for its cost first, until every member finds it a
    typical row of the desired class; then whatever the panel can do without is taken back. Values
    are asked for that training rows have. Of a model that is given, the members are refits.

    Examples:
        >>> PanelProposer(margin_quantile=0.3).margin_quantile
        0.3
    """

    needs_network: ClassVar[bool] = True
    knows_prices: ClassVar[bool] = True

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
        if not self.uses_network(context.trained):
            return self._fit_refits(context, data)
        if not has_network(context.trained):
            # Says that there is no way to fit the model again.
            refits_of(context, data, self.shift, context.seed)
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

    def uses_network(self, model: BatchModel) -> bool:
        """Not for a model that can be fitted again."""
        return not has_refits(model)

    def _fit_refits(self, context: Context, data: TrainingRows) -> RefitPanel:
        """As `fit`, for a model that is given."""
        refits = refits_of(context, data, self.shift, context.seed, count=self.members - 1)
        x = one_hot(data.rows, data.schema.layout)
        quantiles = self._quantiles(data.n_classes)
        models = (context.model, *refits)
        margins = [
            class_margins(log_shares(model, x).T, data.labels, quantiles) for model in models
        ]
        share = self.min_category_share
        edits, grid = usual_values(data.rows, data.schema, min_category_share=share)
        return RefitPanel(edits, grid, np.stack(margins), refits)

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
        def search(space: Space, where: np.ndarray) -> Rows:
            begin = None if from_here is None else (from_here[0][where], from_here[1].take(where))
            some, wanted = rows.take(where), target[where]
            if isinstance(state, RefitPanel):
                return self._convince_refits(state, context, some, wanted, space, begin)
            panel, edits = _unnamed(state)
            return panel_recourses(
                panel,
                edits,
                some,
                wanted,
                space,
                max_changes=self.max_changes,
                min_gain=self.min_gain,
                from_here=begin,
            )

        return search_twice(search, context, target)

    def _convince_refits(
        self,
        state: RefitPanel,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        space: Space,
        from_here: FromHere | None,
    ) -> Rows:
        closed, starts = (None, rows) if from_here is None else from_here
        return convince(
            Asked(context.model, state.members, state.margins),
            lambda x, wanted: np.empty((0, len(x))),
            state.edits,
            state.grid,
            np.full(len(rows), _CONVINCED),
            rows,
            starts,
            target,
            space,
            max_changes=self.max_changes,
            closed=closed,
        )

    def surer(self, state: State, times: float) -> State:
        """The state that asks every member for so many times the lead."""
        if isinstance(state, RefitPanel):
            return state._replace(margins=state.margins * times)
        return {**state, "margins": state["margins"] * np.float32(times)}

    def revive(self, arrays: dict[str, np.ndarray]) -> State:
        """The state that was stored as arrays by name."""
        if "grid.step" not in arrays:
            return arrays
        edits = Edits(*(arrays[f"edits.{name}"] for name in Edits._fields))
        grid = Grid(*(arrays[f"grid.{name}"] for name in Grid._fields))
        return RefitPanel(edits, grid, arrays["margins"])

    def refits(self, state: State) -> tuple[BatchModel, ...]:
        """Refits of a model that is given."""
        return state.members if isinstance(state, RefitPanel) else ()

    def with_refits(self, state: State, refits: tuple[BatchModel, ...]) -> State:
        """The state with the refits that it had."""
        return state._replace(members=refits)

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
