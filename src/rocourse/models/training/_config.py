"""What the compiled step is compiled for, and the numbers that it is given."""

from typing import NamedTuple

import jax
import numpy as np
from jax import Array

from rocourse.attack import Attack
from rocourse.models.training._plan import Loss, Moving, Objective, TrainingPlan


class StepConfig(NamedTuple):
    """What is fixed when the step is compiled; its weights and rates are not looked at.

    `attack` is what the generator is trained against, if anything; `probe`, if anything, is what
    it is measured against.
    """

    moving: Moving
    loss: Loss
    dropout: float
    objective: Objective | None
    attack: Attack | None
    probe: Attack | None

    @classmethod
    def of(cls, plan: TrainingPlan) -> "StepConfig":
        """The same for all weights, rates and radii, which are values of the compiled code."""
        loss, dropout, task = plan.trainer.loss, plan.trainer.dropout, plan.generator
        if task is None:
            return cls(plan.moving, loss, dropout, None, None, None)
        objective = task.objective._replace(validity_weight=1.0, proximity_weight=1.0)
        attack, probe = (_shape_of(attack) for attack in (task.attack, task.probe))
        return cls(plan.moving, loss, dropout, objective, attack, probe)


def _shape_of(attack: Attack | None) -> Attack | None:
    return None if attack is None else attack(learning_rate=1.0, epsilon=0.0, schedule="linear")


class Rates(NamedTuple):
    """Weights of the losses and learning rates: values of the compiled step, not part of it.

    A search over them compiles nothing anew.
    """

    prediction: Array
    validity: Array
    proximity: Array
    learning: Array
    attack: Array
    probe: Array

    @classmethod
    def of(cls, plan: TrainingPlan) -> "Rates":
        """The weights and rates that the compiled step is given."""
        task = plan.generator
        attack = None if task is None else task.attack
        probe = None if task is None else task.probe
        values = (
            plan.prediction_weight,
            0.0 if task is None else task.objective.validity_weight,
            0.0 if task is None else task.objective.proximity_weight,
            plan.trainer.learning_rate,
            0.0 if attack is None else attack.learning_rate,
            0.0 if probe is None else probe.learning_rate,
        )
        return cls(*jax.device_put([np.float32(value) for value in values]))
