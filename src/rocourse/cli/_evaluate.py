"""`rocourse evaluate`: how good a model and its recourses are on rows it was not trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocourse._places import Place, place
from rocourse.console import Output, options

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from rich.console import RenderableType

    from rocourse.engines import SpreadModel
    from rocourse.estimators import RecourseClassifier
    from rocourse.evaluation import GroupFigures, ModelScores, Plausibility, RecourseScores
    from rocourse.schema import Target

EXAMPLES = options.examples(
    "rocourse evaluate model/ test.csv",
    "rocourse evaluate model-2024/ test.csv --against model-2025/",
    "rocourse evaluate model/ test.csv --reference train.csv",
    "rocourse evaluate a/ test.parquet --against b/ --against c/ --json",
    "rocourse evaluate model/ test.csv --by sex,race --against retrained/",
    "rocourse evaluate model/ loans.csv --period year --kept 0.9",
    "rocourse evaluate model/ rows/ --against retrained/ --engine ray --address auto",
)

# Its name among models that are asked: no path of a judge.
_EVALUATED = ""


def evaluate(
    model: options.Model,
    data: options.Data,
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
        list[Place] | None,
        typer.Option(
            "--against",
            metavar="MODEL",
            parser=place,
            help="Model that judges the recourses (robust validity). Repeat for more.",
        ),
    ] = None,
    reference: Annotated[
        Place | None,
        typer.Option(
            "--reference",
            metavar="TRAIN",
            parser=place,
            help="Rows that the model was trained on, with their classes, to measure how plausible "
            "the recourses are.",
        ),
    ] = None,
    reliability: Annotated[
        Path | None,
        typer.Option(
            "--reliability",
            metavar="FIGURE",
            help="A .svg or .png file to draw in how often rows had the class, by the "
            "probability that they were given.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Column of the file to tell people by: cost, coverage, certainty and what is kept "
            f"for each group; several also crossed. {options.NAMES}",
        ),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            "--period",
            metavar="COLUMN",
            help="Column that says which year or month a row is of: the model is trained anew for "
            "each, and judged by what comes next (protocol rolling).",
        ),
    ] = None,
    kept: Annotated[
        float | None,
        typer.Option(
            "--kept",
            metavar="SHARE",
            help="With --period: share of promises to be kept, if not the model's own.",
        ),
    ] = None,
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure accuracy, calibration, validity, robust validity, proximity, sparsity, plausibility.

    With --period: which promises would have been kept, period after period.
    """
    from rocourse.artifacts import StoredModel
    from rocourse.console import fairness_lines, target_of
    from rocourse.engines import spread
    from rocourse.errors import DataError
    from rocourse.evaluation import constant_class, evaluate_model
    from rocourse.tables import read_rows, select_features, split_names

    if period is None and kept is not None:
        raise typer.BadParameter("--kept needs --period: other protocols train nothing.")
    if period is not None and (against or by or reference is not None or reliability is not None):
        raise typer.BadParameter(
            "--period brings judges of its own: leave out --against, --by and --reference."
        )
    if period is not None and (engine != "local" or jobs is not None):
        raise typer.BadParameter("--period trains here: leave out --engine and --jobs.")
    output = Output(as_json=as_json, quiet=quiet)
    where = options.engine(engine, address, jobs)
    if reliability is not None:
        _check_figure(reliability, force)
    stored = {_EVALUATED: StoredModel(model, model_from)}
    fitted = stored[_EVALUATED]()
    if period is not None:
        _evaluate_rolling(output, fitted, model, data, target, period, kept, drop)
        return
    for judge in against or ():
        stored[str(judge)] = StoredModel(judge, model_from)
        _check_judge(fitted, stored[str(judge)](), str(judge))
    frame = read_rows(data, schema=fitted.schema_, drop=drop)
    frame, labels, notes = _labels(frame, target, target_of(fitted))
    output.show(*notes)
    if reliability is not None and labels is None:
        raise DataError(
            "--reliability needs the classes of the rows, but they have none; name their column "
            "by --target."
        )
    rows = select_features(frame, fitted.schema_)
    known = (
        None
        if reference is None
        else _read_reference(fitted, reference, target or target_of(fitted).name)
    )
    with spread(stored, where) as judges:
        asked = judges.pop(_EVALUATED)
        groups = _groups(asked, frame, rows, split_names(by, frame.columns), judges)
        scores = evaluate_model(asked, rows, labels, judges=judges, reference=known)
        # A judge that says the same of every row honours all recourses, or none, whatever they are.
        constant = {path: constant_class(judge.predict(rows)) for path, judge in judges.items()}
    output.emit(
        {
            "model": str(model),
            "data": str(data),
            "reference": None if reference is None else str(reference),
            "scores": scores.to_dict(),
            **({"groups": {name: one.to_dict() for name, one in groups.items()}} if by else {}),
            "constant_judges": {
                path: label for path, label in constant.items() if label is not None
            },
        }
    )
    output.show(*_tables(scores, list(judges)), *fairness_lines(groups))
    if reliability is not None and labels is not None:
        _draw_reliability(reliability, fitted, rows, labels, force)
        output.show(f"Reliability drawn in {reliability}")
    for path, label in constant.items():
        if label is not None:
            output.show(
                f"The judge {path} predicts {label} for every row, so that its verdict says "
                "nothing about the recourses."
            )


def _groups(
    asked: "SpreadModel",
    frame: "pd.DataFrame",
    rows: "pd.DataFrame",
    names: list[str],
    judges: "dict[str, SpreadModel]",
) -> "dict[str, GroupFigures]":
    """What recourse is like for groups of people."""
    import numpy as np

    from rocourse.console import target_of
    from rocourse.errors import DataError
    from rocourse.evaluation import fairness

    if not names:
        return {}
    if absent := [name for name in names if name not in frame.columns]:
        raise DataError(
            f"--by must name columns of the rows, but they have no {absent[0]!r}; name one of "
            f"{', '.join(map(str, frame.columns))}."
        )
    found = asked.recourse(rows, desired=target_of(asked.model).wanted())
    kept = None
    if judges:
        changed = found.attempted()
        kept = np.mean([one.predict(changed) == found.desired for one in judges.values()], axis=0)
    columns = {name: frame[name] for name in names}
    return fairness(found, columns, kept=kept, promises=asked.model.proposer_.promises)


def _evaluate_rolling(
    output: Output,
    fitted: "RecourseClassifier",
    model: Place,
    data: Place,
    target: str | None,
    period: str,
    kept: float | None,
    drop: list[str] | None,
) -> None:
    from rocourse._wording import show
    from rocourse.console import rolling_lines, take_period, target_of
    from rocourse.errors import DataError
    from rocourse.experiments import evaluate_rolling
    from rocourse.tables import read_rows, rows_with_class, select_features, take_target

    if period in fitted.schema_.names:
        raise DataError(
            f"--period must name a column that is no feature of the model, but got {show(period)}; "
            f"train it with --period {period}."
        )
    frame, periods = take_period(read_rows(data, schema=fitted.schema_, drop=drop), period)
    assert periods is not None  # a period was named
    frame, labels = take_target(frame, target or target_of(fitted).name)
    known, notes = rows_with_class(labels, target_of(fitted))
    output.show(*notes)
    rows = select_features(frame, fitted.schema_)[known]
    with output.progress() as report:
        result = evaluate_rolling(
            fitted,
            rows,
            labels[known].rename(target_of(fitted).name),
            periods[known],
            kept=kept,
            on_progress=lambda done, total, name: report("models", done, total, name),
        )
    told = {"model": str(model), "data": str(data), "rolling": result.to_dict()}
    output.emit({**told, "mean": result.means()})
    output.show(*rolling_lines(result))


def _check_figure(path: Path, force: bool) -> None:
    from rocourse.artifacts import check_file_path
    from rocourse.errors import OutputError

    if path.suffix.lower() not in (".svg", ".png"):
        raise OutputError(
            f"The figure {str(path)!r} must end in .svg or .png, but it ends in {path.suffix!r}; "
            "rename it."
        )
    check_file_path(path, force=force)


def _draw_reliability(
    path: Path,
    fitted: "RecourseClassifier",
    rows: "pd.DataFrame",
    labels: "pd.Series[Any]",
    force: bool,
) -> None:
    from rocourse.artifacts import write_file
    from rocourse.evaluation import reliability
    from rocourse.reports import reliability_figure, to_png, to_svg

    bins = reliability(labels, fitted.predict_proba(rows), fitted.classes_)
    two = len(fitted.classes_) == 2
    title = f"Probability of {fitted.classes_[1]}" if two else "Most probable class"
    figure = reliability_figure(bins, title=title)
    draw = to_svg if path.suffix.lower() == ".svg" else to_png
    write_file(path, draw(figure), force=force)


def _labels(
    frame: "pd.DataFrame", target: str | None, trained_on: "Target"
) -> tuple["pd.DataFrame", "pd.Series[Any] | None", list[str]]:
    from rocourse.tables import rows_with_class, take_target

    if target is None and trained_on.name not in frame.columns:
        return frame, None, []
    frame, labels = take_target(frame, target or trained_on.name)
    known, notes = rows_with_class(labels, trained_on)
    return frame[known], labels[known], notes


def _read_reference(fitted: "RecourseClassifier", path: Place, target: str) -> "Plausibility":
    """The training rows; columns that the model does not know are of no use and left out."""
    from rocourse.evaluation import Plausibility
    from rocourse.tables import read_labelled

    return Plausibility.fit(fitted.schema_, *read_labelled(path, fitted.schema_, target=target))


def _check_judge(fitted: "RecourseClassifier", judge: "RecourseClassifier", path: str) -> None:
    """Refuses a judge that cannot read the rows or does not know the classes."""
    from rocourse.console import target_of
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
    from rich.table import Table

    table = Table("recourses", "rows", title="Evaluation", title_justify="left")
    columns = _columns(scores, judges)
    for title, _ in columns:
        table.add_column(title)
    for protocol, found in scores.protocols.items():
        figures = (_figure(read(found)) for _, read in columns)
        table.add_row(protocol.replace("_", " "), str(found.rows), *figures)
    lines: list[RenderableType] = [
        table,
        f"{scores.rows} rows, accuracy {_figure(scores.accuracy)}, AUC {_figure(scores.auc)}, "
        f"Brier score {_figure(scores.brier)}, log loss {_figure(scores.log_loss)}, calibration "
        f"error {_figure(scores.calibration_error)}; favourable class {scores.favourable}",
    ]
    if scores.constant is not None:
        lines.append(
            f"The model predicts {scores.constant} for every row, so that validity says little."
        )
    return lines


def _columns(
    scores: "ModelScores", judges: list[str]
) -> list[tuple[str, "Callable[[RecourseScores], float | None]"]]:
    """Titles, and what stands below them."""
    from operator import attrgetter

    from rich.markup import escape

    columns: list[tuple[str, Callable[[RecourseScores], float | None]]]
    columns = [("validity", attrgetter("validity"))]
    if judges:
        columns.append(("robust validity", attrgetter("robust_validity")))
    for judge in judges if len(judges) > 1 else []:
        columns.append((escape(f"by {judge}"), _judged_by(judge)))
    if judges:
        columns.append(("unchanged", attrgetter("unchanged_validity")))
    columns.append(("proximity", attrgetter("proximity")))
    columns.append(("features changed", attrgetter("features_changed")))
    if any(found.neighbour_distance is not None for found in scores.protocols.values()):
        columns.append(("neighbour distance", attrgetter("neighbour_distance")))
        columns.append(("inliers", attrgetter("inliers")))
    return columns


def _judged_by(judge: str) -> "Callable[[RecourseScores], float | None]":
    return lambda found: found.judged[judge]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
