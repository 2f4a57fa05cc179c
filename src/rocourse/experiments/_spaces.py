"""What tuning varies, by method: only what decides between validity, robustness and cost.

The predictor's widths, loss and learning rate are none of it. They belong to the model that is
explained, and a method that could weaken its predictor would find recourses easy to defend.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rocourse.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers from `low` to `high`.

    Attributes:
        low: The least.
        high: The greatest.
        log: Whether ratios count, as for prices and rates, rather than differences.
        whole: Whether only whole numbers do.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"low": self.low, "high": self.high, "log": self.log, "whole": self.whole}

    def __contains__(self, value: object) -> bool:
        kind = int if self.whole else int | float
        return (
            isinstance(value, kind)
            and not isinstance(value, bool)
            and (self.low <= value <= self.high)
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """A few values that have no order.

    Attributes:
        values: Texts, numbers, truth values, or tuples of them.
    """

    values: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"values": [list(v) if isinstance(v, tuple) else v for v in self.values]}

    def __contains__(self, value: object) -> bool:
        return value in self.values


Dimension = Span | Choices
Space = Mapping[str, Dimension]

# The price of a change beside the reward of validity. Adam does not see a factor that both have in
# common, so that λ2 can stay where it is.
_PRICE: Space = {"lambda_3": Span(0.03, 2.0, log=True)}
_JOINT: Space = {**_PRICE, "epochs": Span(20, 100, whole=True)}
# Radius and strength of the attack. Adam at η = 0.03 already leaves a generator nothing that holds.
_ATTACK: Space = {
    "epsilon": Span(0.02, 0.3, log=True),
    "inner_rate": Span(0.0003, 0.03, log=True),
}
_POST_HOC: Space = {**_PRICE, "generator_epochs": Span(20, 100, whole=True)}
# Three terms: the reconstruction keeps its weight.
_VAE: Space = {
    "lambda_2": Span(5.0, 100.0, log=True),
    # A few values: each is compiled anew.
    "kl_weight": Choices((0.1, 0.3, 1.0)),
    "generator_epochs": Span(20, 100, whole=True),
}
# Without a margin the search stops at the boundary, where any retrained model may disagree.
_VANILLA: Space = {
    "proximity_weight": Span(0.01, 1.0, log=True),
    "margin": Span(0.1, 5.0, log=True),
    "search_rate": Span(0.01, 0.3, log=True),
}

SPACES: dict[str, Space] = {
    "counternet": _JOINT,
    "rocoursenet": {**_JOINT, **_ATTACK},
    "rocoursenet-random": {**_JOINT, **_ATTACK},
    "cf-model": _POST_HOC,
    "robust-cf-model": {**_POST_HOC, **_ATTACK},
    "vae-cf": _VAE,
    "robust-vae-cf": {**_VAE, **_ATTACK},
    "vanillacf": _VANILLA,
    "vanillacf-random": {**_VANILLA, "epsilon": Span(0.02, 0.3, log=True)},
    "roar": {
        "delta_max": Span(0.01, 0.3, log=True),
        # The first weight decides; the others help out where it leads to nothing valid.
        "proximity_weights": Choices(
            ((1.0, 0.3, 0.1, 0.03), (0.3, 0.1, 0.03), (0.1, 0.03, 0.01), (0.03, 0.01), (0.01,))
        ),
    },
    "rbr": {
        "epsilon_op": Span(0.0, 1.0),
        "epsilon_pe": Span(0.0, 1.0),
        "delta_plus": Span(0.0, 1.0),
        "radius": Span(0.05, 0.5, log=True),
    },
    "rocourse-panel": {
        "typicality": Span(0.0, 0.95),
        "worth": Span(0.002, 0.1, log=True),
        "blur_flip": Span(0.0, 0.6),
        "scramble": Span(0.0, 1.0),
    },
}
"""The parameters that `tune` varies and how far, by method."""


def find_space(method: str, fixed: Collection[str] = ()) -> dict[str, Dimension]:
    """The space of a method without the parameters that are fixed."""
    if method not in SPACES:
        raise ConfigError(
            f"The method to tune must be one of {', '.join(sorted(SPACES))}: got {method!r}; name "
            "one of them."
        )
    space = {name: where for name, where in SPACES[method].items() if name not in fixed}
    if not space:
        raise ConfigError(
            f"Tuning must have a parameter to vary, but all that it varies of {method} are fixed: "
            f"{', '.join(SPACES[method])}; leave one open."
        )
    return space
