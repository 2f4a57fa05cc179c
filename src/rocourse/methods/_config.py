"""Frozen configurations of training, validated in one place."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rocourse.attack import ATTACKERS, INNER_OPTIMIZERS, NORMS, Attacker, InnerOptimizer, Norm
from rocourse.errors import ConfigError
from rocourse.networks import GENERATORS, GeneratorKind

Loss = Literal["mse", "cross_entropy"]
ProximityLoss = Literal["mse", "l1"]
Schedule = Literal["linear", "constant"]
Scope = Literal["full", "head"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
PROXIMITY_LOSSES: tuple[ProximityLoss, ...] = get_args(ProximityLoss)
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Widths of the hidden layers, and the kind of generator."""

    encoder: tuple[int, ...]
    head: tuple[int, ...]
    generator: tuple[int, ...]
    kind: GeneratorKind
    target_input: bool
    dropout: float

    def __post_init__(self) -> None:
        for name in ("encoder", "head", "generator"):
            _require_widths(f"{name}_widths", getattr(self, name))
        _require_one_of("generator", self.kind, GENERATORS)
        if not isinstance(self.target_input, bool):
            raise _wrong("target_input", "True or False", self.target_input)
        if not 0.0 <= self.dropout < 1.0:
            raise _wrong("dropout", "at least 0 and below 1", self.dropout)


@dataclass(frozen=True, kw_only=True)
class ObjectiveConfig:
    """The weights and forms of L1 (prediction), L2 (validity) and L3 (proximity)."""

    lambda_1: float
    lambda_2: float
    lambda_3: float
    loss: Loss
    proximity: ProximityLoss

    def __post_init__(self) -> None:
        for name in ("lambda_1", "lambda_2", "lambda_3"):
            _require_number(name, getattr(self, name), at_least=0.0)
        _require_one_of("loss", self.loss, LOSSES)
        _require_one_of("proximity_loss", self.proximity, PROXIMITY_LOSSES)


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
        _require_number("category_scale", self.category_scale, at_least=0.0)
        _require_count("attack_steps", self.steps)
        _require_count("unroll_steps", self.unroll)
        _require_number("inner_rate", self.rate, above=0.0)
        _require_one_of("inner_optimizer", self.optimizer, INNER_OPTIMIZERS)
        _require_one_of("norm", self.norm, NORMS)
        _require_one_of("attacker", self.attacker, ATTACKERS)
        _require_one_of("scope", self.scope, SCOPES)


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Everything that `train` needs besides the rows.

    `attack` is what the generator is trained against (None: the unshifted predictor, CounterNet);
    `probe` is the attacker that measures robust validity on held-out rows in every epoch.
    """

    network: NetworkConfig
    objective: ObjectiveConfig
    attack: AttackConfig | None
    probe: AttackConfig = field(default_factory=AttackConfig)
    epsilon: float
    schedule: Schedule
    learning_rate: float
    batch_size: int
    epochs: int
    validation_fraction: float
    patience: int | None

    def __post_init__(self) -> None:
        _require_number("epsilon", self.epsilon, at_least=0.0)
        _require_one_of("epsilon_schedule", self.schedule, SCHEDULES)
        _require_number("learning_rate", self.learning_rate, above=0.0)
        _require_count("batch_size", self.batch_size)
        _require_count("epochs", self.epochs)
        if not 0.0 <= self.validation_fraction < 1.0:
            raise _wrong("validation_fraction", "at least 0 and below 1", self.validation_fraction)
        if self.patience is not None:
            _require_count("patience", self.patience)

    def epsilon_at(self, epoch: int) -> float:
        """The shift's radius in an epoch (counted from 1), Algorithm 2 line 5."""
        if self.schedule == "constant":
            return self.epsilon
        return self.epsilon * epoch / self.epochs


def _wrong(name: str, rule: str, received: Any) -> ConfigError:
    return ConfigError(
        f"The option '{name}' must be {rule}: got {received!r}; set it to such a value."
    )


def _require_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise _wrong(name, "one of " + ", ".join(repr(choice) for choice in choices), value)


def _require_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong(name, "a whole number of at least 1", value)


def _require_number(
    name: str, value: object, *, at_least: float | None = None, above: float | None = None
) -> None:
    rule = f"a number of at least {at_least:g}" if above is None else f"a number above {above:g}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(name, rule, value)
    if (at_least is not None and value < at_least) or (above is not None and value <= above):
        raise _wrong(name, rule, value)


def _require_widths(name: str, widths: object) -> None:
    rule = "a non-empty tuple of whole numbers of at least 1"
    if not isinstance(widths, tuple) or not widths:
        raise _wrong(name, rule, widths)
    for width in widths:
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise _wrong(name, rule, widths)
