"""Makers of untrained generators; equal parameters make equal ones, which share compiled code."""

from dataclasses import dataclass

from jax import Array

from rocourse.methods._config import (
    require_count,
    require_number,
    require_one_of,
    require_widths,
    wrong,
)
from rocourse.networks import (
    GENERATORS,
    Generator,
    GeneratorInput,
    GeneratorKind,
    GeneratorShape,
    VAEGenerator,
)


@dataclass(frozen=True, kw_only=True)
class FeedForward:
    """Builds CounterNet's and CF Model's generators."""

    sources: tuple[GeneratorInput, ...]
    widths: tuple[int, ...]
    kind: GeneratorKind
    target_input: bool
    dropout: float

    def __post_init__(self) -> None:
        require_one_of("generator", self.kind, GENERATORS)
        require_widths("generator_widths", self.widths)
        if not isinstance(self.target_input, bool):
            raise wrong("target_input", "True or False", self.target_input)

    def __call__(self, shape: GeneratorShape, *, key: Array) -> Generator:
        """An untrained generator; with more than two classes every one sees the desired class."""
        sees_target = self.target_input or shape.n_classes > 2
        return Generator(
            shape,
            inputs=(*self.sources, "target") if sees_target else self.sources,
            widths=self.widths,
            kind=self.kind,
            dropout=self.dropout,
            key=key,
        )


@dataclass(frozen=True, kw_only=True)
class VariationalAutoEncoder:
    """Builds VAE-CF's generator."""

    widths: tuple[int, ...]
    latent: int
    kind: GeneratorKind
    kl_weight: float

    def __post_init__(self) -> None:
        require_one_of("generator", self.kind, GENERATORS)
        require_widths("generator_widths", self.widths)
        require_count("latent", self.latent)
        require_number("kl_weight", self.kl_weight, at_least=0.0)

    def __call__(self, shape: GeneratorShape, *, key: Array) -> VAEGenerator:
        """An untrained generator."""
        return VAEGenerator(
            shape,
            widths=self.widths,
            latent=self.latent,
            kind=self.kind,
            kl_weight=self.kl_weight,
            key=key,
        )
