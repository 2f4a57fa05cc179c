"""RoCourseNet in training at the loan data's shapes, which the training benchmarks share."""

from typing import Any, NamedTuple

import jax
import numpy as np
from _loan_shapes import ENCODER, HEAD, draw_rows, make_schema
from jax import Array

from rocourse import RoCourseNet
from rocourse.attack import InnerOptimizer
from rocourse.methods._batch import Batch, stack_batches
from rocourse.methods._config import AttackConfig
from rocourse.methods._state import build_generator, build_predictor
from rocourse.methods._step import TrainState, new_state, visit_batches
from rocourse.methods._training import _BATCHES_A_CALL as BATCHES_A_CALL
from rocourse.methods._training import TrainingPlan
from rocourse.schema.constraints import ConstraintLayer

GENERATOR = (10,)
BATCH_SIZE = 128
EPSILON = 0.1
# T and K.
STEPS, UNROLL = 7, 2
# The rates that the library and the paper take.
INNER_RATES: dict[InnerOptimizer, float] = {"adam": 0.003, "sgd": 0.03}


class LoanTraining(NamedTuple):
    """A training that is about to start, and as many batches as one call is given."""

    plan: TrainingPlan
    state: TrainState
    batches: Batch
    constraints: ConstraintLayer

    @property
    def attack(self) -> AttackConfig:
        """The attacker of the plan."""
        assert self.plan.recourse is not None and self.plan.recourse.attack is not None
        return self.plan.recourse.attack

    def visit(
        self,
        state: TrainState,
        count: int,
        *,
        key: Array,
        batches: Batch | None = None,
        compiled: Any = visit_batches,
    ) -> TrainState:
        """Learns from the first `count` batches, with the arguments that training gives."""
        moved, _, _ = compiled(
            state,
            self.batches if batches is None else batches,
            *jax.device_put(
                (np.asarray((1, 0), np.int32), np.int32(count), np.bool_(True), np.float32(EPSILON))
            ),
            self.constraints,
            self.plan.step(),
            self.plan.rates(),
            key=key,
        )
        return moved


def loan_training(optimizer: InnerOptimizer) -> LoanTraining:
    """RoCourseNet with untrained weights, and drawn rows."""
    schema = make_schema()
    n_rows = BATCH_SIZE * BATCHES_A_CALL
    frame, label = draw_rows(n_rows)
    plan = RoCourseNet(
        schema=schema,
        encoder_widths=ENCODER,
        head_widths=HEAD,
        generator_widths=GENERATOR,
        batch_size=BATCH_SIZE,
        attack_steps=STEPS,
        unroll_steps=UNROLL,
        inner_optimizer=optimizer,
        inner_rate=INNER_RATES[optimizer],
        epsilon=EPSILON,
    ).training_plan()
    assert plan.build is not None
    predictor_key, generator_key = jax.random.split(jax.random.key(0))
    predictor = build_predictor(schema.layout, 2, plan.predictor, key=predictor_key)
    generator = build_generator(predictor, schema.layout, plan.build, key=generator_key)
    batches = stack_batches(
        schema.encode(frame), label.to_numpy(), np.arange(n_rows), BATCH_SIZE, BATCHES_A_CALL
    )
    state = new_state(predictor, generator, plan.moving)
    return LoanTraining(plan, state, batches, ConstraintLayer.from_schema(schema))
