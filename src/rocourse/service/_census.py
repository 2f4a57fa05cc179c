"""How many promises stand where, counted now and then."""

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from rocourse.errors import LedgerError
from rocourse.service._backend import Backend

# Counting takes a second for millions of promises. A scrape may wait so long for it, and gets what
# was counted before if that does not do.
_FRESH_SECONDS, _WAIT_SECONDS = 15.0, 0.5


class Census:
    """Counts the promises of a backend's ledger in a thread of its own, for its metrics.

    Args:
        backend: With a ledger, or without.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rocourse-census")
        self._asked: Future[None] | None = None
        self._fresh_until = 0.0

    async def take(self) -> None:
        """Counts, unless that was done a moment ago; waits a moment for it at most."""
        if self._backend.ledgers is None or time.monotonic() < self._fresh_until:
            return
        if self._asked is None or self._asked.done():
            self._asked = self._thread.submit(self._count)
        await asyncio.wait([asyncio.wrap_future(self._asked)], timeout=_WAIT_SECONDS)

    def close(self) -> None:
        """Counts no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _count(self) -> None:
        ledgers, now = self._backend.ledgers, self._backend.clock()
        assert ledgers is not None
        # What cannot be counted now stays as it was, with its time; /readyz says what is wrong.
        with suppress(LedgerError):
            self._backend.metrics.counted(ledgers.auditing.counts(at=now), now.timestamp())
            self._fresh_until = time.monotonic() + _FRESH_SECONDS
