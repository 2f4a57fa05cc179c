"""The ways that requests for decisions take: none waits for those of another kind."""

from collections.abc import Iterable
from functools import partial

from rocourse.ledger import Conflict
from rocourse.service._backend import Backend
from rocourse.service._batching import Batcher
from rocourse.service._lanes import Busy, Late
from rocourse.service._questions import Question

PATH = "/v1/decisions"
"""Where they are asked for."""

# Rows that share one commit: where a disk is slow, many do, and none waits for several commits.
_MOST_ROWS_AT_ONCE = 256
# A request of more rows goes another way, so that small ones pass it.
_FEW_ROWS = 32
# Of the time that a request has, what is long to wait.
_LONG_WAIT = 0.1
# Seconds that a request has for each row beyond its first.
_SECONDS_A_ROW = 0.02

_Answers = Batcher[Question, str | Conflict]


class Decisions:
    """Three ways to a backend's answers, each with a thread and a queue of its own.

    Few rows at a time, which share batches; many rows; and searches, for wishes and options, which
    take longer for one row than others for many.

    Args:
        backend: What answers.
        deadline: Seconds until a request of one row is answered or refused.

    Attributes:
        door: Where small requests wait in a crowd until they are read.
    """

    def __init__(self, backend: Backend, deadline: float) -> None:
        self._deadline, self._metrics = deadline, backend.metrics
        few, many, searches = (
            partial(backend.metrics.waited, kind) for kind in ("few", "many", "searches")
        )
        self._few: _Answers = Batcher(
            backend.answer,
            _rows,
            most=_MOST_ROWS_AT_ONCE,
            light=lambda: backend.prompt_rows,
            long_wait=_LONG_WAIT * deadline,
            observe=few,
            refused=partial(backend.metrics.shed, "unread"),
        )
        self.door = self._few.door
        self._many: _Answers = Batcher(backend.answer, _rows, most=1, observe=many)
        self._searches: _Answers = Batcher(backend.answer, _searches, most=1, observe=searches)

    def waits(self, path: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a request is a small one for decisions, which waits at the door in a crowd."""
        if path != PATH.encode():
            return False
        length = next((value for name, value in headers if name == b"content-length"), b"")
        return 0 < len(length) <= 4 and length.isdigit()

    def turns_away(self, path: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a request is a small one for decisions that would not be answered in time."""
        if not self.waits(path, headers):
            return False
        try:
            self._few.check(self._deadline)
        except Busy:
            self._metrics.shed("unread")
            return True
        return False

    async def ask(self, question: Question) -> str | Conflict:
        """The answer, in JSON.

        Raises:
            Busy: It would not come in time.
            Late: It did not; it may yet be written down, and is given to who asks again with the
                same key.
        """
        weight = _searches(question)
        within = self._deadline + _SECONDS_A_ROW * (weight - 1)
        way = self._few if len(question.rows) <= _FEW_ROWS else self._many
        way = way if question.choices is None else self._searches
        try:
            return await way.ask(question, within)
        except (Busy, Late) as error:
            self._metrics.shed("read" if isinstance(error, Busy) else "late")
            raise

    async def close(self, within: float) -> None:
        """Answers what is waiting, for so many seconds at most."""
        for way in (self._few, self._many, self._searches):
            await way.close(within)

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self._few.idle and self._many.idle and self._searches.idle


def _rows(question: Question) -> int:
    return len(question.rows)


def _searches(question: Question) -> int:
    if question.choices is None:
        return len(question.rows)
    return sum(choice.options for choice in question.choices)
