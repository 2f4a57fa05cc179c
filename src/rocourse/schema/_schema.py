"""The schema: the only way rows enter and leave."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._files import write_file
from rocourse._wording import did_you_mean, duplicates, listed, show
from rocourse.errors import SchemaError
from rocourse.schema import _encoding, _inference, _json
from rocourse.schema._constrain import Bounds, column_names, constrain
from rocourse.schema._encoding import OutOfRange
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._filling import filled, gaps_by_feature
from rocourse.schema._gaps import MissingWords
from rocourse.schema._layout import Layout, Rows
from rocourse.schema._row import RowCodec
from rocourse.schema._rules import Rule, rule_of
from rocourse.schema._validation import check_columns, check_fit, check_frame
from rocourse.schema._values import Scalar

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Schema:
    """The features of a table in order, with what may change about each, and the target.

    Attributes:
        features: Continuous and categorical features, in column order.
        target: The predicted column, if it is known.
        ignored: Columns of the training rows that are no features.
        id: The column that tells rows apart, if one was named; no feature either.
    """

    features: tuple[Feature, ...]
    target: Target | None = None
    ignored: tuple[str, ...] = ()
    id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.features, Iterable):
            raise SchemaError(
                f"features must be a list, but got {show(self.features)}; put it in a list."
            )
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise SchemaError("A schema must have at least one feature, but got none; add one.")
        for feature in self.features:
            if not isinstance(feature, (Continuous, Categorical)):
                raise SchemaError(
                    f"A feature must be Continuous or Categorical, but got {show(feature)}; use "
                    "one of them."
                )
        if self.target is not None and not isinstance(self.target, Target):
            raise SchemaError(
                f"target must be a Target or None, but got {show(self.target)}; use Target(name, "
                "classes)."
            )
        if repeated := duplicates(self.names):
            raise SchemaError(
                f"Feature names must be unique, but got {listed(repeated)} more than once; rename "
                "one."
            )
        if self.target is not None and self.target.name in self.names:
            raise SchemaError(
                f"The target must not be a feature, but {self.target.name!r} is both; remove the "
                "feature."
            )
        self._check_ignored()

    def _check_ignored(self) -> None:
        if isinstance(self.ignored, str) or not isinstance(self.ignored, Sequence):
            raise SchemaError(
                f"ignored must be a list of column names, but got {show(self.ignored)}; write a "
                "list."
            )
        object.__setattr__(self, "ignored", tuple(self.ignored))
        for name in (*self.ignored, *([] if self.id is None else [self.id])):
            if not isinstance(name, str):
                raise SchemaError(
                    f"A column that is ignored or the id must be named by text, but got "
                    f"{show(name)}; rename it."
                )
            if name in self.names or name == self._target_name:
                raise SchemaError(
                    f"A column that is ignored or the id must be neither feature nor target, but "
                    f"{name!r} is; leave one of the two out."
                )

    @classmethod
    def infer(
        cls,
        df: pd.DataFrame,
        *,
        target: str | None = None,
        categorical: Iterable[str] = (),
        continuous: Iterable[str] = (),
        immutable: Iterable[str] = (),
        increase_only: Iterable[str] = (),
        decrease_only: Iterable[str] = (),
        bounds: Mapping[str, Bounds] = _NOTHING,
        integer: Iterable[str] = (),
        units: Mapping[str, str] = _NOTHING,
        favourable: Scalar | None = None,
        missing: MissingWords = None,
        ignored: Iterable[str] = (),
        id: str | None = None,
    ) -> "Schema":
        """Reads a schema off the training rows.

        Text, flags and pandas categories become categorical features (sorted; a pandas category
        column keeps its order, and its declared categories even where no row has them). Numbers
        become continuous features over the range of the rows; they are integer if the column has an
        integer type, or has gaps and else whole numbers only. Times, and texts that are ISO dates
        in nearly all cells, become continuous features of days.

        Gaps are read sensibly unless `missing` says otherwise: of numbers as the median, of
        categories as a category of their own. Where training rows have none, a later gap is read as
        the median or the most frequent category. Rows without a class are not looked at.

        Args:
            df: Training rows.
            target: Column that is predicted.
            categorical: Columns of numbers to treat as categories.
            continuous: Columns to treat as numbers.
            immutable: Features a recourse must leave alone.
            increase_only: Features a recourse may only raise; text categories must be an ordered
                pandas category.
            decrease_only: Features a recourse may only lower.
            bounds: Lowest and highest value that rows and recourses may have, by feature; None for
                no limit.
            integer: Columns of whole numbers stored as floats.
            units: Words that follow the values in texts, by feature.
            favourable: The class an applicant wants; the last one in sorted order unless stated.
            missing: What becomes of missing values, for the table or by column: `"impute"`,
                `"category"` (of numbers in a whole table: impute), `"drop"` or `"error"`.
            ignored: Columns that are no features.
            id: Column that tells rows apart; no feature.

        Raises:
            SchemaError: An option names no column, a column is constant, or the options contradict
                the rows.
            DataError: The rows have infinite values, values outside their bounds, or there are
                none.
        """
        df, left_out = check_frame(df), tuple(ignored)
        set_aside = [*left_out, *([] if id is None else [id])]
        for name in set_aside:
            if name not in df.columns:
                raise SchemaError(
                    f"A column that is ignored or the id must be one of the rows', but got "
                    f"{show(name)}{did_you_mean(name, df.columns)}; name one of "
                    f"{listed(df.columns)}."
                )
        return cls(
            *_inference.infer(
                df.drop(columns=set_aside),
                target=target,
                favourable=favourable,
                categorical=categorical,
                continuous=continuous,
                immutable=immutable,
                increase_only=increase_only,
                decrease_only=decrease_only,
                integer=integer,
                bounds=bounds,
                units=units,
                missing=missing,
            ),
            ignored=left_out,
            id=id,
        )

    def constrain(
        self,
        *,
        immutable: Iterable[str] = (),
        increase_only: Iterable[str] = (),
        decrease_only: Iterable[str] = (),
        bounds: Mapping[str, Bounds] = _NOTHING,
        favourable: Scalar | None = None,
    ) -> "Schema":
        """A copy of the schema with limits of change added.

        What is said here replaces what the schema says of the same thing: bounds, the direction,
        the favourable class. A feature that is made immutable needs no direction any more; one that
        is immutable already cannot be given one.

        Args:
            immutable: Features a recourse must leave alone.
            increase_only: Features a recourse may only raise, or move to a later category.
            decrease_only: Features a recourse may only lower, or move to an earlier category.
            bounds: Lowest and highest value that rows and recourses may have, by continuous
                feature; None for no limit.
            favourable: The class an applicant wants.

        Raises:
            SchemaError: An option names no feature, or the limits contradict each other or the
                feature.
        """

        def known(option: str, named: Iterable[str]) -> list[str]:
            return [self[name].name for name in column_names(option, named, self._target_name)]

        features = constrain(
            self.features,
            immutable=known("immutable", immutable),
            increase_only=known("increase_only", increase_only),
            decrease_only=known("decrease_only", decrease_only),
            bounds={name: bounds[name] for name in known("bounds", bounds)},
        )
        if favourable is None:
            return replace(self, features=features)
        if self.target is None:
            raise SchemaError(
                "favourable must come with a schema that knows the target, but got "
                f"{show(favourable)} and a schema without one; infer the schema with a target."
            )
        return replace(self, features=features, target=replace(self.target, favourable=favourable))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def continuous(self) -> tuple[Continuous, ...]:
        """The continuous features: the order of `Rows.continuous`."""
        return tuple(feature for feature in self.features if isinstance(feature, Continuous))

    @cached_property
    def categorical(self) -> tuple[Categorical, ...]:
        """The categorical features: the order of `Rows.categories`."""
        return tuple(feature for feature in self.features if isinstance(feature, Categorical))

    @cached_property
    def layout(self) -> Layout:
        """Shape of the encoded vector."""
        return Layout(len(self.continuous), tuple(feature.size for feature in self.categorical))

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """What a single value of each feature may be, by the name of the feature, in order."""
        return {feature.name: rule_of(feature) for feature in self.features}

    @cached_property
    def row_codec(self) -> RowCodec:
        """What encodes and settles single rows, without a table around them."""
        return RowCodec(self.rules)

    def __getitem__(self, name: str) -> Feature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise SchemaError(
            f"The schema has no feature {show(name)}{did_you_mean(name, self.names)}, only "
            f"{listed(self.names)}; name one of these."
        )

    def encode(self, df: pd.DataFrame, *, out_of_range: OutOfRange = "clip") -> Rows:
        """Checks rows and encodes them.

        Args:
            df: Rows with the columns of the schema, in any order; others are not looked at.
            out_of_range: `"clip"` pulls numbers into the range of the training rows, with one
                warning; `"error"` refuses them.

        Raises:
            DataError: The rows break a rule of the schema.
        """
        return _encoding.encode(df, self.features, self.layout, out_of_range=out_of_range)

    def decode(self, rows: Rows) -> pd.DataFrame:
        """Raw values of encoded rows: integers are integers, categories the original values."""
        return _encoding.decode(rows, self.features, self.layout)

    def settle(self, df: pd.DataFrame, rows: Rows, proposed: Rows) -> Rows:
        """Makes proposals satisfy every constraint exactly, whatever was proposed.

        A number is pulled into range and bounds and rounded if it is integer. A feature keeps its
        original value if it is immutable, if the proposal breaks its direction, is NaN or no
        category, or if the change would be less than `NEGLIGIBLE_CHANGE` of the range.

        Args:
            df: The original rows, as they were given.
            rows: The same rows, encoded.
            proposed: What to turn them into.

        Returns:
            Encoded rows that keep every constraint after decoding, and encode to themselves again.
        """
        return _encoding.settle(df, rows, proposed, self.features, self.layout)

    def filled(self, df: pd.DataFrame) -> "Schema":
        """A copy in which all features that impute know their fill.

        Those that have none learn it: the median of numbers, the most frequent category.

        Args:
            df: Training rows.
        """
        df = check_frame(df)
        check_columns(df, self.names, SchemaError)
        features = tuple(filled(feature, df[feature.name]) for feature in self.features)
        return replace(self, features=features)

    def gaps(self, df: pd.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
        """Which rows have a missing value, bool [n], by the names of the features that have some.

        Args:
            df: Rows with the columns of the schema.
        """
        return {feature.name: gaps for feature, gaps in gaps_by_feature(df, self.features)}

    def usable(self, df: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Which rows can be trained on: all but those with gaps where `missing="drop"`, bool [n].

        Args:
            df: Rows with the columns of the schema.
        """
        strict = [feature for feature in self.features if feature.missing == "drop"]
        usable = np.ones(len(df), dtype=bool)
        for _, gaps in gaps_by_feature(df, strict):
            usable &= ~gaps
        return usable

    def check_fit(self, df: pd.DataFrame) -> None:
        """Refuses training rows that this schema cannot be the schema of.

        Args:
            df: Training rows with exactly the columns of the schema, beside those ignored.

        Raises:
            SchemaError: Columns are missing or unknown, a number column holds text, an integer one
                fractions, a value is no known category, or more than half of the values of a column
                lie outside its range.
            DataError: Values are missing, infinite or outside their bounds, or there are no rows.
        """
        set_aside = (*self.ignored, *([] if self.id is None else [self.id]))
        check_fit(df, self.features, self._target_name, set_aside)

    def to_dict(self) -> dict[str, Any]:
        """The schema in values that JSON knows, with format and version."""
        return _json.to_dict(_json.Parts(self.features, self.target, self.ignored, self.id))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Schema":
        """The schema that `to_dict` wrote; unknown keys and other versions are refused."""
        return cls(*_json.from_dict(data))

    def to_json(self) -> str:
        """The schema as JSON text."""
        return _json.dump(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        """The schema that `to_json` wrote."""
        return cls(*_json.from_dict(_json.parse(text)))

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: equal schemas, equal digests."""
        return hashlib.sha256(_json.canonical(self.to_dict()).encode()).hexdigest()

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the schema to a JSON file, whole or not at all.

        Args:
            path: File to write.
            force: Whether to replace an existing file.

        Raises:
            OutputError: The file exists already or cannot be written.
        """
        write_file(path, self.to_json().encode(), force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Schema":
        """Reads a schema from a JSON file.

        Raises:
            SchemaError: The file is missing, is no JSON, or is no schema of this version.
        """
        parts = _json.read(path)
        try:
            return cls(*parts)
        except SchemaError as error:
            raise SchemaError(f"Schema file {str(path)!r} cannot be used: {error}") from error

    @property
    def _target_name(self) -> str | None:
        return None if self.target is None else self.target.name
