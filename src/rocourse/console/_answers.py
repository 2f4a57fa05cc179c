"""A model asked about rows, batch by batch, wherever the answers are made; and what is written."""

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from rocourse._places import Place
from rocourse.artifacts import StoredModel
from rocourse.console._requests import Answered
from rocourse.engines import Engine, collected_warnings, joined_warnings
from rocourse.errors import DataError
from rocourse.tables import (
    PartFolder,
    Rendered,
    RowBatches,
    is_folder,
    new_table,
    rendered,
    write_part,
)

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

Request = Callable[["RecourseClassifier", pd.DataFrame, Any], Answered]


@dataclass(frozen=True)
class Sheet:
    """A table that is written.

    Attributes:
        path: A file, or a folder of parts.
        force: Whether to replace what is there.
        plan: What it is made of: a folder's parts of the same are kept, and not asked for again.
    """

    path: Place
    force: bool
    plan: Mapping[str, Any]


def ask_rows(
    request: Request,
    rows: RowBatches,
    model: StoredModel,
    engine: Engine,
    report: Callable[[int], None],
    *,
    sheet: Sheet | None = None,
    beside: Callable[[int], Any] = lambda count: None,
) -> Iterator[Answered]:
    """What a model says of each batch, in their order; tables are written on the way.

    Args:
        request: Gives the answer for one of them; it may be sent to another process.
        rows: The batches.
        model: The model.
        engine: Where it is asked.
        report: Told how many rows are done.
        sheet: Where to write the tables, if somewhere.
        beside: Gives what else the request takes with the next rows, by how many there are.

    Yields:
        Answers without their tables; of parts that were there, what was counted in them.

    Raises:
        DataError: Rows break a rule; where there are several batches, it says which was looked at.
    """
    folder = sheet is not None and is_folder(sheet.path)
    parts = PartFolder(sheet.path, sheet.plan, force=sheet.force) if sheet and folder else None
    file = nullcontext() if sheet is None or folder else new_table(sheet.path, force=sheet.force)
    suffix = None if sheet is None or folder else sheet.path.suffix
    lengths: deque[int] = deque()

    def tasks() -> Iterator[Callable[..., _Outcome]]:
        for number, frame in enumerate(rows.frames):
            lengths.append(len(frame))
            given = beside(len(frame))
            there = None if parts is None else parts.counts(number)
            if there is not None:
                yield partial(_found, there)
                continue
            part = None if parts is None else parts.part(number).absolute()
            form = _Form(part, suffix, first=number == 0)
            yield partial(_answer, request, frame, given, form)

    told: list[Warning] = []
    done = 0
    most = None if rows.several else 1
    with engine.pool(model, most=most) as pool, file as write:
        for outcome in pool.in_order(tasks()):
            length = lengths.popleft()
            try:
                answer, table, said = outcome.result()
            except DataError as error:
                if not rows.several:
                    raise
                # How many rows the error counts is true of these only.
                raise DataError(f"Rows {done} to {done + length - 1}: {error}") from error
            told += said
            if write is not None:
                write(table)
            yield answer
            done += length
            report(done)
    if parts is not None:
        parts.finish()
    for warning in joined_warnings(told):
        warnings.warn(warning, stacklevel=2)


_Outcome = tuple[Answered, Rendered | None, list[Warning]]


@dataclass(frozen=True)
class _Form:
    """What becomes of a table where it is made: a part that is written, or rows of a file."""

    part: Place | None
    suffix: str | None
    first: bool


def _found(counts: Mapping[str, int], _: object) -> _Outcome:
    return Answered(None, counts=counts), None, []


def _answer(
    request: Request, frame: pd.DataFrame, given: Any, form: _Form, model: "RecourseClassifier"
) -> _Outcome:
    with collected_warnings() as said:
        answer = request(model, frame, given)
    table: Rendered | None = None
    if form.part is not None:
        assert answer.table is not None
        write_part(answer.table, form.part, answer.counts)
    elif form.suffix is not None:
        assert answer.table is not None
        table = rendered(answer.table, form.suffix, first=form.first)
    return replace(answer, table=None), table, said
