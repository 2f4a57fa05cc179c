"""`rocourse predict`: classes and probabilities of rows."""

from rocourse.console import Output, options

EXAMPLES = options.examples(
    "rocourse predict model/ applicants.csv",
    "rocourse predict model/ applicants.parquet --out predictions.parquet",
    "rocourse predict model/ applicants.csv --json",
    "rocourse predict model/ applicants/ --out predictions/ --engine ray --address auto",
)

_SHOWN_ROWS = 20


def predict(
    model: options.Model,
    data: options.Data,
    out: options.TableFile = None,
    id: options.Id = None,
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    engine: options.EngineKind = "local",
    address: options.Address = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of each row. Rows are counted from 0."""
    from rocourse.artifacts import StoredModel
    from rocourse.console import PredictionRequest, Preview, Sheet, ask_rows
    from rocourse.tables import JsonRecords, check_table_path, is_folder, open_rows

    output = Output(as_json=as_json, quiet=quiet)
    where = options.engine(engine, address, jobs)
    if out is not None:
        check_table_path(out, force=force)
    stored = StoredModel(model, model_from)
    fitted = stored()
    rows = open_rows(data, schema=fitted.schema_, drop=drop, id=id)
    listed = as_json and (out is None or not is_folder(out))
    request = PredictionRequest(
        id=rows.id, shown=_SHOWN_ROWS, table=out is not None, records=listed
    )
    plan = {"command": "predict", "model": fitted.digest_, **rows.origin, "id": rows.id}
    sheet = None if out is None else Sheet(out, force, plan)
    preview = Preview(_SHOWN_ROWS)
    with JsonRecords() as records:
        with output.row_progress(rows.total) as report:
            for answer in ask_rows(request, rows, stored, where, report, sheet=sheet):
                if answer.told is not None:
                    preview.add(answer.told)
                if answer.records is not None:
                    records.add(answer.records)
        head = {"model": str(model), "data": str(data)}
        if listed:
            records.print(head, "predictions")
        else:
            output.emit({**head, "rows": rows.total})
    if out is None:
        output.show(*preview.renderables("Predictions", rows.total))
    else:
        output.show(f"Predictions for {rows.total} rows written to {out}")
