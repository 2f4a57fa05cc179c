"""PyTorch modules: called in evaluation mode, differentiated by autograd."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from rocourse.errors import ArtifactError, ConfigError, DataError
from rocourse.models._frameworks import import_framework
from rocourse.models.adapters._answers import Reading

# Rows of one pass: the activations of a network, not its inputs, fill the memory.
_ROWS = 4096


class TorchCall:
    """Calls a module with arrays.

    The module is in evaluation mode during a call only; afterwards each of its parts is in the mode
    it was in. Its parameters get no gradients.
    """

    def __init__(self, module: Any, reading: Reading) -> None:
        import_framework("torch")
        self._module = module
        self._reading = reading

    @property
    def _torch(self) -> Any:
        # Not an attribute: an adapted model is a parameter of estimators, which are copied, and
        # modules cannot be.
        return import_framework("torch")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The module's answers, as an array."""
        with self._evaluating(), self._torch.no_grad():
            parts = [
                self._answer(self._tensor(x[start : start + _ROWS]))
                for start in range(0, len(x), _ROWS)
            ]
            joined: np.ndarray = self._torch.cat(parts).double().cpu().numpy()
        return joined

    def gradient(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each row's target `[n]` and its gradient `[n, width]`, by autograd."""
        here = np.empty(len(x), np.float32)
        slopes = np.empty(x.shape, np.float32)
        with self._evaluating(), self._torch.inference_mode(False), self._torch.enable_grad():
            for start in range(0, len(x), _ROWS):
                part = slice(start, min(start + _ROWS, len(x)))
                here[part], slopes[part] = self._part_gradient(x[part], target[part])
        return here, slopes

    def _part_gradient(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(x)
        # As in prediction: a module that squeezes its answer would lose the axis of a single row.
        rows = self._tensor(np.repeat(x, 2, axis=0) if n == 1 else x).requires_grad_()
        answer = self._answer(rows)
        self._reading.check_shape(tuple(answer.shape), len(rows))
        answer = answer.reshape(len(rows), -1)[:n]
        column = self._torch.as_tensor(self._reading.order[target], device=rows.device)
        wanted = self._probability(answer, column)
        if not wanted.requires_grad:
            raise ConfigError(
                f"{self._reading.name} must be differentiable in its inputs, but its answer has no "
                "gradient; do not detach it, or pass it as a function with inputs='encoded'."
            )
        (slopes,) = self._torch.autograd.grad(wanted.sum(), rows, materialize_grads=True)
        result = slopes[:n].float().cpu().numpy()
        if not np.isfinite(result).all():
            raise DataError(
                f"{self._reading.name} must have finite gradients, but got NaN or infinity; check "
                "its weights and outputs."
            )
        return wanted.detach().float().cpu().numpy(), result

    def _probability(self, answer: Any, column: Any) -> Any:
        """The probability of one column of the module's labels a row, differentiable."""
        logits = self._reading.outputs == "logits"
        if answer.shape[1] == 1:
            sign = 2 * column - 1
            if logits:
                return self._torch.sigmoid(sign * answer[:, 0])
            return (1 - column) + sign * answer[:, 0]
        shares = self._torch.softmax(answer, dim=1) if logits else answer
        return shares.gather(1, column[:, None])[:, 0]

    def _answer(self, rows: Any) -> Any:
        answer = self._module(rows)
        if not isinstance(answer, self._torch.Tensor):
            raise ConfigError(
                f"{self._reading.name} must return one tensor, but got {type(answer).__name__}; "
                "wrap it in a module that returns the logits alone."
            )
        return answer

    def _tensor(self, x: np.ndarray) -> Any:
        """The rows as a tensor of the parameters' type, on their device."""
        first = next(self._module.parameters(), None)
        dtype, device = self._torch.float32, None
        if first is not None:
            device = first.device
            dtype = first.dtype if first.dtype.is_floating_point else dtype
        return self._torch.tensor(x, dtype=dtype, device=device)

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        modes = [(part, part.training) for part in self._module.modules()]
        self._module.eval()
        try:
            yield
        finally:
            for part, training in modes:
                part.training = training


def weights_of(module: Any) -> dict[str, np.ndarray]:
    """The parameters and buffers of a module by name."""
    return {
        name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()
    }


def with_weights(module: Any, weights: Mapping[str, np.ndarray]) -> Any:
    """A copy of a module that has other weights.

    Raises:
        ArtifactError: They are of another module.
    """
    torch = import_framework("torch")
    twin = deepcopy(module)
    try:
        twin.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    except (RuntimeError, AttributeError) as error:
        raise ArtifactError(
            "its refits must have the layers of the model itself, but "
            f"{' '.join(str(error).split())[:200]}; refit the module that you give."
        ) from error
    return twin
