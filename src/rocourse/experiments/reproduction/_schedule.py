"""Which jobs to do and in which order, side by side, whatever becomes of some of them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from rocourse.datasets import data_path, list_datasets
from rocourse.engines import LOCAL, Engine, Pool
from rocourse.errors import DataError, DependencyError
from rocourse.experiments.reproduction._development_tables import TABLES, import_tables
from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._store import Store
from rocourse.experiments.reproduction._work import attempt

_DIED = "The process that worked on it ended before it was done."


@dataclass(frozen=True)
class Advance:
    """How far a run has come.

    Attributes:
        done: Jobs that have been done or given up in this run.
        total: Jobs that this run set out to do.
        failed: How many of the jobs done have failed.
        skipped: How many were given up because of those.
        seconds_left: An estimate from what jobs of their kind have taken; None without a measure.
        job: The job that was just done.
        error: Why it failed, if it did.
    """

    done: int
    total: int
    failed: int
    skipped: int
    seconds_left: float | None
    job: Job | None = None
    error: str | None = None


OnAdvance = Callable[[Advance], None]


@dataclass(frozen=True)
class Outcome:
    """What a run has come to.

    Attributes:
        done: How many jobs were done in this run.
        stored: How many of the jobs asked for had a result before.
        failed: What went wrong, by job.
        skipped: Jobs that were not tried because one that they need had failed.
        absent: Why jobs were left out whose data are not there, by data set.
        left_out: How many those are.
    """

    done: int = 0
    stored: int = 0
    failed: dict[Job, str] = field(default_factory=dict)
    skipped: tuple[Job, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


def run_jobs(
    wanted: Iterable[Job],
    store: Store,
    *,
    engine: Engine = LOCAL,
    on_advance: OnAdvance | None = None,
) -> Outcome:
    """Does those of the jobs that have no result yet, and what they need.

    Args:
        wanted: The jobs, most urgent first.
        store: Where results are looked for and kept.
        engine: Where they are done; all who work must see the folders of the store.
        on_advance: Told after each job, and once before the first.
    """
    asked = list(dict.fromkeys(wanted))
    missing = [job for job in asked if not store.has(job)]
    absent = _absent_data(missing)
    present = [job for job in missing if job.inputs["dataset"] not in absent]
    plan = _Plan(_with_needs(present, store), store)
    plan.measure(asked)
    tell = on_advance or (lambda advance: None)
    # Nobody is started where there is nothing to do.
    with (engine if plan.total else LOCAL).pool(most=plan.total, pinned=True) as pool:
        tell(plan.advance(pool.size))
        for job, seconds, error in _work_off(plan, store, pool):
            plan.finish(job, seconds, error)
            tell(plan.advance(pool.size, job, error))
    return Outcome(
        done=plan.done,
        stored=len(asked) - len(missing),
        failed=plan.failed,
        skipped=tuple(plan.skipped),
        absent=absent,
        left_out=len(missing) - len(present),
    )


def _with_needs(jobs: Sequence[Job], store: Store) -> list[Job]:
    """The jobs, each after what it needs and is not there."""
    ordered: dict[Job, None] = {}

    def add(job: Job) -> None:
        for need in job.needs:
            if need not in ordered and not store.serves(need):
                add(need)
        ordered.setdefault(job)

    for job in jobs:
        add(job)
    return list(ordered)


def _absent_data(jobs: Iterable[Job]) -> dict[str, str]:
    """Why data sets that jobs need cannot be read, by data set; none of those that can."""
    downloaded = {info.name for info in list_datasets() if info.kind == "download"}
    absent = {}
    for name in sorted({str(job.inputs["dataset"]) for job in jobs} & (downloaded | TABLES.keys())):
        try:
            if name in downloaded:
                data_path(name)
            else:
                import_tables()
        except (DataError, DependencyError) as error:
            absent[name] = str(error)
    return absent


class _Plan:
    """Jobs to do: which can start, which wait for a fit, and what has become of the others."""

    def __init__(self, jobs: Sequence[Job], store: Store) -> None:
        todo = set(jobs)
        self.total = len(jobs)
        self.done = 0
        self.failed: dict[Job, str] = {}
        self.skipped: list[Job] = []
        self._store = store
        self._order = {job: place for place, job in enumerate(jobs)}
        self._waits_for = {job: todo.intersection(job.needs) for job in jobs}
        self._waiting: dict[Job, list[Job]] = defaultdict(list)
        for job in jobs:
            for need in self._waits_for[job]:
                self._waiting[need].append(job)
        self._ready = deque(job for job in jobs if not self._waits_for[job])
        self._left = dict.fromkeys(jobs)
        self._seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def measure(self, jobs: Iterable[Job]) -> None:
        """Learns from results that are there how long jobs take."""
        everything = dict.fromkeys(part for job in jobs for part in (*job.needs, job))
        for job in everything:
            seconds = self._store.seconds(job)
            if seconds is not None:
                self._note(job, seconds)

    def next(self) -> Job | None:
        """A job that can start, the most urgent first; None if none can."""
        return self._ready.popleft() if self._ready else None

    def finish(self, job: Job, seconds: float, error: str | None) -> None:
        """Takes note of what came of a job."""
        del self._left[job]
        if error is None:
            self.done += 1
            self._note(job, seconds)
            freed = []
            for other in self._waiting[job]:
                self._waits_for[other].discard(job)
                if not self._waits_for[other] and other in self._left:
                    freed.append(other)
            # What waits the longest way up the list goes first: a seed is done before the next.
            self._ready = deque(sorted((*self._ready, *freed), key=self._order.__getitem__))
            return
        self.failed[job] = error
        self._skip(self._waiting[job])

    def advance(self, workers: int, job: Job | None = None, error: str | None = None) -> Advance:
        """How far it has come."""
        return Advance(
            done=self.total - len(self._left),
            total=self.total,
            failed=len(self.failed),
            skipped=len(self.skipped),
            seconds_left=self._seconds_left(workers),
            job=job,
            error=error,
        )

    def _skip(self, jobs: Iterable[Job]) -> None:
        """Gives up jobs, and what waits for them."""
        for job in jobs:
            if job in self._left:
                del self._left[job]
                self.skipped.append(job)
                self._skip(self._waiting[job])

    def _note(self, job: Job, seconds: float) -> None:
        for key in _likeness(job):
            self._seconds[key].append(seconds)

    def _seconds_left(self, workers: int) -> float | None:
        if not self._left:
            return 0.0
        # Jobs of one likeness come by the hundred: one look each.
        counts: dict[tuple[tuple[str, ...], ...], int] = defaultdict(int)
        for job in self._left:
            counts[_likeness(job)] += 1
        total = 0.0
        for likeness, count in counts.items():
            measured = next((self._seconds[key] for key in likeness if self._seconds[key]), None)
            if measured is None:
                return None
            total += count * sum(measured) / len(measured)
        return total / workers


def _likeness(job: Job) -> tuple[tuple[str, ...], ...]:
    """What its duration is guessed by, the nearest first."""
    inputs = job.inputs
    names = (job.kind, str(inputs["dataset"]), str(inputs.get("method", "")))
    return names, (job.kind, names[1]), (job.kind,), ()


def _work_off(plan: _Plan, store: Store, pool: Pool) -> Iterator[tuple[Job, float, str | None]]:
    # Whole paths: the processes of a cluster have another current directory.
    folders = store.folder.absolute(), None if store.packed is None else store.packed.absolute()
    while True:
        while pool.idle and (job := plan.next()) is not None:
            pool.start(job, partial(attempt, job, *folders))
        if not pool.busy:
            return
        done = pool.wait()
        assert isinstance(done.name, Job)
        seconds, error = (0.0, _DIED) if done.died else done.value
        yield done.name, seconds, error
