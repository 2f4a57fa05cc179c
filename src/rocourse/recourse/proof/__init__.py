"""Whether there is a recourse at all where none was found, and which rule stands in the way."""

from rocourse.recourse.proof._prove import prove
from rocourse.recourse.proof._seek import Sought, seek

__all__ = ["Sought", "prove", "seek"]
