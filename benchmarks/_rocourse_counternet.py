"""Trains rocourse's CounterNet once; started by `counternet_vs_relax.py`, in a fresh process."""

import jax
import numpy as np
import pandas as pd
from _counternet_task import Clock, Data, Outcome, Settings, read_task, write_answer
from _loan_shapes import make_schema

from rocourse import CounterNet, GeneratorProposer, JointTrainer
from rocourse.schema import one_hot


def main() -> None:
    """Times a training, then sees what trainings of fewer epochs end with."""
    data, settings = read_task()
    frame, label = tables(data)
    train, validation = frame[: data.n_training], frame[data.n_training :]
    label = label[: data.n_training]
    model = configured(settings)
    clock = Clock()
    model.fit(train, label, on_epoch=lambda _: clock.lap())
    jax.block_until_ready(jax.live_arrays())
    clock.lap()
    outcomes = []
    for epochs in settings.checkpoints:
        # Weights can only be had at the end of a training; the same seed takes the same path.
        model.set_params(trainer__epochs=epochs).fit(train, label)
        outcomes.append(outcome(model, validation))
    write_answer(clock, outcomes, ("jax", "equinox", "optax"))


def tables(data: Data) -> tuple[pd.DataFrame, pd.Series]:
    """The rows and labels as a user of rocourse has them."""
    columns = [pd.DataFrame(data.continuous), pd.DataFrame(data.codes)]
    frame = pd.concat(columns, axis=1).set_axis(list(make_schema().names), axis=1)
    return frame, pd.Series(data.label, name="approved")


def configured(settings: Settings) -> CounterNet:
    """CounterNet with jax-relax's losses and kind of generator."""
    # rocourse takes squared errors whole.
    prediction, validity, proximity = (value / 2 for value in settings.lambdas)
    return CounterNet(
        schema=make_schema(),
        trainer=JointTrainer(
            encoder_widths=settings.encoder,
            head_widths=settings.head,
            dropout=settings.dropout,
            prediction_weight=prediction,
            learning_rate=settings.learning_rate,
            batch_size=settings.batch_size,
            epochs=settings.epochs,
            # The validation rows are apart already: all rows given are for training.
            validation_fraction=0.0,
        ),
        proposer=GeneratorProposer(
            network="rebuild",
            widths=settings.generator,
            target_input=False,
            dropout=settings.dropout,
            proximity_loss="mse",
            validity_weight=validity,
            proximity_weight=proximity,
        ),
        random_state=settings.seed,
    )


def outcome(model: CounterNet, rows: pd.DataFrame) -> Outcome:
    """What the fitted model says of the rows."""
    advice = model.recourse(rows)
    return Outcome(
        probability=model.predict_proba(rows)[:, 1],
        recourses=one_hot(advice.attempts, advice.schema.layout),
        probability_after=np.where(advice.desired == 1, advice.probability, 1 - advice.probability),
    )


if __name__ == "__main__":
    main()
