"""RoCourseNet in training at the loan data's shapes, which the training benchmarks share."""

from typing import Any, NamedTuple

import jax
import numpy as np
from _loan_shapes import ENCODER, HEAD, draw_rows, make_schema
from jax import Array

from rocourse import Attack, GeneratorProposer, JointTrainer
from rocourse.attack import InnerOptimizer
from rocourse.models.training import TrainingPlan, build_generator, build_predictor
from rocourse.models.training._batch import Batch, stack_batches
from rocourse.models.training._config import Rates, StepConfig
from rocourse.models.training._step import TrainState, new_state, visit_batches
from rocourse.models.training._training import _BATCHES_A_CALL as BATCHES_A_CALL
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
    def attack(self) -> Attack:
        """The attacker of the plan."""
        assert self.plan.generator is not None and self.plan.generator.attack is not None
        return self.plan.generator.attack

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
            StepConfig.of(self.plan),
            Rates.of(self.plan),
            key=key,
        )
        return moved


def loan_training(optimizer: InnerOptimizer) -> LoanTraining:
    """RoCourseNet with untrained weights, and drawn rows."""
    schema = make_schema()
    n_rows = BATCH_SIZE * BATCHES_A_CALL
    frame, label = draw_rows(n_rows)
    attack = Attack(
        steps=STEPS,
        unroll=UNROLL,
        optimizer=optimizer,
        learning_rate=INNER_RATES[optimizer],
        epsilon=EPSILON,
    )
    trainer = JointTrainer(encoder_widths=ENCODER, head_widths=HEAD, batch_size=BATCH_SIZE)
    task = GeneratorProposer(widths=GENERATOR).task(attack)
    assert task is not None
    plan = TrainingPlan("both", trainer, task)
    predictor_key, generator_key = jax.random.split(jax.random.key(0))
    predictor = build_predictor(schema.layout, 2, ENCODER, HEAD, key=predictor_key)
    generator = build_generator(predictor, schema.layout, task.build, key=generator_key)
    batches = stack_batches(
        schema.encode(frame), label.to_numpy(), np.arange(n_rows), BATCH_SIZE, BATCHES_A_CALL
    )
    state = new_state(predictor, generator, plan.moving)
    return LoanTraining(plan, state, batches, ConstraintLayer.from_schema(schema))
