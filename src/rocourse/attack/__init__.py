"""Virtual Data Shift: the worst-case data shift, and the model retrained on it."""

from rocourse.attack._options import Attack
from rocourse.attack._projections import NORMS, Norm
from rocourse.attack._shift import (
    ATTACKERS,
    INNER_OPTIMIZERS,
    Attacker,
    InnerOptimizer,
    Shifted,
    inner_optimizer,
    look_ahead,
    virtual_data_shift,
)

__all__ = [
    "ATTACKERS",
    "INNER_OPTIMIZERS",
    "NORMS",
    "Attack",
    "Attacker",
    "InnerOptimizer",
    "Norm",
    "Shifted",
    "inner_optimizer",
    "look_ahead",
    "virtual_data_shift",
]
