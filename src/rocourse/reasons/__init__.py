"""Why a row is not given the class that is wanted: its principal reasons, by Shapley values."""

from rocourse.reasons._background import Background, Tensors, make_background
from rocourse.reasons._record import MOST_REASONS, Reason, Reasons
from rocourse.reasons._shapley import MOST_EXACT, Explained, log_odds, shapley_values

__all__ = [
    "Background",
    "Explained",
    "MOST_EXACT",
    "MOST_REASONS",
    "Reason",
    "Reasons",
    "Tensors",
    "log_odds",
    "make_background",
    "shapley_values",
]
