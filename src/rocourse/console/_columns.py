"""From the schema options of the command line to a schema."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rocourse.console._classes import parse_class
from rocourse.console._limit_options import with_limits
from rocourse.errors import ConfigError
from rocourse.schema import Schema
from rocourse.tables import split_names

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

    def infer(self, frame: pd.DataFrame, target: str | None) -> Schema:
        """A schema read off the rows."""
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
        )
        return with_limits(schema, self.max_change, self.step, self.max_features)

    def favourable_class(self, frame: pd.DataFrame, target: str | None) -> Any:
        """The class that people want, as the rows have it; None: nobody has said so."""
        if self.favourable is None or target not in frame.columns:
            return self.favourable
        classes = frame[target].dropna().unique().tolist()
        return parse_class(self.favourable, classes, option="--favourable")

    def apply(self, schema: Schema) -> Schema:
        """A schema from a file, with the constraints added."""
        for option, names in (("--categorical", self.categorical), ("--integer", self.integer)):
            if names:
                raise ConfigError(
                    f"{option} must come without --schema, which says already what each column is, "
                    f"but got {', '.join(names)}; leave it out, or change the schema file."
                )
        favourable: Any = self.favourable
        if favourable is not None and schema.target is not None:
            favourable = parse_class(favourable, schema.target.classes, option="--favourable")
        constrained = schema.constrain(
            immutable=split_names(self.immutable, schema.names),
            increase_only=split_names(self.increase_only, schema.names),
            decrease_only=split_names(self.decrease_only, schema.names),
            bounds=self._bounds(),
            favourable=favourable,
        )
        return with_limits(constrained, self.max_change, self.step, self.max_features)

    def _bounds(self) -> dict[str, tuple[float | None, float | None]]:
        return dict(_parse_bounds(text) for text in self.bounds or ())


def _parse_bounds(text: str) -> tuple[str, tuple[float | None, float | None]]:
    name, _, limits = text.rpartition("=")
    low, colon, high = limits.partition(":")
    try:
        if not name or not colon:
            raise ValueError
        return name, (float(low) if low else None, float(high) if high else None)
    except ValueError:
        raise ConfigError(
            f"--bounds must be COL=LOW:HIGH with numbers or nothing on either side, but got "
            f"{text!r}; write, say, age=18:99."
        ) from None
