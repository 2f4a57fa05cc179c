"""Frozen configurations of training, and the checks that every option goes through."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rocourse.attack import ATTACKERS, INNER_OPTIMIZERS, NORMS, Attacker, InnerOptimizer, Norm
from rocourse.errors import ConfigError

Loss = Literal["mse", "cross_entropy"]
ValidityLoss = Literal["mse", "cross_entropy", "hinge"]
ProximityLoss = Literal["mse", "l1", "l1_sum"]
Schedule = Literal["linear", "constant"]
Scope = Literal["full", "head"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
VALIDITY_LOSSES: tuple[ValidityLoss, ...] = get_args(ValidityLoss)
PROXIMITY_LOSSES: tuple[ProximityLoss, ...] = get_args(ProximityLoss)
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, kw_only=True)
class PredictorConfig:
    """Widths of the predictor's hidden layers, its dropout, and the form and weight of L1."""

    encoder: tuple[int, ...]
    head: tuple[int, ...]
    dropout: float
    loss: Loss
    lambda_1: float = 1.0

    def __post_init__(self) -> None:
        require_widths("encoder_widths", self.encoder)
        require_widths("head_widths", self.head)
        require_share("dropout", self.dropout)
        require_one_of("loss", self.loss, LOSSES)
        require_number("lambda_1", self.lambda_1, at_least=0.0)


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """The weights and forms of L2 (validity) and L3 (proximity)."""

    lambda_2: float
    lambda_3: float
    validity: ValidityLoss
    proximity: ProximityLoss

    def __post_init__(self) -> None:
        require_number("lambda_2", self.lambda_2, at_least=0.0)
        require_number("lambda_3", self.lambda_3, at_least=0.0)
        require_one_of("validity_loss", self.validity, VALIDITY_LOSSES)
        require_one_of("proximity_loss", self.proximity, PROXIMITY_LOSSES)


@dataclass(frozen=True, kw_only=True)
class AttackConfig:
    """The attacker: Virtual Data Shift with its T, K, η, E and variants."""

    steps: int = 7
    unroll: int = 2
    rate: float = 0.003
    optimizer: InnerOptimizer = "adam"
    norm: Norm = "linf"
    attacker: Attacker = "worst"
    scope: Scope = "full"
    category_scale: float = 1.0

    def __post_init__(self) -> None:
        require_number("category_scale", self.category_scale, at_least=0.0)
        require_count("attack_steps", self.steps)
        require_count("unroll_steps", self.unroll)
        require_number("inner_rate", self.rate, above=0.0)
        require_one_of("inner_optimizer", self.optimizer, INNER_OPTIMIZERS)
        require_one_of("norm", self.norm, NORMS)
        require_one_of("attacker", self.attacker, ATTACKERS)
        require_one_of("scope", self.scope, SCOPES)


@dataclass(frozen=True, kw_only=True)
class ScheduleConfig:
    """How long and how fast to train."""

    learning_rate: float
    batch_size: int
    epochs: int
    validation_fraction: float
    patience: int | None

    def __post_init__(self) -> None:
        require_number("learning_rate", self.learning_rate, above=0.0)
        require_count("batch_size", self.batch_size)
        require_count("epochs", self.epochs)
        require_share("validation_fraction", self.validation_fraction)
        if self.patience is not None:
            require_count("patience", self.patience)


@dataclass(frozen=True, kw_only=True)
class RecourseConfig:
    """What the generator is trained for.

    `attack` is what it is trained against (None: the unshifted predictor); `measure_attack` says
    whether robust validity is measured on held-out rows in every epoch.
    """

    objective: ObjectiveConfig
    attack: AttackConfig | None
    measure_attack: bool
    epsilon: float
    epsilon_schedule: Schedule

    def __post_init__(self) -> None:
        require_number("epsilon", self.epsilon, at_least=0.0)
        require_one_of("epsilon_schedule", self.epsilon_schedule, SCHEDULES)

    @property
    def attacker(self) -> AttackConfig:
        """Who measures robust validity: the attack trained against, if there is one."""
        return self.attack or AttackConfig()

    def epsilon_at(self, epoch: int, epochs: int) -> float:
        """The shift's radius in an epoch (counted from 1), Algorithm 2 line 5."""
        if self.epsilon_schedule == "constant":
            return self.epsilon
        return self.epsilon * epoch / epochs


def wrong(name: str, rule: str, received: Any) -> ConfigError:
    """The error of an option with an impossible value."""
    return ConfigError(
        f"The option '{name}' must be {rule}: got {received!r}; set it to such a value."
    )


def require_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuses what is not among the choices."""
    if value not in choices:
        raise wrong(name, "one of " + ", ".join(repr(choice) for choice in choices), value)


def require_count(name: str, value: object) -> None:
    """Refuses what is not a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(name, "a whole number of at least 1", value)


def require_number(
    name: str, value: object, *, at_least: float | None = None, above: float | None = None
) -> None:
    """Refuses what is not a finite number within its bound."""
    rule = f"a number of at least {at_least:g}" if above is None else f"a number above {above:g}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong(name, rule, value)
    if (at_least is not None and value < at_least) or (above is not None and value <= above):
        raise wrong(name, rule, value)


def require_share(name: str, value: object) -> None:
    """Refuses what is not a share of a whole that leaves something over."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < 1.0:
        raise wrong(name, "at least 0 and below 1", value)


def require_part(name: str, value: object) -> None:
    """Refuses what is not a share of a whole, which may be all of it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise wrong(name, "a number from 0 to 1", value)


def require_widths(name: str, widths: object) -> None:
    """Refuses what is not a tuple of widths."""
    rule = "a non-empty tuple of whole numbers of at least 1"
    if not isinstance(widths, tuple) or not widths:
        raise wrong(name, rule, widths)
    for width in widths:
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise wrong(name, rule, widths)
