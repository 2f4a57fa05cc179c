"""The jury: the cheapest changes that models of several families, retrained, are sure of."""

from rocourse.recourse.jury._proposer import JuryProposer

__all__ = ["JuryProposer"]
