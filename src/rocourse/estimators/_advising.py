"""What a fitted estimator advises, and what it says of the next model and of what cannot be had."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rocourse.estimators._reading import read_frame
from rocourse.recourse import Pledge, Proposer, State
from rocourse.recourse.proof import prove
from rocourse.schema import EachWishes, OutOfRange, Recourse, Schema, WishesLike


class Advising:
    """The part of an estimator that gives recourses, promises and proofs."""

    out_of_range: OutOfRange
    classes_: np.ndarray
    schema_: Schema
    proposer: Proposer
    proposer_: Proposer
    state_: State
    _advisor: Any

    def recourse(
        self, X: Any, *, desired: Any = None, wishes: EachWishes = None, options: int = 1
    ) -> Recourse:
        """Says what each row must change to be given the desired class.

        Args:
            X: Rows as for `predict`.
            desired: A class for all rows or one for each. None asks for the other class of two, or
                for the favourable class of many.
            wishes: What applicants wish besides, `Wishes` for all rows or a list with those of
                each, None for a row without any. They can only narrow what the schema allows.
            options: The most options to give for a row, each of other features: what is promised
                first, then the cheapest.

        Returns:
            A record of the whole batch. Every row it returns satisfies the schema's constraints;
            where no valid recourse was found, its status says so.
        """
        check_is_fitted(self)
        frame = read_frame(self, X, fitting=False)
        recourse: Recourse = self._advisor.table(
            frame, desired, out_of_range=self.out_of_range, wishes=wishes, options=options
        )
        return recourse

    def recourse_one(
        self,
        applicant: Mapping[str, Any],
        *,
        desired: Any = None,
        wishes: WishesLike | None = None,
        options: int = 1,
    ) -> dict[str, Any]:
        """Says what a single applicant must change: one record of `Recourse.to_records`.

        Args:
            applicant: The value of each feature by its name.
            desired: As for `recourse`.
            wishes: As for `recourse`.
            options: As for `recourse`.
        """
        (record,) = self.recourse_each([applicant], desired=desired, wishes=wishes, options=options)
        del record["probability_before"]
        return {"index": 0, **record}

    def recourse_each(
        self,
        applicants: Sequence[Mapping[str, Any]],
        *,
        desired: Any = None,
        wishes: EachWishes = None,
        options: int = 1,
    ) -> list[dict[str, Any]]:
        """Says what each of a handful of applicants must change, without a table if it can.

        Args:
            applicants: For each the value of each feature by its name.
            desired: As for `recourse`.
            wishes: As for `recourse`.
            options: As for `recourse`.

        Returns:
            Records as of `Recourse.to_records` but without an index, with one more entry:
            `probability_before`, of the desired class.
        """
        if "_advisor" not in self.__dict__:
            check_is_fitted(self)
        records: list[dict[str, Any]] = self._advisor.each(
            applicants, desired, out_of_range=self.out_of_range, wishes=wishes, options=options
        )
        return records

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
