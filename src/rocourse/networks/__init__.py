"""The networks: predictor (encoder and head) and the recourse generators.

A generator of your own is an Equinox module with the signature of `RecourseGenerator`; see
`docs/generators.md`.
"""

from rocourse.networks._generator import Generator, GeneratorInput
from rocourse.networks._mlp import LEAK, HiddenStack, draw_dropout_factors, dropout_factors
from rocourse.networks._predictor import Predictor, join, probabilities
from rocourse.networks._proposal import (
    GENERATORS,
    GeneratorBuilder,
    GeneratorKind,
    GeneratorShape,
    Proposal,
    RecourseGenerator,
    Request,
    output_layer,
    propose,
    random_count,
    takes_columns,
)
from rocourse.networks._vae import VAEGenerator, normal_divergence

__all__ = [
    "GENERATORS",
    "LEAK",
    "Generator",
    "GeneratorBuilder",
    "GeneratorInput",
    "GeneratorKind",
    "GeneratorShape",
    "HiddenStack",
    "Predictor",
    "Proposal",
    "RecourseGenerator",
    "Request",
    "VAEGenerator",
    "draw_dropout_factors",
    "dropout_factors",
    "join",
    "normal_divergence",
    "output_layer",
    "probabilities",
    "propose",
    "random_count",
    "takes_columns",
]
