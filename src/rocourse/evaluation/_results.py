"""The result of one run of the k-subset protocol, and its form on disk."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from rocourse.errors import ArtifactError, ConfigError
from rocourse.evaluation._aggregate import Aggregate, Summary, mean_present
from rocourse.evaluation._scores import PROTOCOLS, ModelScores

FORMAT = "rocourse-subsets"
VERSION = 2
# Version 1 lacked what `RecourseScores` gives a default.
_READABLE = (1, VERSION)

RECOURSE_METRICS = (
    "validity",
    "robust_validity",
    "unchanged_validity",
    "proximity",
    "features_changed",
    "neighbour_distance",
    "inliers",
    "usual",
)
MODEL_METRICS = (
    "accuracy",
    "auc",
    "train_seconds",
    "train_cpu_seconds",
    "seconds_per_recourse",
)


@dataclass(frozen=True, slots=True)
class SubsetResult:
    """The model of one subset, tested on its test rows and judged by the other models.

    Attributes:
        name: The subset.
        train_rows: How many rows the model was fitted on.
        fit_seed: The seed that the model was fitted with.
        train_seconds: Wall clock of the fit.
        train_cpu_seconds: Processor time of the fit, over all threads.
        scores: The model on its test rows; its judges are the other subsets' models.
    """

    name: str
    train_rows: int
    fit_seed: int
    train_seconds: float
    train_cpu_seconds: float
    scores: ModelScores

    @property
    def accuracy(self) -> float | None:
        """The share of test rows predicted right."""
        return self.scores.accuracy

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve on the test rows."""
        return self.scores.auc

    @property
    def seconds_per_recourse(self) -> float | None:
        """Wall clock for one recourse."""
        return self.scores.seconds_per_recourse

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(**{**record, "scores": ModelScores.from_dict(record["scores"])})


@dataclass(frozen=True, slots=True)
class SubsetsResult:
    """One run of the k-subset protocol.

    Attributes:
        target: The label column.
        seed: What the splits, and the seeds of the models, are derived from.
        test_size: The share of each subset that was held out.
        subsets: One result per subset, in the order of the data.
    """

    target: str
    seed: int
    test_size: float
    subsets: tuple[SubsetResult, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The subsets, in the order of the rows and columns of `matrix`."""
        return tuple(subset.name for subset in self.subsets)

    @property
    def constant(self) -> tuple[str, ...]:
        """The subsets whose model predicts one class for all its test rows.

        What such a model says about recourses means little; see `exclude_constant` of `values`.
        """
        return tuple(s.name for s in self.subsets if s.scores.constant is not None)

    def matrix(self, protocol: str = "all") -> tuple[tuple[float | None, ...], ...]:
        """The k×k validity matrix: row i, whose recourses; column j, judged by whose model."""
        _check_protocol(protocol)
        return tuple(
            tuple(_verdict(issuer, judge, protocol) for judge in self.names)
            for issuer in self.subsets
        )

    def values(
        self, metric: str, protocol: str = "all", *, exclude_constant: bool = False
    ) -> dict[str, float | None]:
        """One number per subset, by name; None where there was nothing to measure.

        Args:
            metric: One of `RECOURSE_METRICS`, or of `MODEL_METRICS` (the same in all protocols).
            protocol: One of `PROTOCOLS`.
            exclude_constant: Leave out the subsets whose model is constant, as issuers and judges.
        """
        _check_protocol(protocol)
        dropped = self.constant if exclude_constant else ()
        kept = [subset for subset in self.subsets if subset.name not in dropped]
        if metric in MODEL_METRICS:
            return {subset.name: getattr(subset, metric) for subset in kept}
        if metric in ("robust_validity", "unchanged_validity"):
            judges = [subset.name for subset in kept]
            share = _verdict if metric == "robust_validity" else _unchanged
            return {
                issuer.name: mean_present(
                    share(issuer, judge, protocol) for judge in judges if judge != issuer.name
                )
                for issuer in kept
            }
        if metric in RECOURSE_METRICS:
            return {s.name: getattr(s.scores.protocols[protocol], metric) for s in kept}
        raise ConfigError(
            f"metric must be one of {[*RECOURSE_METRICS, *MODEL_METRICS]}, but is {metric!r}: "
            "name one of them."
        )

    def summary(self, *, exclude_constant: bool = False) -> Summary:
        """Every measure, aggregated over the subsets; see `values`."""
        return summarise(
            lambda metric, protocol: Aggregate.of(
                self.values(metric, protocol, exclude_constant=exclude_constant).values()
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with the format's name and version."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "target": self.target,
            "seed": self.seed,
            "test_size": self.test_size,
            "subsets": [subset.to_dict() for subset in self.subsets],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: If the record is of another format or version, or incomplete.
        """
        check_format(record, FORMAT, *_READABLE)
        try:
            return cls(
                target=record["target"],
                seed=record["seed"],
                test_size=record["test_size"],
                subsets=tuple(SubsetResult.from_dict(subset) for subset in record["subsets"]),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ArtifactError(
                f"A stored k-subset result must hold all fields of its version {VERSION}, but "
                f"reading it failed with {error!r}: run the evaluation again."
            ) from error


def summarise(collect: Callable[[str, str], Aggregate]) -> Summary:
    """A summary of every metric, given the aggregate of one metric in one protocol."""
    return Summary(
        model={metric: collect(metric, "all") for metric in MODEL_METRICS},
        protocols={
            protocol: {metric: collect(metric, protocol) for metric in RECOURSE_METRICS}
            for protocol in PROTOCOLS
        },
    )


def check_format(
    record: Mapping[str, Any],
    name: str,
    *versions: int,
    what: str = "A stored result",
    remedy: str = "run the evaluation again",
) -> None:
    """Refuses a record of another format or version.

    Args:
        record: What was read.
        name: Of the format.
        *versions: Those that can be read.
        what: What is asked for.
        remedy: How to get one.

    Raises:
        ArtifactError: The record is of another.
    """
    found = (record.get("format"), record.get("version"))
    if found not in [(name, version) for version in versions]:
        raise ArtifactError(
            f"{what} must have the format {name!r} and version "
            f"{' or '.join(map(str, versions))}, but got {found[0]!r} and {found[1]!r}; {remedy}."
        )


def _verdict(issuer: SubsetResult, judge: str, protocol: str) -> float | None:
    scores = issuer.scores.protocols[protocol]
    return scores.validity if judge == issuer.name else scores.judged[judge]


def _unchanged(issuer: SubsetResult, judge: str, protocol: str) -> float | None:
    return issuer.scores.protocols[protocol].unchanged.get(judge)


def _check_protocol(protocol: str) -> None:
    if protocol not in PROTOCOLS:
        raise ConfigError(
            f"protocol must be one of {list(PROTOCOLS)}, but is {protocol!r}: name one of them."
        )
