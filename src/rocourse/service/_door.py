"""The door before a queue: in a crowd the newest are let in, when there is room, and only then.

While a batch is under way nobody can be taken, and whatever is done with requests would delay it:
one thread of Python runs at a time. So they are left where they are, and looked at in one go: when
the batch is over, those that came last are let in, as many as the next batch takes, and all others
are turned away. Whoever is let in has not waited long, and is waited for by nobody.

Meanwhile the thread that reads requests rests. It looks up every few milliseconds, for those who
ask for something else.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from threading import Event
from typing import Protocol

# The longest rest, in seconds.
_REST = 0.005


class Guest(Protocol):
    """Who waits at a door."""

    def let_in(self) -> None:
        """Has the request read and answered."""

    def turn_away(self) -> bool:
        """Refuses the request; says whether anybody waited for it still."""


class Door:
    """Where those wait who come in a crowd.

    Args:
        crowded: Whether more is asked than can be done.
        room: How many more the next batch takes.
        refused: Told that someone was turned away.
        rest: Waits until an event, or for so many seconds.
    """

    def __init__(
        self,
        crowded: Callable[[], bool],
        room: Callable[[], int],
        refused: Callable[[], object],
        rest: Callable[[Event, float], object] = Event.wait,
    ) -> None:
        self._crowded, self._room, self._refused = crowded, room, refused
        self._rest = rest
        self._guests: deque[Guest] = deque()
        # How many of them had come when `send_away` was asked for last.
        self._old = 0
        # Of the batch that is under way, or was last.
        self._over: Event | None = None
        self._looking = False

    def is_shut(self) -> bool:
        """Whether who comes has to wait here."""
        return self._over is not None and (bool(self._guests) or self._crowded())

    def hold(self, guest: Guest) -> None:
        """Has someone wait, for whom another one may be turned away."""
        if not self._looking:
            self._looking = True
            # After what is to be done already.
            asyncio.get_running_loop().call_soon(self._look)
        self._guests.append(guest)
        while len(self._guests) > self._room():
            self._turn_away()

    def shut(self, over: Event) -> None:
        """Shuts it in a crowd, for a batch is under way.

        Args:
            over: Is set when the batch is over.
        """
        self._over = over

    def open(self) -> None:
        """Lets in the newest for whom there is room, if there is, and nobody else."""
        room = self._room()
        if room == 0:
            return
        while len(self._guests) > room:
            self._turn_away()
        self._old = 0
        guests, self._guests = self._guests, deque()
        for guest in guests:
            asyncio.get_running_loop().call_soon(guest.let_in)

    def leave_open(self) -> None:
        """No batch is under way, and none will be until someone comes."""
        self._over = None
        self.open()

    def send_away(self) -> None:
        """Turns those away who were there already when this was asked for last."""
        for _ in range(self._old):
            self._turn_away()
        self._old = len(self._guests)

    def _turn_away(self) -> None:
        self._old = max(self._old - 1, 0)
        if self._guests.popleft().turn_away():
            self._refused()

    def _look(self) -> None:
        """Rests; what has arrived is read between any two of these."""
        over = self._over
        self._looking = over is not None and not over.is_set() and self._crowded()
        if over is not None and self._looking:
            self._rest(over, _REST)
            asyncio.get_running_loop().call_soon(self._look)
