"""RoCourse beside other libraries: the same model, refused applicants, constraints and judges.

    python benchmarks/peers.py [--data german_credit loan] [--asked 20] [--json results.jsonl]

A network of scikit-learn's decides (20 units; German Credit as it was first published, loan 2004).
What each library proposes is made to keep the constraints, then judged: by networks of the same
kind of the other version, of loan 2005 to 2009, and by common judges of the same rows (a network,
gradient boosting, logistic regression). DiCE, jax-relax and ElliCE run in environments of their
own, which the first run makes, with what they can be told of the constraints and else as they come.
alibi is left out: its licence is no open one, and it asks for NumPy before 2. Times are those of
the processor, a recourse in a batch.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pandas as pd
from _dice_run import dice_recourses
from _ellice_run import ellice_recourses
from _given_families import families
from _relax_env import HERE, ISOLATED, SAME_FOOTING, CannotRunError, environment
from given_models import LATER, OTHERS, Data, Judged, asked_about, fit_network, judged

from rocourse import METHODS, Schema, datasets
from rocourse.certificates._intervals import Layers
from rocourse.evaluation import common_judges, split
from rocourse.models.adapters import adapt
from rocourse.schema import compact, one_hot

DECIDERS: Mapping[str, str] = {"german_credit": "", "loan": "2004"}
KEPT = (0.8, 0.95)
# Steps and learning rate of jax-relax's VanillaCF: its defaults, and larger steps.
SEARCHES = ((1000, 0.001), (1000, 0.01))
# The loss that last layers may give away, for ElliCE.
EPSILON = 0.02
_NAMES = ("broken", "valid", "kept", "worst", "common", "common_worst", "cost", "ms")


class Network(NamedTuple):
    """scikit-learn's network as one of encoded rows, for libraries that take nothing else."""

    weights: list[np.ndarray]
    biases: list[np.ndarray]

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Of the favourable class."""
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.maximum(x @ weight.T + bias, 0.0)
        return 1.0 / (1.0 + np.exp(-(x @ self.weights[-1].T + self.biases[-1])[:, 0]))


def main() -> int:
    """Prints a table a data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DECIDERS, default=list(DECIDERS))
    parser.add_argument("--asked", type=int, default=20, help="refused applicants (20)")
    parser.add_argument("--json", type=Path, help="also write the figures there, a line each")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in options.data:
        print("| data | method | n | broken | valid | kept | worst | common | worst | cost | ms |")
        print("|" + "---|" * 11)
        for line in measure(name, options.asked):
            lines.append(line)
            cells = [f"{line[key]:.3g}" if key in line else "–" for key in _NAMES]
            print("|", " | ".join([line["data"], line["method"], str(line["n"]), *cells]), "|")
            sys.stdout.flush()
    if options.json is not None:
        command = "python benchmarks/peers.py " + " ".join(sys.argv[1:])
        header = {"format": "rocourse-benchmarks", "version": 1, "command": command}
        options.json.write_text("\n".join(map(json.dumps, [header, *lines])) + "\n")
    return 0


def measure(name: str, count: int) -> Iterator[dict[str, Any]]:
    """The figures of each method."""
    subsets = None if name == "german_credit" else [DECIDERS[name], *LATER]
    table = datasets.load(name, subsets=subsets)
    schema, target = table.actionable_schema, table.target
    assert schema.target is not None
    data = Data(schema, target, schema.target.favourable, table.subsets)
    parts = {key: split(rows, target, seed=0) for key, rows in table.subsets.items()}
    decider, *others = parts
    make = families([f.name for f in schema.categorical], [f.name for f in schema.continuous])

    def labels(rows: pd.DataFrame) -> Any:
        return (rows[target] == data.favourable).astype(int)

    def fitted(rows: pd.DataFrame) -> Any:
        return make["network"]().fit(rows.drop(columns=target), labels(rows))

    train, test = parts[decider]
    model, rows = fitted(train), test.drop(columns=target)
    refused = rows[model.predict(rows) == 0].sample(frac=1.0, random_state=0)[:count]
    trains = [parts[other][0] for other in others]
    fits = {"network": fit_network(schema), **common_judges(schema)}
    common = {
        kind: [fit(part.drop(columns=target), part[target], 0) for part in trains]
        for kind, fit in fits.items()
    }
    judges = Judged(refused, [fitted(part) for part in trains], common)
    (other,) = (label for label in schema.target.classes if label != data.favourable)
    given = adapt(model, schema, classes=[other, data.favourable])
    said = {"data": f"{name} {decider}"}
    labelled = train.drop(columns=target), train[target]
    advisor = METHODS["rocourse"](schema, model=given, random_state=0, proposer__kept=max(KEPT))
    advisor.fit(*labelled)
    for kept in KEPT:
        line, _ = asked_about(advisor.promising(kept), f"rocourse {kept}", judges, model, data)
        yield said | {"broken": 0.0} | line
    for method in OTHERS:
        explainer = METHODS[method](schema, model=given, random_state=0).fit(*labelled)
        line, _ = asked_about(explainer, method, judges, model, data)
        yield said | {"broken": 0.0} | line
    network = network_of(model, schema)
    here = one_hot(schema.encode(refused), schema.layout).astype(float)
    if np.abs(network.probabilities(here) - model.predict_proba(refused)[:, 1]).max() > 1e-3:
        sys.exit("The network of encoded rows must be the one that decides; it is not.")
    shown = labelled[0].assign(granted=labels(train))
    for ask in (
        lambda: dice(schema, shown, refused, model),
        lambda: relax(schema, network, here),
        lambda: ellice(schema, network, labelled[0], labels(train).to_numpy(), here),
    ):
        try:
            found = ask()
        except CannotRunError as error:
            print(error, file=sys.stderr)
            continue
        for method, (places, proposed, milliseconds) in found.items():
            starts = refused.iloc[places]
            attempts, broken = settled(schema, starts, proposed)
            line, _ = judged(starts, attempts, judges, model, schema)
            yield said | line | {"method": method, "broken": broken, "ms": milliseconds}


Found = dict[str, tuple[np.ndarray, Any, float]]
"""By method: the places of rows with a proposal, the proposals encoded, milliseconds a row."""


def settled(schema: Schema, starts: pd.DataFrame, proposed: Any) -> tuple[pd.DataFrame, float]:
    """Proposals that keep the constraints, as rows; and the share of them that did not before."""
    here = schema.encode(starts)
    kept = schema.settle(starts, here, proposed)
    rows = schema.decode(kept).set_index(starts.index)
    # A whole number is one after rounding.
    raw = schema.decode(proposed).set_index(starts.index)
    numbers = [feature.name for feature in schema.continuous]
    spans = np.array([feature.high - feature.low for feature in schema.continuous])
    moved = np.abs(rows[numbers].to_numpy(float) - raw[numbers].to_numpy(float)) > 0.01 * spans
    other = kept.categories != proposed.categories
    return rows, float((moved.any(axis=1) | other.any(axis=1)).mean()) if len(rows) else 0.0


def network_of(model: Any, schema: Schema) -> Network:
    """The network with what comes before it taken into its first layer."""
    columns, net = model[0], model[1]
    encoder, scaler = (step for _, step, _ in columns.transformers_[:2])
    first = net.coefs_[0].T
    width = sum(map(len, encoder.categories_))
    weights, shift = np.zeros((len(first), schema.layout.width)), net.intercepts_[0].copy()
    for k, feature in enumerate(schema.continuous):
        part = first[:, width + k] / scaler.scale_[k]
        weights[:, k] = part * (feature.high - feature.low)
        shift += part * (feature.low - scaler.mean_[k])
    start = 0
    groups = zip(schema.categorical, schema.layout.group_slices, encoder.categories_, strict=True)
    for feature, where, known in groups:
        place = {value: start + k for k, value in enumerate(known.tolist())}
        for k, value in enumerate(feature.categories):
            if value in place:
                weights[:, where.start + k] = first[:, place[value]]
        start += len(known)
    return Network([weights, net.coefs_[1].T], [shift, net.intercepts_[1]])


def dice(schema: Schema, train: pd.DataFrame, rows: pd.DataFrame, model: Any) -> Found:
    """DiCE by its two methods."""
    said = model.predict_proba(rows)[:, 1]
    found, _ = dice_recourses(schema, train, rows, "network", "granted", said)
    return {
        f"DiCE {method}": (
            proposed.index.to_numpy(),
            schema.encode(proposed[list(schema.names)]),
            1e3 * float(seconds.mean()),
        )
        for method, (proposed, seconds) in found.items()
    }


def relax(schema: Schema, network: Network, x: np.ndarray) -> Found:
    """jax-relax's VanillaCF; the first search of each kind, which compiles, is not timed."""
    python = environment(HERE.parent / ".venv-relax")
    fixed = [k for k, f in enumerate((*schema.continuous, *schema.categorical)) if f.immutable]
    arrays = {f"weight{k}": part for k, part in enumerate(network.weights)}
    arrays |= {f"bias{k}": part for k, part in enumerate(network.biases)}
    found: Found = {}
    with TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(
            problem,
            rows=x.astype(np.float32),
            n_continuous=len(schema.continuous),
            group_sizes=[len(feature.categories) for feature in schema.categorical],
            fixed=fixed,
            slope=0.0,
            **{name: part.astype(np.float32) for name, part in arrays.items()},
        )
        save = str(Path(folder) / "found.npz")
        for steps, rate in SEARCHES:
            request = {"call": "compiled", "steps": steps, "rate": rate, "save": save}
            done = subprocess.run(
                [str(python), *ISOLATED, str(HERE / "_relax_worker.py"), str(problem)],
                input=2 * f"{json.dumps(request)}\n",
                capture_output=True,
                text=True,
                env={**os.environ, **SAME_FOOTING},
            )
            if done.returncode:
                raise CannotRunError(f"jax-relax ended with {done.stderr.splitlines()[-1:]}.")
            spent = json.loads(done.stdout.splitlines()[-1])["cpu"]
            with np.load(save) as file:
                proposed = compact(file["rows"].astype(np.float32), schema.layout)
            name = f"jax-relax VanillaCF, η = {rate:g}"
            found[name] = np.arange(len(x)), proposed, 1e3 * spent / len(x)
    return found


def ellice(
    schema: Schema, network: Network, train: pd.DataFrame, labels: np.ndarray, x: np.ndarray
) -> Found:
    """ElliCE by its two methods, for the last layer that decides."""
    layers = Layers(
        tuple(weight[None] for weight in network.weights[:-1]),
        tuple(bias[None] for bias in network.biases[:-1]),
        network.weights[-1][None],
        network.biases[-1],
    )
    last = np.append(network.weights[-1][0], network.biases[-1])
    known = one_hot(schema.encode(train), schema.layout).astype(float)
    found = ellice_recourses(schema, layers, last, known, labels, x, EPSILON, slope=0.0)
    return {
        f"ElliCE {method}": (
            np.arange(len(x)),
            compact(proposed.astype(np.float32), schema.layout),
            1e3 * seconds,
        )
        for method, (proposed, seconds) in found.items()
    }


if __name__ == "__main__":
    sys.exit(main())
