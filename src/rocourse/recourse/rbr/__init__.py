"""RBR: recourse against the worst Gaussians near samples."""

from rocourse.recourse.rbr._proposer import RBRProposer

__all__ = ["RBRProposer"]
