"""What a fitted estimator advises: for a table, for a handful of applicants, for one."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from rocourse.estimators._reading import read_frame
from rocourse.schema import EachWishes, OutOfRange, Recourse, WishesLike


class Advising:
    """The part of an estimator that gives recourses."""

    out_of_range: OutOfRange
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
