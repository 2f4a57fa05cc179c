"""Makers of untrained generators; equal parameters make equal ones, which share compiled code."""

from dataclasses import dataclass

from jax import Array

from rocourse.networks import Generator, GeneratorInput, GeneratorKind, GeneratorShape


@dataclass(frozen=True, kw_only=True)
class FeedForward:
    """Builds CounterNet's and CF Model's generators."""

    sources: tuple[GeneratorInput, ...]
    widths: tuple[int, ...]
    kind: GeneratorKind
    target_input: bool
    dropout: float

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
