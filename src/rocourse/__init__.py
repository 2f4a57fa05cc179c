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

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rocourse import datasets, evaluation
    from rocourse.artifacts import load, save
    from rocourse.estimators import (
        RBR,
        ROAR,
        VAECF,
        CFModel,
        CounterNet,
        RobustCFModel,
        RobustVAECF,
        RoCourseNet,
        RoCourseNetRandom,
        RoCoursePanel,
        VanillaCF,
        VanillaCFRandom,
    )
    from rocourse.models.adapters import adapt
    from rocourse.schema import Categorical, Continuous, Recourse, Schema, Target

__all__ = [
    "CFModel",
    "Categorical",
    "Continuous",
    "CounterNet",
    "RBR",
    "ROAR",
    "Recourse",
    "RoCourseNet",
    "RoCourseNetRandom",
    "RoCoursePanel",
    "RobustCFModel",
    "RobustVAECF",
    "Schema",
    "Target",
    "VAECF",
    "VanillaCF",
    "VanillaCFRandom",
    "__version__",
    "adapt",
    "datasets",
    "evaluation",
    "load",
    "save",
]

_HOMES = {
    "CFModel": "rocourse.estimators",
    "Categorical": "rocourse.schema",
    "Continuous": "rocourse.schema",
    "CounterNet": "rocourse.estimators",
    "RBR": "rocourse.estimators",
    "ROAR": "rocourse.estimators",
    "Recourse": "rocourse.schema",
    "RoCourseNet": "rocourse.estimators",
    "RoCourseNetRandom": "rocourse.estimators",
    "RoCoursePanel": "rocourse.estimators",
    "RobustCFModel": "rocourse.estimators",
    "RobustVAECF": "rocourse.estimators",
    "Schema": "rocourse.schema",
    "Target": "rocourse.schema",
    "VAECF": "rocourse.estimators",
    "VanillaCF": "rocourse.estimators",
    "VanillaCFRandom": "rocourse.estimators",
    "adapt": "rocourse.models.adapters",
    "load": "rocourse.artifacts",
    "save": "rocourse.artifacts",
}
_SUBMODULES = frozenset({"datasets", "evaluation"})


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        with paused_collector():
            return import_module(f"rocourse.{name}")
    if name in _HOMES:
        with paused_collector():
            value: object = getattr(import_module(_HOMES[name]), name)
        # Found once, a name is an ordinary global: this function is not asked again.
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
