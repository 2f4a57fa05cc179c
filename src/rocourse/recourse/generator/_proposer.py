"""A generator: a network that proposes recourses, trained beside the model or after it."""

from typing import ClassVar, Literal, get_args

import numpy as np

from rocourse.attack import Attack
from rocourse.models import TrainingRows, has_network
from rocourse.models.training import (
    PROXIMITY_LOSSES,
    VALIDITY_LOSSES,
    GeneratorTask,
    Objective,
    ProximityLoss,
    ValidityLoss,
)
from rocourse.networks import GENERATORS, GeneratorBuilder, GeneratorInput, GeneratorKind
from rocourse.options import (
    Span,
    either,
    function,
    instance,
    maybe,
    number,
    one_of,
    option,
    share,
    truth,
    whole,
    widths,
)
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.generator._builder import FeedForward
from rocourse.recourse.generator._one_row import RowEngine
from rocourse.recourse.generator._propose import (
    network_of,
    propose_rows,
    train_generator,
    untrained_generator,
)
from rocourse.schema import Rows

Inputs = Literal["embedding", "row"]
INPUTS: tuple[Inputs, ...] = get_args(Inputs)
_SOURCES: dict[Inputs, tuple[GeneratorInput, ...]] = {"embedding": ("z", "p"), "row": ("x",)}


class GeneratorProposer(Proposer, kind="generator"):
    """Trains a network that proposes recourses, valid and near, if need be under attack.

    With a `JointTrainer` it is trained beside the model (CounterNet, RoCourseNet), else after it
    (CF Model).

    Examples:
        >>> rocourse.CounterNet(schema).proposer == GeneratorProposer()
        True
    """

    needs_network: ClassVar[bool] = True
    takes_attack: ClassVar[bool] = True

    network: GeneratorKind | GeneratorBuilder = option(
        default="edit",
        doc="`rebuild` makes each feature anew, `edit` changes the row; or a function `(shape, *, "
        "key)` that builds a network of your own.",
        rule=either(one_of(GENERATORS), function()),
    )
    inputs: Inputs = option(
        default="embedding",
        doc="What the network sees: `embedding`, what the model makes of the row (CounterNet's), "
        "or `row`, through an encoder of its own that is shaped like the model's (CF Model's).",
        rule=one_of(INPUTS),
    )
    target_input: bool = option(
        default=True,
        doc="Whether it sees the desired class. The paper's does not; with more than two classes "
        "every one does.",
        rule=truth(),
    )
    widths: tuple[int, ...] = option(default=(100,), doc="Its hidden widths.", rule=widths())
    dropout: float = option(
        default=0.3, doc="Share of its hidden units dropped in training.", rule=share()
    )
    validity_loss: ValidityLoss = option(
        default="mse",
        doc="The form of L2: `mse`, `cross_entropy`, or `hinge` (a lead of 0.165 in probability).",
        rule=one_of(VALIDITY_LOSSES),
    )
    proximity_loss: ProximityLoss = option(
        default="l1", doc="The form of L3, `mse`, `l1` or `l1_sum`.", rule=one_of(PROXIMITY_LOSSES)
    )
    validity_weight: float = option(
        default=1.0, doc="λ2, the weight of L2.", rule=number(at_least=0.0)
    )
    proximity_weight: float = option(
        default=0.5,
        doc="λ3, the weight of L3: the price of a change.",
        rule=number(at_least=0.0),
        # Adam does not see a factor that both weights have in common: one of them is enough.
        tune=Span(0.03, 2.0, log=True),
    )
    epochs: int = option(
        default=50,
        doc="The most epochs to train it for after the model; beside it, the trainer's count.",
        rule=whole(),
        tune=Span(20, 100, whole=True),
    )
    learning_rate: float | None = option(
        default=None,
        doc="Adam's, when it is trained after the model; None takes the trainer's.",
        rule=maybe(number(above=0.0)),
    )
    measured_attack: Attack | None = option(
        default=None,
        doc="An attack on held-out rows in every epoch, for the history's robust validity; None "
        "takes the one that is trained against, if there is one.",
        rule=maybe(instance(Attack)),
    )

    def task(
        self, attack: Attack | None, encoder_widths: tuple[int, ...] = ()
    ) -> GeneratorTask | None:
        """What the network is trained for; see `Proposer.task`."""
        return GeneratorTask(
            self._builder(encoder_widths),
            Objective(
                self.validity_loss,
                self.proximity_loss,
                self.validity_weight,
                self.proximity_weight,
            ),
            attack,
            self.measured_attack or attack,
        )

    def _builder(self, encoder_widths: tuple[int, ...]) -> GeneratorBuilder:
        if callable(self.network):
            return self.network
        own_encoder = encoder_widths if self.inputs == "row" else ()
        return FeedForward(
            sources=_SOURCES[self.inputs],
            widths=(*own_encoder, *self.widths),
            kind=self.network,
            target_input=self.target_input,
            dropout=self.dropout,
        )

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """Trains the network for a model that is there already."""
        task = self.task(fitting.attack, network_of(context).encoder.widths)
        assert task is not None
        return train_generator(
            context, data, fitting, task, epochs=self.epochs, learning_rate=self.learning_rate
        )

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """What the network asks of each row."""
        return propose_rows(network_of(context), state, rows, target, context.constraints)

    def skeleton(self, context: Context) -> State:
        """A network of the same shapes."""
        return untrained_generator(context, self._builder(network_of(context).encoder.widths))

    def one_row(self, state: State, context: Context) -> RowEngine | None:
        """Single rows through both networks in one compiled call, where the model is a network."""
        # What it shows and what it decides come from the same probabilities.
        if context.cut_off is not None or not has_network(context.model):
            return None
        networks = (context.model.predictor, state, context.constraints)
        return RowEngine(networks, context.schema.layout)
