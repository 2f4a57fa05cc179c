"""The protocol as a lender lives it: promise today, retrain when the next period is in, judge.

For each period but the last: a model of all periods so far makes promises to the refused of this
one; the model retrained with the next period's rows, and a model of the next period alone, say
which of them are kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeVar

import pandas as pd

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation._aggregate import Aggregate, mean_present
from rocourse.evaluation._common_judges import FitJudge, Judge
from rocourse.evaluation._metrics import accuracy, mean
from rocourse.evaluation._model import Model, predicted_labels, to_plain
from rocourse.evaluation._promises import ask, granted
from rocourse.evaluation._protocol import fit_seed, split
from rocourse.schema import Recourse

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Transition:
    """What became of one period's promises; shares are of the promises, None without any.

    Attributes:
        period: Whose refused were promised something.
        following: Whose rows the retrained model has seen besides.
        refused: Test rows of the period that its model refuses.
        promised: To how many of them a recourse was found.
        kept: The share that the model retrained on all periods up to the next one keeps.
        kept_alone: The share that a model of the next period alone keeps.
        unchanged: The share of the same people whom the retrained model would grant the favourable
            class without any change: what `kept` has to be compared with.
        judged: The share that other judges, trained on the retrained model's rows, keep, by name.
        proximity: Mean cost of the promises.
        accuracy: Of the promising model, on the period's test rows.
    """

    period: str
    following: str
    refused: int
    promised: int
    kept: float | None
    kept_alone: float | None
    unchanged: float | None
    judged: Mapping[str, float | None] = field(default_factory=dict)
    proximity: float | None = None
    accuracy: float | None = None

    @property
    def coverage(self) -> float | None:
        """The share of the refused who were promised something."""
        return self.promised / self.refused if self.refused else None


@dataclass(frozen=True)
class RollingResult:
    """All transitions of one run.

    Attributes:
        target: The label column.
        seed: That of the run.
        transitions: In the order of the periods.
    """

    target: str
    seed: int
    transitions: tuple[Transition, ...]

    def aggregate(self, measure: str) -> Aggregate:
        """A measure of `Transition`, or `coverage`, over the transitions that have it."""
        return Aggregate.of(getattr(transition, measure) for transition in self.transitions)

    def means(self) -> dict[str, float | None]:
        """The mean of each measure, and of what each other judge keeps, by name."""
        names = ("coverage", "kept", "kept_alone", "unchanged", "proximity", "accuracy")
        others = {name for transition in self.transitions for name in transition.judged}
        return {name: self.aggregate(name).mean for name in names} | {
            f"by {name}": mean_present(one.judged.get(name) for one in self.transitions)
            for name in sorted(others)
        }

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        transitions = tuple(Transition(**one) for one in record["transitions"])
        return cls(record["target"], record["seed"], transitions)


def run_rolling(
    periods: Mapping[str, pd.DataFrame],
    target: str,
    fit: Callable[[str, pd.DataFrame, "pd.Series[Any]", "pd.Series[str] | None", int], M],
    *,
    seed: int,
    test_size: float = 0.25,
    fit_alone: Callable[[str, pd.DataFrame, "pd.Series[Any]", int], Judge] | None = None,
    judges: Mapping[str, FitJudge] | None = None,
) -> RollingResult:
    """Goes through the periods in their order; see the module.

    Args:
        periods: Rows with their labels, by name, in the order of time; at least two.
        target: The label column.
        fit: Fits a model, given a name, training rows, their labels, the period of each (None where
            there is one), and a seed. It is called once for all periods up to each one.
        seed: Decides the splits (as in `split`) and the models' seeds.
        test_size: The share of each period that is held out, and asked for promises.
        fit_alone: Fits a judge of one period alone; by default `fit` does.
        judges: Others that judge, such as `common_judges(schema)`.

    Raises:
        ConfigError: If there are fewer than two periods.
        DataError: If there are no training rows of some class in a period.
    """
    if len(periods) < 2:
        raise ConfigError(
            f"periods must hold at least two, one to judge the other, but holds {len(periods)}: "
            "add another period."
        )
    names = list(periods)
    parts = {
        name: split(rows, target, seed=seed, test_size=test_size) for name, rows in periods.items()
    }

    _check_classes({name: train[target] for name, (train, _) in parts.items()})

    def fitted(known: list[str]) -> tuple[M, pd.DataFrame]:
        trains = [parts[name][0] for name in known]
        train = pd.concat(trains, ignore_index=True)
        groups = None if len(known) == 1 else pd.Series(known).repeat(list(map(len, trains)))
        name = f"to {known[-1]}"
        X, y = train.drop(columns=target), train[target]
        return fit(name, X, y, groups, fit_seed(seed, name)), train

    def judge_of(period: str) -> Judge:
        train, name = parts[period][0], f"only {period}"
        X, y, own_seed = train.drop(columns=target), train[target], fit_seed(seed, name)
        if fit_alone is None:
            return fit(name, X, y, None, own_seed)
        return fit_alone(name, X, y, own_seed)

    model, _ = fitted(names[:1])
    transitions = []
    for place, (period, following) in enumerate(zip(names, names[1:], strict=False)):
        retrained, train = fitted(names[: place + 2])
        alone = judge_of(following)
        others = {
            name: fit_judge(train.drop(columns=target), train[target], fit_seed(seed, name))
            for name, fit_judge in (judges or {}).items()
        }
        test = parts[period][1]
        transitions.append(
            _transition(period, following, model, test, target, retrained, alone, others)
        )
        model = retrained
    return RollingResult(target, seed, tuple(transitions))


def _check_classes(labels: "Mapping[str, pd.Series[Any]]") -> None:
    classes = sorted(set().union(*(map(to_plain, part.unique()) for part in labels.values())))
    for period, part in labels.items():
        missing = [label for label in classes if not (part == label).any()]
        if missing:
            raise DataError(
                f"Every period must have rows of all classes to train on, but {period!r} has none "
                f"of {missing[0]!r}; leave it out, or join it with the period beside it."
            )


def _transition(
    period: str,
    following: str,
    model: Model,
    test: pd.DataFrame,
    target: str,
    retrained: Model,
    alone: Judge,
    others: Mapping[str, Any],
) -> Transition:
    rows = test.drop(columns=target)
    refused, promises, _ = ask(model, rows)
    return Transition(
        period=period,
        following=following,
        refused=refused,
        promised=len(promises),
        kept=_kept(promises, retrained),
        kept_alone=_kept(promises, alone),
        unchanged=granted(promises, promises.original, retrained),
        judged={name: _kept(promises, judge) for name, judge in others.items()},
        proximity=mean(promises.proximity),
        accuracy=accuracy(test[target], predicted_labels(model, rows)),
    )


def _kept(promises: Recourse, judge: Any) -> float | None:
    return granted(promises, promises.attempted(), judge)
