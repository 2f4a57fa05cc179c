"""`rocourse train`: fit a classifier and what gives its recourses."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse._places import Place, place
from rocourse.console import Output, options, with_schema_options

if TYPE_CHECKING:
    from rich.table import Table

    from rocourse.console import ColumnOptions
    from rocourse.estimators import RecourseClassifier

EXAMPLES = options.examples(
    "rocourse train applicants.csv --target approved --out model/",
    "rocourse train applicants.csv --target approved --immutable age,sex --out m/",
    "rocourse train mortgages.csv --target deny --favourable no --fix safe --out m/",
    "rocourse train loans.parquet --target paid --schema schema.json --out m/",
    "rocourse train loans.csv --target paid --kept 0.9 --period year --out m/",
    "rocourse train loans.csv --target paid --approval-rate 0.6 --out m/",
    "rocourse train loans.csv --target paid --id number --missing income=impute --out m/",
    "rocourse train loans.csv --target paid --method roar --set proposer.delta_max=0.05 --out m/",
    "rocourse train loans.csv --target paid --method rbr --explain model/ --out m/",
    "rocourse train loans.csv --target paid --set trainer.epochs=20 --out m/ --force",
)

# Of the attack's shifts, which are not those of the next year.
_MEASURED = {
    "accuracy": "accuracy",
    "validity": "validity",
    "robust_validity": "validity under the attack",
}


@with_schema_options
def train(
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Place,
        typer.Option(
            "--out", metavar="MODEL", parser=place, help="Directory to write the model to."
        ),
    ],
    method: options.Method = "rocourse",
    kept: Annotated[
        float | None,
        typer.Option(
            "--kept",
            metavar="SHARE",
            show_default="0.95",
            help="Share of promises to be kept when the model is retrained; by methods that "
            "promise.",
        ),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            "--period",
            metavar="COLUMN",
            help="Column that says which period, branch or batch a row is of: what changed "
            "between them tells how far the world moves. No feature.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="P",
            show_default="the most probable class",
            help="Probability of the favourable class from which on it is granted.",
        ),
    ] = None,
    approval_rate: Annotated[
        float | None,
        typer.Option(
            "--approval-rate",
            metavar="SHARE",
            help="Share of the training rows that are to be granted it; sets the threshold.",
        ),
    ] = None,
    explain: Annotated[
        Place | None,
        typer.Option(
            "--explain",
            metavar="MODEL",
            parser=place,
            help="Trained model to find recourses for, by a method that comes after training.",
        ),
    ] = None,
    schema: options.SchemaFile = None,
    drop: options.Drop = None,
    fix: options.Fix = None,
    *,
    columns: "ColumnOptions",
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Parameters in a .toml, .yaml or .json file."
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One parameter; wins over --config."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same seed, same model.")
    ] = 0,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a classifier that comes with recourse."""
    from rocourse.artifacts import check_model_path, save

    output = Output(as_json=as_json, quiet=quiet)
    check_model_path(out, force=force)

    from rocourse.console import (
        chosen_method,
        read_parameters,
        read_training_rows,
        target_of,
    )
    from rocourse.estimators import named_options

    estimator = chosen_method(method)
    parameters = read_parameters(
        config, assignments, known=estimator().get_params(), named=named_options
    )
    explained = None if explain is None else _explained(explain, schema)
    stated = {"kept": kept, "threshold": threshold, "approval_rate": approval_rate}
    parameters |= {name: value for name, value in stated.items() if value is not None}
    if fix is not None and (schema is not None or explained is not None):
        raise typer.BadParameter("--fix must come without --schema and --explain.")
    fitted_schema, X, y, groups, look, gaps = read_training_rows(
        data,
        target,
        schema,
        drop,
        columns,
        period=period,
        known=None if explained is None else explained.schema_,
        fix=fix is not None,
    )
    if explained is not None:
        parameters["model"] = explained
    # Not by the constructor, which knows no parameters of objects within.
    model = estimator(schema=fitted_schema, random_state=seed).set_params(**parameters)
    model.check_parameters()
    for line in [] if look is None else look.lines():
        output.warn(line)
    output.show(*gaps)
    start = time.perf_counter()
    epochs = model.planned_epochs
    with output.progress() as report:

        def on_epoch(record: dict[str, float]) -> None:
            report("epoch", int(record["epoch"]), epochs, _figures(record))

        # Compilation comes before the first epoch, and takes longer than many of them.
        report("epoch", 0, epochs, "compiling")
        model.fit(X, y, groups=groups, on_epoch=on_epoch)
    seconds = time.perf_counter() - start
    save(model, out, force=force)
    result = {
        "model": str(out),
        "method": method,
        "rows": len(X),
        "features": len(model.schema_.features),
        "classes": list(target_of(model).classes),
        "favourable": target_of(model).favourable,
        "threshold": None if model.cut_off_ is None else model.cut_off_.threshold,
        "missing": gaps,
        "seed": seed,
        "epochs": model.n_iter_,
        "best_epoch": model.best_epoch_,
        "seconds": round(seconds, 3),
        "pledge": None if (pledge := model.pledge()) is None else pledge._asdict(),
        "warnings": [] if look is None else [f.sentence for f in look.check.of("warning")],
        "fixed": [] if look is None else list(look.fixed),
        "metrics": next((r for r in model.history_ if r["epoch"] == model.best_epoch_), {}),
    }
    output.emit(result)
    told = target_of(model)
    notes = [
        f"People will be told how to become {told.name} = {told.favourable}.",
        f"Model written to {out}",
    ]
    if pledge is not None and pledge.expected is None:
        notes.insert(1, _NO_PROMISE)
    elif pledge is not None and groups is None:
        notes.insert(1, _MADE_UP)
    output.show(_table(result), *notes)


_MADE_UP = (
    "Promises are held to made-up shifts; the next model may move in a way of its own. If rows are "
    "of several years, branches or batches, say so with --period."
)

_NO_PROMISE = (
    "Nothing can be promised: models of shifted rows disagree too often about those who are told "
    "something. All advice is only valid today; a smaller --kept, more rows or wider limits of "
    "change may help."
)


def _explained(path: Place, schema_file: Path | None) -> "RecourseClassifier":
    from rocourse.artifacts import load

    if schema_file is not None:
        raise typer.BadParameter("--explain and --schema exclude each other.")
    return load(path)


def _figures(record: dict[str, float]) -> str:
    shown = ("accuracy", "validity", "robust_validity")
    return " ".join(
        f"{name.replace('_', ' ')} {record[name]:.2f}" for name in shown if name in record
    )


def _granted(threshold: float | None) -> list[tuple[str, str]]:
    return [] if threshold is None else [("granted from a probability of", f"{threshold:.4g}")]


def _pledged(pledge: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What is promised, in words."""
    if pledge is None:
        return []
    expected = pledge["expected"]
    kept = "none could be made" if expected is None else f"{expected:.3f} kept by other models"
    return [
        ("promises to be kept", f"{pledge['kept']:g}"),
        ("promises, on training rows", kept),
        ("refused who are promised something", f"{pledge['coverage']:.3f}"),
    ]


def _table(result: dict[str, Any]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Training", title_justify="left", show_header=False)
    metrics = result["metrics"]
    for name, value in (
        ("method", result["method"]),
        ("rows × features", f"{result['rows']} × {result['features']}"),
        ("classes", ", ".join(map(str, result["classes"]))),
        ("favourable class", str(result["favourable"])),
        *_granted(result["threshold"]),
        *(
            [("weights of epoch", f"{result['best_epoch']} of {result['epochs']}")]
            if result["epochs"]
            else []
        ),
        ("time", f"{result['seconds']:.1f} s"),
        *(
            (f"held-out {title}", f"{metrics[name]:.3f}")
            for name, title in _MEASURED.items()
            if name in metrics
        ),
        *_pledged(result["pledge"]),
    ):
        table.add_row(name, escape(value))
    return table
