"""The schema: the only way rows enter and leave."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._files import write_file
from rocourse._lazy import above
from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema import _encoding, _inference, _json, _toml
from rocourse.schema._actions import Actions
from rocourse.schema._codes import MissingCodes, as_codes, check_codes, codes_as_gaps
from rocourse.schema._constrain import Bounds, column_names, constrain, favouring
from rocourse.schema._encoding import OutOfRange
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._filling import all_filled, gaps_by_feature, usable
from rocourse.schema._gaps import MissingWords
from rocourse.schema._layout import Layout, Rows
from rocourse.schema._limits import Change, Moves, Together
from rocourse.schema._parts import check_features, check_set_aside, check_target, without_set_aside
from rocourse.schema._row import RowCodec
from rocourse.schema._rules import Rule, rule_of
from rocourse.schema._together import check_max_features, check_together
from rocourse.schema._validation import check_fit
from rocourse.schema._values import Scalar
from rocourse.schema.check import TableCheck, check_table

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Schema:
    """The features of a table in order, with what may change about each, and the target.

    Attributes:
        features: Continuous and categorical features, in column order.
        target: The predicted column, if it is known.
        max_features: The most features that a recourse may change, besides followers; None: any.
        together: What goes together: numbers that follow others, limits of weighted sums.
        ignored: Columns of the training rows that are no features.
        id: The column that tells rows apart, if one was named; no feature either.
        missing_codes: Values that are read as gaps, by feature, such as `{"years": [-999]}`.
    """

    features: tuple[Feature, ...]
    target: Target | None = None
    max_features: int | None = None
    together: tuple[Together, ...] = ()
    ignored: tuple[str, ...] = ()
    id: str | None = None
    missing_codes: MissingCodes = field(default_factory=dict, hash=False)
    _repr_html_ = above("rocourse.reports", "schema_html", "plots")

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", check_features(self.features))
        check_target(self.target, self.names)
        check_max_features(self.max_features)
        object.__setattr__(self, "together", check_together(self.together, self.features))
        taken = (*self.names, *([] if self.target is None else [self.target.name]))
        object.__setattr__(self, "ignored", check_set_aside(self.ignored, self.id, taken))
        object.__setattr__(self, "missing_codes", codes := as_codes(self.missing_codes))
        check_codes(codes, self.features)

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
        missing_codes: MissingCodes = _NOTHING,
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
            favourable: The class an applicant wants. It is not guessed: only of 0 and 1, or flags,
                it is 1 by itself, if the target's name does not say that this is bad.
            missing: What becomes of missing values, for the table or by column: `"impute"`,
                `"category"` (of numbers in a whole table: impute), `"drop"` or `"error"`.
            ignored: Columns that are no features.
            id: Column that tells rows apart; no feature.
            missing_codes: Values that stand for missing ones, such as `{"years": [-999]}`.

        Raises:
            SchemaError: An option names no column, a column is constant, the options contradict the
                rows, or nobody has said which class is favourable.
            DataError: There are no rows, or infinite values, or values outside their bounds.
        """
        left_out = tuple(ignored)
        df = codes_as_gaps(without_set_aside(df, left_out, id), as_codes(missing_codes))
        return cls(
            *_inference.infer(
                df,
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
            missing_codes=missing_codes,
        )

    @staticmethod
    def check(
        df: pd.DataFrame, target: str | None = None, favourable: Scalar | None = None
    ) -> TableCheck:
        """A look at a table before a model is trained on it.

        Finds missing values, ids, dates, free text, bad cells, duplicates, columns that give the
        target away, protected attributes, outliers and more. Each finding has a severity, a
        sentence and the option that settles it.

        Args:
            df: Training rows.
            target: Column that is predicted.
            favourable: The class an applicant wants, if it is stated.

        Raises:
            SchemaError: The target is no column.
            DataError: There are no rows, or two columns have one name.
        """
        return check_table(df, target, favourable)

    def constrain(
        self,
        *,
        immutable: Iterable[str] = (),
        increase_only: Iterable[str] = (),
        decrease_only: Iterable[str] = (),
        bounds: Mapping[str, Bounds] = _NOTHING,
        favourable: Scalar | None = None,
        change: Mapping[str, Change] = _NOTHING,
        moves: Mapping[str, Moves] = _NOTHING,
        max_features: int | None = None,
        together: Iterable[Together] = (),
    ) -> "Schema":
        """A copy of the schema with limits of change added.

        What is said here replaces what the schema says of the same thing: bounds, the direction,
        the favourable class. What goes together is added to what does already. A feature that is
        made immutable needs no direction any more; one that is immutable already cannot be given
        one.

        Args:
            immutable: Features a recourse must leave alone.
            increase_only: Features a recourse may only raise, or move to a later category.
            decrease_only: Features a recourse may only lower, or move to an earlier category.
            bounds: Lowest and highest value that rows and recourses may have, by continuous
                feature; None for no limit.
            favourable: The class an applicant wants.
            change: How far and in which steps numbers may change, by continuous feature.
            moves: Which category may follow which, by categorical feature.
            max_features: The most features that a recourse may change.
            together: Numbers that follow others, and limits of weighted sums.

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
            change={name: change[name] for name in known("change", change)},
            moves={name: moves[name] for name in known("moves", moves)},
        )
        return replace(
            self,
            features=features,
            target=self.target if favourable is None else favouring(self.target, favourable),
            max_features=self.max_features if max_features is None else max_features,
            together=(*self.together, *together),
        )

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
        return RowCodec(self.rules, self.actions)

    @cached_property
    def actions(self) -> Actions:
        """What a person can do beyond what each rule says: limits, costs and times of changes."""
        return Actions.of(self.features, self.max_features, self.together)

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

        A number is pulled into range, bounds and the largest change, and rounded if it is integer
        or has a step. A feature keeps its original value if it is immutable, if the proposal breaks
        its direction, is NaN, no category or none that may follow, or if the change would be less
        than `NEGLIGIBLE_CHANGE` of the range. Then numbers that follow others are moved, changes
        that carry a sum over its limit are taken back, and of more than `max_features` changes the
        dearest are left.

        Args:
            df: The original rows, as they were given.
            rows: The same rows, encoded.
            proposed: What to turn them into.

        Returns:
            Encoded rows that keep every constraint after decoding, and encode to themselves again.
        """
        settled = _encoding.settle(df, rows, proposed, self.features, self.layout)
        return self.actions.settle(df, rows, settled)

    def filled(self, df: pd.DataFrame) -> "Schema":
        """A copy in which all features that impute know their fill.

        Those that have none learn it of training rows: median, or most frequent category.
        """
        return replace(self, features=all_filled(df, self.features))

    def gaps(self, df: pd.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
        """Which rows have a missing value, bool [n], by the features that have some."""
        return {feature.name: gaps for feature, gaps in gaps_by_feature(df, self.features)}

    def usable(self, df: pd.DataFrame) -> npt.NDArray[np.bool_]:
        """Which rows can be trained on, bool [n]: none has a gap where `missing="drop"`."""
        return usable(df, self.features)

    def check_fit(self, df: pd.DataFrame) -> None:
        """Refuses training rows that this schema cannot be the schema of.

        Args:
            df: Training rows with the columns of the schema, and of others those ignored only.

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
        return _json.to_dict(self)

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

    def to_toml(self, remarks: Mapping[str, str] = _NOTHING) -> str:
        """The schema as TOML text with comments, to be edited; remarks on features are added."""
        return _toml.dump(self.to_dict(), remarks)

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: equal schemas, equal digests."""
        return hashlib.sha256(_json.canonical(self.to_dict()).encode()).hexdigest()

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the schema to a file, whole or not at all.

        Args:
            path: File to write: TOML, if it ends in .toml, else JSON.
            force: Whether to replace an existing file.

        Raises:
            OutputError: The file exists already or cannot be written.
        """
        write = self.to_toml if _json.is_toml(path) else self.to_json
        write_file(path, write().encode(), force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Schema":
        """Reads a schema from a file: TOML, if it ends in .toml, else JSON.

        Raises:
            SchemaError: The file is missing, is malformed, or is no schema of this version.
        """
        parts = _json.read(path)
        try:
            return cls(*parts)
        except SchemaError as error:
            raise SchemaError(f"Schema file {str(path)!r} cannot be used: {error}") from error

    @property
    def _target_name(self) -> str | None:
        return None if self.target is None else self.target.name
