"""A model asked about rows, one batch after the other."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pandas as pd

from rocourse.errors import DataError
from rocourse.schema import ClippedWarning
from rocourse.tables import RowBatches

Answer = TypeVar("Answer")


def answers(
    rows: RowBatches, ask: Callable[[pd.DataFrame], Answer], report: Callable[[int], None]
) -> Iterator[Answer]:
    """What a model says of each batch.

    Args:
        rows: The batches.
        ask: Gives the answer for one of them.
        report: Told how many rows are done.

    Raises:
        DataError: Rows break a rule; where there are several batches, it says which was looked at.
    """
    clipped: list[ClippedWarning] = []
    done = 0
    for frame in rows.frames:
        try:
            with _set_aside(clipped):
                answer = ask(frame)
        except DataError as error:
            if not rows.several:
                raise
            # How many rows the error counts is true of these only.
            raise DataError(f"Rows {done} to {done + len(frame) - 1}: {error}") from error
        yield answer
        done += len(frame)
        report(done)
    if clipped:
        warnings.warn(ClippedWarning.joined(clipped), stacklevel=2)


@contextmanager
def _set_aside(clipped: list[ClippedWarning]) -> Iterator[None]:
    """Keeps warnings about clipped values, of which one is enough for all batches."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def keep(message: Warning | str, *args: Any, **options: Any) -> None:
            if isinstance(message, ClippedWarning):
                clipped.append(message)
            else:
                show(message, *args, **options)

        warnings.showwarning = keep
        yield
