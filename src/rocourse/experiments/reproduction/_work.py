"""What each kind of job does: from its inputs, and the models that it needs, to its result."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from threadpoolctl import threadpool_limits

from rocourse.attack import Attack
from rocourse.errors import RocourseError
from rocourse.estimators import METHODS, RecourseClassifier, oracle
from rocourse.evaluation import accuracy, fit_seed, judge_subset
from rocourse.experiments._tuning import tune, versions
from rocourse.experiments._tuning_result import TuningResult
from rocourse.experiments.reproduction._attack import attack_recourses
from rocourse.experiments.reproduction._choosing import (
    fold_accuracies,
    inlier_shares,
    judged_choice,
    shifted_choice,
)
from rocourse.experiments.reproduction._jobs import Job, as_parameters
from rocourse.experiments.reproduction._promise_work import judge_promises
from rocourse.experiments.reproduction._rows import read_rows, read_untested_rows
from rocourse.experiments.reproduction._store import Store
from rocourse.options import plain

TEST_SIZE = 0.25

Issue = Callable[[RecourseClassifier, list[RecourseClassifier]], RecourseClassifier]


def run_job(job: Job, store: Store) -> float:
    """Does a job and keeps its result; how many seconds it took."""
    start = perf_counter()
    # A job is one core's work: threads of scikit-learn would only wait for each other.
    with threadpool_limits(limits=1):
        result = KINDS[job.kind](job, store)
    seconds = perf_counter() - start
    store.write(job, result, seconds=seconds)
    return seconds


def attempt(job: Job, folder: Path, packed: Path | None) -> tuple[float, str | None]:
    """As `run_job`, but a failure is an answer: the seconds, and a sentence if it failed.

    Args:
        job: What to do.
        folder: Of single results and models; see `Store`.
        packed: Of packed results.
    """
    start = perf_counter()
    try:
        return run_job(job, Store(folder, packed)), None
    except RocourseError as error:
        sentence = str(error)
    except Exception as error:
        # Whatever one job meets, the others go on; its first line tells what it was.
        lines = str(error).splitlines() or [""]
        sentence = f"{type(error).__name__}: {lines[0]}"
    return perf_counter() - start, sentence


def _fit(job: Job, store: Store) -> dict[str, Any]:
    inputs = job.inputs
    rows = read_rows(inputs)
    seed = fit_seed(inputs["seed"], inputs["subset"])
    options = _options(job, store)
    # As in the paper, whose methods may ask for whatever is in the range of the data.
    method = METHODS[inputs["method"]]
    model = method(schema=rows.schema, unusual=True, random_state=seed, **options)
    wall, cpu = perf_counter(), process_time()
    model.fit(rows.train.drop(columns=rows.target), rows.train[rows.target])
    wall, cpu = perf_counter() - wall, process_time() - cpu
    model.save(store.model_path(job), force=True)
    predicted = model.predict(rows.test.drop(columns=rows.target))
    # The schema is the data set's, and the seed stands beside.
    parts = (model.trainer_, model.proposer_, model.attack_)
    parameters = dict(zip(("trainer", "proposer", "attack"), map(plain, parts), strict=True))
    return {
        "train_rows": len(rows.train),
        "test_rows": len(rows.test),
        "fit_seed": seed,
        "train_seconds": wall,
        "train_cpu_seconds": cpu,
        "epochs": model.n_iter_,
        "accuracy": accuracy(rows.test[rows.target], predicted),
        # All of them, not only those that differ: defaults may change, results do not.
        "parameters": parameters,
        "versions": versions(),
    }


def _tune(job: Job, store: Store) -> dict[str, Any]:
    inputs = job.inputs
    schema, target, frame = read_untested_rows(inputs)
    found = tune(
        frame,
        target,
        inputs["method"],
        schema=schema,
        fixed=_options(job, store),
        trials=inputs["trials"],
        price=inputs["price"],
        seed=inputs["seed"],
        data=inputs["dataset"],
        command="rocourse reproduce table-tuning",
    )
    return found.to_dict()


def _options(job: Job, store: Store) -> dict[str, Any]:
    """The parameters that are given, and those that the searches before it have found."""
    options = as_parameters(job.inputs["options"])
    for search in job.needs:
        found = store.read(search)
        assert found is not None  # a job starts when what it needs is there
        options |= TuningResult.from_dict(found).best.parameters
    return options


def _judge(job: Job, store: Store) -> dict[str, Any]:
    return _judged(job, store, lambda issuer, others: issuer)


def _oracle(job: Job, store: Store) -> dict[str, Any]:
    return _judged(job, store, oracle)


def _judged(job: Job, store: Store, issue: Issue) -> dict[str, Any]:
    """All models' verdicts on what becomes of one of them when it is told the others."""
    inputs = job.inputs
    rows = read_rows(inputs)
    fits = dict(zip(inputs["subsets"], job.needs, strict=True))
    fitted = store.read(fits[inputs["subset"]])
    assert fitted is not None  # a job starts when what it needs is there
    models = {subset: store.model(fit) for subset, fit in fits.items()}
    others = [model for subset, model in models.items() if subset != inputs["subset"]]
    models[inputs["subset"]] = issue(models[inputs["subset"]], others)
    result = judge_subset(
        inputs["subset"],
        rows.train,
        rows.test,
        rows.target,
        models,
        seed=inputs["seed"],
        seconds=(fitted["train_seconds"], fitted["train_cpu_seconds"]),
    )
    return {"target": rows.target, "test_size": TEST_SIZE, "subset": result.to_dict()}


def _history(job: Job, store: Store) -> dict[str, Any]:
    (fit,) = job.needs
    model = store.model(fit)
    return {"history": model.history_, "best_epoch": model.best_epoch_}


def _attack(job: Job, store: Store) -> dict[str, Any]:
    (fit,) = job.needs
    rows = read_rows(job.inputs)
    test = rows.test
    if len(test) > job.inputs["attacked_rows"]:
        test = test.sample(n=job.inputs["attacked_rows"], random_state=job.inputs["seed"])
    scores = attack_recourses(
        store.model(fit),
        test.drop(columns=rows.target),
        test[rows.target].to_numpy(),
        Attack(**job.inputs["attack"]),
        seed=fit_seed(job.inputs["seed"], job.inputs["subset"]),
    )
    return asdict(scores)


def _sample(job: Job, store: Store) -> dict[str, Any]:
    (fit,) = job.needs
    rows, model = read_rows(job.inputs), store.model(fit)
    test = rows.test.drop(columns=rows.target)
    target = model.schema_.target
    assert target is not None
    refused = test[model.predict(test) != target.wanted()]
    number = min(job.inputs["sampled_rows"], len(refused))
    drawn = refused.sample(n=number, random_state=job.inputs["seed"])
    recourse = model.recourse(drawn)
    return {
        "applicants": [
            {"changes": changes, "proximity": float(cost), "valid": bool(valid)}
            for changes, cost, valid in zip(
                recourse.descriptions(), recourse.proximity, recourse.valid, strict=True
            )
        ]
    }


def _alone(
    work: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> Callable[[Job, Store], dict[str, Any]]:
    """The kind of job that needs nothing but its inputs."""
    return lambda job, store: work(job.inputs)


KINDS: Mapping[str, Callable[[Job, Store], dict[str, Any]]] = {
    "fit": _fit,
    "tune": _tune,
    "judge": _judge,
    "oracle": _oracle,
    "sample": _sample,
    "history": _history,
    "attack": _attack,
    "shifted-choice": _alone(shifted_choice),
    "judged-choice": _alone(judged_choice),
    "folds": _alone(fold_accuracies),
    "inliers": _alone(inlier_shares),
    "promises": _alone(judge_promises),
}
"""What is done, by kind of job."""
