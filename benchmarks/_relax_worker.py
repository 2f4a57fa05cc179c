"""Runs jax-relax's VanillaCF in an environment of its own, one request at a time.

Started by `vanillacf_vs_relax.py` with the problem (weights and encoded rows, an .npz file) as its
only argument. Requests are lines of JSON on stdin, answers lines of JSON on stdout, so that the two
libraries can be measured turn by turn while both stay warm.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

# Whatever the library and its progress bars print must not get among the answers.
answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
sys.stdout = sys.stderr
os.environ["KERAS_BACKEND"] = "jax"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from _relax_features import features_of  # noqa: E402
from relax import generate_cf_explanations  # noqa: E402
from relax.data_module import DataModule  # noqa: E402
from relax.data_utils import Feature, FeaturesList  # noqa: E402
from relax.explain import prepare_cf_module, prepare_rng_keys  # noqa: E402
from relax.methods import VanillaCF  # noqa: E402
from relax.strategy import StrategyFactory  # noqa: E402

Problem = dict[str, np.ndarray]
Search = Callable[[], np.ndarray]


def main() -> None:
    """Answers requests until stdin closes."""
    with np.load(sys.argv[1], allow_pickle=False) as file:
        problem = dict(file)
    data, predict = data_module(problem), predictor(problem)
    probabilities = np.asarray(jax.jit(predict)(data.xs))
    answer(
        {
            "probabilities": probabilities[:, 1].tolist(),
            "versions": {name: version(name) for name in ("jax-relax", "jax", "keras", "optax")},
        }
    )
    searches: dict[tuple[str, int, float], Search] = {}
    for line in sys.stdin:
        request = json.loads(line)
        setting = (request["call"], request["steps"], request["rate"])
        if setting not in searches:
            make = {"compiled": compiled, "as called": as_called}[request["call"]]
            method = VanillaCF({"n_steps": request["steps"], "lr": request["rate"]})
            searches[setting] = make(method, data, predict)
        answer(measure(searches[setting], request.get("save")))


def data_module(problem: Problem) -> DataModule:
    """The encoded rows as jax-relax keeps them."""
    x = problem["rows"]
    sizes, fixed = problem["group_sizes"].tolist(), problem.get("fixed", np.zeros(0)).tolist()
    features = features_of(x, int(problem["n_continuous"]), sizes, fixed)
    # Asked for by DataModule, read by nothing here.
    label = Feature("label", np.zeros((len(x), 1)), "identity")
    return DataModule.from_features(features, FeaturesList([label]), name="loan")


def predictor(problem: Problem) -> Callable[[jax.Array], jax.Array]:
    """The same network as a function of encoded rows `[n, width]` to probabilities `[n, 2]`."""
    slope = float(problem.get("slope", 0.01))
    n_layers = sum(name.startswith("weight") for name in problem)
    layers = [(problem[f"weight{i}"], problem[f"bias{i}"]) for i in range(n_layers)]

    def predict(x: jax.Array) -> jax.Array:
        for weight, bias in layers[:-1]:
            x = jax.nn.leaky_relu(x @ weight.T + bias, slope)
        weight, bias = layers[-1]
        favourable = jax.nn.sigmoid(x @ weight.T + bias)
        return jnp.concatenate([1.0 - favourable, favourable], axis=-1)

    return predict


def compiled(method: VanillaCF, data: DataModule, predict: Callable[..., jax.Array]) -> Search:
    """Its `vmap` strategy, compiled once by a `jit` around it."""
    prepare_cf_module(method, data, predict)
    strategy = StrategyFactory.get_strategy("vmap")
    keys = prepare_rng_keys(None, len(data.xs))
    target = 1 - predict(data.xs)

    @jax.jit
    def search(x: jax.Array, target: jax.Array, keys: jax.Array) -> jax.Array:
        return strategy(method.generate_cf, x, predict, target, keys)

    return lambda: np.asarray(search(data.xs, target, keys))


def as_called(method: VanillaCF, data: DataModule, predict: Callable[..., jax.Array]) -> Search:
    """Its documented entry point, which makes a new loss, and compiles for it, at every call."""

    def search() -> np.ndarray:
        explanation = generate_cf_explanations(method, data, predict, strategy="vmap")
        return np.asarray(explanation.cfs)[:, 0]

    return search


def measure(search: Search, save: str | None) -> dict[str, float]:
    """Seconds of one run; its recourses are written to `save`, if given."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = search()
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if save is not None:
        np.savez(save, rows=found)
    return seconds


def answer(values: dict[str, Any]) -> None:
    """Sends one line."""
    print(json.dumps(values), file=answers, flush=True)


if __name__ == "__main__":
    main()
