"""Whether the service could answer a request now."""

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor

from rocourse.errors import LedgerError
from rocourse.ledger import Ledger

_LOOK_SECONDS = 0.005


class Readiness:
    """Asks a ledger to write, in a thread of its own; whoever asks meanwhile gets the same answer.

    Args:
        ledger: The ledger; None if there is none to ask.
        within: Seconds until it must have said so. Those who ask would send requests elsewhere:
            they need the truth soon.
    """

    def __init__(self, ledger: Ledger | None, within: float) -> None:
        self._ledger, self._within = ledger, within
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rocourse-ready")
        self._asked: Future[None] | None = None

    async def check(self) -> None:
        """Returns if all is well.

        Raises:
            LedgerError: The ledger cannot be written to, or has not said so in time.
        """
        if self._ledger is None:
            return
        if self._asked is None or self._asked.done():
            self._asked = self._thread.submit(self._ledger.ping)
        asked, until = self._asked, time.monotonic() + self._within
        # Looked at now and then: what comes too late is then nobody's, and others may wait for it.
        while not asked.done():
            if time.monotonic() > until:
                raise LedgerError(
                    f"The ledger must confirm a write within {self._within:g} s, but it has not; "
                    "check that the database is up and that nobody holds it locked."
                )
            await asyncio.sleep(_LOOK_SECONDS)
        asked.result()

    def close(self) -> None:
        """Asks no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
