"""What was tried on several cores: processes of one core each, or the threads of XLA."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import equinox as eqx
import jax
from _core_workers import Pieces, core_workers
from _loan_training import BATCHES_A_CALL, loan_training
from _race import in_workers
from _try import Contender, Try

from rocourse.methods._compilation import OPTIONS
from rocourse.methods._step import TrainState, visit_batches

_PIECE = "training"


def core_try_names() -> tuple[str, str]:
    """Of the tries below, which need processes of their own to be made."""
    return "one training on XLA's threads", "two trainings on XLA's threads"


@contextmanager
def core_tries(cores: list[int]) -> Iterator[list[Try]]:
    """One process with a thread for each core, beside processes that have a core each."""
    first, second = cores
    alone, shared = partial(training_pieces, threads=False), partial(training_pieces, threads=True)
    with core_workers([([first], alone), ([second], alone), ([first, second], shared)]) as workers:
        *single, threaded = workers
        one_name, two_name = core_try_names()

        def contender(*turns: list) -> Contender:
            return Contender(in_workers(list(turns), _PIECE))

        yield [
            Try(
                one_name,
                "one core",
                lambda: contender(single[1:]),
                lambda: contender([threaded]),
            ),
            Try(
                two_name,
                "two processes, a core each",
                lambda: contender(single),
                lambda: contender([threaded], [threaded]),
            ),
        ]


def training_pieces(*, threads: bool) -> Pieces:
    """The training with or without XLA's threads, made in the process that runs it."""
    training, key = loan_training("adam"), jax.random.key(0)
    options = OPTIONS | {"xla_cpu_multi_thread_eigen": threads}
    compiled = eqx.filter_jit(visit_batches.__wrapped__, compiler_options=options)

    def visit_all() -> TrainState:
        return training.visit(training.state, BATCHES_A_CALL, key=key, compiled=compiled)

    return {_PIECE: visit_all}
