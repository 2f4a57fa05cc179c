"""The model in service, as the page and callers see it."""

from typing import Any

from rocourse.service._backend import Backend


def model_document(backend: Backend, example: dict[str, Any]) -> dict[str, Any]:
    """What the model is, and the rows that it takes."""
    decider = backend.decider
    content = decider.schema.to_dict()
    return {
        "digest": decider.digest,
        "method": decider.model.method,
        "title": type(decider.model).__name__,
        "target": content["target"]["name"],
        "classes": content["target"]["classes"],
        "favourable": content["target"]["favourable"],
        "witnesses": decider.witnesses,
        "ledger": backend.ledger is not None,
        "features": content["features"],
        "example": example,
    }
