"""What a committee of networks decides by, in float64: the lead of a class over each other."""

import math
from typing import NamedTuple

import numpy as np

from rocourse.models import BatchModel, NetworkModel, has_network
from rocourse.networks import LEAK, Predictor
from rocourse.recourse.proof._boxes import Boxes, highest
from rocourse.schema import CutOff, Layout

SLOPE = float(np.float32(LEAK))
"""Of the rectifiers below zero, as the networks have it."""
# Half the distance of 1 to the next float32.
_UNIT = 2.0**-24
# Of a probability in float32, by whatever approximation of the exponential.
_PROBABILITY_ERROR = 16 * _UNIT
_LEAST = 1e-9


class Margins(NamedTuple):
    """A committee's lead of one class over each other, less what the cut-off asks for.

    Of two classes there is one margin; the class is given if every margin is above zero. Layers of
    all networks are stacked.
    """

    weights: tuple[np.ndarray, ...]
    """Of each hidden layer, `[networks, out, in]`."""
    biases: tuple[np.ndarray, ...]
    """`[networks, out]`."""
    last: np.ndarray
    """From the last hidden layers to the margins, `[networks, margins, in]`."""
    offset: np.ndarray
    """`[margins]`."""
    slack: float
    """How near to zero a margin says nothing of probabilities that are compared in float32."""
    layout: Layout


def margins_of(
    model: BatchModel, target: int, cut_off: CutOff | None, layout: Layout
) -> Margins | None:
    """The margins of a class, as the model decides; None if its networks are not at hand."""
    if not has_network(model) or not isinstance(model.predictor, Predictor):
        return None
    networks = model.networks if isinstance(model, NetworkModel) else (model.predictor,)

    def stacked(part: str, depth: int) -> np.ndarray:
        layers = [getattr(network.layers[depth], part) for network in networks]
        return np.stack([np.asarray(layer, np.float64) for layer in layers])

    hidden = range(len(model.predictor.layers) - 1)
    # The joined network's own last layer: it is what predicts, rounded as it is.
    output = model.predictor.output
    logits, offsets = (np.asarray(part, np.float64) for part in (output.weight, output.bias))
    logits = logits.reshape(len(offsets), len(networks), -1).swapaxes(0, 1)
    threshold = 0.5
    if model.n_classes == 2:
        sign = 1.0 if target == 1 else -1.0
        if cut_off is not None:
            enough = float(np.float32(cut_off.threshold))
            threshold = enough if cut_off.favourable == 1 else 1.0 - enough
            # A cut-off that float32 cannot tell from 0 or 1 leaves nothing to be said by bounds.
            threshold = min(max(threshold, _LEAST), 1.0 - _LEAST)
        last = sign * logits
        offset = sign * (offsets - math.log(threshold / (1.0 - threshold)))
    else:
        others = np.arange(model.n_classes) != target
        last = logits[:, [target]] - logits[:, others]
        offset = offsets[target] - offsets[others]
    return Margins(
        tuple(stacked("weight", depth) for depth in hidden),
        tuple(stacked("bias", depth) for depth in hidden),
        last,
        offset,
        _PROBABILITY_ERROR / (threshold * (1.0 - threshold)),
        layout,
    )


def least_margin(margins: Margins, x: np.ndarray) -> np.ndarray:
    """The least margin of encoded rows `[n, width]`: `[n]`."""
    hidden = np.broadcast_to(x, (len(margins.last), *x.shape))
    for weight, bias in zip(margins.weights, margins.biases, strict=True):
        z = hidden @ weight.swapaxes(1, 2) + bias[:, None]
        hidden = np.maximum(z, SLOPE * z)
    leads = (hidden @ margins.last.swapaxes(1, 2)).sum(axis=0) + margins.offset
    return np.asarray(leads.min(axis=1))


def rounding(margins: Margins, boxes: Boxes) -> np.ndarray:
    """How near to zero a margin says nothing of a network's verdict in float32, `[n]`.

    The usual bound of the error of a sum of products, in any order, carried through the layers.
    What the bounds of float64 themselves are wrong by is a tiny part of it.
    """
    size = np.maximum(np.abs(boxes.low), np.abs(boxes.high))
    reach = boxes._replace(low=size, high=size)
    n_networks = len(margins.last)
    most = error = np.zeros((n_networks, len(size), 0))
    for depth, (weight, bias) in enumerate(zip(margins.weights, margins.biases, strict=True)):
        across = np.abs(weight)
        # Zeros cost nothing: those between joined networks, and those of one-hot groups.
        terms = weight.shape[2]
        if depth == 0:
            terms = margins.layout.n_continuous + margins.layout.n_categorical
            total = np.stack([highest(rows, reach, margins.layout) for rows in across])
            error = np.zeros_like(total)
        else:
            total, error = (part @ across.swapaxes(1, 2) for part in (most, error))
        # Two terms more for the bias and one for the rectifier.
        share = (terms + 3) * _UNIT
        most = total + np.abs(bias)[:, None]
        error = (1.0 + share) * error + share * most
    across = np.abs(margins.last).swapaxes(1, 2)
    share = (n_networks * margins.last.shape[2] + 4) * _UNIT
    total, error = ((part @ across).sum(axis=0) for part in (most, error))
    error = (1.0 + share) * error + share * (total + np.abs(margins.offset))
    return np.asarray(error.max(axis=1)) + margins.slack
