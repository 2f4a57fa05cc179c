"""The public methods: thin compositions of a trainer, a proposer and perhaps an attack."""

from rocourse.estimators._base import METHODS, RecourseClassifier
from rocourse.estimators._methods import (
    RBR,
    ROAR,
    VAECF,
    CFModel,
    CounterNet,
    RobustCFModel,
    RobustVAECF,
    RoCourse,
    RoCourseNet,
    RoCourseNetRandom,
    RoCoursePanel,
    VanillaCF,
    VanillaCFRandom,
)
from rocourse.estimators._one_verdict import OneVerdictWarning
from rocourse.estimators._oracle import oracle
from rocourse.estimators._parameters import (
    default_options,
    describe_parameters,
    named_options,
    tuning_space,
)
from rocourse.estimators._presets import PRESETS, Preset

__all__ = [
    "METHODS",
    "PRESETS",
    "Preset",
    "RBR",
    "ROAR",
    "VAECF",
    "CFModel",
    "CounterNet",
    "OneVerdictWarning",
    "RecourseClassifier",
    "RoCourseNet",
    "RoCourseNetRandom",
    "RoCourse",
    "RoCoursePanel",
    "RobustCFModel",
    "RobustVAECF",
    "VanillaCF",
    "VanillaCFRandom",
    "default_options",
    "describe_parameters",
    "named_options",
    "oracle",
    "tuning_space",
]
