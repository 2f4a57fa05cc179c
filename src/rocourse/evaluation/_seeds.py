"""Runs of the k-subset protocol that differ in nothing but their seed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from rocourse.errors import ArtifactError, ConfigError
from rocourse.evaluation._aggregate import Aggregate, Summary, mean_present
from rocourse.evaluation._results import SubsetsResult, check_format, summarise

FORMAT = "rocourse-seeds"
VERSION = 1


@dataclass(frozen=True, slots=True)
class SeedsResult:
    """Several runs of the k-subset protocol.

    Attributes:
        runs: One result per seed, all of the same subsets, target and test size.
    """

    runs: tuple[SubsetsResult, ...]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ConfigError("runs must hold at least one result, but is empty: pass some runs.")
        kinds = {(run.target, run.names, run.test_size) for run in self.runs}
        if len(kinds) > 1:
            raise ConfigError(
                "runs must differ in their seed only, but were made with the targets, subsets and "
                f"test sizes {sorted(kinds, key=repr)}: aggregate them apart."
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ConfigError(
                f"runs must have different seeds, but the seeds are {list(self.seeds)}: leave out "
                "the repeated ones."
            )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, in the order of the runs."""
        return tuple(run.seed for run in self.runs)

    @property
    def names(self) -> tuple[str, ...]:
        """The subsets, in the order of the rows and columns of `matrix`."""
        return self.runs[0].names

    @property
    def constant(self) -> dict[str, int]:
        """In how many runs a subset's model was a constant predictor, if in any."""
        counts = {name: sum(name in run.constant for run in self.runs) for name in self.names}
        return {name: count for name, count in counts.items() if count}

    def matrix(self, protocol: str = "all") -> tuple[tuple[float | None, ...], ...]:
        """The k×k validity matrix, mean over the runs; see `SubsetsResult.matrix`."""
        matrices = [run.matrix(protocol) for run in self.runs]
        size = range(len(self.names))
        return tuple(
            tuple(mean_present(matrix[row][column] for matrix in matrices) for column in size)
            for row in size
        )

    def summary(
        self, over: Literal["seeds", "subsets"] = "seeds", *, exclude_constant: bool = False
    ) -> Summary:
        """Every measure, aggregated.

        Args:
            over: What the spread is of. `seeds`: each run's mean over its subsets. `subsets`, as in
                the paper: each subset's mean over the runs.
            exclude_constant: As in `SubsetsResult.values`.
        """
        collect: Callable[[str, str], Aggregate]
        if over == "seeds":

            def collect(metric: str, protocol: str) -> Aggregate:
                return Aggregate.of(
                    mean_present(
                        run.values(metric, protocol, exclude_constant=exclude_constant).values()
                    )
                    for run in self.runs
                )
        elif over == "subsets":

            def collect(metric: str, protocol: str) -> Aggregate:
                runs = [
                    run.values(metric, protocol, exclude_constant=exclude_constant)
                    for run in self.runs
                ]
                return Aggregate.of(
                    mean_present(values.get(name) for values in runs) for name in self.names
                )
        else:
            raise ConfigError(
                f"over must be 'seeds' or 'subsets', but is {over!r}: name one of them."
            )
        return summarise(collect)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with the format's name and version."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "runs": [run.to_dict() for run in self.runs],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: If the record is of another format or version, or incomplete.
        """
        check_format(record, FORMAT, VERSION)
        if not isinstance(record.get("runs"), list):
            raise ArtifactError(
                "A stored result over seeds must hold a list of runs, but "
                f"{record.get('runs')!r} was found: run the evaluation again."
            )
        return cls(tuple(SubsetsResult.from_dict(run) for run in record["runs"]))
