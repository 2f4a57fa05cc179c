"""`rocourse predict`: classes and probabilities of rows."""

from pathlib import Path
from typing import Annotated

import typer

from rocourse.cli import _options
from rocourse.cli._console import Output

EXAMPLES = _options.examples(
    "rocourse predict model/ applicants.csv",
    "rocourse predict model/ applicants.parquet --out predictions.parquet",
    "rocourse predict model/ applicants.csv --json",
)

_SHOWN_ROWS = 20


def predict(
    model: _options.Model,
    data: _options.Data,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .csv or .parquet file to write."),
    ] = None,
    drop: _options.Drop = None,
    force: _options.Force = False,
    as_json: _options.Json = False,
    quiet: _options.Quiet = False,
) -> None:
    """Predict the class of each row. Rows are counted from 0."""
    import pandas as pd

    from rocourse.artifacts import load
    from rocourse.cli._records import as_records, preview
    from rocourse.cli._rows import read_rows, select_features
    from rocourse.cli._tables import check_table_path, write_table

    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_table_path(out, force=force)
    fitted = load(model)
    rows = select_features(read_rows(data, schema=fitted.schema_, drop=drop), fitted.schema_)
    probabilities = fitted.predict_proba(rows)
    table = pd.DataFrame(
        {
            "row": rows.index,
            "predicted": fitted.classes_[probabilities.argmax(axis=1)],
            **{
                f"probability_{label}": probabilities[:, k].astype(float)
                for k, label in enumerate(fitted.classes_)
            },
        }
    )
    if out is not None:
        write_table(table, out, force=force)
    output.emit({"model": str(model), "data": str(data), "predictions": as_records(table)})
    if out is None:
        output.show(*preview(table, "Predictions", rows=_SHOWN_ROWS))
    else:
        output.show(f"Predictions for {len(table)} rows written to {out}")
