"""The networks: predictor (encoder and head) and the recourse generators."""

from rocourse.networks._counternet import (
    GENERATORS,
    Generator,
    GeneratorKind,
    Predictor,
    Proposal,
    probabilities,
)
from rocourse.networks._mlp import HiddenStack, draw_dropout

__all__ = [
    "GENERATORS",
    "Generator",
    "GeneratorKind",
    "HiddenStack",
    "Predictor",
    "Proposal",
    "draw_dropout",
    "probabilities",
]
