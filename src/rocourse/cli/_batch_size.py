"""How many rows go through a model at once."""

import math


def even_size(rows: int, most: int) -> int:
    """The size of equal batches of at most `most` rows.

    A short last batch would be of another shape, for which code would have to be compiled.
    """
    return math.ceil(rows / max(1, math.ceil(rows / most)))
