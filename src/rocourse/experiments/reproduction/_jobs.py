"""Jobs: the pieces of work that tables and figures are made from, each with a digest of its inputs.

Two entries that ask for the same work ask for the same job, whoever asks first; and a result on
disk is found again by its digest, whichever run has left it there.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rocourse.errors import ConfigError

FORMAT = "rocourse-job"
VERSION = 1
"""Part of every digest: raised when the same inputs come to mean something else."""

_DIGITS = 16


@dataclass(frozen=True, eq=False)
class Job:
    """A piece of work whose result is one JSON file.

    Attributes:
        kind: What is done; see `KINDS` in `_work.py`.
        inputs: Everything that the result depends on, as JSON-able values.
        needs: The fits whose models have to be on disk before it can start, and the searches for
            parameters whose results have to be.
    """

    kind: str
    inputs: Mapping[str, Any]
    needs: tuple["Job", ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", _plain(self.inputs))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of format, kind and inputs."""
        content = {"version": VERSION, "kind": self.kind, "inputs": self.inputs}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.kind}-{self.digest[:_DIGITS]}"

    @property
    def label(self) -> str:
        """For people: what is done with which method on which rows."""
        words = ("dataset", "subset", "method")
        told = [str(self.inputs[word]) for word in words if word in self.inputs]
        return " ".join([self.kind, *told, f"seed {self.inputs.get('seed', 0)}"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True)
class Source:
    """The rows of a run of the k-subset protocol.

    Attributes:
        dataset: As `rocourse.datasets.load` calls it.
        subsets: Which of its subsets, in the order of the validity matrix.
        rows: The most rows to take of each; of more, so many are drawn by the seed of the run.
        fraction: The share of the training rows to fit on; the test rows stay.
    """

    dataset: str
    subsets: tuple[str, ...]
    rows: int | None = None
    fraction: float | None = None

    def inputs(self, subset: str, seed: int) -> dict[str, Any]:
        """What decides the training and test rows of one subset.

        What is not set is left out, so that digests stay when a choice is added.
        """
        chosen = {"rows": self.rows, "fraction": self.fraction}
        return {
            "dataset": self.dataset,
            "subset": subset,
            "seed": seed,
            **{name: value for name, value in chosen.items() if value is not None},
        }


@dataclass(frozen=True)
class Search:
    """A search for parameters, on rows of the first subset that no reported seed tests on.

    Attributes:
        method: Whose parameters.
        options: Parameters that are not varied.
        trials: How many sets of parameters to try.
        price: What a unit of proximity costs.
        once: Whether one search serves all seeds, on rows that none of them tests on, or each seed
            has its own. Once is for large sets: of a small one, five seeds leave too few rows.
        after: A search before it whose result is not varied either.
    """

    method: str
    options: Mapping[str, Any]
    trials: int
    price: float
    once: bool = False
    after: "Search | None" = None

    def job(self, source: Source, seed: int, seeds: Sequence[int]) -> Job:
        """The search for one of the seeds of a cell."""
        inputs = {
            **source.inputs(source.subsets[0], 0 if self.once else seed),
            "method": self.method,
            "options": self.options,
            "trials": self.trials,
            "price": self.price,
            "tested": seeds if self.once else (seed,),
        }
        if self.after is None:
            return Job("tune", inputs)
        before = self.after.job(source, seed, seeds)
        return Job("tune", {**inputs, "after": before.name}, (before,))


@dataclass(frozen=True)
class Cell:
    """One method on one data set: k models a seed, each judging the recourses of all others.

    Attributes:
        source: The rows.
        method: As in `METHODS`.
        options: Its parameters, where they differ from the defaults.
        seeds: Those of the runs.
        title: What tables and figures call it, if not by its method.
        searches: For further parameters; a later one wins.
    """

    source: Source
    method: str
    options: Mapping[str, Any]
    seeds: tuple[int, ...]
    title: str = ""
    searches: tuple[Search, ...] = ()

    def tunes(self, seed: int) -> tuple[Job, ...]:
        """The searches for the parameters of a seed."""
        return tuple(search.job(self.source, seed, self.seeds) for search in self.searches)

    def fit(self, subset: str, seed: int) -> Job:
        """Fits the model of one subset. It does not depend on which other subsets take part."""
        inputs = {
            **self.source.inputs(subset, seed),
            "method": self.method,
            "options": self.options,
        }
        tunes = self.tunes(seed)
        if tunes:
            inputs["tuned"] = [tune.name for tune in tunes]
        return Job("fit", inputs, tunes)

    def fits(self, seed: int) -> tuple[Job, ...]:
        """The fits of all subsets."""
        return tuple(self.fit(subset, seed) for subset in self.source.subsets)

    def judge(self, subset: str, seed: int) -> Job:
        """Lets all models judge the recourses of one."""
        return self._judge(self.fit(subset, seed), self.fits(seed))

    def judges(self, seed: int) -> tuple[Job, ...]:
        """The judgements of all subsets' recourses."""
        fits = self.fits(seed)
        return tuple(self._judge(fit, fits) for fit in fits)

    def _judge(self, fit: Job, fits: tuple[Job, ...]) -> Job:
        return Job("judge", {**fit.inputs, "subsets": self.source.subsets}, fits)

    def oracle(self, subset: str, seed: int) -> Job:
        """As `judge`, of recourses that are made with all judges known; for `RoCoursePanel`."""
        judge = self.judge(subset, seed)
        return Job("oracle", judge.inputs, judge.needs)

    def oracles(self, seed: int) -> tuple[Job, ...]:
        """The judgements of what could be had for all subsets."""
        return tuple(self.oracle(subset, seed) for subset in self.source.subsets)

    def sample(self, subset: str, seed: int, rows: int) -> Job:
        """Recourses for some refused test rows, in raw units.

        Args:
            subset: Whose model.
            seed: That of the run, and of the draw.
            rows: How many.
        """
        fit = self.fit(subset, seed)
        return Job("sample", {**fit.inputs, "sampled_rows": rows}, (fit,))

    def history(self, subset: str, seed: int) -> Job:
        """Reads off a model how its training went."""
        fit = self.fit(subset, seed)
        return Job("history", fit.inputs, (fit,))

    def attack(self, subset: str, seed: int, attack: Mapping[str, Any], rows: int) -> Job:
        """Attacks the recourses of one subset's model.

        Args:
            subset: Whose model.
            seed: That of the run.
            attack: The attacker's options, by the names that robust methods have for them.
            rows: The most test rows to attack.
        """
        fit = self.fit(subset, seed)
        inputs = {**fit.inputs, "attack": attack, "attacked_rows": rows}
        return Job("attack", inputs, (fit,))


def seed_by_seed(cells: Sequence[Cell]) -> list[Job]:
    """The judgements of all cells, one seed after the other, so that all have their first soon."""
    seeds = sorted({seed for cell in cells for seed in cell.seeds})
    return [
        job for seed in seeds for cell in cells if seed in cell.seeds for job in cell.judges(seed)
    ]


def as_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as estimators have them, from the inputs of a job: JSON has no tuples."""
    return {name: _hashable(value) for name, value in options.items()}


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """A JSON-able twin: what a result on disk can be compared with."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ConfigError(
        f"The inputs of a job must be values that JSON has: got {value!r}; use texts, numbers, "
        "truth values, lists and mappings of them."
    )
