"""Processes that are bound to cores of their own and run pieces of work at the same time."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import NamedTuple

import jax
from _cores import bind

Pieces = dict[str, Callable[[], object]]


class Lap(NamedTuple):
    """How long a piece took, in seconds.

    On a core that other processes use too, `cpu` is what it would have taken alone.
    """

    wall: float
    cpu: float
    """Of all threads."""


def timed(run: Callable[[], object]) -> Lap:
    """Runs it to its end."""
    wall, cpu = perf_counter(), process_time()
    jax.block_until_ready(run())
    return Lap(perf_counter() - wall, process_time() - cpu)


class CoreWorker:
    """A process on given cores; `make_pieces` is called over there."""

    def __init__(self, cores: Sequence[int], make_pieces: Callable[[], Pieces]) -> None:
        # Not forked: JAX runs threads.
        context = multiprocessing.get_context("spawn")
        self._line, other_end = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(tuple(cores), make_pieces, other_end), daemon=True
        )
        self._process.start()
        other_end.close()

    def ask(self, piece: str | None) -> None:
        """Starts a piece; None ends the process."""
        self._line.send(piece)

    def answer(self) -> Lap:
        """Waits for the piece that was started."""
        lap: Lap = self._line.recv()
        return lap

    def close(self) -> None:
        """Ends the process."""
        if self._process.is_alive():
            self.ask(None)
        self._process.join()


@contextmanager
def core_workers(
    jobs: Sequence[tuple[Sequence[int], Callable[[], Pieces]]],
) -> Iterator[list[CoreWorker]]:
    """Workers for (cores, pieces), each of which has run every piece once."""
    workers = [CoreWorker(cores, make_pieces) for cores, make_pieces in jobs]
    try:
        for worker in workers:
            worker.answer()
        yield workers
    finally:
        for worker in workers:
            worker.close()


def at_once(workers: Sequence[CoreWorker], piece: str) -> list[Lap]:
    """Lets all begin together, none of them having anything left to do, and waits for the last."""
    for worker in workers:
        worker.ask(piece)
    return [worker.answer() for worker in workers]


def _serve(cores: tuple[int, ...], make_pieces: Callable[[], Pieces], line: Connection) -> None:
    bind(cores)
    pieces = make_pieces()
    for run in pieces.values():
        last = timed(run)
    line.send(last)
    for piece in iter(line.recv, None):
        line.send(timed(pieces[piece]))
