"""What it means that nothing was found, for a whole record of recourses."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rocourse._wording import listed, show
from rocourse.errors import ConfigError, DataError
from rocourse.models import has_network
from rocourse.recourse.answer import Advisor
from rocourse.recourse.proof._loosen import loosen
from rocourse.recourse.proof._seek import MOST_POINTS, Sought, seek
from rocourse.recourse.proof._take_back import put
from rocourse.schema import Loosening, Narrowing, Proof, Recourse, Schema, Wishes

_NONE = "none exists"
_WORSE = "one exists, but the next model is less likely to honour it than the row as it is"


def prove(
    advisor: Advisor, recourse: Recourse, *, boxes: int, loosening: bool | Collection[str]
) -> Recourse:
    """The record with a proof for each row that has no recourse.

    Where the search missed one, it is in the record that comes back.

    Args:
        advisor: What made the record.
        recourse: The record.
        boxes: The most parts of what a row can become that are looked at.
        loosening: Whether to look for a rule to loosen; names: of these features only.
    """
    _check(advisor, recourse, boxes)
    names = _names(recourse.schema, loosening)
    if recourse.schema != advisor.context.schema:
        # Narrowed for these rows: the proof is about what they were allowed.
        context = replace(advisor.context, schema=recourse.schema)
        advisor = replace(advisor, context=context)
    proofs: list[Proof | None] = [None] * len(recourse)
    unfound = recourse.status == "not_found"
    for wishes, places in _wished(recourse, unfound).items():
        recourse, told = _proved(advisor, recourse, wishes, places, boxes, names)
        for place, proof in zip(places.tolist(), told, strict=True):
            proofs[place] = proof
    return replace(recourse, proofs=tuple(proofs))


def _wished(recourse: Recourse, rows: np.ndarray) -> dict[Wishes | None, np.ndarray]:
    """The places of some rows, bool `[n]`, by what was wished for."""
    places = np.flatnonzero(rows)
    if recourse.wishes is None:
        return {None: places} if len(places) else {}
    groups: dict[Wishes | None, list[int]] = {}
    for place in places.tolist():
        groups.setdefault(recourse.wishes[place], []).append(place)
    return {wishes: np.array(own) for wishes, own in groups.items()}


def _proved(
    advisor: Advisor,
    recourse: Recourse,
    wishes: Wishes | None,
    where: np.ndarray,
    boxes: int,
    names: tuple[str, ...],
) -> tuple[Recourse, list[Proof | None]]:
    """The record with what was missed in rows of the same wishes, and the proofs of these rows."""
    target = np.searchsorted(advisor.classes, recourse.desired)
    rows, context = recourse.original_rows, advisor.context
    if wishes is not None:
        context = context.narrowed(Narrowing.of(wishes, context.schema))
    sought = seek(
        context, recourse.original.iloc[where], rows.take(where), target[where], boxes=boxes
    )
    recourse = _with_found(advisor, recourse, where[sought.exists], sought)
    left = np.flatnonzero(recourse.status[where] == "not_found")
    told: list[Loosening | None] = [None] * len(left)
    if len(left) and names:
        own = where[left]
        frame = recourse.original.iloc[own]
        told = loosen(advisor, frame, rows.take(own), target[own], names, wishes)
    proofs: list[Proof | None] = [None] * len(where)
    for place, loosened in zip(left.tolist(), told, strict=True):
        text = _NONE
        if sought.exists[place]:
            text = _WORSE
        elif not sought.none[place]:
            text = _how_far(advisor, int(sought.examined[place]))
        proofs[place] = Proof(bool(sought.none[place]), text, loosened)
    return recourse, proofs


def _with_found(
    advisor: Advisor, recourse: Recourse, where: np.ndarray, sought: Sought
) -> Recourse:
    """The record with recourses that the search had missed, in some rows."""
    if not len(where):
        return recourse
    target = np.searchsorted(advisor.classes, recourse.desired[where])
    points = sought.points.take(np.flatnonzero(sought.exists))
    before = None
    if advisor.proposer.promises:
        before = advisor.robustness(recourse.original_rows.take(where), target)
    found = advisor.judged(points, target, before)
    given = np.flatnonzero(found.status != "not_found")
    status, probability = recourse.status.astype("U12"), recourse.probability.copy()
    status[where[given]] = found.status[given]
    probability[where[given]] = found.probability[given]
    robustness = recourse.robustness
    if robustness is not None and found.robustness is not None:
        robustness = robustness.copy()
        robustness[where[given]] = found.robustness[given]
    return replace(
        recourse,
        attempts=put(recourse.attempts, where[given], points.take(given)),
        status=status,
        probability=probability,
        robustness=robustness,
    )


def _how_far(advisor: Advisor, examined: int) -> str:
    if has_network(advisor.context.trained):
        return f"not found within {examined:,} {'box' if examined == 1 else 'boxes'}"
    return f"not found; more than {MOST_POINTS:,} points to try one by one"


def _check(advisor: Advisor, recourse: Recourse, boxes: int) -> None:
    names = advisor.context.schema.names
    if not isinstance(recourse, Recourse):
        raise DataError(
            f"prove must be given what this model's `recourse` gave, but got "
            f"{type(recourse).__name__}; write model.prove(model.recourse(rows))."
        )
    if recourse.schema.names != names:
        raise DataError(
            f"The recourses to prove must be of rows with the features {listed(names)}, but got "
            f"{listed(recourse.schema.names)}; give what this model's `recourse` gave."
        )
    if isinstance(boxes, bool) or not isinstance(boxes, int) or boxes < 1:
        raise ConfigError(
            f"boxes must be a whole number of at least 1, but got {show(boxes)}; give one."
        )


def _names(schema: Schema, loosening: bool | Collection[str]) -> tuple[str, ...]:
    if isinstance(loosening, bool):
        return schema.names if loosening else ()
    names = (loosening,) if isinstance(loosening, str) else tuple(loosening)
    return tuple(schema[name].name for name in names)
