"""One row at a time through predictor and generator, without what surrounds a table."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import bound, own_device
from rocourse.models.training import hard_recourses
from rocourse.networks import LEAK, Predictor, RecourseGenerator, probabilities
from rocourse.schema import Layout, RowCodes
from rocourse.schema.constraints import ConstraintLayer, expand

# Of two classes, the unfavourable one: softmax of (0, z) is the sigmoid of z.
_NO_LOGIT = np.zeros(1, np.float32)

Networks = tuple[Predictor, RecourseGenerator, ConstraintLayer]


class Look(NamedTuple):
    """What is known of one row before its proposal is settled."""

    predicted: int
    target: int
    before: float
    """The probability of the target class."""
    proposed: RowCodes | None
    """None where no change is needed."""


class RowEngine:
    """The networks of one model, ready to be asked about one row at a time."""

    def __init__(self, networks: Networks, layout: Layout) -> None:
        self._layout = layout
        self._look = bound(_look, networks, device=own_device())
        self._layers = [
            (np.asarray(layer.weight), np.asarray(layer.bias)) for layer in networks[0].layers
        ]
        self._starts = layout.n_continuous + np.cumsum((0, *layout.group_sizes))[:-1]

    def look(self, row: RowCodes, wanted: int) -> Look:
        """Prediction and proposal for a row; -1 wants the other class of two."""
        asked = np.asarray([wanted], np.int32)
        found = np.asarray(self._look(*self._arrays(row), asked)).tolist()
        cut = 3 + self._layout.n_continuous
        proposed = RowCodes(tuple(found[3:cut]), tuple(int(code) for code in found[cut:]))
        return Look(int(found[0]), int(found[1]), found[2], proposed)

    def probabilities(self, row: RowCodes) -> np.ndarray:
        """Class probabilities of a row, `[n_classes]`.

        By NumPy: for so few numbers a call of compiled code takes several times as long.
        """
        x = np.zeros(self._layout.width, np.float32)
        x[: len(row.values)] = row.values
        x[self._starts + np.asarray(row.categories, int)] = 1.0
        *hidden, (weight, bias) = self._layers
        for w, b in hidden:
            x = w @ x + b
            x = np.maximum(x, LEAK * x)
        logits = weight @ x + bias
        if len(logits) == 1:
            logits = np.concatenate([_NO_LOGIT, logits])
        raised = np.exp(logits - logits.max())
        shares: np.ndarray = raised / raised.sum()
        return shares

    def _arrays(self, row: RowCodes) -> tuple[np.ndarray, np.ndarray]:
        values = np.asarray(row.values, np.float32).reshape(1, -1)
        return values, np.asarray(row.categories, self._layout.category_dtype).reshape(1, -1)


def _look(networks: Networks, continuous: Array, categories: Array, wanted: Array) -> Array:
    """All in one vector of float32, since fetching many arrays takes longer than making them."""
    predictor, generator, constraints = networks
    x = expand(continuous.T, categories.T, constraints.layout)
    shares = probabilities(predictor(x))
    predicted = jnp.argmax(shares, axis=0)
    target = jnp.where(wanted < 0, 1 - predicted, wanted)
    values, codes = hard_recourses(predictor, generator, x, target, constraints)
    parts = (predicted, target, shares[target, 0], values[:, 0], codes[:, 0])
    return jnp.concatenate([part.astype(jnp.float32) for part in parts])
