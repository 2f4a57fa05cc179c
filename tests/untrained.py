"""Models with random weights, for tests that ask about answers and not about training."""

import equinox as eqx
import jax

from rocourse.models import NetworkModel
from rocourse.models.training import build_predictor, named_tensors
from rocourse.options import plain
from rocourse.recourse import Context


def untrained(blank, *, seed=0):
    """An estimator that has a schema and trains a generator, as if it had been fitted."""
    schema, trainer = blank.schema, blank.trainer
    network, generator = _networks(schema, trainer, blank.proposer, jax.random.key(seed))
    options = {name: plain(getattr(blank, name)) for name in ("trainer", "proposer", "attack")}
    header = {
        "schema": schema.to_dict(),
        "params": {**options, "random_state": seed},
        "fitted": options,
        "network": {"encoder": list(trainer.encoder_widths), "head": list(trainer.head_widths)},
        "named_columns": True,
        "seed": seed,
        "best_epoch": 1,
        "history": [{"epoch": 1, "accuracy": 0.5, "validity": 0.0, "robust_validity": 0.0}],
        "supplied": [],
    }
    tensors = named_tensors(network, "network") | named_tensors(generator, "state")
    return type(blank).from_state(header, tensors)


# Compiled as a whole: one operation after the other takes seconds.
@eqx.filter_jit
def _networks(schema, trainer, proposer, key):
    network = build_predictor(
        schema.layout,
        len(schema.target.classes),
        trainer.encoder_widths,
        trainer.head_widths,
        key=key,
    )
    context = Context(schema, NetworkModel(network, (network,)), network, seed=0)
    return network, proposer.skeleton(context)
