"""Networks as named tensors and back."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from rocourse.errors import ArtifactError, ConfigError
from rocourse.networks import GeneratorBuilder, GeneratorShape, Predictor, RecourseGenerator
from rocourse.schema import Layout

Module = TypeVar("Module")


def build_predictor(
    layout: Layout,
    n_classes: int,
    encoder_widths: tuple[int, ...],
    head_widths: tuple[int, ...],
    *,
    key: jax.Array,
) -> Predictor:
    """A fresh predictor of these sizes."""
    return Predictor(layout.width, n_classes, encoder=encoder_widths, head=head_widths, key=key)


def build_generator(
    predictor: Predictor, layout: Layout, build: GeneratorBuilder, *, key: jax.Array
) -> RecourseGenerator:
    """A fresh generator for a predictor."""
    shape = GeneratorShape(
        layout, predictor.n_classes, predictor.encoder.width, predictor.head.width
    )
    generator = build(shape, key=key)
    if not isinstance(generator, eqx.Module) or not callable(generator):
        raise ConfigError(
            "The option 'network' must build an Equinox module that can be called with a request "
            f"and random numbers: got {type(generator).__name__}; see docs/generators.md."
        )
    return generator


def named_tensors(module: Any, prefix: str) -> dict[str, np.ndarray]:
    """All weights by dotted name, such as `predictor.encoder.layers.0.weight`."""
    leaves = jax.tree_util.tree_leaves_with_path(module)
    return {
        # In the order of their indices: files hold bytes as they lie in memory.
        f"{prefix}.{_dotted(path)}": np.asarray(leaf, order="C")
        for path, leaf in leaves
        if isinstance(leaf, jax.Array | np.ndarray)
    }


def restore(tensors: dict[str, np.ndarray], prefix: str, skeleton: Callable[[], Module]) -> Module:
    """The module whose weights were stored under `prefix`; refuses other names or shapes.

    Without a skeleton (None), what was stored is a mapping of arrays of any shape.
    """
    remaining = {name: tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")}
    shapes = eqx.filter_eval_shape(skeleton)
    if shapes is None:
        return {name.removeprefix(f"{prefix}."): array for name, array in remaining.items()}  # type: ignore[return-value]

    def fill(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        name = f"{prefix}.{_dotted(path)}"
        tensor = remaining.pop(name, None)
        if tensor is None or tensor.shape != leaf.shape or tensor.dtype != leaf.dtype:
            received = "none" if tensor is None else f"{tensor.dtype}{list(tensor.shape)}"
            raise ArtifactError(
                f"The tensor '{name}' must be {leaf.dtype}{list(leaf.shape)}: got {received}; the "
                "weights do not belong to this header, so train or copy the model again."
            )
        return jax.device_put(tensor)

    module: Module = jax.tree_util.tree_map_with_path(fill, shapes)
    if remaining:
        raise ArtifactError(
            f"The tensor '{min(remaining)}' belongs to no layer of the stored configuration: the "
            "weights do not belong to this header, so train or copy the model again."
        )
    return module


def _dotted(path: Any) -> str:
    parts = []
    for key in path:
        parts.append(str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))))
    return ".".join(parts)
