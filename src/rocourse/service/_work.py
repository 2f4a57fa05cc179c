"""Where a service does what it is asked for."""

import asyncio

from rocourse.service._audits import Audits
from rocourse.service._backend import Backend
from rocourse.service._census import Census
from rocourse.service._decisions import Decisions
from rocourse.service._lanes import Lane
from rocourse.service._ledgers import database_seconds
from rocourse.service._readiness import Readiness

# Promises that are read or redeemed at a time, and how many may wait for it.
_LOOKUPS, _MOST_LOOKUPS = 4, 64
# Letters that wait; one is made at a time, for they are not urgent.
_MOST_LETTERS = 16
# Of the seconds that a service has to end, those for what was being answered.
_CLOSING_SECONDS = 2.0


class Work:
    """Threads for each kind of work, so that none waits for another kind.

    Attributes:
        decisions: What decides.
        lookups: What reads and redeems promises.
        letters: What writes to applicants.
        reloads: What puts models in service.
        audits: What judges promises.
        readiness: What says whether the service is ready.
        census: What counts promises.
    """

    def __init__(self, backend: Backend, deadline: float) -> None:
        self.decisions = Decisions(backend, deadline)
        self.lookups = Lane("look-up", threads=_LOOKUPS, most=_MOST_LOOKUPS)
        self.letters = Lane("letter", threads=1, most=_MOST_LETTERS)
        self.reloads = Lane("reload", threads=1, most=2)
        self.audits = Audits(backend)
        self.readiness = Readiness(backend.ledger, database_seconds(deadline))
        self.census = Census(backend)

    async def close(self) -> None:
        """Finishes decisions, for a while, and takes no more work."""
        await asyncio.gather(
            self.decisions.close(_CLOSING_SECONDS), self.audits.close(_CLOSING_SECONDS)
        )
        for lane in (self.lookups, self.letters, self.reloads):
            lane.close()
        self.readiness.close()
        self.census.close()

    @property
    def idle(self) -> bool:
        """Whether no thread is left behind."""
        lanes = (self.lookups, self.letters, self.reloads, self.audits)
        return self.decisions.idle and all(lane.idle for lane in lanes)
