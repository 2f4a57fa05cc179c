"""Classifiers whose recourse stays valid when the model is retrained on shifted data.

```python
import rocourse

schema = rocourse.Schema.infer(df, target="Approve", immutable=["State"])
model = rocourse.RoCourseNet(schema=schema, random_state=0).fit(X, y)
recourse = model.recourse(X_denied)
```

Names are imported on first use, so that `import rocourse` and the command line's `--help` are quick
and JAX is loaded only where it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from rocourse._collector import paused_collector
from rocourse._lazy import optional

__version__ = "0.2.0"

if TYPE_CHECKING:
    from rocourse import datasets, evaluation
    from rocourse.artifacts import card, load, save
    from rocourse.attack import Attack
    from rocourse.estimators import (
        METHODS,
        PRESETS,
        RBR,
        ROAR,
        VAECF,
        CFModel,
        CounterNet,
        RecourseClassifier,
        RobustCFModel,
        RobustVAECF,
        RoCourse,
        RoCourseNet,
        RoCourseNetRandom,
        RoCoursePanel,
        VanillaCF,
        VanillaCFRandom,
    )
    from rocourse.models import JointTrainer, PlainTrainer, Shift, SteadyTrainer
    from rocourse.models.adapters import adapt
    from rocourse.recourse import (
        GeneratorProposer,
        PanelProposer,
        RBRProposer,
        ROARProposer,
        VAEProposer,
        VanillaCFProposer,
    )
    from rocourse.reports import plots
    from rocourse.schema import (
        Categorical,
        Change,
        Continuous,
        Follows,
        Linear,
        Moves,
        Recourse,
        Schema,
        Target,
        Wishes,
    )

__all__ = [
    "Attack",
    "CFModel",
    "Categorical",
    "Change",
    "Continuous",
    "CounterNet",
    "Follows",
    "GeneratorProposer",
    "JointTrainer",
    "Linear",
    "METHODS",
    "Moves",
    "PRESETS",
    "PanelProposer",
    "PlainTrainer",
    "RBR",
    "RBRProposer",
    "ROAR",
    "ROARProposer",
    "Recourse",
    "RecourseClassifier",
    "RoCourseNet",
    "RoCourseNetRandom",
    "RoCourse",
    "RoCoursePanel",
    "RobustCFModel",
    "RobustVAECF",
    "Schema",
    "Shift",
    "SteadyTrainer",
    "Target",
    "VAECF",
    "VAEProposer",
    "VanillaCF",
    "VanillaCFProposer",
    "VanillaCFRandom",
    "Wishes",
    "__version__",
    "adapt",
    "card",
    "datasets",
    "evaluation",
    "load",
    "plots",
    "save",
]

_SUBMODULES = {
    "datasets": "rocourse.datasets",
    "evaluation": "rocourse.evaluation",
    "plots": "rocourse.reports.plots",
}
# The rooms that other names live in, those that are quick to import first.
_ROOMS = {
    "rocourse.schema": (
        *("Categorical", "Change", "Continuous", "Follows", "Linear", "Moves"),
        *("Recourse", "Schema", "Target", "Wishes"),
    ),
    "rocourse.artifacts": ("card", "load", "save"),
    "rocourse.attack": ("Attack",),
    "rocourse.models": ("JointTrainer", "PlainTrainer", "Shift", "SteadyTrainer"),
    "rocourse.models.adapters": ("adapt",),
    "rocourse.recourse": tuple(name for name in __all__ if name.endswith("Proposer")),
}
_ELSEWHERE = {name: room for room, names in _ROOMS.items() for name in names}
# Whatever has no other home is a method, or what methods are made with.
_HOMES = {
    name: _ELSEWHERE.get(name, "rocourse.estimators")
    for name in __all__
    if name not in _SUBMODULES and name != "__version__"
}


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        with paused_collector():
            return optional(_SUBMODULES[name], "plots")
    if name in _HOMES:
        with paused_collector():
            value: object = getattr(import_module(_HOMES[name]), name)
        # Found once, a name is an ordinary global: this function is not asked again.
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
