"""What proposes: the one interface that every method's folder implements."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rocourse.attack import Attack
from rocourse.models import (
    BatchModel,
    Shift,
    Trainer,
    TrainingRows,
    has_network,
    move_model,
    predict_rows,
)
from rocourse.models.training import GeneratorTask, History
from rocourse.networks import Predictor
from rocourse.options import Options
from rocourse.recourse.search._feasible import Space
from rocourse.schema import CutOff, Narrowing, Rows, Schema, Usual, verdicts
from rocourse.schema.constraints import ConstraintLayer

if TYPE_CHECKING:
    from rocourse.recourse.generator._one_row import RowEngine

State = Any
"""What a proposer has learned: a pytree of arrays, a mapping or an Equinox module."""


@dataclass(frozen=True, eq=False)
class Context:
    """What a proposer may ask about.

    Attributes:
        schema: The features and what may change about each.
        trained: The model as it was trained: its probabilities are shown.
        imitation: Of a model that has no network, one that says what the model says, for
            proposers that need a network.
        seed: For whatever is drawn; the same for the same fit.
        cut_off: By which the model decides; None: the most probable class is given.
        narrowing: What wishes leave of what the schema allows; None: all of it.
        usual: The values that may be asked for; None: all that the schema allows.
    """

    schema: Schema
    trained: BatchModel
    imitation: Predictor | None
    seed: int
    cut_off: CutOff | None = None
    narrowing: Narrowing | None = None
    usual: Usual | None = None

    def narrowed(self, narrowing: Narrowing) -> "Context":
        """The same for wishes; the model that decides is not made again."""
        context = replace(self, narrowing=narrowing)
        context.__dict__["model"] = self.model
        return context

    @cached_property
    def model(self) -> BatchModel:
        """The model that decides: recourses are for it. Its most probable class is the verdict."""
        return move_model(self.trained, self.cut_off)

    @cached_property
    def network(self) -> Predictor | None:
        """The deciding model's network, or the one that imitates it."""
        return self.model.predictor if has_network(self.model) else self.imitation

    @cached_property
    def constraints(self) -> ConstraintLayer:
        """What recourses may ask for, inside compiled code."""
        rules = ConstraintLayer.from_schema(self.schema, self.usual)
        return rules if self.narrowing is None else rules.narrowed(self.narrowing)

    @cached_property
    def space(self) -> Space:
        """Where searches may go."""
        return Space(self.schema, self.constraints)

    def predict(self, rows: Rows) -> np.ndarray:
        """The model's class probabilities as they are shown, float32 `[n, n_classes]`."""
        return predict_rows(self.trained, rows, self.schema.layout)

    def verdicts(self, probabilities: np.ndarray) -> np.ndarray:
        """The class index that each row is given, `[n]`, by what `predict` says of it."""
        return verdicts(probabilities, self.cut_off)


class Fitting(NamedTuple):
    """How the model came about, for proposers that train networks of their own."""

    trainer: Trainer
    networks: tuple[Predictor, ...]
    """The model's networks apart, if it has any."""
    attack: Attack | None
    history: History


class Promise(NamedTuple):
    """What can be promised about rows."""

    made: np.ndarray
    """Which rows are promised to keep their class, bool `[n]`."""
    chance: np.ndarray
    """The estimated chance of each that the next model gives it its class, float64 `[n]`."""


class Pledge(NamedTuple):
    """What a method promises, and what it found when it was fitted."""

    kept: float
    """The share of promises to be kept."""
    expected: float | None
    """The share that models outside the search kept, of training rows; None without a promise."""
    coverage: float
    """The share of training rows without the class that were promised something."""


class Swaps(NamedTuple):
    """What single changes can put in the place of others."""

    found: list[tuple[np.ndarray, Rows]]
    """Any number of times: the places of some starts, and a proposal for each."""
    closed: np.ndarray
    """The features that leave nothing new to be found: the one that is done without, and those that
    can take its place alone, bool `[n, features]`."""
    hopeful: np.ndarray
    """Whether other features together might take its place, bool `[n]`."""
    starts: Rows
    """Where a search for these begins."""


class Proposer(Options):
    """How recourses are proposed for a model.

    A proposer holds options alone. What it learns is a state, a pytree of arrays, that `fit` gives
    and `propose` is given again.
    """

    kinds: ClassVar[dict[str, type[Options]]] = {}
    needs_network: ClassVar[bool] = False
    """Whether it works with a network: a model without one is given one that imitates it."""
    takes_attack: ClassVar[bool] = False
    """Whether it can be trained against an attack."""
    promises: ClassVar[bool] = False
    """Whether it says what can be promised."""
    knows_prices: ClassVar[bool] = False
    """Whether it prefers what the schema says is cheap; else what is of no use is taken back."""

    def task(
        self, attack: Attack | None, encoder_widths: tuple[int, ...] = ()
    ) -> GeneratorTask | None:
        """The generator that a joint trainer may train beside the model, if there is one.

        Args:
            attack: What it is trained against, if anything.
            encoder_widths: Of the model.
        """
        return None

    def uses_network(self, model: BatchModel) -> bool:
        """Whether a model without a network is given one that imitates it."""
        return self.needs_network

    @abstractmethod
    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """Learns what proposing needs to know, from compact rows and class indices."""

    @abstractmethod
    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class.

        Args:
            state: What `fit` gave.
            context: What it was fitted for.
            rows: Compact rows.
            target: The class index wanted for each, `[n]`.

        Returns:
            As many rows. They need not keep to the schema to the last digit: every proposal is
            settled, and judged by the model, afterwards.
        """

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
        """As `propose`, but some of what a row could change to is closed to it.

        Args:
            state: What `fit` gave.
            context: What it was fitted for.
            rows: Compact rows.
            target: The class index wanted for each, `[n]`.
            closed: The numbers of each that must stay, and the categories that it must not go to,
                bool `[n, width]`.
            starts: Where a search may begin: what was found before, without what is closed. By
                default nothing is made of it, and rows to which the same is closed go together.
        """
        continuous, categories = rows.continuous.copy(), rows.categories.copy()
        narrowing = context.narrowing or Narrowing.of(None, context.schema)
        kinds, kind = np.unique(closed, axis=0, return_inverse=True)
        for k, shut in enumerate(kinds):
            own = np.flatnonzero(kind.ravel() == k)
            narrowed = context.narrowed(narrowing.closing(shut))
            found = self.propose(state, narrowed, rows.take(own), target[own])
            continuous[own], categories[own] = found.continuous, found.categories
        return Rows(continuous, categories)

    def swap(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        closed: np.ndarray,
        feature: np.ndarray,
        starts: Rows,
    ) -> Swaps | None:
        """What a single change makes of the starts, if that is known sooner than what `vary` finds.

        Args:
            state: What `fit` gave.
            context: What it was fitted for.
            rows: Compact rows.
            target: The class index wanted for each, `[n]`.
            closed: As for `vary`.
            feature: The one whose change is to be done without, of each row; what is closed of it
                is the way to the category that it led to.
            starts: As for `vary`.
        """
        return None

    def promise(
        self,
        state: State,
        context: Context,
        rows: Rows,
        target: np.ndarray,
        *,
        chosen: bool = False,
    ) -> Promise | None:
        """What can be promised about rows and their target classes; None: nothing.

        Args:
            state: What was learned.
            context: The model.
            rows: What is asked about.
            target: The class index wanted for each.
            chosen: Whether the rows were chosen among several for what they cost. A share that is
                kept of all that the search proposes need not be kept of the cheapest: each row has
                to have the chance by itself then.
        """
        return None

    def pledge(self, state: State, target: int) -> Pledge | None:
        """What is promised to those who want a class; None: nothing."""
        return None

    def assumed(self, *, grouped: bool) -> dict[str, Shift]:
        """The shifts that recourses are prepared for, by what they are called.

        Args:
            grouped: Whether training rows came in groups.
        """
        return {
            name: value
            for name in self.to_dict()
            if isinstance(value := getattr(self, name, None), Shift)
        }

    def surer(self, state: State, times: float) -> State | None:
        """The state that asks so many times as much of those who are to be convinced.

        None by proposers that have no such thing.
        """
        return None

    def recalibrated(self, state: State) -> State:
        """The state for other options that fitting does not depend on; as it is by default."""
        return state

    def revive(self, arrays: dict[str, np.ndarray]) -> State:
        """The state that was stored as a mapping of arrays by name."""
        return arrays

    def refits(self, state: State) -> tuple[BatchModel, ...]:
        """Refits of a model that is given, which are no arrays and are stored as that one is."""
        return ()

    def with_refits(self, state: State, refits: tuple[BatchModel, ...]) -> State:
        """The state that was stored, with the refits that it had."""
        return state

    def skeleton(self, context: Context) -> State | None:
        """What a stored state is filled into; None: a mapping of arrays by name."""
        return None

    def one_row(self, state: State, context: Context) -> "RowEngine | None":
        """What answers single rows faster than `propose`, if there is such a thing."""
        return None
