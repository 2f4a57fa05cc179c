"""What a fitted estimator advises, and what it says of the next model and of what cannot be had."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rocourse.errors import ConfigError
from rocourse.estimators._certifying import Successors, certify, searching, successors
from rocourse.estimators._explaining import explain
from rocourse.estimators._reading import read_frame
from rocourse.models import Shift, unmoved_model
from rocourse.reasons import MOST_REASONS, Reasons
from rocourse.recourse import Pledge, Proposer, State
from rocourse.recourse.proof import prove
from rocourse.schema import (
    Certificate,
    CertificateKind,
    EachWishes,
    OutOfRange,
    Recourse,
    Rows,
    Schema,
    WishesLike,
    codes_as_none,
)


class Advising:
    """The part of an estimator that gives recourses, promises, proofs, certificates, reasons."""

    out_of_range: OutOfRange
    classes_: np.ndarray
    schema_: Schema
    proposer: Proposer
    proposer_: Proposer
    state_: State
    _advisor: Any

    def recourse(
        self,
        X: Any,
        *,
        desired: Any = None,
        wishes: EachWishes = None,
        options: int = 1,
        certify: CertificateKind | None = None,
        at: float | None = None,
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
            certify: Searches until this certificate holds; short for
                `certifying(certify, at=at).recourse(X)`.
            at: The level that it has to reach.

        Returns:
            A record of the whole batch. Every row it returns satisfies the schema's constraints;
            where no valid recourse was found, its status says so.
        """
        check_is_fitted(self)
        if certify is not None or at is not None:
            if certify is None:
                raise ConfigError("at goes with certify, but got it alone; name a certificate.")
            what: dict[str, Any] = {"desired": desired, "wishes": wishes, "options": options}
            return self.certifying(certify, at=at).recourse(X, **what)
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
        if codes := self.schema_.missing_codes:
            applicants = [codes_as_none(applicant, codes) for applicant in applicants]
        records: list[dict[str, Any]] = self._advisor.each(
            applicants, desired, out_of_range=self.out_of_range, wishes=wishes, options=options
        )
        return records

    @property
    def refits_(self) -> list[Any]:
        """The refits of a model that is given, as `members` of `adapt` takes them again."""
        check_is_fitted(self)
        found = (unmoved_model(refit) for refit in self.proposer_.refits(self.state_))
        return [getattr(refit, "model", refit) for refit in found]

    def robustness(self, recourse: Recourse) -> np.ndarray | None:
        """The chance of each attempt to be honoured by the next model, float64 `[n]`.

        As a method that promises estimates it; else the share of the model's witnesses that
        honour it; None without either.
        """
        check_is_fitted(self)
        target = np.searchsorted(self.classes_, recourse.desired)
        told: np.ndarray | None = self._advisor.robustness(recourse.attempts, target)
        return told

    def learned(self, rows: Rows, target: np.ndarray) -> dict[str, np.ndarray]:
        """What was learned beside the model, by what comes of it.

        Args:
            rows: Encoded rows.
            target: The class index wanted for each, `[n]`.

        Returns:
            Arrays with a row for each: `proposed` by a generator, numbers and codes, and `chance`
            of the next model, where there is an idea of it; of methods that only search, nothing.
        """
        told = {}
        # What can be trained against an attack is a network that proposes.
        if self.proposer_.takes_attack:
            proposed = self._advisor.propose(rows, target)
            told["proposed"] = np.hstack([proposed.continuous, proposed.categories])
        if (chance := self._advisor.robustness(rows, target)) is not None:
            told["chance"] = chance[:, None]
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
        for name in ("_advisor", "digest_"):
            twin.__dict__.pop(name, None)
        twin.proposer, twin.proposer_ = (
            part(kept=kept) for part in (self.proposer, self.proposer_)
        )
        twin.state_ = twin.proposer_.recalibrated(self.state_)
        return twin

    def certifying(
        self,
        kind: CertificateKind,
        *,
        at: float | None,
        confidence: float = 0.95,
        exact: bool = False,
        delta: float | None = None,
        X: Any = None,
        y: Any = None,
        count: int | None = None,
    ) -> Self:
        """A copy that searches until its advice is certified (docs/certificates.md).

        Those who are to be convinced are asked for more, step by step, until the certificate
        holds. Advice of which it does not is given without a promise, `found_unsure`. What the
        certificate takes is trained once, here. It is not stored with the model.

        Args:
            kind: As for `certify`.
            at: The level that advice has to reach, in the kind's own measure.
            confidence: As for `certify`; it holds for all that was tried for a row.
            exact: As for `certify`.
            delta: As for `certify`.
            X: As for `certify`.
            y: As for `certify`.
            count: As for `certify`.
        """
        check_is_fitted(self)
        levels = {"at": at, "confidence": confidence}
        asked = {"exact": exact, "delta": delta, "X": X, "y": y, "count": count}
        certified = searching(self, kind, **levels, **asked)  # type: ignore[arg-type]
        twin = copy(self)
        twin._advisor = replace(self._advisor, certify=certified)
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

    def successors(
        self, X: Any = None, y: Any = None, *, count: int = 59, shift: Shift | None = None
    ) -> Successors:
        """Models that may follow this one: retrained on shifted rows, outside of any search.

        Args:
            X: The rows to train them on, those of the fit; None: those witnesses are asked that the
                model was fitted with.
            y: The class of each.
            count: How many to train.
            shift: How far rows shift that they are trained on; None: as the method assumes.
        """
        check_is_fitted(self)
        return successors(self, X, y, count, shift)  # type: ignore[arg-type]

    def certify(
        self,
        recourse: Recourse,
        kind: CertificateKind = "delta",
        *,
        at: float | None = None,
        confidence: float = 0.95,
        exact: bool = False,
        delta: float | None = None,
        X: Any = None,
        y: Any = None,
        count: int | None = None,
    ) -> Certificate:
        """Says what is proved of each recourse, how surely, and what is not (docs/certificates.md).

        Args:
            recourse: What `recourse` gave; of several options, the first.
            kind: `delta`: how far every weight may move; `sampled`: how much of the box of models
                within `delta` agrees; `witnesses`: what share of retrained models does;
                `ellipsoid`: the loss that a refit of the last layer may give away; `votes`: the
                chance that a forest grown anew votes alike.
            at: The level that is asked for, in the kind's own measure; None: whatever there is.
            confidence: How sure a level is to be that rests on draws, for each row by itself.
            exact: With `delta`: whether to search where intervals do not suffice.
            delta: With `sampled`: how far every weight and bias may move.
            X: With `witnesses` and `ellipsoid`: the rows that models are fitted to, those of the
                fit. Without them those witnesses are asked that the model was fitted with.
            y: The class of each.
            count: With `witnesses`: how many to train; None: as many as show `at`, or .9, if all of
                them agree.
        """
        check_is_fitted(self)
        levels = {"at": at, "confidence": confidence}
        asked = {"exact": exact, "delta": delta, "X": X, "y": y, "count": count}
        return certify(self, recourse, kind, **levels, **asked)  # type: ignore[arg-type]

    def reasons(self, X: Any, *, desired: Any = None, most: int = MOST_REASONS) -> Reasons:
        """Says why rows are refused: the features that lower their scores most.

        They are Shapley values of the log-odds of the desired class, beside rows like those that
        are given it (docs/notices.md): exact of up to ten features, of more by orders that are
        drawn. Those of a row sum up to what its score differs from the mean of these rows.

        Args:
            X: Rows as for `predict`.
            desired: A class for all rows or one for each. None: the favourable class, or of two
                the other one if none is stated.
            most: How many reasons to tell of a row at most, from 1 to 4.
        """
        check_is_fitted(self)
        return explain(self, X, desired, most)  # type: ignore[arg-type]
