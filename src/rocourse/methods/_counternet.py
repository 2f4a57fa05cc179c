"""CounterNet: predictor and recourse generator trained together, with no attacker."""

from typing import ClassVar

from rocourse.methods._generator_method import JointMethod
from rocourse.methods._parameters import estimator


@estimator
class CounterNet(JointMethod):
    """A classifier with a recourse generator that is trained beside it (Guo et al., 2021).

    The recourses are valid for the model as it is; nothing prepares them for a retrained one. It is
    `RoCourseNet` without the attacker.
    """

    method: ClassVar[str] = "counternet"
