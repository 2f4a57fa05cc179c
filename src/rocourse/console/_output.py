"""What commands print: for people, for machines, or not at all."""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console, RenderableType

# Where progress cannot be redrawn in place, this many lines tell of it.
_LINES = 10
# Where jobs are many, a line of progress comes no more often than this.
_SECONDS_A_LINE = 10.0


class Output:
    """Where the results of one command go.

    Args:
        as_json: Print one JSON document to stdout and nothing else there.
        quiet: Print no progress, tables or warnings.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self._as_json, self._quiet = as_json, quiet
        if quiet:
            warnings.simplefilter("ignore")

    def show(self, *renderables: RenderableType) -> None:
        """Prints for people; plain strings as they are, each on a line of its own."""
        if self._as_json or self._quiet:
            return
        console = Console(emoji=False, highlight=False)
        for renderable in renderables:
            is_line = isinstance(renderable, str)
            # Lines are neither wrapped nor read as markup: a path in them stays usable.
            console.print(renderable, markup=not is_line, soft_wrap=is_line)

    def warn(self, line: str) -> None:
        """Prints a line to stderr: what people should know, though it is no failure."""
        if not self._quiet:
            print(line, file=sys.stderr, flush=True)

    def emit(self, value: Any) -> None:
        """Prints for machines."""
        if self._as_json:
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
            # Flushed here, where a reader that has gone away can still be dealt with.
            print(text, flush=True)

    def waiting(self, what: str) -> None:
        """Says what takes a while, on a terminal and for people only."""
        console = Console(stderr=True)
        if console.is_terminal and not (self._quiet or self._as_json):
            console.print(what, markup=False, highlight=False)

    @contextmanager
    def progress(self) -> Iterator["Report"]:
        """Progress on stderr: bars, or a few lines where stderr is no terminal."""
        if self._quiet:
            yield _ignore
        elif Console(stderr=True).is_terminal:
            with _bars() as report:
                yield report
        else:
            yield _lines()

    @contextmanager
    def job_progress(self) -> Iterator["JobReport"]:
        """How far many jobs have come: a bar, or a line now and then."""
        if self._quiet:
            yield lambda done, total, failed, seconds_left, label: None
        elif Console(stderr=True).is_terminal:
            # The time left is known better than by the number of jobs: their kinds differ.
            with _bars(timed=False) as report:
                yield _job_bar(report)
        else:
            yield _job_lines()

    @contextmanager
    def row_progress(self, total: int) -> Iterator[Callable[[int], None]]:
        """How many of the rows are done, on a terminal and for people only."""
        if self._quiet or self._as_json or not Console(stderr=True).is_terminal:
            yield lambda done: None
            return
        start = time.perf_counter()
        with _bars() as report:

            def advance(done: int) -> None:
                speed = done / (time.perf_counter() - start)
                report("rows", done, total, f"{speed:,.0f} rows/s")

            advance(0)
            yield advance


class Report(Protocol):
    """Told how far some labelled work has come."""

    def __call__(self, label: str, done: int, total: int | None, text: str = "") -> None: ...


class JobReport(Protocol):
    """Told how far many jobs have come, and which was the last."""

    def __call__(
        self,
        done: int,
        total: int,
        failed: int,
        seconds_left: float | None,
        label: str,
    ) -> None: ...


def _ignore(label: str, done: int, total: int | None, text: str = "") -> None:
    pass


@contextmanager
def _bars(*, timed: bool = True) -> Iterator[Report]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[text]}"),
        *([TimeRemainingColumn()] if timed else []),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:

        def report(label: str, done: int, total: int | None, text: str = "") -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total, text="")
            progress.update(tasks[label], completed=done, text=text)

        yield report


def _lines() -> Report:
    last: dict[str, int] = {}

    def report(label: str, done: int, total: int | None, text: str = "") -> None:
        stride = max(1, (total or 1) // _LINES)
        due = done in (1, total) or (done > 0 and done % stride == 0)
        if due and last.get(label) != done:
            last[label] = done
            print(f"{label} {done}/{total} {text}".rstrip(), file=sys.stderr, flush=True)

    return report


def _job_bar(report: Report) -> JobReport:
    def tell(done: int, total: int, failed: int, seconds_left: float | None, label: str) -> None:
        report("jobs", done, total, _job_text(failed, seconds_left, label))

    return tell


def _job_lines() -> JobReport:
    # The first line comes with the first job, so that one sees early that it works.
    last = time.monotonic() - _SECONDS_A_LINE

    def tell(done: int, total: int, failed: int, seconds_left: float | None, label: str) -> None:
        nonlocal last
        now = time.monotonic()
        if total and (done == total or now - last >= _SECONDS_A_LINE):
            last = now
            text = _job_text(failed, seconds_left, label)
            print(f"jobs {done}/{total} {text}".rstrip(), file=sys.stderr, flush=True)

    return tell


def _job_text(failed: int, seconds_left: float | None, label: str) -> str:
    parts = [f"{failed} failed or skipped"] if failed else []
    if seconds_left is not None:
        minutes, seconds = divmod(round(seconds_left), 60)
        hours, minutes = divmod(minutes, 60)
        parts.append(f"about {f'{hours} h ' if hours else ''}{minutes} min {seconds:02} s left")
    return "; ".join([*parts, label] if label else parts)


@contextmanager
def native_output_to_stderr() -> Iterator[None]:
    """HiGHS prints to standard output at times, which is for the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
