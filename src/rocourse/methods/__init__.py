"""The recourse methods, one file each, all with `fit` and `recourse`."""

from rocourse.methods._counternet import CounterNet
from rocourse.methods._estimator import RecourseClassifier
from rocourse.methods._rocoursenet import RoCourseNet

METHODS: dict[str, type[RecourseClassifier]] = {
    CounterNet.method: CounterNet,
    RoCourseNet.method: RoCourseNet,
}
"""The estimators by the names that the command line and stored models use."""

__all__ = ["METHODS", "CounterNet", "RecourseClassifier", "RoCourseNet"]
