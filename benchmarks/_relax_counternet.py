"""Trains jax-relax's CounterNet once; started by `counternet_vs_relax.py`, in a fresh process."""

import os
from typing import Any

os.environ["KERAS_BACKEND"] = "jax"

import jax
import numpy as np
from _counternet_task import Clock, Data, Outcome, Settings, read_task, write_answer
from _relax_features import features_of
from relax.data_module import DataModule, DataModuleConfig
from relax.data_utils import Feature, FeaturesList
from relax.methods import CounterNet
from relax.methods.counternet import CounterNetConfig, CounterNetTrainingModule

# As many rows as rocourse looks at after every epoch.
OWN_VALIDATION_ROWS = 512


class Observed(CounterNetTrainingModule):
    """Its training module, which also keeps the weights and the time of each epoch."""

    def __init__(self, config: CounterNetConfig, clock: Clock) -> None:
        super().__init__(config)
        self.clock = clock
        self.epochs: list[Any] = []

    def validation_step(self, params: Any, rng_key: Any, batch: Any) -> Any:
        """Does what it did before; its first call in an epoch is the end of training in it."""
        if not self.epochs or params is not self.epochs[-1]:
            self.clock.lap()
            self.epochs.append(params)
        return super().validation_step(params, rng_key, batch)


def main() -> None:
    """Times a training, then judges the weights that each epoch ended with."""
    data, settings = read_task()
    rows = data_module(data)
    config = configured(settings)
    # Its batches are shuffled by NumPy's global generator, which `seed` does not reach.
    np.random.seed(settings.seed)
    clock = Clock()
    module = Observed(config, clock)
    CounterNet(config, cfnet_module=module).train(
        rows, batch_size=settings.batch_size, epochs=settings.epochs, seed=settings.seed
    )
    jax.block_until_ready(jax.live_arrays())
    clock.lap()
    validation = jax.numpy.asarray(data.x[data.n_training :])
    outcomes = [
        outcome(module, module.epochs[epoch - 1], validation) for epoch in settings.checkpoints
    ]
    write_answer(clock, outcomes, ("jax-relax", "jax", "keras", "dm-haiku", "optax"))


def data_module(data: Data) -> DataModule:
    """The training rows and some validation rows, which it looks at after every epoch."""
    n = data.n_training + OWN_VALIDATION_ROWS
    x, label = data.x[:n], data.label[:n, None].astype(np.float32)
    config = DataModuleConfig(
        data_name="loan",
        train_indices=list(range(data.n_training)),
        test_indices=list(range(data.n_training, n)),
    )
    features = features_of(x, data.continuous.shape[1], data.group_sizes.tolist())
    labels = FeaturesList([Feature("approved", label, "identity")])
    return DataModule(features, labels, config=config)


def configured(settings: Settings) -> CounterNetConfig:
    """The settings by its names."""
    lambda_1, lambda_2, lambda_3 = settings.lambdas
    return CounterNetConfig(
        enc_sizes=list(settings.encoder),
        pred_sizes=list(settings.head),
        exp_sizes=list(settings.generator),
        dropout_rate=settings.dropout,
        lr=settings.learning_rate,
        lambda_1=lambda_1,
        lambda_2=lambda_2,
        lambda_3=lambda_3,
    )


def outcome(module: CounterNetTrainingModule, params: Any, rows: jax.Array) -> Outcome:
    """What the weights of one epoch say of the rows."""
    key = jax.random.PRNGKey(0)
    recourses = module.generate_cf(params, key, rows)
    return Outcome(
        probability=np.asarray(module.pred_fn(params, key, rows))[:, 0],
        recourses=np.asarray(recourses),
        probability_after=np.asarray(module.pred_fn(params, key, recourses))[:, 0],
    )


if __name__ == "__main__":
    main()
