"""What promises are worth: how many are made, how many of them others keep, against no change."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.evaluation._common_judges import Judge
from rocourse.evaluation._metrics import honoured, mean
from rocourse.evaluation._model import Model, favourable_class
from rocourse.evaluation._scores import select_rows
from rocourse.schema import Recourse


@dataclass(frozen=True, slots=True)
class PromiseScores:
    """What became of promises to refused rows; shares are None without any rows.

    Attributes:
        refused: Rows that the model refuses.
        promised: To how many of them a recourse is promised (`found`).
        advised: To how many of them there is advice, promised or not.
        kept: The share of promises that each judge keeps.
        unchanged: The share of the same people whom each judge grants the class without a change.
        kept_advised: As `kept`, of all advice.
        proximity: Mean cost of promises.
        advised_proximity: Mean cost of all advice.
        estimate: The mean chance to be kept that the method gave for its promises.
    """

    refused: int
    promised: int
    advised: int
    kept: Mapping[str, float | None]
    unchanged: Mapping[str, float | None]
    kept_advised: Mapping[str, float | None]
    proximity: float | None
    advised_proximity: float | None
    estimate: float | None

    @property
    def coverage(self) -> float | None:
        """The share of the refused who are promised something."""
        return self.promised / self.refused if self.refused else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


class Asked(NamedTuple):
    """What a model tells those whom it refuses."""

    refused: int
    promises: Recourse
    advice: Recourse
    """Promised or not."""


def ask(model: Model, rows: pd.DataFrame) -> Asked:
    """Asks for recourse for the rows that a model refuses."""
    favourable = favourable_class(model)
    recourse = model.recourse(rows, desired=favourable)
    refused = select_rows(recourse, favourable)["adverse"]
    return Asked(
        int(refused.sum()),
        recourse[np.flatnonzero(refused & (recourse.status == "found"))],
        recourse[np.flatnonzero(refused & recourse.advised)],
    )


def score_promises(model: Model, rows: pd.DataFrame, judges: Mapping[str, Judge]) -> PromiseScores:
    """Asks for recourse for the rows that a model refuses, and judges for their verdicts.

    Args:
        model: Who promises.
        rows: Rows without their labels.
        judges: Whose verdicts count, by name.
    """
    return score_asked(ask(model, rows), judges)


def score_asked(asked: Asked, judges: Mapping[str, Judge]) -> PromiseScores:
    """Asks judges for their verdicts on what a model has told.

    Args:
        asked: What it told.
        judges: Whose verdicts count, by name.
    """
    refused, promises, advice = asked
    return PromiseScores(
        refused=refused,
        promised=len(promises),
        advised=len(advice),
        kept={name: granted(promises, promises.attempted(), j) for name, j in judges.items()},
        unchanged={name: granted(promises, promises.original, j) for name, j in judges.items()},
        kept_advised={name: granted(advice, advice.attempted(), j) for name, j in judges.items()},
        proximity=mean(promises.proximity),
        advised_proximity=mean(advice.proximity),
        estimate=None if promises.robustness is None else mean(promises.robustness),
    )


def granted(promises: Recourse, rows: pd.DataFrame, judge: Judge) -> float | None:
    """The share of rows to which a judge gives the promised class."""
    return mean(honoured(promises, judge.predict(rows))) if len(promises) else None
