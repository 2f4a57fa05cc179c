"""What could be had if the future were known: a bound for every method that edits features."""

from collections.abc import Sequence
from copy import copy
from typing import TypeVar

from rocourse.errors import ConfigError
from rocourse.estimators._base import RecourseClassifier
from rocourse.models import has_network
from rocourse.recourse.panel import Layers, PanelProposer, convincing, network_of, own_networks

Estimator = TypeVar("Estimator", bound=RecourseClassifier)


def oracle(model: Estimator, others: Sequence[RecourseClassifier]) -> Estimator:
    """A copy of a model with a panel that has to convince the given models and no others.

    What it finds bounds what any method can do by single edits: as cheap as it gets, for recourses
    that all these models honour.

    Args:
        model: A fitted model with a `PanelProposer`.
        others: Fitted models of its schema, with as many hidden layers.
    """
    if not isinstance(model.proposer_, PanelProposer):
        raise ConfigError(
            "An oracle must come from a model with a PanelProposer, but got a "
            f"{type(model.proposer_).__name__}; use RoCoursePanel."
        )
    known = [_committee(model), *map(_committee, others)]
    missing = known.count([])
    if missing:
        raise ConfigError(
            f"All models to be known must have networks of ours, but {missing} have none; pass "
            "models that rocourse has trained."
        )
    twin = copy(model)
    twin.proposer_ = model.proposer_(min_gain=0.0)
    twin.state_ = convincing(model.state_, known)
    return twin


def _committee(model: RecourseClassifier) -> list[Layers]:
    """The networks of a model, none if it has none of ours."""
    if not has_network(model.model_):
        return []
    # Apart they are less to compute than joined.
    if isinstance(model.proposer_, PanelProposer):
        return own_networks(model.state_)
    network = model._context().network
    assert network is not None  # the model has one
    return [network_of(network)]
