"""Fitted estimators as JSON-able values and named tensors, and back."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np

from rocourse.attack import Attack
from rocourse.errors import ArtifactError
from rocourse.estimators._facts import assumed_facts, promise_facts
from rocourse.estimators._given_storage import (
    given_from_state,
    given_to_state,
    kept_by_owner,
    refits_told,
)
from rocourse.models import BatchModel, NetworkModel, Trainer, has_network
from rocourse.models.training import build_predictor, named_tensors, restore
from rocourse.networks import Predictor
from rocourse.options import plain
from rocourse.reasons import Background
from rocourse.recourse import Proposer
from rocourse.schema import CutOff, Schema, Usual

if TYPE_CHECKING:
    from rocourse.estimators._base import RecourseClassifier

Header = dict[str, Any]
Tensors = dict[str, np.ndarray]
Estimator = TypeVar("Estimator", bound="RecourseClassifier")

_NETWORK, _WITNESS, _STATE = "network", "witness", "state"
# What only its owner can store, by the names that `load` has for it.
_MODEL, _GENERATOR = "model", "generator"


def to_state(estimator: "RecourseClassifier") -> tuple[Header, Tensors]:
    """The fitted estimator as JSON-able values and named tensors."""
    given, tensors = None, Tensors()
    if not has_network(estimator.model_):
        given, tensors = given_to_state(estimator)
        if (told := refits_told(estimator, given)) is not None:
            warnings.warn(told, stacklevel=4)
    if estimator.network_ is not None:
        tensors |= named_tensors(estimator.network_, _NETWORK)
    for i, witness in enumerate(estimator.witnesses_):
        tensors |= named_tensors(witness, f"{_WITNESS}{i}")
    if estimator.background_ is not None:
        tensors |= estimator.background_.to_state()[1]
    return _header(estimator, given), tensors | named_tensors(estimator.state_, _STATE)


def described(estimator: "RecourseClassifier") -> Header:
    """The JSON-able values alone, also of an estimator that cannot be stored."""
    given = None
    if not has_network(estimator.model_):
        given, _ = given_to_state(estimator)
    return _header(estimator, given)


def _header(estimator: "RecourseClassifier", given: dict[str, Any] | None) -> Header:
    own_generator = callable(getattr(estimator.proposer_, _NETWORK, None))
    owned = given is not None and kept_by_owner(given)
    supplied = [_GENERATOR] * own_generator + [_MODEL] * owned
    seed = estimator.random_state
    header: Header = {
        "method": estimator.method,
        "title": type(estimator).__name__,
        "summary": (type(estimator).__doc__ or "").strip().partition("\n")[0],
        "params": {
            "trainer": estimator.trainer.to_dict(),
            "proposer": _stored_proposer(estimator.proposer),
            "attack": plain(estimator.attack),
            # A model of ours that was explained lives on in its network.
            "model": None,
            "preset": estimator.preset,
            "threshold": estimator.threshold,
            "approval_rate": estimator.approval_rate,
            "unusual": estimator.unusual,
            "witnesses": estimator.witnesses,
            "out_of_range": estimator.out_of_range,
            "random_state": plain(seed) if isinstance(seed, int | None) else estimator.seed_,
        },
        "fitted": {
            "trainer": estimator.trainer_.to_dict(),
            "proposer": _stored_proposer(estimator.proposer_),
            "attack": plain(estimator.attack_),
        },
        "schema": estimator.schema_.to_dict(),
        "named_columns": hasattr(estimator, "feature_names_in_"),
        "seed": estimator.seed_,
        "best_epoch": estimator.best_epoch_,
        "history": estimator.history_,
        "supplied": supplied,
        # A model that was trained elsewhere: what it is, and its arrays where it has any.
        "given": given,
        "cut_off": None if estimator.cut_off_ is None else estimator.cut_off_._asdict(),
        "usual": None if estimator.usual_ is None else estimator.usual_.to_dict(),
        # What the model card tells besides.
        "training": estimator.training_,
        "measured": estimator.measured_,
        "promise": promise_facts(estimator),
        "assumed": assumed_facts(estimator),
        # What refusals are compared with.
        "background": None
        if estimator.background_ is None
        else estimator.background_.to_state()[0],
    }
    if estimator.network_ is not None:
        header["network"] = {
            "encoder": list(estimator.network_.encoder.widths),
            "head": list(estimator.network_.head.widths),
        }
    return header


def _stored_proposer(proposer: Proposer) -> dict[str, Any]:
    """The options without code, which is supplied anew."""
    stored = proposer.to_dict()
    if callable(stored.get(_NETWORK)):
        stored[_NETWORK] = None
    return stored


def from_state(
    cls: type[Estimator], header: Header, tensors: Tensors, supplied: Mapping[str, Any]
) -> Estimator:
    """The inverse of `to_state`."""
    given = header.get("given")
    if given is None and _MODEL in header["supplied"]:
        raise ArtifactError(
            "it was stored without what tells its 'model' from another one, as earlier releases "
            "did; fit it again."
        )
    # A model of the user's may take the place of its arrays.
    reasons = {} if given is None else {_MODEL: given.get("reason")}
    _check_supplied(header["supplied"], supplied, reasons, optional=[_MODEL] * (given is not None))
    schema = Schema.from_dict(header["schema"])
    assert schema.target is not None  # to_state always stores one
    estimator = cls(schema=schema, **_parameters(header["params"], supplied))
    estimator.check_parameters()
    fitted = _parameters(header["fitted"], supplied)
    estimator.trainer_, estimator.proposer_ = fitted["trainer"], fitted["proposer"]
    estimator.attack_ = fitted["attack"]
    estimator.schema_ = schema
    estimator.classes_ = np.asarray(schema.target.classes)
    estimator.n_features_in_ = len(schema.features)
    if header["named_columns"]:
        estimator.feature_names_in_ = np.asarray(schema.names, dtype=object)
    estimator.seed_ = header["seed"]
    estimator.history_, estimator.best_epoch_ = header["history"], header["best_epoch"]
    estimator.n_iter_ = len(estimator.history_)
    estimator.training_, estimator.measured_ = header.get("training"), header.get("measured")
    estimator.background_ = Background.from_state(header.get("background"), tensors)
    estimator.network_ = _network(header, tensors, _NETWORK, schema)
    cut_off = header.get("cut_off")
    estimator.cut_off_ = None if cut_off is None else CutOff(**cut_off)
    usual = header.get("usual")
    estimator.usual_ = None if usual is None else Usual.from_dict(usual, schema.layout)
    refits: tuple[BatchModel, ...] = ()
    if given is None:
        assert estimator.network_ is not None  # what is not supplied has been stored
        estimator.model_ = NetworkModel.of([estimator.network_])
    else:
        estimator.model_, refits = given_from_state(
            given, tensors, schema, supplied.get(_MODEL), estimator.cut_off_
        )
        estimator.model = supplied.get(_MODEL, estimator.model_)
    skeleton = partial(estimator.proposer_.skeleton, estimator._context())
    state = restore(tensors, _STATE, skeleton)
    state = estimator.proposer_.revive(state) if isinstance(state, dict) else state
    estimator.state_ = estimator.proposer_.with_refits(state, refits) if refits else state
    names = {name.split(".")[0] for name in tensors if name.startswith(_WITNESS)}
    witnesses = (_network(header, tensors, f"{_WITNESS}{i}", schema) for i in range(len(names)))
    estimator.witnesses_ = [witness for witness in witnesses if witness is not None]
    return estimator


def _parameters(stored: Mapping[str, Any], supplied: Mapping[str, Any]) -> dict[str, Any]:
    params = dict(stored)
    proposer = dict(params["proposer"])
    if _GENERATOR in supplied:
        proposer[_NETWORK] = supplied[_GENERATOR]
    params["trainer"] = Trainer.from_dict(params["trainer"])
    params["proposer"] = Proposer.from_dict(proposer)
    if params["attack"] is not None:
        params["attack"] = Attack.from_dict(params["attack"])
    if "model" in params:
        params["model"] = supplied.get(_MODEL)
    return params


def _network(header: Header, tensors: Tensors, prefix: str, schema: Schema) -> Predictor | None:
    """A network of the stored widths; None where there is none."""
    if "network" not in header:
        return None
    assert schema.target is not None
    build = partial(
        build_predictor,
        schema.layout,
        len(schema.target.classes),
        tuple(header["network"]["encoder"]),
        tuple(header["network"]["head"]),
        key=jax.random.key(0),
    )
    return restore(tensors, prefix, build)


def _check_supplied(
    wanted: list[str],
    given: Mapping[str, Any],
    reasons: Mapping[str, str | None],
    *,
    optional: Sequence[str],
) -> None:
    for name in wanted:
        if name not in given:
            reason = reasons.get(name) or "it cannot be written to a file"
            named = ", or name what makes it with --model-from" if name == _MODEL else ""
            raise ArtifactError(
                f"it was stored without its '{name}', because {reason}; pass it as {name}=... when "
                f"loading{named}."
            )
    for name in given:
        if name not in wanted and name not in optional:
            raise ArtifactError(
                f"it was stored with its '{name}', but got another one; load it without {name}=..."
            )
