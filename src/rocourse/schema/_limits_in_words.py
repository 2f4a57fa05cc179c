"""Limits of change in words, for people who check a schema."""

from rocourse.schema._features import Categorical, Feature
from rocourse.schema._limits import Change, Follows, Moves, Together


def limits_in_words(feature: Feature) -> str:
    """What advice may do to a feature: `only raise it, by at most 20%, in steps of 100`."""
    if feature.immutable:
        return "not change it"
    may = {"up": "only raise it", "down": "only lower it", None: "change it"}[feature.direction]
    if isinstance(feature, Categorical):
        said = [] if feature.moves is None else _moves(feature.moves)
    else:
        unit = " days" if feature.date else ""
        said = [] if feature.change is None else _change(feature.change, unit)
    return ", ".join([may, *said])


def together_in_words(rule: Together) -> str:
    """What goes together: `age follows years_employed`, `debt − 0.4 × income ≤ 0`."""
    if isinstance(rule, Follows):
        return f"{rule.feature} follows {_sum(rule.leaders)}"
    low = "" if rule.at_least is None else f"{rule.at_least:g} ≤ "
    high = "" if rule.at_most is None else f" ≤ {rule.at_most:g}"
    return f"{low}{_sum(rule.factors)}{high}"


def _change(change: Change, unit: str) -> list[str]:
    up = _most(change.max_increase, change.max_increase_share, unit)
    down = _most(change.max_decrease, change.max_decrease_share, unit)
    if up == down:
        said = [f"by at most {up}"] if up else []
    else:
        said = [f"up by at most {up}"] if up else []
        said += [f"down by at most {down}"] if down else []
    if change.step is not None:
        said.append(f"in steps of {change.step:g}{unit}")
    if change.cost_per_unit is not None:
        said.append(f"each unit costs {change.cost_per_unit:g}")
    elif change.weight != 1.0:
        said.append(f"{change.weight:g} times as hard")
    return said + _months(change.months, change.months_per_unit)


def _moves(moves: Moves) -> list[str]:
    said = [f"{before} only to {_either(after)}" for before, after in moves.allowed]
    said += [f"{before} not to {_either(after)}" for before, after in moves.forbidden]
    said += [
        f"{before} to {after} costs {price:g}" for before, row in moves.cost for after, price in row
    ]
    if moves.weight != 1.0:
        said.append(f"{moves.weight:g} times as hard")
    return said + _months(moves.months, None)


def _either(values: tuple[object, ...]) -> str:
    return " or ".join(map(str, values)) or "any other"


def _most(size: float | None, share: float | None, unit: str) -> str:
    said = [] if size is None else [f"{size:g}{unit}"]
    said += [] if share is None else [f"{100.0 * share:g}%"]
    return " and ".join(said)


def _months(fixed: float | None, each: float | None) -> list[str]:
    said = [] if fixed is None else [f"{fixed:g} months"]
    said += [] if each is None else [f"{each:g} months a unit"]
    return [f"takes {' and '.join(said)}"] if said else []


def _sum(factors: tuple[tuple[str, float], ...]) -> str:
    text = ""
    for name, factor in factors:
        sign = ("−" if factor < 0 else "") if not text else (" − " if factor < 0 else " + ")
        text += sign + (name if abs(factor) == 1.0 else f"{abs(factor):g} × {name}")
    return text
