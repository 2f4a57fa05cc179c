"""Do promises begin to break? Evidence that may be looked at after every promise.

If each promise is kept with a chance of at least p, whatever came before, a bet that pays
1 + λ(p − h), h being 1 for a kept promise and 0 for a broken one, wins nothing on average for any
0 < λ ≤ 1/(1 − p). So does money that is spread over several such λ, and over bets that begin later
and later: its worth E is a nonnegative supermartingale, and reaches 1/α with a chance of at most α,
ever (Ville). Of an audit, whose promises one model keeps or breaks together, h is the share.
"""

from collections.abc import Sequence

import numpy as np

from rocourse._wording import show
from rocourse.errors import ConfigError, DataError

# How many times as often as promised may promises break? The best λ for m times is (m − 1)/p.
_TIMES = np.array([1.5, 2.0, 3.0, 5.0])
# Bets begin after so many promises again: what came before the fall costs them nothing.
_AGAIN = 25
ALARM_AT = 20.0
"""The evidence that promises kept as stated reach with a chance of at most .05, ever."""


class PromiseWatch:
    """The evidence after each promise, as promises come in.

    Args:
        kept: The share of promises that was stated.

    Attributes:
        kept: The same.
        outcomes: How many promises came in.
        honoured: How many of them were kept.
        evidence: As of `promise_evidence`, after the last one.
        highest: The most that it ever was: an alarm is due once this reaches 1/α.
    """

    def __init__(self, kept: float) -> None:
        if isinstance(kept, bool) or not isinstance(kept, int | float) or not 0.0 < kept < 1.0:
            raise ConfigError(
                f"kept must be a number between 0 and 1, but got {show(kept)}; give one."
            )
        self.kept = kept
        self.outcomes, self.honoured, self.evidence, self.highest = 0, 0.0, 1.0, 1.0
        self._rates = np.minimum((_TIMES - 1.0) / kept, 1.0 / (1.0 - kept))
        self._worth: np.ndarray = np.zeros(len(self._rates))
        self._left, self._bets = 1.0, 0

    def add(self, honoured: float) -> None:
        """Takes in whether a promise was kept; of an audit, the share that was."""
        self.evidence = float(self._bet(np.asarray(float(honoured))))
        self.highest = max(self.highest, self.evidence)
        self.outcomes, self.honoured = self.outcomes + 1, self.honoured + honoured

    def alarm(self) -> bool:
        """Whether it is known that fewer promises are kept than stated, at `ALARM_AT`."""
        return self.highest >= ALARM_AT

    def _bet(self, told: np.ndarray) -> np.ndarray:
        """The evidence after one more promise, of each of several streams, `[...]`."""
        if self._bets % _AGAIN == 0:
            # The j-th time 1/(j(j + 1)) of all money, so that all of it is never spent.
            begins = self._left / (self._bets // _AGAIN + 2)
            self._worth = self._worth + begins / len(self._rates)
            self._left -= begins
        self._bets += 1
        self._worth = self._worth * (1.0 + self._rates * (self.kept - told[..., None]))
        return np.asarray(self._worth.sum(axis=-1) + self._left)


def promise_evidence(honoured: Sequence[float] | np.ndarray, *, kept: float) -> np.ndarray:
    """The evidence against "promises are kept as stated" after each of them, as of `honoured`.

    An alarm is due when it first reaches 1/α: while promises are kept as stated, that happens with
    a chance of at most α, however long one looks.

    Args:
        honoured: Whether each promise was kept, in the order of time; of an audit, the share that
            was. `[..., n]`: several streams are looked at side by side.
        kept: The share of promises that was stated.

    Returns:
        float64 of the same shape.
    """
    told = np.asarray(honoured, np.float64)
    if not ((told >= 0.0) & (told <= 1.0)).all():
        raise DataError(
            "Whether a promise was honoured must be 0, 1 or a share between them, but got "
            f"{show(told[~((told >= 0.0) & (told <= 1.0))].flat[0])}; correct the stream."
        )
    watch = PromiseWatch(kept)
    evidence = np.empty_like(told)
    for t in range(told.shape[-1]):
        evidence[..., t] = watch._bet(told[..., t])
    return evidence


def promise_alarm(
    honoured: Sequence[float] | np.ndarray, *, kept: float, false_alarms: float = 0.05
) -> int | None:
    """The first promise after which it is known that fewer are kept than stated; None: not yet.

    Args:
        honoured: As of `promise_evidence`, one stream.
        kept: The share of promises that was stated.
        false_alarms: The chance of an alarm, ever, while promises are kept as stated.

    Returns:
        Its place, from 0.

    Examples:
        >>> promise_alarm([1] * 200, kept=0.95) is None
        True
        >>> promise_alarm([0] * 20, kept=0.95) is None
        False
    """
    number = isinstance(false_alarms, int | float) and not isinstance(false_alarms, bool)
    if not number or not 0.0 < false_alarms < 1.0:
        raise ConfigError(
            f"false_alarms must be a number between 0 and 1, but got {show(false_alarms)}; give "
            "one."
        )
    reached = np.flatnonzero(promise_evidence(honoured, kept=kept) >= 1.0 / false_alarms)
    return int(reached[0]) if len(reached) else None
