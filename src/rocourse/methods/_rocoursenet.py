"""RoCourseNet: predictor and generator trained together against the worst-case data shift."""

from typing import ClassVar

from rocourse.attack import Attacker
from rocourse.methods._generator_method import JointMethod, RobustTraining
from rocourse.methods._parameters import estimator, param


@estimator
class RoCourseNet(JointMethod, RobustTraining):
    """A classifier with a recourse generator whose advice survives retraining (Guo et al., 2023).

    In every step an attacker looks for the data shift whose retrained model breaks the recourses
    (Virtual Data Shift); the generator is trained against that model.
    """

    method: ClassVar[str] = "rocoursenet"


@estimator
class RoCourseNetRandom(JointMethod, RobustTraining):
    """RoCourseNet with an attacker that draws its shifts at random: the paper's ablation."""

    method: ClassVar[str] = "rocoursenet-random"

    attacker: Attacker = param(default="random", doc="`random` redraws the shift, `worst` ascends.")
