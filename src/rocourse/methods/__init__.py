"""The recourse methods, one file each, all with `fit` and `recourse`."""

from rocourse.methods._cf_model import CFModel, RobustCFModel
from rocourse.methods._compilation import keep_compiled_code
from rocourse.methods._counternet import CounterNet
from rocourse.methods._estimator import RecourseClassifier
from rocourse.methods._parameters import parameter_docs
from rocourse.methods._rbr import RBR
from rocourse.methods._roar import ROAR
from rocourse.methods._rocourse_panel import RoCoursePanel
from rocourse.methods._rocoursenet import RoCourseNet, RoCourseNetRandom
from rocourse.methods._vae_cf import VAECF, RobustVAECF
from rocourse.methods._vanillacf import VanillaCF, VanillaCFRandom
from rocourse.methods.adapters import adapt

keep_compiled_code()

METHODS: dict[str, type[RecourseClassifier]] = {
    cls.method: cls
    for cls in (
        RoCourseNet,
        CounterNet,
        RoCourseNetRandom,
        CFModel,
        RobustCFModel,
        VAECF,
        RobustVAECF,
        VanillaCF,
        VanillaCFRandom,
        ROAR,
        RBR,
        RoCoursePanel,
    )
}
"""The estimators by the names that the command line and stored models use."""

__all__ = [
    "METHODS",
    "RBR",
    "ROAR",
    "VAECF",
    "CFModel",
    "CounterNet",
    "RecourseClassifier",
    "RoCourseNet",
    "RoCourseNetRandom",
    "RoCoursePanel",
    "RobustCFModel",
    "RobustVAECF",
    "VanillaCF",
    "VanillaCFRandom",
    "adapt",
    "parameter_docs",
]
