"""A model as a function of Arrow batches, for engines that are not ours: Spark, Dask, Ray Data."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from rocourse._lazy import optional
from rocourse._wording import listed
from rocourse.artifacts import StoredModel
from rocourse.errors import ConfigError, DataError
from rocourse.tables import prediction_table, recourse_table, select_features

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

Answer = Literal["recourse", "predict"]


def batch_function(
    model: "str | os.PathLike[str] | RecourseClassifier",
    answer: Answer = "recourse",
    *,
    id: str | None = None,
    desired: Any = None,
) -> "BatchFunction":
    """What a model says of rows, as a function that any engine can send to its workers.

    Args:
        model: The directory of a stored model, whose files travel with the function; or a fitted
            one.
        answer: `recourse`, or `predict`.
        id: The column that tells rows apart, to come first.
        desired: With `recourse`: the class to ask for; None: the favourable one.

    Raises:
        ArtifactError: As of `load`.
        ConfigError: There is no such answer.
    """
    if answer not in ("recourse", "predict"):
        raise ConfigError(
            f"answer must be 'recourse' or 'predict', but got {answer!r}; choose one of them."
        )
    stored = StoredModel(model) if isinstance(model, str | os.PathLike) else _Given(model)
    return BatchFunction(stored, answer, id, desired)


class BatchFunction:
    """Rows in, answers out, a line each and in their order; made by `batch_function`.

    Called with an iterator of `pyarrow.RecordBatch`, it gives one, as Spark's `mapInArrow` asks.
    """

    def __init__(
        self, stored: "StoredModel | _Given", answer: Answer, id: str | None, desired: Any
    ) -> None:
        self._stored, self._answer, self._id, self._desired = stored, answer, id, desired

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The answers of one batch after the other."""
        arrow, schema = optional("pyarrow", "parquet"), None
        for batch in batches:
            if len(batch):
                frame = self.frame(batch.to_pandas())
                table = arrow.RecordBatch.from_pandas(frame, schema, preserve_index=False)
                schema = table.schema
                yield table

    def frame(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The same of a frame, as Dask's `map_partitions` asks.

        Raises:
            DataError: Rows break a rule of the schema, or have no column of ids.
        """
        model = self._stored()
        target = model.schema_.target
        assert target is not None  # a fitted schema has one
        if self._id is not None and self._id not in rows.columns:
            raise DataError(
                f"The column of ids, {self._id!r}, must be in the rows, but they have "
                f"{listed(rows.columns)}; name one of these."
            )
        asked = select_features(rows, model.schema_)
        ids = None if self._id is None else rows[self._id]
        if self._answer == "predict":
            named = asked if ids is None else asked.assign(**{str(self._id): ids})
            table = prediction_table(model, named, self._id)
        else:
            wanted = target.wanted() if self._desired is None else self._desired
            found = model.recourse(asked, desired=wanted)
            table = recourse_table(found, stable=True, ids=ids)
        # Its number in a batch tells nobody which row it was.
        return table.drop(columns=table.columns[0 if ids is None else 1])


class _Given:
    def __init__(self, model: "RecourseClassifier") -> None:
        self._model = model

    def __call__(self) -> "RecourseClassifier":
        return self._model
