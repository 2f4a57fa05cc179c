"""Who judges the recourses: the predictor, or what becomes of it under a virtual data shift.

`shifted_predictor` is all that robust training adds to a method. It asks nothing of the generator,
so that any recourses can be trained against it.
"""

import equinox as eqx
import jax
import numpy as np
from jax import Array

from rocourse.attack import Attack, virtual_data_shift
from rocourse.models.training._batch import Batch
from rocourse.models.training._objective import class_losses, weighted_mean
from rocourse.models.training._plan import Loss, ValidityLoss
from rocourse.networks import Predictor


def mean_class_loss(
    judge: Predictor, x: Array, labels: Array, weight: Array, kind: ValidityLoss
) -> Array:
    """How far the judge is from the given classes on encoded columns `[width, n]`."""
    return weighted_mean(class_losses(judge(x), labels, kind=kind), weight)


def shifted_predictor(
    predictor: Predictor,
    x: Array,
    batch: Batch,
    recourses: Array,
    target: Array,
    attack: Attack,
    *,
    loss: Loss,
    validity: ValidityLoss,
    rate: Array,
    epsilon: Array,
    key: Array,
) -> Predictor:
    """The predictor that judges the recourses: retrained on the worst data shift.

    Args:
        predictor: θ, which is left as it is.
        x: The batch's rows, encoded, as columns `[width, n]`.
        batch: The same rows with their labels and weights.
        recourses: The recourses to break, `[width, n]`, held fixed.
        target: The class that each recourse is for, `[n]`.
        attack: The attacker.
        loss: The form of the loss that the virtual retraining minimises.
        validity: The form of the loss that the attacker maximises.
        rate: η, in place of the attacker's own: it may be traced.
        epsilon: The radius of the shift.
        key: For the attacker's random start.
    """
    weights, fixed = eqx.partition(predictor, _movable(predictor, attack))

    scale = np.ones((x.shape[0], 1), np.float32)
    scale[batch.continuous.shape[1] :] = attack.category_scale

    def retrain_loss(moved: Predictor, shifted: Array) -> Array:
        judge = eqx.combine(moved, fixed)
        if attack.category_scale != 1.0:
            shifted = x + scale * (shifted - x)
        return mean_class_loss(judge, shifted, batch.label, batch.weight, loss)

    def attack_loss(moved: Predictor) -> Array:
        judge = eqx.combine(moved, fixed)
        return mean_class_loss(judge, recourses, target, batch.weight, validity)

    shift = virtual_data_shift(
        retrain_loss,
        attack_loss,
        weights,
        x,
        key=key,
        epsilon=epsilon,
        steps=attack.steps,
        unroll=attack.unroll,
        rate=rate,
        optimizer=attack.optimizer,
        norm=attack.norm,
        attacker=attack.shift,
        axis=0,
        last_ascent=False,
    )
    judge: Predictor = eqx.combine(shift.params, fixed)
    return judge


def _movable(predictor: Predictor, attack: Attack) -> Predictor:
    """Which weights the attacker may move, as a pytree of flags."""
    flags: Predictor = jax.tree.map(eqx.is_array, predictor)
    if attack.scope == "head":
        still = jax.tree.map(lambda _: False, flags.encoder)
        flags = eqx.tree_at(lambda p: p.encoder, flags, still)
    return flags
