"""The attack's losses over plain layers, so that their products can be made in other ways."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from _attack_forms import Arena, Loss
from _loan_shapes import GROUP_SIZES, N_CONTINUOUS
from jax import Array

from rocourse.methods._objective import class_losses
from rocourse.networks import Predictor

SLOPE = 0.01
"""Of the leaky rectifiers below zero."""

Layers = list[tuple[Array, Array]]
Product = Callable[[Array, Array], Array]


def layers_of(predictor: Predictor) -> Layers:
    """Weights and biases from the first layer to the last."""
    layers = (*predictor.encoder.layers, *predictor.head.layers, predictor.output)
    return [(layer.weight, layer.bias) for layer in layers]


def losses_in_bfloat16(arena: Arena) -> tuple[Loss, Loss]:
    """All products from bfloat16 operands, summed in float32."""

    def product(weight: Array, x: Array) -> Array:
        return jnp.matmul(
            weight.astype(jnp.bfloat16),
            x.astype(jnp.bfloat16),
            preferred_element_type=jnp.float32,
        )

    def retrain_loss(layers: Layers, shifted: Array) -> Array:
        return _mean_loss(layers, shifted, arena.label, product=product)

    def attack_loss(layers: Layers) -> Array:
        return _mean_loss(layers, arena.recourses, arena.target, product=product)

    return retrain_loss, attack_loss


def losses_by_gathering(arena: Arena) -> tuple[Loss, Loss]:
    """W (x + δ) = W x + W δ, with W x as a sum of W's columns: a row has one 1 in each group."""
    starts = [N_CONTINUOUS + sum(GROUP_SIZES[:i]) for i in range(len(GROUP_SIZES))]
    columns = arena.categories + jnp.asarray(starts)[:, None]

    def product(weight: Array, shifted: Array) -> Array:
        numbers = weight[:, :N_CONTINUOUS] @ arena.x[:N_CONTINUOUS]
        return numbers + jnp.sum(weight[:, columns], axis=1) + weight @ (shifted - arena.x)

    def retrain_loss(layers: Layers, shifted: Array) -> Array:
        return _mean_loss(layers, shifted, arena.label, first_product=product)

    def attack_loss(layers: Layers) -> Array:
        return _mean_loss(layers, arena.recourses, arena.target)

    return retrain_loss, attack_loss


def _mean_loss(
    layers: Layers,
    x: Array,
    labels: Array,
    *,
    product: Product = jnp.matmul,
    first_product: Product | None = None,
) -> Array:
    (weight, bias), *later = layers
    x = (first_product or product)(weight, x) + bias[:, None]
    for weight, bias in later:
        x = product(weight, jax.nn.leaky_relu(x, SLOPE)) + bias[:, None]
    return jnp.mean(class_losses(x, labels, kind="mse"))
