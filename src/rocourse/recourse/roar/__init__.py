"""ROAR: recourse against the worst change of a local surrogate's weights."""

from rocourse.recourse.roar._proposer import ROARProposer

__all__ = ["ROARProposer"]
