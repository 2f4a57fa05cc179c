"""What was tried around the attack: whole training steps, called and compiled in other ways."""

from collections.abc import Callable
from functools import cache
from typing import Any

import equinox as eqx
import jax
from _loan_training import BATCHES_A_CALL, LoanTraining, loan_training
from _try import Contender, Try, make_ready
from jax import Array

from rocourse.methods._compilation import OPTIONS
from rocourse.methods._step import TrainState, visit_batches


def step_tries() -> list[Try]:
    """All of them, each against the training as it is."""
    return [
        Try("one batch a call", f"{BATCHES_A_CALL} batches a call", _kept, _one_a_call),
        Try("the state donated", "kept by the caller", _kept, _donated),
        Try("random numbers by rbg", "by threefry", _kept, _by_rbg),
        Try("two models at once, by vmap", "one after the other", _kept_twice, _two_at_once),
    ]


@cache
def _training() -> LoanTraining:
    return loan_training("adam")


@cache
def _kept() -> Contender:
    return make_ready(lambda: _visit_all(jax.random.key(0)))


def _kept_twice() -> Contender:
    once = _kept()
    twice = make_ready(lambda: [_visit_all(jax.random.key(seed)) for seed in range(2)])
    return twice._replace(compile_seconds=once.compile_seconds)


def _visit_all(key: Array, compiled: Any = visit_batches) -> TrainState:
    training = _training()
    return training.visit(training.state, BATCHES_A_CALL, key=key, compiled=compiled)


def _one_a_call() -> Contender:
    training, key = _training(), jax.random.key(0)
    batches = [
        jax.tree.map(lambda part, i=i: part[i : i + 1], training.batches)
        for i in range(BATCHES_A_CALL)
    ]

    def visit_all() -> TrainState:
        state = training.state
        for batch in batches:
            state = training.visit(state, 1, batches=batch, key=key)
        return state

    return make_ready(visit_all)


def _by_rbg() -> Contender:
    return make_ready(lambda: _visit_all(jax.random.key(0, impl="rbg")))


def _donated() -> Contender:
    # Equinox donates all arguments but the first.
    compiled = eqx.filter_jit(
        lambda others, state: _uncompiled()(state, *others[0], **others[1]),
        donate="all-except-first",
        compiler_options=OPTIONS,
    )
    state = [jax.tree.map(lambda leaf: leaf.copy(), _training().state)]

    def visit_all() -> TrainState:
        state[0] = _training().visit(
            state[0],
            BATCHES_A_CALL,
            key=jax.random.key(0),
            compiled=lambda state, *others, **key: compiled((others, key), state),
        )
        return state[0]

    return make_ready(visit_all)


def _two_at_once() -> Contender:
    training = _training()
    arrays, rest = eqx.partition(training.state, eqx.is_array)
    both = jax.tree.map(lambda leaf: jax.numpy.stack([leaf, leaf]), arrays)
    keys = jax.random.split(jax.random.key(0))

    def visit_both(arrays: Any, *others: Any, key: Array) -> Any:
        def visit_one(arrays: Any, key: Array) -> Any:
            moved, *sums = _uncompiled()(eqx.combine(arrays, rest), *others, key=key)
            return eqx.filter(moved, eqx.is_array), *sums

        return jax.vmap(visit_one)(arrays, key)

    compiled = eqx.filter_jit(visit_both, compiler_options=OPTIONS)
    return make_ready(lambda: training.visit(both, BATCHES_A_CALL, key=keys, compiled=compiled))


def _uncompiled() -> Callable[..., Any]:
    function: Callable[..., Any] = visit_batches.__wrapped__
    return function
