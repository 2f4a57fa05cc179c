"""What a letter is about: one refused applicant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rocourse.errors import DataError
from rocourse.reasons import Reason, Reasons
from rocourse.schema import Recourse, Schema

# By name alone: who has no ledger need not have what it is made with.
if TYPE_CHECKING:
    from rocourse.ledger import Promise

Change = Mapping[str, Any]
"""With `feature`, `from` and `to`; values as JSON has them."""

# Days, on average.
_MONTH = 365.25 / 12


class WithheldLetter(DataError):
    """A letter must not be sent as it would be.

    Attributes:
        feature: The reason that needs a sentence of the lender's; None: it is something else.
    """

    def __init__(self, message: str, feature: str | None = None) -> None:
        super().__init__(message)
        self.feature = feature


@dataclass(frozen=True)
class Advice:
    """One way to be approved.

    Attributes:
        changes: What has to change.
        promised: Whether it will be enough until the letter's date, or was so on the day.
        reference: Of its promise in a ledger, if there is one.
    """

    changes: Sequence[Change]
    promised: bool
    reference: str | None = None


@dataclass(frozen=True)
class Case:
    """One refused applicant.

    Attributes:
        reference: What tells the application from others.
        decided: When it was decided.
        until: Until when promises hold; None: nothing is promised.
        reasons: The principal reasons.
        advice: Ways to be approved; empty: none was found.
    """

    reference: str
    decided: date
    until: date | None
    reasons: Sequence[Reason]
    advice: Sequence[Advice]


def cases_of(
    recourse: Recourse,
    reasons: Reasons,
    references: Sequence[str],
    *,
    decided: date,
    until: date | None,
) -> list[Case]:
    """The refused among rows.

    Args:
        recourse: What they have to change.
        reasons: Why they are refused.
        references: What tells each of them from others.
        decided: When it was decided.
        until: Until when recourses that are `found` are promised, if what the schema says that
            they take comes about by then; None: nothing is promised.
    """
    records, principal = recourse.to_records(), reasons.principal()
    return [
        Case(
            reference=references[i],
            decided=decided,
            until=until,
            reasons=principal[i],
            advice=_worth_telling(
                [
                    Advice(
                        option["changes"],
                        promised=option["status"] == "found"
                        and until is not None
                        and (option["months"] or 0.0) * _MONTH <= (until - decided).days,
                    )
                    for option in record.get("options", [record])
                    if option["status"] in ("found", "found_unsure")
                ]
            ),
        )
        for i, record in enumerate(records)
        if reasons.refused[i]
    ]


def _worth_telling(advice: Sequence[Advice]) -> list[Advice]:
    """Without what asks for all that another way asks for, and for more."""
    asked = [{(change["feature"], change["to"]) for change in one.changes} for one in advice]

    def beats(k: int, i: int) -> bool:
        fewer = asked[k] < asked[i] or (asked[k] == asked[i] and k < i)
        return fewer and advice[k].promised >= advice[i].promised

    places = range(len(advice))
    return [advice[i] for i in places if not any(beats(k, i) for k in places)]


def case_of(promises: Sequence["Promise"], reasons: Reasons, *, at: datetime) -> Case:
    """The case of promises in a ledger: options of one decision.

    Args:
        promises: What was promised, the one that is asked about first.
        reasons: Of the row that was refused.
        at: The time.

    Raises:
        WithheldLetter: The first promise binds no longer.
    """
    first = promises[0]
    standing = first.standing(at)
    if not standing.binds:
        raise WithheldLetter(
            f"A letter must be about a promise that binds, but this one is {standing.value}; ask "
            "for a new decision."
        )
    owed = [one for one in promises if one.standing(at).binds]
    (principal,) = reasons.principal()
    return Case(
        reference=first.subject or first.id,
        decided=first.issued_at.date(),
        # The last whole day.
        until=(min(one.expires_at for one in owed) - timedelta(days=1)).date(),
        reasons=principal,
        advice=_worth_telling(
            [
                Advice(
                    _changes(reasons.schema, one.row, one.recourse), promised=True, reference=one.id
                )
                for one in owed
            ]
        ),
    )


def _changes(schema: Schema, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    return [
        {"feature": name, "from": before.get(name), "to": after.get(name)}
        for name in schema.names
        if before.get(name) != after.get(name)
    ]
