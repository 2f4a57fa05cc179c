"""The attacker's options: Virtual Data Shift with its T, K, η, E and variants."""

from typing import Literal, get_args

from rocourse.attack._projections import NORMS, Norm
from rocourse.attack._shift import ATTACKERS, INNER_OPTIMIZERS, Attacker, InnerOptimizer
from rocourse.options import Options, Span, number, one_of, option, whole

Schedule = Literal["linear", "constant"]
Scope = Literal["full", "head"]
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
SCOPES: tuple[Scope, ...] = get_args(Scope)


class Attack(Options):
    """The attacker that looks for the data shift whose retrained model breaks the recourses.

    Examples:
        >>> rocourse.RoCourseNet(schema, attack=rocourse.Attack(steps=20)).attack.steps
        20
    """

    steps: int = option(default=7, doc="T, the attacker's steps.", rule=whole())
    unroll: int = option(
        default=2, doc="K, the retraining steps that the attacker looks through.", rule=whole()
    )
    learning_rate: float = option(
        default=0.003,
        doc="η, the learning rate of the virtual retraining.",
        rule=number(above=0.0),
        # Adam at η = 0.03 already leaves a generator nothing that holds.
        tune=Span(0.0003, 0.03, log=True),
    )
    optimizer: InnerOptimizer = option(
        default="adam",
        doc="Of the virtual retraining: `adam`, or `sgd` (Algorithm 1 to the letter).",
        rule=one_of(INNER_OPTIMIZERS),
    )
    epsilon: float = option(
        default=0.1,
        doc="E, the largest shift of an encoded feature (`linf`) or row (`l2`).",
        rule=number(at_least=0.0),
        tune=Span(0.02, 0.3, log=True),
    )
    schedule: Schedule = option(
        default="linear",
        doc="`linear` grows to E over the epochs, `constant` starts there.",
        rule=one_of(SCHEDULES),
    )
    norm: Norm = option(
        default="linf",
        doc="The ball that a row's shift lies in, `linf` or `l2`.",
        rule=one_of(NORMS),
    )
    shift: Attacker = option(
        default="worst",
        doc="`worst` ascends to the worst shift, `random` redraws it.",
        rule=one_of(ATTACKERS),
    )
    scope: Scope = option(
        default="full",
        doc="What the virtual retraining moves, the `full` predictor or its `head`.",
        rule=one_of(SCOPES),
    )
    category_scale: float = option(
        default=1.0,
        doc="How many times further than a number a one-hot column may shift. Above 1, the "
        "attacker rewrites categories as data corrections do, and the generator learns to lean"
        " on them less.",
        rule=number(at_least=0.0),
    )

    def epsilon_at(self, epoch: int, epochs: int) -> float:
        """The shift's radius in an epoch (counted from 1), Algorithm 2 line 5."""
        return self.epsilon if self.schedule == "constant" else self.epsilon * epoch / epochs
