"""Training: one compiled step of block-wise coordinate descent, epochs around it, their record."""

from rocourse.models.training._history import EpochCallback, EpochRecord, History
from rocourse.models.training._plan import (
    LOSSES,
    PROXIMITY_LOSSES,
    VALIDITY_LOSSES,
    Beside,
    GeneratorTask,
    Loss,
    Moving,
    Objective,
    ProximityLoss,
    Told,
    Trained,
    Trainer,
    TrainingPlan,
    TrainingRows,
    ValidityLoss,
)
from rocourse.models.training._recourses import hard_recourses
from rocourse.models.training._state import (
    build_generator,
    build_predictor,
    named_tensors,
    restore,
)
from rocourse.models.training._training import train

__all__ = [
    "LOSSES",
    "PROXIMITY_LOSSES",
    "VALIDITY_LOSSES",
    "Beside",
    "EpochCallback",
    "EpochRecord",
    "GeneratorTask",
    "History",
    "Loss",
    "Moving",
    "Objective",
    "ProximityLoss",
    "Told",
    "Trained",
    "Trainer",
    "TrainingPlan",
    "TrainingRows",
    "ValidityLoss",
    "build_generator",
    "build_predictor",
    "hard_recourses",
    "named_tensors",
    "restore",
    "train",
]
