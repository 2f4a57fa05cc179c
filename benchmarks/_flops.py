"""The least that one training step of RoCourseNet has to compute, in products of float32.

A *pass* over a layer is one matrix product of its weights' shape: a multiply-add for each weight
and row. Rows count as dense, and nothing but products counts: no activations, no optimisers, no
random numbers.

In one of the attacker's T rounds there are K retraining steps. W being a layer's weights, `a` its
input, `e` the loss's derivative by its output, V the direction in which the gradient of the attack
loss comes back through the optimiser, and `Ra`, `Re` the derivatives of `a` and `e` along V:

| product                                              | first layer | later layers |
| ---------------------------------------------------- | ----------- | ------------ |
| retraining: forward, W a                             | K           | K            |
| retraining: error back, Wᵀ e                         |             | K            |
| retraining: gradient, e aᵀ                           | K           | K            |
| attack loss: forward, error back, gradient           | 2           | 3            |
| through a step: V a and, after the first layer, W Ra | K           | 2K           |
| through a step: Vᵀ e and Wᵀ Re                       | 2K          | 2K           |
| through all steps but the first: Re aᵀ and e Raᵀ     | K − 1       | 2(K − 1)     |
| all                                                  | 6K + 1      | 9K + 1       |

In the first layer Ra = 0, since the rows do not depend on the weights; Vᵀ e + Wᵀ Re is there the
gradient by the shift. Leaky rectifiers have no second derivative, and the first of the K steps
needs no Re aᵀ because the gradient ends with the round. With K = 2 these are 13 and 19 passes. The
last round retrains only, in 2K and 3K passes: no weights depend on what δ would become.
"""

from typing import NamedTuple

from rocourse.networks import Generator, Predictor
from rocourse.networks._mlp import Linear


class Passes(NamedTuple):
    """How often the products go over the layer that a row enters by, and over each later one."""

    first: int
    later: int

    def __add__(self, other: object) -> "Passes":
        """Both after each other."""
        assert isinstance(other, Passes)
        return Passes(self.first + other.first, self.later + other.later)

    def times(self, n: int) -> "Passes":
        """All of it `n` times."""
        return Passes(n * self.first, n * self.later)


class StepFlops(NamedTuple):
    """What one training step needs."""

    predictor: Passes
    generator: Passes
    flops: float
    """Two a multiply-add, for the whole batch."""


_FORWARD = Passes(1, 1)
_GRADIENT = Passes(1, 1)
_ERROR_BACK = Passes(0, 1)
_ERROR_BACK_TO_ROW = Passes(1, 1)
_LEARN = _FORWARD + _GRADIENT + _ERROR_BACK


def attack_passes(steps: int, unroll: int, *, last_ascent: bool = False) -> Passes:
    """The attack over the predictor.

    Algorithm 1 to the letter has a last ascent; training needs θ' alone, which is retrained before.
    """
    retrain = _LEARN.times(unroll)
    tangent_forward = Passes(1, 2).times(unroll)
    tangent_back = Passes(2, 2).times(unroll)
    hessian = Passes(1, 2).times(unroll - 1)
    ascent = _LEARN + tangent_forward + tangent_back + hessian
    return retrain.times(steps) + ascent.times(steps if last_ascent else steps - 1)


def step_flops(
    predictor: Predictor, generator: Generator, attack: Passes, *, rows: int
) -> StepFlops:
    """A batch's step: θ on L1, the attack, θ_g on L2 and L3 (Algorithm 2)."""
    # One pass over the new predictor gives the targets and what the generator sees.
    of_predictor = _LEARN + _FORWARD + attack + _FORWARD + _ERROR_BACK_TO_ROW
    # Proposals to attack, without dropout, and proposals to learn from, with it.
    of_generator = _FORWARD + _LEARN
    multiply_adds = _over(
        (*predictor.encoder.layers, *predictor.head.layers, predictor.output), of_predictor
    ) + _over((*generator.hidden.layers, generator.output), of_generator)
    return StepFlops(of_predictor, of_generator, 2.0 * rows * multiply_adds)


def _over(layers: tuple[Linear, ...], passes: Passes) -> int:
    first, *later = (layer.weight.size for layer in layers)
    return passes.first * first + passes.later * sum(later)
