"""Training timed in turns with matrix products, on one core or on several at once."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from _calibration import layer_products, square_product
from _core_workers import CoreWorker, Lap, Pieces, at_once
from _flops import StepFlops, attack_passes, step_flops
from _loan_training import BATCH_SIZE, BATCHES_A_CALL, LoanTraining, loan_training

from rocourse.attack import InnerOptimizer

Clock = Literal["wall", "cpu"]

_SQUARE, _LAYER, _TRAINING = "square product", "products of the first layer", "training"
_SQUARE_PRODUCTS = 2


class Quartiles(NamedTuple):
    """Of the ratios of all rounds."""

    low: float
    median: float
    high: float


class Speed(NamedTuple):
    """How fast training is, beside the bound that products alone would set."""

    steps_a_second: float
    """Of all processes together; this and the rates are medians."""
    square_rate: float
    """FLOP a second in large square products."""
    layer_rate: float
    """FLOP a second in products of the first layer's shape."""
    to_bound: Quartiles
    """The time of a step by that of its FLOP at the rate of square products."""
    to_layer_bound: Quartiles
    """The same at the rate of the first layer's shape."""


class Round(NamedTuple):
    """The laps of each process, in the order in which they were taken."""

    training: list[Lap]
    square: list[list[Lap]]
    layer: list[list[Lap]]


def speed_pieces(optimizer: InnerOptimizer) -> Pieces:
    """What is timed, made in the process that runs it."""
    training = loan_training(optimizer)
    square, layer = square_product(), _first_layer_products(training)
    state = [training.state]
    key = jax.random.key(1)

    def train() -> Any:
        state[0] = training.visit(state[0], BATCHES_A_CALL, key=key)
        return state[0]

    def multiply() -> Any:
        return [jax.block_until_ready(square.run()) for _ in range(_SQUARE_PRODUCTS)]

    return {_SQUARE: multiply, _LAYER: layer.run, _TRAINING: train}


def needed(training: LoanTraining, *, last_ascent: bool = False) -> StepFlops:
    """What one step has to compute."""
    attack = attack_passes(training.attack.steps, training.attack.unroll, last_ascent=last_ascent)
    state = training.state
    return step_flops(state.predictor, state.generator, attack, rows=BATCH_SIZE)


def measure_round(workers: Sequence[CoreWorker]) -> Round:
    """Products before and after the training, so that they see the same machine."""
    square, layer = [at_once(workers, _SQUARE)], [at_once(workers, _LAYER)]
    training = at_once(workers, _TRAINING)
    layer.append(at_once(workers, _LAYER))
    square.append(at_once(workers, _SQUARE))
    return Round(training, square, layer)


def summarise(rounds: list[Round], training: LoanTraining, clock: Clock) -> Speed:
    """Rates add up over the processes; ratios are taken round by round."""
    flops_a_step = needed(training).flops
    square_flops = _SQUARE_PRODUCTS * square_product().flops
    layer_flops = _first_layer_products(training).flops
    speeds = [_rate(BATCHES_A_CALL, [one.training], clock) for one in rounds]
    square_rates = [_rate(square_flops, one.square, clock) for one in rounds]
    layer_rates = [_rate(layer_flops, one.layer, clock) for one in rounds]

    def ratios(rates: list[float]) -> Quartiles:
        bounds = [rate / flops_a_step for rate in rates]
        return quartiles([bound / speed for bound, speed in zip(bounds, speeds, strict=True)])

    return Speed(
        quartiles(speeds).median,
        quartiles(square_rates).median,
        quartiles(layer_rates).median,
        ratios(square_rates),
        ratios(layer_rates),
    )


def _rate(amount: float, laps: list[list[Lap]], clock: Clock) -> float:
    """What all processes do in a second, each having done `amount` in each of its laps."""
    per_process = zip(*laps, strict=True)
    return sum(len(own) * amount / sum(getattr(lap, clock) for lap in own) for own in per_process)


def _first_layer_products(training: LoanTraining) -> Any:
    hidden, width = training.state.predictor.encoder.layers[0].weight.shape
    return layer_products(width, hidden, BATCH_SIZE, unroll=training.attack.unroll)


def quartiles(values: list[float]) -> Quartiles:
    """The median and what half of the values lie between."""
    return Quartiles(*np.quantile(values, (0.25, 0.5, 0.75)).tolist())
