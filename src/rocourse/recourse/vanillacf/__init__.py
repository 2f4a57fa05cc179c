"""VanillaCF: gradient descent on validity and distance, row by row."""

from rocourse.recourse.vanillacf._proposer import VanillaCFProposer

__all__ = ["VanillaCFProposer"]
