"""The backend: decides, promises, and says later whether promises are kept."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice, zip_longest
from threading import Lock
from typing import Any, NamedTuple

from pydantic import ValidationError

from rocourse._wording import listed
from rocourse.errors import ConfigError, RocourseError, SettledPromise
from rocourse.ledger import Conflict, Event, Issue, Ledger, NewPromise, Promise, Status, new_id
from rocourse.schema import Wishes
from rocourse.service._decider import Advice, Decider, Decision, Row, same_questions
from rocourse.service._ledgers import Ledgers
from rocourse.service._metrics import Metrics
from rocourse.service._questions import Question
from rocourse.service._redemption import Comparison, compare
from rocourse.service._rows import row_model
from rocourse.service._settings import Settings
from rocourse.service._tracing import Tracing
from rocourse.service._watching import watch_promises


class Draft(NamedTuple):
    """An answer that waits to be recorded."""

    issue: Issue
    decisions: list[Decision]


class Backend:
    """A model, a ledger, and what is done with both."""

    def __init__(
        self,
        settings: Settings,
        decider: Decider,
        ledgers: Ledgers | None,
        metrics: Metrics,
    ) -> None:
        self.settings, self.metrics = settings, metrics
        self.ledgers = ledgers
        self.tracing = Tracing.start() if settings.traces else Tracing()
        metrics.in_service(decider.digest, decider.model.method)
        # Once and for all: a model with other rows does not take over.
        self.row = row_model(decider.schema)
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self._decider = decider
        self._reloading = Lock()
        # Of all tenants together, for whoever runs the service.
        self._watch = watch_promises(decider, self.ledger)
        metrics.watched(self._watch)

    @classmethod
    def open(cls, settings: Settings) -> "Backend":
        """Loads the model and opens the ledger."""
        decider = Decider.load(settings.model, settings.model_from, settings.demand)
        names = decider.schema.names
        for column in settings.by:
            if column not in names:
                raise ConfigError(
                    f"Audits must tell people by columns of the model, but got {column!r}; it has "
                    f"{listed(names)}."
                )
        if settings.ledger is None:
            return cls(settings, decider, None, Metrics())
        return cls(settings, decider, Ledgers.open(settings.ledger, settings.deadline), Metrics())

    @property
    def ledger(self) -> Ledger | None:
        """Where promises are written, if anywhere."""
        return None if self.ledgers is None else self.ledgers.writing

    @property
    def decider(self) -> Decider:
        """The model in service. Hold on to it: the next moment it may be another one."""
        return self._decider

    def close(self) -> None:
        """Closes the ledger."""
        for ledger in self.ledgers or ():
            ledger.close()

    def answer(self, questions: Sequence[Question]) -> list[str | Conflict | RocourseError]:
        """Answers requests in JSON; what it promises is on disk when it returns.

        A request that cannot be answered gets its error, and does not keep others from theirs.
        """
        traced = [asked.traced for asked in questions]
        with self.tracing.part("decide", traced):
            drafts = self._drafts(questions)
        good = [draft for draft in drafts if isinstance(draft, Draft)]
        answers: Iterable[str | Conflict] = (draft.issue.answer for draft in good)
        if self.ledger is not None:
            with self.tracing.part("write", traced):
                answers = self.ledger.issue([draft.issue for draft in good])
            self.metrics.promised(p for draft in good for p in draft.issue.promises)
        self.metrics.batch([decision for draft in good for decision in draft.decisions])
        kept = iter(answers)
        return [next(kept) if isinstance(draft, Draft) else draft for draft in drafts]

    @property
    def prompt_rows(self) -> int:
        """How many rows are answered within a moment: none, where a database has to confirm."""
        return self.decider.prompt_rows if self.ledger is None else 0

    def _drafts(self, questions: Sequence[Question]) -> list["Draft | RocourseError"]:
        try:
            return [*self._draft(questions)]
        except RocourseError as error:
            if len(questions) == 1:
                return [error]
            return [draft for asked in questions for draft in self._drafts([asked])]

    def _draft(self, questions: Sequence[Question]) -> Iterator["Draft"]:
        decider, now = self.decider, self.clock()
        plain = [row for asked in questions if asked.choices is None for row in asked.rows]
        made = iter(decider.decide(plain))
        for asked in questions:
            if asked.choices is None:
                decisions = list(islice(made, len(asked.rows)))
            else:
                decisions = decider.decide(asked.rows, asked.choices)
            wishes = asked.wishes()
            documents, promises = [], []
            for row, subject, decision, wished in zip(
                asked.rows, asked.subjects, decisions, wishes, strict=True
            ):
                tenant = asked.caller.tenant
                offered = self._promises(decider, row, subject, decision, wished, now, tenant)
                documents.append(_document(decider, subject, decision, offered))
                promises += [promise for promise in offered if promise]
            text = json.dumps({"model": decider.digest, "decisions": documents}, ensure_ascii=False)
            yield Draft(self._issue(asked, promises, text), decisions)

    def redeem(self, id: str, presented: Row, tenant: str) -> dict[str, Any]:
        """Judges a row that returns with a promise, and records what comes of it.

        Args:
            id: The promise.
            presented: The row.
            tenant: Who asks.

        Raises:
            UnknownPromise: The tenant has no such promise.
            SettledPromise: It was settled before, has expired, or is of another schema.
        """
        assert self.ledger is not None
        decider, promise = self.decider, self.ledger.promise(id, tenant=tenant)
        self._check_binding(promise, decider)
        found = self._compare(decider, promise, presented)
        (decision, still) = decider.decide([presented, promise.recourse])
        fulfilled = found.fulfilled
        honoured = fulfilled and decision.favourable
        status = promise.status
        if honoured:
            status = Status.REDEEMED
        elif fulfilled and not still.favourable:
            # Not the applicant's doing: the promised row itself is refused now.
            status = Status.BROKEN
        if status is not promise.status:
            detail = "approved as presented" if honoured else "the promised row is refused now"
            self.ledger.record(id, status, model=decider.digest, detail=detail, tenant=tenant)
            if promise.status is Status.OPEN:
                self._watch.add(honoured)
                self.metrics.watched(self._watch)
        self.metrics.returned(status.value)
        return {
            "id": id,
            "status": status.value,
            "fulfilled": fulfilled,
            "honoured": honoured,
            **asdict(found),
            "decision": decision.decision,
            "probability": decision.probability,
            "model": decider.digest,
        }

    def reload(self) -> dict[str, Any]:
        """Puts the model that is on disk now in service, or leaves everything as it was.

        Raises:
            RocourseError: The model cannot be used; the one in service stays.
        """
        with self._reloading:
            before = self._decider
            fresh = Decider.load(
                self.settings.model, self.settings.model_from, self.settings.demand
            )
            if not same_questions(fresh.schema, before.schema):
                raise ConfigError(
                    "A model that takes over must have the features, categories and target of the "
                    "one in service, but its schema differs; start the service anew with it."
                )
            self._decider = fresh
            self.metrics.in_service(fresh.digest, fresh.model.method)
            return {
                "digest": fresh.digest,
                "before": before.digest,
                "changed": fresh.digest != before.digest,
            }

    def _promises(
        self,
        decider: Decider,
        row: Row,
        subject: str | None,
        decision: Decision,
        wishes: dict[str, Any] | None,
        now: datetime,
        tenant: str,
    ) -> list[NewPromise | None]:
        """A promise for each option; None for one that is not promised."""
        advice = decision.advice
        if self.ledger is None or advice is None:
            return []
        offered = (advice,) if advice.options is None else advice.options
        shared = new_id() if sum(option.found for option in offered) > 1 else None
        return [
            NewPromise(
                id=new_id(),
                subject=subject,
                model=decider.digest,
                schema_version=decider.schema_digest,
                row=row,
                recourse=option.row,
                desired=decider.favourable,
                probability_before=decision.probability,
                probability_after=option.probability,
                robustness=option.robustness,
                months=option.months,
                issued_at=now,
                expires_at=now + self.settings.valid_for,
                decision=shared,
                wishes=wishes,
                tenant=tenant,
                certificate=option.certificate,
            )
            if option.found
            else None
            for option in offered
        ]

    def _issue(self, asked: Question, promises: list[NewPromise], answer: str) -> Issue:
        key = None
        if asked.key is not None:
            whose = f"{asked.caller.tenant}\n{asked.caller.name}"
            key = hashlib.sha256(f"{whose}\n{asked.key}".encode()).hexdigest()
        return Issue(
            promises=promises,
            key=key,
            fingerprint=asked.fingerprint(),
            answer=answer,
            tenant=asked.caller.tenant,
        )

    def _compare(self, decider: Decider, promise: Promise, presented: Row) -> Comparison:
        """The row that returns beside the promise, by the schema in service."""
        try:
            wishes = None if promise.wishes is None else Wishes.from_dict(promise.wishes)
        except RocourseError:
            raise SettledPromise(
                "A promise must have wishes that this release can read, but this one has others; "
                "ask for a new decision."
            ) from None
        return compare(decider.schema, promise.row, promise.recourse, presented, wishes)

    def _check_binding(self, promise: Promise, decider: Decider) -> None:
        if not promise.status.binds:
            raise SettledPromise(
                "A promise to be redeemed must be open or broken, but this one is "
                f"{promise.status.value}; ask for a new decision."
            )
        if promise.standing(self.clock()) is Status.EXPIRED:
            raise SettledPromise(
                f"A promise must be redeemed in time, but this one expired at "
                f"{promise.expires_at:%Y-%m-%d}; ask for a new decision."
            )
        if promise.desired != decider.favourable or not (
            self._takes(promise.row) and self._takes(promise.recourse)
        ):
            raise SettledPromise(
                "A promise must be of the features, categories and class that the model in service "
                "knows, but this one is of others; ask for a new decision."
            )

    def _takes(self, row: Row) -> bool:
        try:
            self.row.model_validate(row)
        except ValidationError:
            return False
        return True


def _document(
    decider: Decider,
    subject: str | None,
    decision: Decision,
    promises: Sequence[NewPromise | None],
) -> dict[str, Any]:
    advice = decision.advice
    return {
        "subject": subject,
        "decision": decision.decision,
        "favourable": decision.favourable,
        "probability": decision.probability,
        "imputed": decision.imputed,
        "recourse": None if advice is None else _recourse(decider, advice, promises),
    }


def _recourse(
    decider: Decider, advice: Advice, promises: Sequence[NewPromise | None]
) -> dict[str, Any]:
    first = _option(decider, advice, promises[0] if promises else None)
    if advice.options is None:
        return first
    # Without a ledger there are options and no promises.
    pairs = zip_longest(advice.options, promises)
    options = [_option(decider, option, promise) for option, promise in pairs]
    return {**first, "reason": advice.reason, "options": options}


def _option(decider: Decider, advice: Advice, promise: NewPromise | None) -> dict[str, Any]:
    return {
        "status": advice.status,
        "id": promise.id if promise else None,
        "issued_at": iso(promise.issued_at) if promise else None,
        "expires_at": iso(promise.expires_at) if promise else None,
        "probability": advice.probability,
        "cost": advice.cost,
        "months": advice.months,
        "changes": advice.changes,
        "row": advice.row,
        "robustness": None
        if advice.robustness is None
        else _robustness(advice.robustness, decider.witnesses),
        "certificate": advice.certificate,
    }


def _robustness(share: float, witnesses: int) -> dict[str, Any]:
    """Of a method that promises, its own estimate; else of so many witnesses."""
    counted = {"witnesses": witnesses, "honoured": round(share * witnesses)}
    return {**(counted if witnesses else dict.fromkeys(counted)), "share": share}


def promise_document(promise: Promise, history: Iterable[Event], at: datetime) -> dict[str, Any]:
    """A promise and its history, as the service shows them at a time."""
    document: Mapping[str, Any] = asdict(promise)
    standing, lines = promise.standing(at), list(history)
    if standing is not promise.status:
        # Nobody has to be there to record it: it is so from that moment on.
        end = Event(at=promise.expires_at, status=standing, model="", detail="its time ran out")
        lines.append(end)
    return {
        **document,
        "status": standing.value,
        "issued_at": iso(promise.issued_at),
        "expires_at": iso(promise.expires_at),
        "history": [
            {
                "at": iso(event.at),
                "status": event.status.value,
                "model": event.model,
                "detail": event.detail,
            }
            for event in lines
        ],
    }


def iso(moment: datetime, timespec: str = "milliseconds") -> str:
    """A time in UTC, as JSON has it."""
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
