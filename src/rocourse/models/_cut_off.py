"""Models by a lender's cut-off: log-odds are shifted, so that the most probable class is given.

Whatever searches for recourses, and whoever judges them, works with such models, and needs to know
nothing of cut-offs. Probabilities that people see are those of the model as it was trained.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np

from rocourse.models._interface import BatchModel, has_network, is_quick
from rocourse.models._network_model import NetworkModel
from rocourse.networks import Predictor
from rocourse.schema import CutOff


def add_to_logits(network: Predictor, offsets: np.ndarray | float) -> Predictor:
    """The network with something added to its logits."""
    moved: Predictor = eqx.tree_at(
        lambda part: part.output.bias, network, network.output.bias + offsets
    )
    return moved


def move_networks(networks: Sequence[Predictor], cut_off: CutOff | None) -> list[Predictor]:
    """Networks whose most probable class is the one given."""
    if cut_off is None:
        return list(networks)
    return [add_to_logits(network, cut_off.shift) for network in networks]


def move_model(model: BatchModel, cut_off: CutOff | None) -> BatchModel:
    """A model whose most probable class is the one given."""
    if cut_off is None:
        return model
    if has_network(model):
        apart = model.networks if isinstance(model, NetworkModel) else (model.predictor,)
        return NetworkModel.of(move_networks(apart, cut_off))
    return _MovedModel(model, cut_off)


def unmoved_model(model: BatchModel) -> BatchModel:
    """A model that is given, before `move_model`."""
    return model.model if isinstance(model, _MovedModel) else model


@dataclass(frozen=True, eq=False)
class _MovedModel:
    """A model of which nothing but probabilities and slopes is known, by a cut-off."""

    model: BatchModel
    cut_off: CutOff

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.model.n_classes

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """As of `BatchModel`, shifted."""
        return self.cut_off.moved(self.model.probabilities(x))

    def read_rows(self, x: np.ndarray) -> Any:
        """As of `QuickModel`; None where the model is none."""
        return self.model.read_rows(x) if is_quick(self.model) else None

    def quick_probabilities(self, x: np.ndarray, read: Any = None) -> np.ndarray:
        """As `probabilities`, up to rounding."""
        if not is_quick(self.model):
            return self.probabilities(x)
        return self.cut_off.moved(self.model.quick_probabilities(x, read))

    def turns(self) -> tuple[np.ndarray, ...]:
        """As of `QuickModel`: a cut-off moves no threshold."""
        return self.model.turns() if is_quick(self.model) else ()

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of `BatchModel`, of shifted probabilities k·p / (k·p + 1 − p)."""
        found, gradient = self.model.slopes(x, target)
        times = np.exp(np.where(target == 1, 1.0, -1.0) * self.cut_off.shift)
        total = times * found + 1.0 - found
        moved, steeper = times * found / total, times / total**2
        return moved.astype(np.float32), (steeper[:, None] * gradient).astype(np.float32)
