"""`rocourse predict`: classes and probabilities of rows."""

from contextlib import nullcontext
from functools import partial
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
    from rocourse.artifacts import load
    from rocourse.cli._answers import answers
    from rocourse.cli._json_records import JsonRecords
    from rocourse.cli._records import Preview, as_records, prediction_table
    from rocourse.cli._rows import open_rows
    from rocourse.cli._table_writers import new_table
    from rocourse.cli._tables import check_table_path

    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_table_path(out, force=force)
    fitted = load(model)
    rows = open_rows(data, schema=fitted.schema_, drop=drop)
    preview = Preview(_SHOWN_ROWS)
    with JsonRecords() as records:
        file = nullcontext() if out is None else new_table(out, force=force)
        with output.row_progress(rows.total) as report, file as write:
            for table in answers(rows, partial(prediction_table, fitted), report):
                preview.add(table)
                if write is not None:
                    write(table)
                if as_json:
                    records.add(as_records(table))
        if as_json:
            records.print({"model": str(model), "data": str(data)}, "predictions")
    if out is None:
        output.show(*preview.renderables("Predictions"))
    else:
        output.show(f"Predictions for {rows.total} rows written to {out}")
