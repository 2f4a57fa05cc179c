"""RoCoursePanel: as few changes as convince a panel of models retrained on shifted rows."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from rocourse.errors import ConfigError
from rocourse.methods._config import (
    require_count,
    require_number,
    require_share,
)
from rocourse.methods._estimator import RecourseClassifier
from rocourse.methods._panel import (
    Network,
    exact_panel,
    make_edits,
    make_panel,
    network_of,
    own_committee,
    train_members,
)
from rocourse.methods._parameters import estimator, param
from rocourse.methods._search_estimator import SearchMethod
from rocourse.methods._shifted_rows import USUAL_SHIFT, ShiftConfig
from rocourse.methods._steady import SteadyConfig, train_steadily
from rocourse.methods._training import EpochCallback, EpochRecord, TrainingPlan
from rocourse.methods.search import Edits, Panel, Space, panel_recourses
from rocourse.networks import Predictor, join
from rocourse.schema import Rows, Schema


@estimator
class RoCoursePanel(SearchMethod):
    """Recourses that a panel of retrained models agrees on: our extension, not in the paper.

    The model is trained to change little when it is trained anew: a committee of networks that
    learn from blurred copies of the rows. Beside it, others of its kind are trained on shifted
    training rows: numbers with noise, categories redrawn, columns shuffled, rows drawn with unequal
    weights. A recourse changes one feature after the other, the one that convinces the panel most
    for its cost first, until every member finds it a typical row of the desired class; then
    whatever the panel can do without is taken back. Values are asked for that training rows have.
    """

    method: ClassVar[str] = "rocourse-panel"

    members: int = param(default=6, doc="Models in the panel, with the model itself.")
    typicality: float | tuple[float, ...] = param(
        default=0.6,
        doc="How typical a recourse has to look to each member: the quantile of the lead that "
        "training rows of the class have; one number, or one of each class in the order of "
        "`classes_`. The price of robustness: higher costs more.",
    )
    noise: float = param(
        default=USUAL_SHIFT.noise, doc="How far numbers shift at most, as a share of their range."
    )
    flip: float = param(default=USUAL_SHIFT.flip, doc="The share of categories that are redrawn.")
    jitter: float = param(
        default=USUAL_SHIFT.jitter,
        doc="How far categories that are numbers shift at most, as a share of the column's "
        "categories. For amounts that are told in steps, such as years.",
    )
    scramble: float = param(
        default=USUAL_SHIFT.scramble,
        doc="The probability that a member does without a categorical column. For shifts in which "
        "codes change their meaning.",
    )
    tilt: float = param(
        default=USUAL_SHIFT.tilt, doc="How unequally rows are drawn by their features."
    )
    label_tilt: float = param(
        default=USUAL_SHIFT.label_tilt, doc="How unequally rows are drawn by their class."
    )
    worth: float = param(
        default=0.01,
        doc="How much of the panel's consent, from 0 to 1, a unit of cost has to buy; edits that "
        "buy less are not made.",
    )
    rarest: float = param(
        default=0.002,
        doc="The least share of the training rows that a category must have to be asked for; half "
        "of it must lie on either side of a number.",
    )
    committee: int = param(
        default=3, doc="Networks of the model, whose mean logits are its own; of each member too."
    )
    copies: int = param(
        default=2,
        doc="Blurred copies of the training rows that each network learns from; 0: the rows "
        "themselves.",
    )
    blur_noise: float = param(
        default=0.1, doc="How far numbers of a copy move at most, as a share of their range."
    )
    blur_flip: float = param(default=0.2, doc="The share of a copy's categories that are redrawn.")
    blur_jitter: float = param(
        default=0.0,
        doc="How far categories of a copy that are numbers move at most, as a share of the "
        "column's categories: each then says what its neighbours say. For columns of many such "
        "categories with few rows each.",
    )
    evenness: float = param(
        default=0.0,
        doc="From 0, classes of a copy as frequent as they are, to 1: all alike. For classes that "
        "are rare, or more frequent in some years than in others.",
    )
    novelty: float = param(
        default=0.0,
        doc="From 0, redrawn categories as frequent as they are, to 1: all alike, so that models "
        "make nothing of a category that they have seldom or never seen. For columns whose "
        "categories come and go.",
    )
    balance: float = param(
        default=1.0,
        doc="0: verdicts as trained. Else the most accurate verdicts of those that give each class "
        "to at least this share of as many training rows as have it; 1: to as many as have it. "
        "Probabilities move with the verdicts.",
    )
    search_steps: int = param(default=14, doc="The most edits of a row.")

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        require_count("members", self.members)
        require_count("search_steps", self.search_steps)
        for share in self._typicalities():
            require_share("typicality", share)
        require_number("worth", self.worth, at_least=0.0)
        require_share("rarest", self.rarest)
        self._shift()
        self._steady()

    def _typicalities(self) -> tuple[float, ...]:
        return self.typicality if isinstance(self.typicality, tuple) else (self.typicality,)

    def _shift(self) -> ShiftConfig:
        return ShiftConfig(
            noise=self.noise,
            flip=self.flip,
            scramble=self.scramble,
            tilt=self.tilt,
            label_tilt=self.label_tilt,
            novelty=self.novelty,
            jitter=self.jitter,
        )

    def _steady(self) -> SteadyConfig:
        return SteadyConfig(
            committee=self.committee,
            copies=self.copies,
            noise=self.blur_noise,
            flip=self.blur_flip,
            evenness=self.evenness,
            novelty=self.novelty,
            balance=self.balance,
            jitter=self.blur_jitter,
        )

    def _find_predictor(
        self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None
    ) -> list[EpochRecord]:
        given, n_classes = len(self._typicalities()), len(self.classes_)
        if given not in (1, n_classes):
            raise ConfigError(
                "The option 'typicality' of RoCoursePanel must be one number or one for each of "
                f"the {n_classes} classes, in their order: got {given} numbers."
            )
        if self.model is not None:
            history = super()._find_predictor(rows, labels, on_epoch)
            self._networks = [self._own_predictor()]
            return history
        self._networks, history = self._train_steadily(rows, labels, self.seed_, on_epoch)
        self.predictor_ = join(self._networks)
        return history

    def _train_steadily(
        self, rows: Rows, labels: np.ndarray, seed: int, on_epoch: EpochCallback | None = None
    ) -> tuple[list[Predictor], list[EpochRecord]]:
        return train_steadily(
            rows,
            labels,
            len(self.classes_),
            self._constraints,
            TrainingPlan("predictor", self._predictor_config(), self._schedule()),
            replace(self._steady(), ordered=_ordered(self.schema_)),
            seed=seed,
            on_epoch=on_epoch,
        )

    def _retrain(self, rows: Rows, labels: np.ndarray, seed: int) -> Predictor:
        if self.model is not None:
            return super()._retrain(rows, labels, seed)
        networks, _ = self._train_steadily(rows, labels, seed)
        return join(networks)

    def learn(self, rows: Rows, labels: np.ndarray) -> dict[str, np.ndarray]:
        """The panel's weights and margins, and the values that may be asked for."""
        if self.predictor_ is None:
            raise ConfigError(
                "The option 'model' of RoCoursePanel must be a fitted model of rocourse, since its "
                f"panel is trained as its network was: got {type(self.model).__name__}; use a "
                "method that asks for probabilities alone, such as ROAR."
            )
        # The panel keeps them; the model has them joined.
        networks = self._networks
        del self._networks
        ordered = _ordered(self.schema_)
        members = train_members(
            networks,
            rows,
            labels,
            self._constraints,
            TrainingPlan("predictor", self._network_config(networks[0]), self._schedule()),
            replace(self._steady(), committee=len(networks), ordered=ordered),
            members=self.members,
            shift=replace(self._shift(), ordered=ordered),
            seed=self.seed_,
        )
        layout = self.schema_.layout
        panel = make_panel(
            members,
            rows,
            labels,
            layout,
            typicality=np.broadcast_to(self._typicalities(), len(self.classes_)).tolist(),
        )
        space = Space.from_schema(self.schema_)
        edits = make_edits(
            rows, layout, np.asarray(space.step), np.asarray(space.first), rarest=self.rarest
        )
        return _named(panel, edits)

    def search(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        panel, edits = _unnamed(self.learned_)
        return panel_recourses(
            panel,
            edits,
            rows,
            target,
            Space.from_schema(self.schema_),
            steps=self.search_steps,
            worth=self.worth,
        )

    def knowing(self, models: Sequence[RecourseClassifier]) -> Self:
        """A copy that has to convince the given models and no others: the future foretold.

        What it finds bounds what any method can do by single edits: as cheap as it gets, for
        recourses that all these models honour.

        Args:
            models: Fitted models of this model's schema, with as many hidden layers.
        """
        known = [_committee(self), *map(_committee, models)]
        missing = known.count([])
        if missing:
            raise ConfigError(
                f"All models to be known must have networks of ours, but {missing} have none; pass "
                "models that rocourse has trained."
            )
        twin = copy(self)
        twin.worth = 0.0
        _, edits = _unnamed(self.learned_)
        twin.learned_ = _named(exact_panel(known), edits)
        return twin

    def _needs_labels(self) -> bool:
        return True


def _committee(model: RecourseClassifier) -> list[Network]:
    """The networks of a model, none if it has none of ours."""
    if model.predictor_ is None:
        return []
    # Apart they are less to compute than joined.
    if isinstance(model, RoCoursePanel):
        return own_committee(_unnamed(model.learned_)[0])
    return [network_of(model.predictor_)]


def _ordered(schema: Schema) -> tuple[bool, ...]:
    """Whether each categorical feature's categories are numbers, one greater than the other."""
    return tuple(
        feature.kind in ("integer", "number")
        and bool((np.diff(np.asarray(feature.categories, np.float64)) > 0.0).all())
        for feature in schema.categorical
    )


def _named(panel: Panel, edits: Edits) -> dict[str, np.ndarray]:
    named: dict[str, Any] = panel._asdict() | edits._asdict()
    for part in ("weights", "biases"):
        named |= {f"{part}.{i}": array for i, array in enumerate(named.pop(part))}
    return {name: np.asarray(array) for name, array in named.items()}


def _unnamed(named: dict[str, np.ndarray]) -> tuple[Panel, Edits]:
    layers = range(sum(name.startswith("weights.") for name in named))
    weights, biases = (
        tuple(named[f"{part}.{i}"] for i in layers) for part in ("weights", "biases")
    )
    return Panel(weights, biases, named["margins"]), Edits(*(named[name] for name in Edits._fields))
