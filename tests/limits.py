"""Random limits of change, and an oracle that reads them off a schema's JSON.

Some features have gaps, which are read as their fills or are a category of their own.
The oracle is plain Python over raw values, written apart from the library, so that it can disagree.
"""

import math
from dataclasses import replace
from fractions import Fraction

import pandas as pd

from rocourse.recourse import Advisor, Context
from rocourse.schema import (
    Categorical,
    Change,
    Continuous,
    Follows,
    Linear,
    Moves,
    Schema,
    Target,
)

# What sums and differences of floats may miss, and the codes of numbers, as shares of a range.
_ROUNDING, _CODES = 1e-9, 2e-6
_SLIGHT = "nobody would notice"


def random_schema(random, *, numbers=5, groups=(2, 3, 4)):
    """A schema with any limits; always of one layout, so that compiled code is shared."""
    features = [_number(random, f"n{k}") for k in range(numbers)]
    features += [_group(random, f"g{k}", size) for k, size in enumerate(groups)]
    schema = Schema(tuple(features), Target("y", (0, 1)))
    if random.random() < 0.4:
        schema = schema.constrain(max_features=random.randint(1, 4))
    return schema.constrain(together=list(_together(random, schema)))


def _number(random, name):
    integer = random.random() < 0.5
    low = random.choice([0.0, -50.0, 18.0, 1000.0])
    high = low + random.choice([20.0, 100.0, 5000.0])
    if not integer:
        low, high = low + random.choice([0.0, 0.3]), high + random.choice([0.0, 0.17])
    span = high - low

    def maybe(value):
        return value if random.random() < 0.3 else None

    if random.random() < 0.25:
        change = None
    else:
        steps = [1, 2, 5, 10] if integer else [0.1, 0.5, 0.25, 3.0, 10.0]
        cost = {"weight": random.choice([0.0, 0.5, 1.0, 3.0])}
        if random.random() < 0.2:
            cost = {"cost_per_unit": random.choice([0.01, 2.0])}
        change = Change(
            max_increase=maybe(random.choice([0.0, 0.3, 0.05]) * span),
            max_decrease=maybe(random.choice([0.0, 0.3, 0.05]) * span),
            max_increase_share=maybe(random.choice([0.1, 0.2, 1.5])),
            max_decrease_share=maybe(random.choice([0.1, 0.5, 1.0])),
            step=maybe(random.choice(steps)),
            months=maybe(random.randint(1, 12)),
            months_per_unit=maybe(random.choice([0.5, 12.0])),
            **cost,
        )
    bounds = (maybe(low + 0.1 * span), maybe(high - 0.05 * span))
    feature = Continuous(name, low, high, integer, bounds=bounds, change=change, **_rule(random))
    if random.random() < 0.7:
        return feature
    fill = min(_present(random, feature), feature.limits[1])
    return replace(feature, missing="impute", fill=fill)


def _group(random, name, size):
    categories = random.choice([tuple("abcdef"[:size]), tuple(range(size)), (0.5, 1.5, 2.0, 7.0)])
    categories = categories[:size] if len(categories) >= size else tuple(range(size))
    gaps = random.choice([{}, {}, {"missing": "category"}, {"missing": "impute"}])
    if gaps == {"missing": "category"}:
        # One category less, so that there are as many codes.
        categories, size = categories[:-1], size - 1
    elif gaps:
        gaps = {**gaps, "fill": random.choice(categories)}

    def some():
        return {
            one: random.sample(categories, random.randint(0, size - 1))
            for one in random.sample(categories, random.randint(1, size))
        }

    moves = None
    if random.random() < 0.7:
        moves = Moves(
            allowed=some() if random.random() < 0.5 else {},
            forbidden=some() if random.random() < 0.5 else {},
            cost={
                one: {two: random.choice([0.1, 4.0]) for two in row} for one, row in some().items()
            }
            if random.random() < 0.5
            else {},
            weight=random.choice([1.0, 0.3, 2.0]),
            months=random.choice([None, 6]),
        )
    return Categorical(name, categories, moves=moves, **gaps, **_rule(random))


def _rule(random):
    return random.choice(
        [{}, {}, {}, {}, {"immutable": True}, {"direction": "up"}, {"direction": "down"}]
    )


def _together(random, schema):
    free = [feature for feature in schema.continuous if not feature.immutable]
    random.shuffle(free)
    if len(free) >= 2 and random.random() < 0.5:
        follower, *others = free
        count = random.randint(1, min(2, len(others)))
        yield Follows(
            follower.name,
            {other.name: random.choice([1.0, 0.5, -1.0]) for other in others[:count]},
        )
    for _ in range(random.choice([0, 0, 1, 2])):
        some = random.sample(schema.continuous, random.randint(1, 3))
        factors = {feature.name: random.choice([1.0, -1.0, 0.4]) for feature in some}
        middle = sum(
            factors[feature.name] * (feature.low + random.random() * feature.span)
            for feature in some
        )
        yield Linear(factors, **random.choice([{"at_most": middle}, {"at_least": middle}]))


def random_rows(random, schema, count):
    """Rows that the schema accepts, some of them with gaps or beyond the range of numbers."""
    return pd.DataFrame(
        {
            feature.name: [_value(random, feature) for _ in range(count)]
            for feature in schema.features
        }
    )


def _value(random, feature):
    if feature.missing != "error" and random.random() < 0.3:
        return None
    return _present(random, feature)


def _present(random, feature):
    if isinstance(feature, Categorical):
        return random.choice(feature.categories)
    least, most = feature.bounds
    low = feature.low if least is None else max(feature.low, least)
    high = feature.high if most is None else min(feature.high, most)
    value = random.choice([low, high, low + random.random() * (high - low)])
    if random.random() < 0.05 and most is None:
        value = high + 0.1 * feature.span
    if not feature.integer:
        return random.choice([value, max(low, min(value, round(value, 1)))])
    return int(max(math.ceil(low), min(round(value), max(math.floor(high), round(value)))))


def under(model, schema):
    """What a fitted model advises under another schema of the same layout."""
    context = Context(schema, model.model_, model.network_, model.seed_, model.cut_off_)
    return Advisor(
        context, model.proposer_, model.state_, model.classes_, model.witnesses_, model.method
    )


def _read(written, row):
    """A row with its fills in the place of gaps, None where a gap is a category of its own."""
    read = {}
    for feature in written["features"]:
        value = row[feature["name"]]
        if value is None or value != value:
            value = feature.get("fill")
        elif feature["kind"] == "categorical":
            # A column with gaps has whole numbers as decimals.
            value = feature["categories"][feature["categories"].index(value)]
        read[feature["name"]] = value
    return read


def broken_limits(written, before, after, ranges=None):
    """Every rule of a written schema that a change from one row to another breaks.

    Args:
        written: `Schema.to_dict()`.
        before: The row, by feature.
        after: What is asked of it.
        ranges: The ranges that were wished for, by feature. Nobody is asked for a change that
            nobody would notice, but whoever wishes for one gets it.
    """
    before, after = _read(written, before), _read(written, after)
    features = {feature["name"]: feature for feature in written["features"]}
    rules = written.get("together", [])
    followers = {rule["follows"] for rule in rules if "follows" in rule}
    broken = []
    for name, feature in features.items():
        if before[name] != after[name]:
            kind = _broken_number if feature["kind"] == "continuous" else _broken_group
            broken += [
                f"{name}: {text} ({before[name]!r} to {after[name]!r})"
                for text in kind(feature, before[name], after[name], acts=name not in followers)
                if text != _SLIGHT or not _outside((ranges or {}).get(name), before[name])
            ]
    changed = [name for name in features if before[name] != after[name] and name not in followers]
    if len(changed) > written.get("max_features", len(features)):
        broken.append(f"too many features: {changed}")
    for rule in rules:
        spans = {name: one["high"] - one["low"] for name, one in features.items() if "low" in one}
        if "follows" in rule:
            name = rule["follows"]
            way = sum(f * (after[one] - before[one]) for one, f in rule["leaders"].items())
            step = (features[name].get("change") or {}).get("step", 0)
            step = step or (1.0 if features[name]["integer"] else 0.0)
            if abs(after[name] - before[name] - way) > step / 2 + _CODES * spans[name]:
                broken.append(f"{name} does not follow: {before} to {after}")
        else:
            sums = [
                sum(f * row[one] for one, f in rule["linear"].items()) for row in (before, after)
            ]
            slack = _ROUNDING * sum(abs(f) * spans[one] for one, f in rule["linear"].items()) * 2
            most, least = rule.get("at_most", math.inf), rule.get("at_least", -math.inf)
            if sums[1] > max(most, sums[0]) + slack or sums[1] < min(least, sums[0]) - slack:
                broken.append(f"sum {rule} from {sums[0]} to {sums[1]}")
    return broken


def _broken_number(feature, old, new, *, acts):
    low, high = feature["low"], feature["high"]
    slack = _ROUNDING * (high - low) * 2
    if feature["immutable"]:
        yield "immutable"
    if feature["direction"] == "up" and new < old or feature["direction"] == "down" and new > old:
        yield "direction"
    if not low <= new <= high:
        yield "range"
    least, most = feature["bounds"]
    if (least is not None and new < least) or (most is not None and new > most):
        yield "bounds"
    if feature["integer"] and new != int(new):
        yield "fraction"
    change = feature.get("change") or {}
    rise, size = new - old, abs(old)
    for limit, way, unit in (
        ("max_increase", rise, 1.0),
        ("max_decrease", -rise, 1.0),
        ("max_increase_share", rise, size),
        ("max_decrease_share", -rise, size),
    ):
        if limit in change and way > change[limit] * unit + slack:
            yield limit
    if "step" in change:
        step = Fraction(str(change["step"]))
        if float(round(Fraction(new) / step) * step) != new:
            yield "step"
    if acts and abs(rise) < 0.0049 * (high - low):
        yield _SLIGHT


def _outside(ends, value):
    """Whether a number lies outside the range that was wished for, if there is one."""
    low, high = ends or (None, None)
    return (low is not None and value < low) or (high is not None and value > high)


def _broken_group(feature, old, new, *, acts):
    place = feature["categories"].index
    if feature["immutable"]:
        yield "immutable"
    if old is None or new is None:
        if new is None:
            yield "asks for a gap"
        elif feature["direction"] is not None:
            yield "leaves a gap in a direction that nobody knows"
        return
    rise = place(new) - place(old)
    if feature["direction"] == "up" and rise < 0 or feature["direction"] == "down" and rise > 0:
        yield "direction"
    moves = feature.get("moves") or {}
    allowed, forbidden = moves.get("allowed", {}), moves.get("forbidden", {})
    if str(old) in allowed and new not in allowed[str(old)]:
        yield "not allowed"
    if new in forbidden.get(str(old), []):
        yield "forbidden"


def stated_cost(written, before, after):
    """What a change costs by a written schema."""
    before, after = _read(written, before), _read(written, after)
    followers = {rule["follows"] for rule in written.get("together", []) if "follows" in rule}
    total = 0.0
    for feature in written["features"]:
        name = feature["name"]
        old, new = before[name], after[name]
        if old == new or name in followers:
            continue
        if feature["kind"] == "categorical":
            moves = feature.get("moves") or {}
            usual = 2.0 * moves.get("weight", 1.0)
            total += moves.get("cost", {}).get(str(old), {}).get(str(new), usual)
            continue
        change = feature.get("change") or {}
        span = feature["high"] - feature["low"]
        way = abs(new - min(max(old, feature["low"]), feature["high"]))
        total += way * change.get("cost_per_unit", change.get("weight", 1.0) / span)
    return total


def stated_months(written, before, after):
    """How long a change takes by a written schema."""
    before, after = _read(written, before), _read(written, after)
    followers = {rule["follows"] for rule in written.get("together", []) if "follows" in rule}
    longest = 0.0
    for feature in written["features"]:
        name = feature["name"]
        if before[name] == after[name] or name in followers:
            continue
        said = feature.get("change") or feature.get("moves") or {}
        way = abs(after[name] - before[name]) if feature["kind"] == "continuous" else 0.0
        longest = max(longest, (said.get("months") or 0) + said.get("months_per_unit", 0) * way)
    return longest
