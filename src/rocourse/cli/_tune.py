"""`rocourse tune`: search for the parameters of a method on held-out rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rocourse._places import Place
from rocourse.console import Output, options, with_schema_options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocourse.console import ColumnOptions
    from rocourse.experiments import TuningResult

EXAMPLES = options.examples(
    "rocourse tune train.csv --target approved --out tuned.json",
    "rocourse tune train.csv --target approved --method roar --trials 40 --out tuned.json",
    "rocourse tune train.csv --target approved --out tuned.json --params best.json",
    "rocourse train train.csv --target approved --config best.json --out model/",
)

_SHOWN_TRIALS = 5


@with_schema_options
def tune(
    data: options.Data,
    target: options.Target,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="JSON file to write all trials to.")
    ],
    method: options.Method = "rocourse",
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="How many sets of parameters to try.")
    ] = 20,
    params: Annotated[
        Path | None,
        typer.Option(
            "--params",
            metavar="FILE",
            help="JSON file to write the best parameters to, for --config of train.",
        ),
    ] = None,
    protocol: Annotated[
        Literal["all", "adverse"],
        typer.Option("--protocol", help="Score recourses of all rows, or of refused ones only."),
    ] = "all",
    price: Annotated[
        float, typer.Option("--price", min=0.0, help="What a unit of proximity costs.")
    ] = 0.01,
    judges: Annotated[
        int, typer.Option("--judges", min=1, help="How many retrained predictors judge.")
    ] = 4,
    validation_rows: Annotated[
        int,
        typer.Option(
            "--validation-rows", min=1, help="The most held-out rows to make recourses for."
        ),
    ] = 1000,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How many times to cut the rows anew.")
    ] = 1,
    schema: options.SchemaFile = None,
    drop: options.Drop = None,
    *,
    columns: "ColumnOptions",
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Fixed parameters in a .toml, .yaml or .json file."
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="One fixed parameter; wins over --config."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same seed, same result.")
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trials side by side.")] = 1,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose a method's parameters by how its recourses fare with retrained predictors.

    Tune on training rows alone: what has been tuned on cannot be used to report results.
    """
    import json

    from rocourse.artifacts import check_file_path, write_file

    output = Output(as_json=as_json, quiet=quiet)
    where = options.engine(engine, address, jobs)
    for path in (out, params):
        if path is not None:
            check_file_path(path, force=force)

    from rocourse.console import chosen_method, read_parameters, read_training_rows
    from rocourse.estimators import named_options
    from rocourse.experiments import tune as run_tuning
    from rocourse.experiments import write_tuning

    estimator = chosen_method(method)
    fixed = read_parameters(
        config, assignments, known=estimator().get_params(), named=named_options
    )
    fitted_schema, X, y, _, _, gaps = read_training_rows(data, target, schema, drop, columns)
    output.show(*gaps)
    with output.progress() as report:
        # Compilation comes before the first model, and takes longer than some of them.
        report("judge", 0, 1 + judges, "compiling")
        result = run_tuning(
            X.assign(**{target: y}),
            target,
            method,
            schema=fitted_schema,
            fixed=fixed,
            trials=trials,
            protocol=protocol,
            price=price,
            judges=judges,
            repeats=repeats,
            max_validation_rows=validation_rows,
            seed=seed,
            jobs=jobs,
            engine=where,
            data=data.name,
            command=_command(
                data,
                {
                    "target": target,
                    "method": method,
                    "trials": trials,
                    "protocol": protocol,
                    "price": price,
                    "judges": judges,
                    "validation-rows": validation_rows,
                    "repeats": repeats,
                    "seed": seed,
                    "jobs": jobs,
                },
            ),
            on_progress=report,
        )
    write_tuning(result, out, force=force)
    if params is not None:
        text = json.dumps(result.to_dict()["best"]["parameters"], indent=1, allow_nan=False)
        write_file(params, text.encode(), force=force)
    output.emit(result.to_dict())
    output.show(*_tables(result), f"All trials written to {out}")
    if params is not None:
        output.show(f"Best parameters written to {params}")


def _command(data: Place, options: dict[str, object]) -> str:
    """The command without directories; fixed parameters are stored by themselves."""
    import shlex

    told = (f"--{name}={value}" for name, value in options.items())
    return shlex.join(["rocourse", "tune", data.name, *told])


def _tables(result: "TuningResult") -> list["RenderableType"]:
    from rich.table import Table

    names = list(result.space)
    measures = ("validity", "robust_validity", "proximity", "accuracy")
    table = Table("trial", "score", title="Best trials", title_justify="left")
    for name in (*measures, *names):
        table.add_column(name if name in names else name.replace("_", " "))
    scored = [trial for trial in result.trials if trial.score is not None]
    for trial in sorted(scored, key=lambda trial: -(trial.score or 0.0))[:_SHOWN_TRIALS]:
        table.add_row(
            str(trial.number),
            _figure(trial.score),
            *(_figure(trial.measures[name]) for name in measures),
            *(_shown(trial.parameters[name]) for name in names),
        )
    failed = len(result.trials) - len(scored)
    constant = (
        f" ({result.constant_judges} constant ones left out)" if result.constant_judges else ""
    )
    return [
        table,
        f"{len(result.trials)} trials, {failed} failed; {result.fit_rows} rows to fit, "
        f"{result.validation_rows} to validate, {len(result.judge_accuracies)} judges{constant}; "
        f"accuracy of a plain predictor {_figure(result.base_accuracy)}",
    ]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
