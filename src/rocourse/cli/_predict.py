"""`rocourse predict`: classes and probabilities of rows."""

from contextlib import nullcontext
from functools import partial

from rocourse.console import Output, options

EXAMPLES = options.examples(
    "rocourse predict model/ applicants.csv",
    "rocourse predict model/ applicants.parquet --out predictions.parquet",
    "rocourse predict model/ applicants.csv --json",
)

_SHOWN_ROWS = 20


def predict(
    model: options.Model,
    data: options.Data,
    out: options.TableFile = None,
    id: options.Id = None,
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of each row. Rows are counted from 0."""
    from rocourse.artifacts import load_from
    from rocourse.console import Preview, answers
    from rocourse.tables import (
        JsonRecords,
        as_records,
        check_table_path,
        new_table,
        open_rows,
        prediction_table,
    )

    output = Output(as_json=as_json, quiet=quiet)
    if out is not None:
        check_table_path(out, force=force)
    fitted = load_from(model, model_from)
    rows = open_rows(data, schema=fitted.schema_, drop=drop, id=id)
    preview = Preview(_SHOWN_ROWS)
    with JsonRecords() as records:
        file = nullcontext() if out is None else new_table(out, force=force)
        with output.row_progress(rows.total) as report, file as write:
            for table in answers(rows, partial(prediction_table, fitted, id=rows.id), report):
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
