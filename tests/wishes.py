"""Random wishes within a schema, and an oracle of what keeps to them, in raw units."""

from rocourse import Wishes
from rocourse.errors import ConfigError
from rocourse.schema import Categorical, Narrowing


def random_wishes(random, schema):
    """Wishes that a schema allows; None: nothing is wished for."""
    while random.random() < 0.8:
        try:
            wished = _wishes(random, schema)
            Narrowing.of(wished, schema)
            return wished
        except ConfigError:
            # A range between two whole numbers, say: another will do.
            continue
    return None


def _wishes(random, schema):
    free = [feature.name for feature in schema.features if not feature.immutable]
    lock = random.sample(schema.names, random.choice([0, 0, 1, 2]))
    left = [name for name in free if name not in lock]
    only = random.sample(left, random.randint(1, len(left))) if left else None
    only = only if random.random() < 0.2 else None
    prefer = random.sample(only or left, 1) if left and random.random() < 0.3 else []
    return Wishes(lock, dict(_ranges(random, schema)), only, prefer)


def _ranges(random, schema):
    for feature in schema.features:
        if random.random() > 0.25:
            continue
        if isinstance(feature, Categorical):
            count = random.randint(1, len(feature.categories))
            yield feature.name, random.sample(feature.categories, count)
        else:
            low, high = feature.limits
            ends = sorted(low + random.random() * (high - low) for _ in range(2))
            ends = [round(end) if random.random() < 0.5 else end for end in ends]
            yield feature.name, tuple(random.choice([end, None]) for end in ends)


def broken_wishes(wished, before, after, groups=("job",), fills=None):
    """Every wish that advice does not keep, cell by cell in raw units.

    Args:
        wished: The wishes.
        before: The row, by feature.
        after: The advice.
        groups: The categorical features.
        fills: What gaps of features are read as, by name.
    """
    broken = []
    for name, old in before.items():
        new = after[name]
        free = wished.only is None or name in wished.only
        # A gap is no number, and differs from itself.
        stayed = old == new or (old != old and new != new)
        if (name in wished.lock or not free) and not stayed:
            broken.append(f"{name} was changed")
        if name in wished.ranges:
            values = wished.ranges[name]
            if new is None or new != new:
                new = (fills or {}).get(name, new)
            if name in groups:
                fits = new in values
            else:
                low, high = values
                fits = (low is None or new >= low) and (high is None or new <= high)
            if not fits:
                broken.append(f"{name} ended at {new}, not in {values}")
    return broken
