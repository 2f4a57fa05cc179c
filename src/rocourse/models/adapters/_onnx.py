"""Models in ONNX: a file that any framework may have written, asked by onnxruntime."""

from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError
from rocourse.models._frameworks import import_framework

# What ONNX calls the values of a tensor, and NumPy.
_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


@final
class OnnxModel:
    """A model in ONNX as a function of rows: a table for one input a column, else an array.

    Args:
        content: The bytes of the file.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._inputs = self._session.get_inputs()
        self._output = _probabilities_of(self._session.get_outputs())
        for one in self._inputs:
            if one.type not in _DTYPES:
                raise ConfigError(
                    f"A model in ONNX must take numbers, text or truth values, but its input "
                    f"{one.name!r} is {one.type}; pass a function of rows that asks it."
                )

    @classmethod
    def of(cls, source: str | PathLike[str] | bytes | bytearray) -> "OnnxModel":
        """The model of a file or of its bytes.

        Raises:
            ConfigError: There is no such file, or it is no model in ONNX.
            DependencyError: onnxruntime is not installed.
        """
        if isinstance(source, bytes | bytearray):
            return cls(bytes(source))
        try:
            return cls(Path(source).read_bytes())
        except OSError as error:
            raise ConfigError(
                f"The model {str(source)!r} must be a readable file in ONNX, but got "
                f"{error.strerror or error}; check the path."
            ) from error

    def __deepcopy__(self, memo: dict[int, Any]) -> "OnnxModel":
        # Nothing about it changes, and a session cannot be copied.
        return self

    @cached_property
    def _session(self) -> Any:
        runtime = import_framework("onnxruntime", "onnx")
        options = runtime.SessionOptions()
        # Searches ask about few rows at a time: several threads would mostly wait for each other.
        options.intra_op_num_threads = 1
        try:
            return runtime.InferenceSession(
                self.content, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            reason = " ".join(str(error).split())[:300].rstrip(".")
            raise ConfigError(
                f"A model's file must be one that onnxruntime can read, but got {reason}; export "
                "the model to ONNX again."
            ) from error

    @property
    def names(self) -> tuple[str, ...] | None:
        """The columns that it takes, where it has an input for each."""
        return tuple(one.name for one in self._inputs) if len(self._inputs) > 1 else None

    @property
    def width(self) -> int | None:
        """How many columns its one input has, if it says so."""
        shape = self._inputs[0].shape
        known = len(self._inputs) == 1 and len(shape) == 2 and isinstance(shape[1], int)
        return shape[1] if known else None

    def __call__(self, shown: Any) -> Any:
        """What it answers with."""
        if len(self._inputs) > 1:
            frame = pd.DataFrame(shown)
            columns = zip(self._inputs, frame.columns, strict=True)
            fed = {one.name: _column(frame[name], one) for one, name in columns}
        else:
            (only,) = self._inputs
            fed = {only.name: np.asarray(shown).astype(_DTYPES[only.type])}
        (told,) = self._session.run([self._output], fed)
        if isinstance(told, list):
            # A mapping from labels to probabilities for each row, all in one order.
            return np.array([list(one.values()) for one in told])
        return told


def is_onnx(model: object) -> bool:
    """Whether a model is in ONNX."""
    return isinstance(model, OnnxModel)


def _column(values: "pd.Series[Any]", one: Any) -> np.ndarray:
    told = values.astype(str) if one.type == "tensor(string)" else values
    column: np.ndarray = told.to_numpy(dtype=_DTYPES[one.type])
    return column.reshape(-1, 1) if len(one.shape) == 2 else column


def _probabilities_of(outputs: list[Any]) -> str:
    """The output that is probabilities: the others are labels, or what was on the way."""
    real = [one.name for one in outputs if "float" in one.type or "double" in one.type]
    if not real:
        kinds = ", ".join(f"{one.name} ({one.type})" for one in outputs)
        raise ConfigError(
            f"A model in ONNX must have an output of probabilities, but it has {kinds}; export it "
            "with probabilities."
        )
    named = [name for name in real if "prob" in name.lower()]
    return str((named or real)[-1])
