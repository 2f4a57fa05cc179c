"""A generator: a network from the row to its recourse."""

from rocourse.recourse.generator._proposer import GeneratorProposer

__all__ = ["GeneratorProposer"]
