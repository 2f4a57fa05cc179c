"""What was tried on the attack: other arrangements of it, and other options of the compiler."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import numpy as np
import optax
from _attack_by_hand import by_hand
from _attack_forms import (
    Arena,
    Look,
    column_losses,
    draw_start,
    forward_over_reverse,
    in_rounds,
    last_round_apart,
    library_attack,
    make_arena,
    reverse_over_reverse,
    row_losses,
)
from _attack_layers import layers_of, losses_by_gathering, losses_in_bfloat16
from _loan_training import INNER_RATES, loan_training
from _try import Contender, Try, Weights, make_ready
from jax import Array

from rocourse.attack import InnerOptimizer, Shift, inner_optimizer
from rocourse.attack._adam import adam
from rocourse.methods._compilation import OPTIONS

# From what an attack is given, and a key, to the retrained weights and the shift.
Form = Callable[[Arena, Array], Shift]

_OPTIMIZER: InnerOptimizer = "adam"
_RATE = INNER_RATES[_OPTIMIZER]
_INNER = inner_optimizer(_OPTIMIZER, _RATE)
_CALLS_AT_A_TIME = 4


def attack_tries() -> list[Try]:
    """All of them, each against the attack as it is."""
    autodiff, two, one_vector = "reverse over reverse", "two products", "our Adam, one vector"
    textbook = optax.adam(_RATE, eps=0.0, eps_root=1e-12)
    forms: list[tuple[str, str, Form]] = [
        ("rows first, by vmap", "rows as columns", _rows_first),
        ("forward over reverse, by autodiff", autodiff, _forward_over_reverse),
        ("forward over reverse, by hand", autodiff, _by_hand()),
        ("by hand, later layers' products stacked", two, _by_hand(merge_back=True)),
        ("by hand, the shift's products stacked", "four products", _by_hand(merge_shift=True)),
        ("rounds written out", "a loop over rounds", partial(_autodiff, unrolled=True)),
        ("our Adam, leaf by leaf", one_vector, _with_inner(_leaf_by_leaf(adam(_RATE)))),
        ("optax's Adam, one vector", one_vector, _with_inner(optax.flatten(textbook))),
        ("optax's Adam, leaf by leaf", one_vector, _with_inner(textbook)),
        ("W x gathered, W δ multiplied", "W (x + δ) multiplied", _gathered),
        ("bfloat16, summed in float32", "float32", _in_bfloat16),
        ("ascent in the last round too", "none", _with_last_ascent),
        ("the last round after the loop", "a condition in the loop", _last_round_apart),
    ]
    default = "XLA's default"
    options: list[tuple[str, str, dict[str, Any]]] = [
        ("vectors of 512 bits", "of 256 bits", {"xla_cpu_prefer_vector_width": 512}),
        ("no YNN fusions", default, {"xla_cpu_experimental_ynn_fusion_type": ""}),
        ("fast math", "exact", {"xla_cpu_enable_fast_math": True}),
        ("no fusion emitters", default, {"xla_cpu_use_fusion_emitters": False}),
    ]
    return [
        *(Try(name, instead, _kept, partial(_contender, form)) for name, instead, form in forms),
        *(
            Try(name, instead, _kept, partial(_contender, _library, OPTIONS | changed))
            for name, instead, changed in options
        ),
    ]


def warm_up() -> None:
    """Compiles an attack for nothing: who is first pays for what JAX sets up once."""
    _contender(lambda arena, key: _library(arena, key))


def attacked_weights() -> Weights:
    """θ, which all of them set out from."""
    return _leaves(_arena().predictor)


@cache
def _arena() -> Arena:
    return make_arena(loan_training(_OPTIMIZER))


@cache
def _kept() -> Contender:
    return _contender(_library)


def _contender(form: Form, options: dict[str, Any] = OPTIONS) -> Contender:
    run = partial(jax.jit(form, compiler_options=options), _arena(), jax.random.key(0))
    ready = make_ready(run, calls=_CALLS_AT_A_TIME)
    return ready._replace(weights=_leaves(run().params))


def _leaves(weights: Any) -> Weights:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(weights)]


def _library(arena: Arena, key: Array) -> Shift:
    return library_attack(arena, _OPTIMIZER, key=key)


def _with_last_ascent(arena: Arena, key: Array) -> Shift:
    return library_attack(arena, _OPTIMIZER, key=key, last_ascent=True)


def _last_round_apart(arena: Arena, key: Array) -> Shift:
    start = draw_start(arena.x, key=key)
    return last_round_apart(column_losses(arena), _INNER, arena, start)


def _autodiff(
    arena: Arena,
    key: Array,
    *,
    inner: optax.GradientTransformation = _INNER,
    unrolled: bool = False,
) -> Shift:
    look, start = reverse_over_reverse(column_losses(arena), inner), draw_start(arena.x, key=key)
    return in_rounds(look, arena.predictor, inner, arena.x, start, unrolled=unrolled)


def _with_inner(inner: optax.GradientTransformation) -> Form:
    return partial(_autodiff, inner=inner)


def _rows_first(arena: Arena, key: Array) -> Shift:
    look, start = reverse_over_reverse(row_losses(arena), _INNER), draw_start(arena.x, key=key)
    return in_rounds(look, arena.predictor, _INNER, arena.x.T, start.T)


def _forward_over_reverse(arena: Arena, key: Array) -> Shift:
    look, start = forward_over_reverse(column_losses(arena), _INNER), draw_start(arena.x, key=key)
    return in_rounds(look, arena.predictor, _INNER, arena.x, start)


def _by_hand(**merged: bool) -> Form:
    return lambda arena, key: _over_layers(arena, by_hand(arena, _INNER, **merged), key)


def _gathered(arena: Arena, key: Array) -> Shift:
    return _over_layers(arena, reverse_over_reverse(losses_by_gathering(arena), _INNER), key)


def _in_bfloat16(arena: Arena, key: Array) -> Shift:
    return _over_layers(arena, reverse_over_reverse(losses_in_bfloat16(arena), _INNER), key)


def _over_layers(arena: Arena, look: Look, key: Array) -> Shift:
    start = draw_start(arena.x, key=key)
    return in_rounds(look, layers_of(arena.predictor), _INNER, arena.x, start)


def _leaf_by_leaf(one: optax.GradientTransformation) -> optax.GradientTransformation:
    """An optimiser of one array, for each array of a pytree on its own."""

    def init(params: Any) -> Any:
        return jax.tree.map(one.init, params)

    def update(gradient: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        leaves, structure = jax.tree.flatten(gradient)
        states = structure.flatten_up_to(state)
        steps, moved = zip(*map(one.update, leaves, states), strict=True)
        return structure.unflatten(steps), structure.unflatten(moved)

    return optax.GradientTransformation(init, update)
