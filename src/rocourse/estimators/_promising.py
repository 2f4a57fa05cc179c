"""What a fitted estimator says beyond its advice: of the next model, and of what cannot be had."""

from collections.abc import Collection
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rocourse.recourse import Pledge, Proposer, State
from rocourse.recourse.proof import prove
from rocourse.schema import Recourse, Schema


class Promising:
    """The part of an estimator that looks beyond its own advice."""

    classes_: np.ndarray
    schema_: Schema
    proposer: Proposer
    proposer_: Proposer
    state_: State
    _advisor: Any

    def robustness(self, recourse: Recourse) -> np.ndarray | None:
        """The chance of each attempt to be honoured by the next model, float64 `[n]`.

        As a method that promises estimates it; else the share of the model's witnesses that
        honour it; None without either.
        """
        check_is_fitted(self)
        target = np.searchsorted(self.classes_, recourse.desired)
        told: np.ndarray | None = self._advisor.robustness(recourse.attempts, target)
        return told

    def pledge(self, desired: Any = None) -> Pledge | None:
        """What is promised to those who want a class; None by methods that promise nothing.

        Args:
            desired: The class; None: the favourable one.
        """
        check_is_fitted(self)
        assert self.schema_.target is not None
        wanted = self.schema_.target.wanted() if desired is None else desired
        (target,) = self._advisor.targets(wanted, np.zeros(1, int)).tolist()
        return self.proposer_.pledge(self.state_, target)

    def promising(self, kept: float) -> Self:
        """A copy that promises another share of its promises to be kept, without fitting again.

        Shares nearer to one need more witnesses than a model of a lower share was fitted with:
        nothing is promised then.

        Args:
            kept: The share.
        """
        check_is_fitted(self)
        twin = copy(self)
        twin.__dict__.pop("_advisor", None)
        twin.proposer, twin.proposer_ = (
            part(kept=kept) for part in (self.proposer, self.proposer_)
        )
        twin.state_ = twin.proposer_.recalibrated(self.state_)
        return twin

    def prove(
        self, recourse: Recourse, *, boxes: int = 20_000, loosen: bool | Collection[str] = True
    ) -> Recourse:
        """Says what it means that nothing was found: that there is none, or how far was looked.

        Args:
            recourse: What `recourse` gave.
            boxes: The most parts of what a row can become that are looked at.
            loosen: Whether to say which rule of the schema stands in the way; names of features:
                only rules of theirs.

        Returns:
            The record with `proofs`. Where the search had missed a recourse, it is in the record.
        """
        check_is_fitted(self)
        return prove(self._advisor, recourse, boxes=boxes, loosening=loosen)
