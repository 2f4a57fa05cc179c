"""`rocourse evaluate`: how good a model and its recourses are on rows it was not trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse.cli import _options
from rocourse.cli._console import Output

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from rocourse.evaluation import ModelScores
    from rocourse.methods import RecourseClassifier

EXAMPLES = _options.examples(
    "rocourse evaluate model/ test.csv",
    "rocourse evaluate model-2024/ test.csv --against model-2025/",
    "rocourse evaluate a/ test.parquet --against b/ --against c/ --json",
)


def evaluate(
    model: _options.Model,
    data: _options.Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COL",
            help="Column of the true classes; by default the one that the model was trained on, if "
            "it is there.",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="MODEL",
            help="Model that judges the recourses (robust validity). Repeat for more.",
        ),
    ] = None,
    drop: _options.Drop = None,
    as_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Measure accuracy, validity, robust validity, proximity and features changed."""
    from rocourse.artifacts import load
    from rocourse.cli._rows import read_rows, select_features, target_of
    from rocourse.evaluation import constant_class, evaluate_model

    output = Output(as_json=as_json, quiet=quiet)
    fitted = load(model)
    judges = {str(path): load(path) for path in against or ()}
    for path, judge in judges.items():
        _check_judge(fitted, judge, path)
    frame = read_rows(data, schema=fitted.schema_, drop=drop)
    frame, labels = _labels(frame, target, target_of(fitted).name)
    rows = select_features(frame, fitted.schema_)
    scores = evaluate_model(fitted, rows, labels, judges=judges)
    # A judge that says the same of every row honours all recourses, or none, whatever they are.
    constant = {path: constant_class(judge.predict(rows)) for path, judge in judges.items()}
    output.emit(
        {
            "model": str(model),
            "data": str(data),
            "scores": scores.to_dict(),
            "constant_judges": {
                path: label for path, label in constant.items() if label is not None
            },
        }
    )
    output.show(*_tables(scores, list(judges)))
    for path, label in constant.items():
        if label is not None:
            output.show(
                f"The judge {path} predicts {label} for every row, so that its verdict says "
                "nothing about the recourses."
            )


def _labels(
    frame: "pd.DataFrame", target: str | None, trained_on: str
) -> tuple["pd.DataFrame", "pd.Series[Any] | None"]:
    from rocourse.cli._rows import take_target

    if target is None and trained_on not in frame.columns:
        return frame, None
    return take_target(frame, target or trained_on)


def _check_judge(fitted: "RecourseClassifier", judge: "RecourseClassifier", path: str) -> None:
    """Refuses a judge that cannot read the rows or does not know the classes."""
    from rocourse.cli._rows import target_of
    from rocourse.errors import SchemaError
    from rocourse.schema import Categorical

    ours, theirs = fitted.schema_, judge.schema_
    if different := sorted(set(ours.names) ^ set(theirs.names)):
        where = "has no such feature" if different[0] in ours.names else "asks for it"
        raise SchemaError(
            f"Model {path!r} of --against must have the features of the evaluated model, but they "
            f"differ in {different[0]!r}: it {where}; give a model of the same schema."
        )
    for feature in ours.features:
        other = theirs[feature.name]
        kinds_differ = isinstance(feature, Categorical) != isinstance(other, Categorical)
        categories = getattr(feature, "categories", ())
        unknown = [value for value in categories if value not in getattr(other, "categories", ())]
        if kinds_differ or unknown:
            what = "is of another kind" if kinds_differ else f"has no category {unknown[0]!r}"
            raise SchemaError(
                f"Model {path!r} of --against must have the features of the evaluated model, but "
                f"its {feature.name!r} {what}; give a model of the same schema."
            )
    known, judged = target_of(fitted).classes, target_of(judge).classes
    if set(known) != set(judged):
        raise SchemaError(
            f"Model {path!r} of --against must know the classes {list(known)}, but it knows "
            f"{list(judged)}; give a model of the same target."
        )


def _tables(scores: "ModelScores", judges: list[str]) -> list["RenderableType"]:
    from rich.markup import escape
    from rich.table import Table

    table = Table("recourses", "rows", "validity", title="Evaluation", title_justify="left")
    if judges:
        table.add_column("robust validity")
    for judge in judges if len(judges) > 1 else []:
        table.add_column(escape(f"by {judge}"))
    table.add_column("proximity")
    table.add_column("features changed")
    for protocol, found in scores.protocols.items():
        table.add_row(
            protocol.replace("_", " "),
            str(found.rows),
            _figure(found.validity),
            *([_figure(found.robust_validity)] if judges else []),
            *([_figure(found.judged[judge]) for judge in judges] if len(judges) > 1 else []),
            _figure(found.proximity),
            _figure(found.features_changed),
        )
    lines: list[RenderableType] = [
        table,
        f"{scores.rows} rows, accuracy {_figure(scores.accuracy)}, AUC {_figure(scores.auc)}, "
        f"favourable class {scores.favourable}",
    ]
    if scores.constant is not None:
        lines.append(
            f"The model predicts {scores.constant} for every row, so that validity says little."
        )
    return lines


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
