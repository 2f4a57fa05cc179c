"""A given model and its refits on disk: as they can be stored, or by what tells them apart."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rocourse.errors import ArtifactError
from rocourse.estimators._given import open_model
from rocourse.models import BatchModel, Refittable, move_model, unmoved_model
from rocourse.models.adapters import (
    AdaptedModel,
    model_from_state,
    model_to_state,
    require_same_model,
)
from rocourse.schema import CutOff, Schema

if TYPE_CHECKING:
    from rocourse.estimators._base import RecourseClassifier

Tensors = dict[str, np.ndarray]

_MODEL = "given"


def given_to_state(estimator: "RecourseClassifier") -> tuple[dict[str, Any], Tensors]:
    """What a file keeps of a model of the user's and of its refits."""
    schema = estimator.schema_
    entry, tensors = model_to_state(estimator.model_, schema)
    stored = {f"{_MODEL}.{name}": tensor for name, tensor in tensors.items()}
    members, module = [], _module(estimator.model_)
    refits = [unmoved_model(refit) for refit in estimator.proposer_.refits(estimator.state_)]
    for i, refit in enumerate(refits):
        member, tensors = model_to_state(refit, schema, module=module)
        stored |= {f"{_refit(i)}.{name}": tensor for name, tensor in tensors.items()}
        members.append(member)
    unstored = next((member for member in members if member["stored"] is None), None)
    if unstored is not None:
        entry.setdefault("reason", f"its refits cannot be stored ({unstored['reason']})")
    return {**entry, "refits": members}, stored


def kept_by_owner(given: Mapping[str, Any]) -> bool:
    """Whether the model or a refit of it is only there if its owner gives it again."""
    return any(entry["stored"] is None for entry in (given, *given.get("refits", ())))


def refits_told(estimator: "RecourseClassifier", given: Mapping[str, Any]) -> str | None:
    """What to do about refits that only the caller has, in a sentence; None where there are none.

    Members were the user's before, who knows.
    """
    if _owned(estimator.model_) or not any(one["stored"] is None for one in given["refits"]):
        return None
    return (
        f"The refits of {given['name']} are not stored, because {given['reason']}; keep what "
        "refits_ has, and give it again when loading: rocourse.load(path, "
        "model=adapt(model, schema, members=[...])), or a function of --model-from that returns "
        "that."
    )


def given_from_state(
    header: Mapping[str, Any],
    tensors: Tensors,
    schema: Schema,
    model: Any,
    cut_off: CutOff | None,
) -> tuple[BatchModel, tuple[BatchModel, ...]]:
    """The model and its refits.

    Args:
        header: As of `given_to_state`.
        tensors: The arrays beside it.
        schema: What encoded rows are encoded by.
        model: The user's, where it is given again; else None.
        cut_off: By which it decides.

    Raises:
        ArtifactError: The model is another one, or comes without its refits.
    """
    parts = _part(tensors, _MODEL)
    if model is None:
        opened: BatchModel = model_from_state(header, parts, schema)
        if isinstance(opened, AdaptedModel):
            # Another release of its library may read it otherwise.
            require_same_model(opened, header, parts, schema, what="The model, as it is read here,")
    else:
        opened = open_model(model, schema)
        require_same_model(opened, header, parts, schema, what="The model")
    brought = opened.members if isinstance(opened, Refittable) else ()
    refits = [
        _one_refit(i, entry, _part(tensors, _refit(i)), schema, brought, _module(opened))
        for i, entry in enumerate(header["refits"])
    ]
    return opened, tuple(move_model(refit, cut_off) for refit in refits)


def _one_refit(
    i: int,
    entry: Mapping[str, Any],
    tensors: Tensors,
    schema: Schema,
    brought: Sequence[BatchModel],
    module: Any,
) -> BatchModel:
    if entry["stored"] is not None:
        return model_from_state(entry, tensors, schema, module=module)
    if i >= len(brought):
        raise ArtifactError(
            f"it was stored without its refits, but the model brings {len(brought)} of them; pass "
            "model=adapt(model, schema, members=[...]) with those that it was fitted with."
        )
    require_same_model(brought[i], entry, tensors, schema, what=f"Member {i}")
    return brought[i]


def _module(model: BatchModel) -> Any:
    """What the user gives again when loading, of which refits may be copies with other weights."""
    return model.model if isinstance(model, AdaptedModel) else None


def _owned(model: BatchModel) -> bool:
    """Whether the refits are the user's."""
    return isinstance(model, Refittable) and bool(model.members)


def _refit(i: int) -> str:
    return f"refit{i}"


def _part(tensors: Tensors, prefix: str) -> Tensors:
    return {
        name.removeprefix(f"{prefix}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"{prefix}.")
    }
