"""Whether there is a recourse at all where none was found, and which rule stands in the way."""

from rocourse.recourse.proof._margins import SLOPE, Margins, margins_of
from rocourse.recourse.proof._prove import prove
from rocourse.recourse.proof._seek import Sought, seek

__all__ = ["SLOPE", "Margins", "Sought", "margins_of", "prove", "seek"]
