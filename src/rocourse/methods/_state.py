"""Networks as named tensors and back."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from rocourse.errors import ArtifactError
from rocourse.methods._config import NetworkConfig
from rocourse.networks import Generator, Predictor
from rocourse.schema import Layout


# Compiled as a whole: layer by layer, the random starts of the weights take seconds to compile.
@eqx.filter_jit
def build_networks(
    layout: Layout, n_classes: int, network: NetworkConfig, *, key: jax.Array
) -> tuple[Predictor, Generator]:
    """Fresh networks of the configured sizes."""
    predictor_key, generator_key = jax.random.split(key)
    predictor = Predictor(
        layout.width, n_classes, encoder=network.encoder, head=network.head, key=predictor_key
    )
    generator = Generator(
        predictor,
        layout,
        widths=network.generator,
        kind=network.kind,
        target_input=network.target_input,
        key=generator_key,
    )
    return predictor, generator


def network_tensors(predictor: Predictor, generator: Generator) -> dict[str, np.ndarray]:
    """All weights by dotted name, such as `predictor.encoder.layers.0.weight`."""
    leaves = jax.tree_util.tree_leaves_with_path(_named(predictor, generator))
    return {_dotted(path): np.asarray(leaf) for path, leaf in leaves if eqx.is_array(leaf)}


def restore_networks(
    tensors: dict[str, np.ndarray], layout: Layout, n_classes: int, network: NetworkConfig
) -> tuple[Predictor, Generator]:
    """The networks whose weights were stored; refuses other names or shapes."""

    def skeleton() -> dict[str, Any]:
        return _named(*build_networks(layout, n_classes, network, key=jax.random.key(0)))

    remaining = dict(tensors)

    def fill(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        name = _dotted(path)
        tensor = remaining.pop(name, None)
        if tensor is None or tensor.shape != leaf.shape or tensor.dtype != leaf.dtype:
            received = "none" if tensor is None else f"{tensor.dtype}{list(tensor.shape)}"
            raise ArtifactError(
                f"The tensor '{name}' must be {leaf.dtype}{list(leaf.shape)}: got {received}; the "
                "weights do not belong to this header, so train or copy the model again."
            )
        return jax.numpy.asarray(tensor)

    networks = jax.tree_util.tree_map_with_path(fill, eqx.filter_eval_shape(skeleton))
    if remaining:
        raise ArtifactError(
            f"The tensor '{min(remaining)}' belongs to no layer of the stored configuration: the "
            "weights do not belong to this header, so train or copy the model again."
        )
    return networks["predictor"], networks["generator"]


def _named(predictor: Predictor, generator: Generator) -> dict[str, Any]:
    return {"predictor": predictor, "generator": generator}


def _dotted(path: Any) -> str:
    parts = []
    for key in path:
        parts.append(str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))))
    return ".".join(parts)
