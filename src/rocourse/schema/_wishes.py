"""What an applicant wishes: features to leave alone, ranges to end in, features to change first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocourse._wording import did_you_mean, duplicates, listed, show
from rocourse.errors import ConfigError

_PARTS = ("lock", "ranges", "only", "prefer")


@dataclass(frozen=True)
class Wishes:
    """What advice for an applicant has to respect besides the schema, which it can only narrow.

    Attributes:
        lock: Features that must stay as they are.
        ranges: Where features must end, by name: the lowest and the highest value of a number, None
            for no limit on that side, or the categories that will do. A row that lies outside is
            moved there.
        only: The features that may change at all; None: all that the schema lets change.
        prefer: Features that the applicant would rather change than others.

    Examples:
        >>> wishes = Wishes(lock=("Existing credits",), ranges={"Credit amount": (1_000, None)})
        >>> asked = model.recourse(X_refused, wishes=wishes).frame()
        >>> (asked["Existing credits"].to_numpy() == X_refused["Existing credits"]).all()
        np.True_
    """

    lock: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    only: tuple[str, ...] | None = None
    prefer: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("lock", "prefer", *(() if self.only is None else ("only",))):
            object.__setattr__(self, part, _names(part, getattr(self, part)))
        if not isinstance(self.ranges, Mapping):
            raise ConfigError(
                "ranges of wishes must map features to ranges, but got "
                f"{show(self.ranges)}; write, say, {{'Amount': (10000, None)}}."
            )
        ranges = {name: _values(name, given) for name, given in self.ranges.items()}
        object.__setattr__(self, "ranges", ranges)
        for part in ("prefer", "only"):
            if both := [name for name in getattr(self, part) or () if name in self.lock]:
                raise ConfigError(
                    f"Wishes must name a feature in lock or in {part}, but got {listed(both)} in "
                    "both; leave it out of one."
                )
        if self.only is not None and (
            others := [name for name in self.prefer if name not in self.only]
        ):
            raise ConfigError(
                f"Wishes must prefer features among those in only, but got {listed(others)}; add "
                "it to only, or leave it out."
            )

    def __hash__(self) -> int:
        return hash((self.lock, tuple(self.ranges.items()), self.only, self.prefer))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Wishes":
        """The wishes that `to_dict` gave, as JSON has them; unknown parts are refused."""
        if not isinstance(given, Mapping):
            raise ConfigError(
                f"Wishes must map {listed(_PARTS)} to features, but got {show(given)}; write an "
                "object."
            )
        for part in given:
            if part not in _PARTS:
                raise ConfigError(
                    f"Wishes must consist of {listed(_PARTS)}, but got {show(part)}"
                    f"{did_you_mean(part, _PARTS)}; leave it out."
                )
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """The wishes in values that JSON knows; what is not wished for is left out."""
        given = {
            "lock": list(self.lock),
            "ranges": {name: list(values) for name, values in self.ranges.items()},
            "prefer": list(self.prefer),
        }
        wished: dict[str, Any] = {part: value for part, value in given.items() if value}
        return wished if self.only is None else wished | {"only": list(self.only)}


WishesLike = Wishes | Mapping[str, Any]
EachWishes = WishesLike | Sequence[WishesLike | None] | None
"""Wishes of all rows, or one for each."""


def wishes_of_rows(given: EachWishes, count: int) -> list[Wishes | None]:
    """The wishes of each of so many rows; None where there is none.

    Args:
        given: As the caller gave it.
        count: How many rows there are.
    """
    if given is None or isinstance(given, (Wishes, Mapping)):
        return [_wishes(given)] * count
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(
            f"wishes must be Wishes, or a list with those of each row, but got {show(given)}; "
            "write Wishes(lock=...)."
        )
    if len(given) != count:
        raise ConfigError(
            f"wishes must be one for all rows or one for each of {count} rows, but got "
            f"{len(given)}; write None for a row without any."
        )
    return [_wishes(one) for one in given]


def _wishes(given: WishesLike | None) -> Wishes | None:
    if given is None or isinstance(given, Wishes):
        return given
    return Wishes.from_dict(given)


def _names(part: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(
            f"{part} of wishes must be a list of features, but got {show(given)}; write "
            f"[{show(given)}]."
        )
    names = tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(
                f"{part} of wishes must be a list of features, but got {show(name)} in it; write "
                "their names."
            )
    if repeated := duplicates(names):
        raise ConfigError(
            f"{part} of wishes must name a feature once, but got {listed(repeated)} again; leave "
            "it out."
        )
    return names


def _values(name: object, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(
            f"The range of {show(name)} must be a pair of numbers or a list of categories, but got "
            f"{show(given)}; write ({show(given)}, None), or [{show(given)}]."
        )
    # A set has no order, and equal wishes are to be one.
    return tuple(sorted(given, key=repr) if isinstance(given, (set, frozenset)) else given)
