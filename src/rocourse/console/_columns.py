"""From the schema options of the command line to a schema."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from rocourse._places import Place
from rocourse._wording import did_you_mean
from rocourse.console._classes import parse_class
from rocourse.console._limit_options import with_limits
from rocourse.errors import ConfigError
from rocourse.schema import MISSING, MissingWords, Schema
from rocourse.tables import read_rows, split_names

Names = Iterable[str] | None


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What was said about columns on the command line, not yet checked."""

    categorical: Names = None
    integer: Names = None
    immutable: Names = None
    increase_only: Names = None
    decrease_only: Names = None
    bounds: Names = None
    favourable: str | None = None
    max_change: Names = None
    step: Names = None
    max_features: int | None = None
    missing: Names = None
    missing_code: Names = None
    id: str | None = None

    def infer(self, frame: pd.DataFrame, target: str | None, dropped: list[str]) -> Schema:
        """A schema read off the rows, which remembers the columns to leave out."""
        columns = list(frame.columns)
        schema = Schema.infer(
            frame,
            target=target,
            categorical=split_names(self.categorical, columns),
            integer=split_names(self.integer, columns),
            immutable=split_names(self.immutable, columns),
            increase_only=split_names(self.increase_only, columns),
            decrease_only=split_names(self.decrease_only, columns),
            bounds=self._bounds(),
            favourable=self.favourable_class(frame, target),
            missing=self._missing(columns, {target, self.id, *dropped}),
            ignored=dropped,
            id=self.id,
            missing_codes=self._codes(columns, {target, self.id, *dropped}),
        )
        return with_limits(schema, self.max_change, self.step, self.max_features)

    def read(self, data: Place, target: str | None) -> pd.DataFrame:
        """The rows of a file of which no schema is known, with gaps in the place of codes."""
        frame = read_rows(data, schema=None, drop=None)
        codes = self._codes(list(frame.columns), {target, self.id})
        return read_rows(data, schema=None, drop=None, codes=codes) if codes else frame

    def favourable_class(self, frame: pd.DataFrame, target: str | None) -> Any:
        """The class that people want, as the rows have it; None: nobody has said so."""
        if self.favourable is None or target not in frame.columns:
            return self.favourable
        classes = frame[target].dropna().unique().tolist()
        return parse_class(self.favourable, classes, option="--favourable")

    def apply(self, schema: Schema) -> Schema:
        """A schema from a file, with the constraints added."""
        for option, names in (
            ("--categorical", self.categorical),
            ("--integer", self.integer),
            ("--missing", self.missing),
            ("--missing-code", self.missing_code),
        ):
            if names:
                raise ConfigError(
                    f"{option} must come without --schema, which says already what each column is, "
                    f"but got {', '.join(names)}; leave it out, or change the schema file."
                )
        favourable: Any = self.favourable
        if favourable is not None and schema.target is not None:
            favourable = parse_class(favourable, schema.target.classes, option="--favourable")
        if self.id is not None:
            schema = replace(schema, id=self.id)
        constrained = schema.constrain(
            immutable=split_names(self.immutable, schema.names),
            increase_only=split_names(self.increase_only, schema.names),
            decrease_only=split_names(self.decrease_only, schema.names),
            bounds=self._bounds(),
            favourable=favourable,
        )
        return with_limits(constrained, self.max_change, self.step, self.max_features)

    def _missing(self, columns: list[str], no_features: set[str | None]) -> MissingWords:
        """A word for the table, or by column."""
        pairs = [text.rpartition("=") for text in self.missing or ()]
        by_column: dict[str, Any] = {name: word for name, sign, word in pairs if sign}
        for_all: list[Any] = [word for _, sign, word in pairs if not sign]
        for word in (*by_column.values(), *for_all):
            if word not in MISSING:
                raise ConfigError(
                    f"--missing must be WORD or COL=WORD with one of {', '.join(MISSING)}, but got "
                    f"{word!r}; write, say, --missing drop or --missing income=impute."
                )
        if len(for_all) > 1:
            raise ConfigError(
                f"--missing must say one word for the table, but got {', '.join(for_all)}; name "
                "columns in the others, as in income=impute."
            )
        if not by_column:
            return for_all[0] if for_all else None
        if not for_all or for_all == ["category"]:
            # What is done without a word as well: numbers cannot be categories.
            return by_column
        others = [name for name in columns if name not in no_features]
        return dict.fromkeys(others, for_all[0]) | by_column

    def _codes(self, columns: list[str], no_features: set[str | None]) -> dict[str, list[str]]:
        """What stands for a missing value, by column."""
        codes: dict[str, list[str]] = {}
        for text in self.missing_code or ():
            name, sign, code = text.rpartition("=")
            if not code or (sign and name not in columns):
                raise ConfigError(
                    "--missing-code must be VALUE or COL=VALUE with a column of the rows, but got "
                    f"{text!r}{did_you_mean(name, columns)}; write, say, --missing-code years=-999."
                )
            for column in [name] if sign else columns:
                if sign or column not in no_features:
                    codes.setdefault(column, []).append(code)
        return {name: codes[name] for name in codes if name not in no_features}

    def _bounds(self) -> dict[str, tuple[Any, Any]]:
        return dict(_parse_bounds(text) for text in self.bounds or ())


def _parse_bounds(text: str) -> tuple[str, tuple[Any, Any]]:
    name, _, limits = text.rpartition("=")
    low, colon, high = limits.partition(":")
    try:
        if not name or not colon:
            raise ValueError
        return name, (_parse_bound(low), _parse_bound(high))
    except ValueError:
        raise ConfigError(
            f"--bounds must be COL=LOW:HIGH with numbers, dates or nothing on either side, but got "
            f"{text!r}; write, say, age=18:99."
        ) from None


def _parse_bound(text: str) -> float | str | None:
    # A date is for the feature to read.
    is_date = text.count("-") == 2 and text.replace("-", "").isdigit()
    return text if is_date else float(text) if text else None
