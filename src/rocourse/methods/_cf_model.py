"""CF Model: a generator trained post hoc, with or without an attacker."""

from typing import ClassVar

from rocourse.methods._generator_method import (
    FeedForwardMethod,
    PostHocGeneratorMethod,
    RobustTraining,
)
from rocourse.methods._parameters import estimator
from rocourse.networks import GeneratorInput


@estimator
class CFModelMethod(PostHocGeneratorMethod, FeedForwardMethod):
    """Abstract base: a network from the row to its recourse, shaped like CounterNet's."""

    _sources: ClassVar[tuple[GeneratorInput, ...]] = ("x",)

    def _hidden_widths(self) -> tuple[int, ...]:
        # CounterNet's generator stands on the predictor's encoder; this one has its own.
        return (*self.encoder_widths, *self.generator_widths)


@estimator
class CFModel(CFModelMethod):
    """A recourse generator for a trained predictor (the paper's CF Model).

    A network of its own, shaped like CounterNet's encoder and generator, learns from validity and
    proximity while the predictor stays as it is.
    """

    method: ClassVar[str] = "cf-model"


@estimator
class RobustCFModel(CFModelMethod, RobustTraining):
    """CF Model trained against the worst-case data shift (the paper's Robust CF Model)."""

    method: ClassVar[str] = "robust-cf-model"
