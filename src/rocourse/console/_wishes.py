"""From the options of the command line to the wishes of applicants."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rocourse._wording import listed
from rocourse.errors import ConfigError
from rocourse.schema import Categorical, EachWishes, Schema, Wishes
from rocourse.tables import split_names

Names = Iterable[str] | None


@dataclass(frozen=True)
class WishOptions:
    """What was wished on the command line, not yet checked."""

    lock: Names = None
    ranges: Names = None
    only: Names = None
    prefer: Names = None
    file: Path | None = None

    def batches(self, schema: Schema) -> Callable[[int], EachWishes]:
        """What gives the wishes of the next rows, by how many there are."""
        said = any((self.lock, self.ranges, self.only, self.prefer))
        if self.file is None:
            wishes = self._wishes(schema) if said else None
            return lambda count: wishes
        if said:
            raise ConfigError(
                f"--wishes must come without other wishes, but got both {str(self.file)!r} and "
                "some of --lock, --range, --only and --prefer; write all of them in the file."
            )
        return _batches(_read(self.file), self.file)

    def _wishes(self, schema: Schema) -> Wishes:
        def names(given: Names) -> tuple[str, ...]:
            return tuple(split_names(given, schema.names))

        return Wishes(
            lock=names(self.lock),
            ranges=dict(_range(text, schema) for text in self.ranges or ()),
            only=names(self.only) if self.only else None,
            prefer=names(self.prefer),
        )


def _range(text: str, schema: Schema) -> tuple[str, tuple[Any, ...]]:
    name, equals, values = text.rpartition("=")
    if not equals or not name or not values:
        raise ConfigError(
            f"--range must be COL=LOW..HIGH or COL=A,B, but got {text!r}; write, say, "
            "Amount=10000.. for at least 10000."
        )
    feature = schema[name]
    if isinstance(feature, Categorical):
        known = {str(category): category for category in feature.categories}
        chosen = split_names([values], list(known))
        if strange := [one for one in chosen if one not in known]:
            raise ConfigError(
                f"--range of {name!r} must name some of {listed(feature.categories)}, but got "
                f"{listed(strange)}; name categories of the schema."
            )
        return name, tuple(known[one] for one in chosen)
    low, dots, high = values.partition("..")
    try:
        if not dots:
            raise ValueError
        return name, (float(low) if low else None, float(high) if high else None)
    except ValueError:
        raise ConfigError(
            f"--range of {name!r} must be LOW..HIGH with numbers or nothing on either side, but "
            f"got {values!r}; write, say, {name}=10000.. for at least 10000."
        ) from None


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--wishes must be a readable file of JSON, but {str(file)!r} is none ({error}); give "
            "one object, or a list with one for each row."
        ) from error


def _batches(told: Any, file: Path) -> Callable[[int], EachWishes]:
    if not isinstance(told, list):
        wishes = Wishes.from_dict(told)
        return lambda count: wishes
    rows = iter([None if one is None else Wishes.from_dict(one) for one in told])

    def next_rows(count: int) -> EachWishes:
        batch = list(islice(rows, count))
        if len(batch) < count:
            raise ConfigError(
                f"The list in {str(file)!r} must have wishes for each row, but it has "
                f"{len(told)} and there are more rows; write null for a row without any."
            )
        return batch

    return next_rows
