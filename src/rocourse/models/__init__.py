"""What predicts: training, committees, models that are given, refits on shifted rows."""

from rocourse.models._balance import class_scores
from rocourse.models._blocks import bound, few_at_once, in_blocks
from rocourse.models._compilation import (
    available_cores,
    compiled,
    keep_compiled_code,
    own_device,
)
from rocourse.models._cut_off import move_model, move_networks, unmoved_model
from rocourse.models._interface import (
    BatchModel,
    HasNetwork,
    QuickModel,
    Refittable,
    has_network,
    is_quick,
)
from rocourse.models._network_model import NetworkModel, held_out_answers, predict_rows
from rocourse.models._shift import Shift, shift_rows, with_scores
from rocourse.models._temperature import sharpened
from rocourse.models._trainers import JointTrainer, PlainTrainer, SteadyTrainer
from rocourse.models._witnesses import share_of_witnesses, train_witnesses, votes_of_witnesses
from rocourse.models.training import Trainer, TrainingRows

keep_compiled_code()

__all__ = [
    "BatchModel",
    "HasNetwork",
    "JointTrainer",
    "NetworkModel",
    "PlainTrainer",
    "QuickModel",
    "Refittable",
    "Shift",
    "SteadyTrainer",
    "Trainer",
    "TrainingRows",
    "available_cores",
    "bound",
    "class_scores",
    "compiled",
    "few_at_once",
    "has_network",
    "held_out_answers",
    "in_blocks",
    "is_quick",
    "move_model",
    "move_networks",
    "own_device",
    "predict_rows",
    "share_of_witnesses",
    "sharpened",
    "shift_rows",
    "train_witnesses",
    "unmoved_model",
    "votes_of_witnesses",
    "with_scores",
]
