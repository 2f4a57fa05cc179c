"""What it means that nothing was found, for a whole record of recourses."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rocourse._wording import listed, show
from rocourse.errors import ConfigError, DataError
from rocourse.models import HasNetwork
from rocourse.recourse.answer import Advisor
from rocourse.recourse.proof._loosen import loosen
from rocourse.recourse.proof._seek import MOST_POINTS, Sought, seek
from rocourse.recourse.proof._take_back import put
from rocourse.schema import Loosening, Proof, Recourse, Schema

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
    where = np.flatnonzero(recourse.status == "not_found")
    target = np.searchsorted(advisor.classes, recourse.desired)
    rows = recourse.original_rows
    sought = seek(
        advisor.context,
        recourse.original.iloc[where],
        rows.take(where),
        target[where],
        boxes=boxes,
    )
    recourse = _with_found(advisor, recourse, where[sought.exists], sought)
    left = np.flatnonzero(recourse.status[where] == "not_found")
    told: list[Loosening | None] = [None] * len(left)
    if len(left) and names:
        own = where[left]
        told = loosen(advisor, recourse.original.iloc[own], rows.take(own), target[own], names)
    proofs: list[Proof | None] = [None] * len(recourse)
    for place, loosened in zip(left.tolist(), told, strict=True):
        text = _NONE
        if sought.exists[place]:
            text = _WORSE
        elif not sought.none[place]:
            text = _how_far(advisor, int(sought.examined[place]))
        proofs[where[place]] = Proof(bool(sought.none[place]), text, loosened)
    return replace(recourse, proofs=tuple(proofs))


def _with_found(
    advisor: Advisor, recourse: Recourse, where: np.ndarray, sought: Sought
) -> Recourse:
    """The record with recourses that the search had missed, in some rows."""
    if not len(where):
        return recourse
    predicted, target = (
        np.searchsorted(advisor.classes, part[where])
        for part in (recourse.predicted, recourse.desired)
    )
    found = advisor.answer(
        recourse.original.iloc[where],
        recourse.original_rows.take(where),
        predicted,
        target,
        sought.points.take(np.flatnonzero(sought.exists)),
    )
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
        attempts=put(recourse.attempts, where[given], found.attempts.take(given)),
        status=status,
        probability=probability,
        robustness=robustness,
    )


def _how_far(advisor: Advisor, examined: int) -> str:
    if isinstance(advisor.context.trained, HasNetwork):
        return f"not found within {examined:,} {'box' if examined == 1 else 'boxes'}"
    return f"not found; more than {MOST_POINTS:,} points to try one by one"


def _check(advisor: Advisor, recourse: Recourse, boxes: int) -> None:
    names = advisor.context.schema.names
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
