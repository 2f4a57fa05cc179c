"""Settings that were chosen for a data set, by name, each with its reason.

A preset states only what differs from the defaults of a method.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rocourse.errors import ConfigError
from rocourse.options import NESTED, Options

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Preset(NamedTuple):
    """Values of options that belong together."""

    reason: str
    """Why these, in a sentence or two."""
    trainer: Mapping[str, Any] = _NOTHING
    """For whatever trainer a method has."""
    proposer: Mapping[str, Mapping[str, Any]] = _NOTHING
    """By the kind of proposer: each has options of its own."""
    attack: Mapping[str, Any] = _NOTHING
    """For methods that have an attack."""

    def merged(self, other: "Preset") -> "Preset":
        """Both, where the other one wins."""
        kinds = {**self.proposer, **other.proposer}
        return Preset(
            self.reason,
            {**self.trainer, **other.trainer},
            {
                kind: {**self.proposer.get(kind, {}), **other.proposer.get(kind, {})}
                for kind in kinds
            },
            {**self.attack, **other.attack},
        )

    def values_for(
        self, trainer: Options, proposer: Options, attack: Options | None
    ) -> dict[str, Any]:
        """What the preset says to a method, by scikit-learn's nested names."""
        parts: list[tuple[str, Options | None, Mapping[str, Any]]] = [
            ("trainer", trainer, self.trainer),
            ("proposer", proposer, self.proposer.get(proposer.kind, _NOTHING)),
            ("attack", attack, self.attack),
        ]
        return {
            f"{part}{NESTED}{name}": value
            for part, options, values in parts
            if options is not None
            for name, value in values.items()
            if name in options.get_params()
        }


_PAPER = (
    "The paper's table of hyper-parameters for {}: widths without the input, with the last shared "
    "one counted once; a generator that rebuilds the row without seeing the desired class; "
    "Algorithm 1 to the letter, with plain gradient descent."
)
_PAPER_GENERATOR = {
    "network": "rebuild",
    "target_input": False,
    "proximity_loss": "mse",
    "proximity_weight": 0.1,
}
_CHOSEN = (
    "The panel's settings for {}, chosen on training rows alone, some of them judged by models of "
    "others after a shift (docs/reproduction.md): the most robust that cost at most 60% of the "
    "paper's."
)

PRESETS: Mapping[str, Preset] = {
    "paper-german-credit": Preset(
        _PAPER.format("German Credit"),
        trainer={"batch_size": 256},
        proposer={"generator": {**_PAPER_GENERATOR, "widths": (20,)}},
        attack={"optimizer": "sgd", "learning_rate": 0.03},
    ),
    "paper-student": Preset(
        _PAPER.format("Student"),
        trainer={"encoder_widths": (50, 10), "head_widths": (10,), "learning_rate": 0.01},
        proposer={"generator": {**_PAPER_GENERATOR, "widths": (50,), "validity_weight": 0.2}},
        attack={"optimizer": "sgd", "learning_rate": 0.01},
    ),
    "paper-loan": Preset(
        _PAPER.format("loan"),
        trainer={"encoder_widths": (200, 10), "head_widths": (10,)},
        proposer={"generator": {**_PAPER_GENERATOR, "widths": (10,), "validity_weight": 0.2}},
        attack={"optimizer": "sgd", "learning_rate": 0.03},
    ),
    "panel-german-credit": Preset(
        _CHOSEN.format("German Credit"),
        trainer={
            "epochs": 15,
            "committee": 6,
            "copies": 4,
            "blur__noise": 0.0,
            "blur__flip": 0.5,
            "balance": 0.5,
        },
        proposer={
            "panel": {
                "margin_quantile": 0.9,
                "min_gain": 0.02,
                "min_category_share": 0.1,
            }
        },
    ),
    "panel-student": Preset(
        _CHOSEN.format("Student"),
        trainer={
            "epochs": 15,
            "committee": 6,
            "copies": 4,
            "blur__noise": 0.2,
            "blur__flip": 0.3,
            "blur__ordinal_noise": 0.3,
        },
        proposer={
            "panel": {
                "members": 8,
                "margin_quantile": 0.85,
                "min_category_share": 0.08,
                "shift__flip": 0.2,
            }
        },
    ),
    "panel-loan": Preset(
        _CHOSEN.format("loan"),
        trainer={
            "epochs": 8,
            "committee": 6,
            "dropout": 0.5,
            "blur__flip": 0.05,
            "blur__uniform_flip": 1.0,
            "blur__class_evenness": 1.0,
            "balance": 0.7,
        },
        proposer={
            "panel": {
                "members": 1,
                "margin_quantile": (0.9, 0.6),
                "min_gain": 0.03,
                "shift__uniform_flip": 1.0,
            }
        },
    ),
}
"""By name."""


def find_preset(name: Any) -> Preset:
    """The preset called `name`."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(
            f"The option 'preset' must be one of {', '.join(PRESETS)}: got {name!r}; name one of "
            "them, or leave it out."
        )
    return PRESETS[name]
