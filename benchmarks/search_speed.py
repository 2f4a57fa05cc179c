"""How long a recourse takes by search, at the shapes of the loan data.

    python benchmarks/search_speed.py [rows]

Prints milliseconds a recourse and how many times faster that is than the published code.
"""

import sys
from collections.abc import Callable
from time import perf_counter, process_time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rocourse.methods._native import NativeModel
from rocourse.methods.search import (
    RoarSettings,
    Space,
    VanillaSettings,
    category_frequencies,
    draw_neighbourhood,
    roar_recourses,
    vanilla_recourses,
)
from rocourse.networks import Predictor
from rocourse.schema import Categorical, Continuous, Rows, Schema, one_hot

PUBLISHED_MS = 131.0
"""ROAR on the loan data, as the paper gives it."""

GROUP_SIZES = (51, 20, 7, 6, 5, 5)
Search = Callable[[NativeModel, Rows, np.ndarray], Rows]


def loan_like_schema() -> Schema:
    """16 continuous features and groups of categories, 110 encoded columns together."""
    numbers = tuple(Continuous(f"number {i}", 0.0, 1.0) for i in range(16))
    choices = tuple(
        Categorical(f"choice {i}", tuple(str(code) for code in range(size)))
        for i, size in enumerate(GROUP_SIZES)
    )
    return Schema(numbers + choices)


def draw_rows(schema: Schema, n: int) -> Rows:
    """Uniformly drawn rows."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, size, n) for size in GROUP_SIZES], axis=1)
    return Rows(rng.random((n, schema.layout.n_continuous)), codes.astype(np.int16))


def balanced_model(schema: Schema, rows: Rows) -> NativeModel:
    """A network of the loan models' size that favours no class and has slopes like theirs."""
    width = schema.layout.width
    predictor = Predictor(width, 2, encoder=(200, 10), head=(10,), key=jax.random.key(0))
    logits = jax.vmap(predictor)(one_hot(rows, schema.layout))
    scale = 2.0 / jnp.std(logits)
    output = predictor.output
    bias = scale * (output.bias - jnp.median(logits))
    predictor = eqx.tree_at(
        lambda p: (p.output.weight, p.output.bias), predictor, (scale * output.weight, bias)
    )
    return NativeModel(predictor)


def searches(schema: Schema, rows: Rows) -> dict[str, Search]:
    """What is timed, by name; further methods go here."""
    space, layout = Space.from_schema(schema), schema.layout
    drawn = draw_neighbourhood(category_frequencies(rows, layout), layout, count=1000, seed=0)

    def vanilla(model: NativeModel, rows: Rows, target: np.ndarray) -> Rows:
        return vanilla_recourses(model, rows, target, space, VanillaSettings(), seed=0)

    def roar(model: NativeModel, rows: Rows, target: np.ndarray) -> Rows:
        return roar_recourses(model, rows, target, space, drawn, RoarSettings())

    return {"VanillaCF": vanilla, "ROAR": roar}


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    schema = loan_like_schema()
    rows = draw_rows(schema, n)
    model = balanced_model(schema, rows)
    encoded = one_hot(rows, schema.layout)
    target = 1 - model.probabilities(encoded).argmax(axis=1)
    print(f"{schema.layout.width} encoded columns, {n} rows, against {PUBLISHED_MS:.0f} ms")
    for name, search in searches(schema, rows).items():
        for count in (n, 1):
            search(model, rows[:count], target[:count])  # compiles
            walls, cpus = [], []
            for _ in range(5):
                wall, cpu = perf_counter(), process_time()
                found = search(model, rows[:count], target[:count])
                walls.append(perf_counter() - wall)
                cpus.append(process_time() - cpu)
            ms, cpu_ms = 1e3 * min(walls) / count, 1e3 * min(cpus) / count
            shares = model.probabilities(one_hot(found, schema.layout))
            valid = (shares.argmax(axis=1) == target[:count]).mean()
            print(
                f"{name:10s} {count:5d} rows: {ms:7.3f} ms a recourse ({cpu_ms:.3f} ms of "
                f"processor), {PUBLISHED_MS / ms:5.0f} times as fast, {valid:.1%} valid"
            )


if __name__ == "__main__":
    main()
