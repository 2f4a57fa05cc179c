"""The protocol as a lender lives it: promise today, retrain when the next period is in, judge.

For each period but the last: a model of all periods so far makes promises to the refused of this
one; the model retrained with the next period's rows, and a model of the next period alone, say
which of them are kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeVar

import pandas as pd

from rocourse.errors import ConfigError
from rocourse.evaluation._aggregate import Aggregate
from rocourse.evaluation._common_judges import FitJudge
from rocourse.evaluation._metrics import accuracy, mean
from rocourse.evaluation._model import Model, predicted_labels
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
    fit: Callable[[str, pd.DataFrame, "pd.Series[Any]", int], M],
    *,
    seed: int,
    test_size: float = 0.25,
    judges: Mapping[str, FitJudge] | None = None,
) -> RollingResult:
    """Goes through the periods in their order; see the module.

    Args:
        periods: Rows with their labels, by name, in the order of time; at least two.
        target: The label column.
        fit: Fits a model, given a name, training rows and labels, and a seed. It is called once for
            all periods up to each one, and once for each period but the first alone.
        seed: Decides the splits (as in `split`) and the models' seeds.
        test_size: The share of each period that is held out, and asked for promises.
        judges: Others that judge, such as `common_judges(schema)`.

    Raises:
        ConfigError: If there are fewer than two periods.
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

    def fitted(name: str, train: pd.DataFrame) -> M:
        return fit(name, train.drop(columns=target), train[target], fit_seed(seed, name))

    model = fitted(f"to {names[0]}", parts[names[0]][0])
    transitions = []
    for place, (period, following) in enumerate(zip(names, names[1:], strict=False)):
        train = pd.concat([parts[name][0] for name in names[: place + 2]], ignore_index=True)
        retrained = fitted(f"to {following}", train)
        alone = fitted(f"only {following}", parts[following][0])
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


def _transition(
    period: str,
    following: str,
    model: Model,
    test: pd.DataFrame,
    target: str,
    retrained: Model,
    alone: Model,
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
