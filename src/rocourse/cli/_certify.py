"""`rocourse certify`: what can be proved of the advice for rows."""

from typing import TYPE_CHECKING, Annotated

import typer

from rocourse.console import Output, options

if TYPE_CHECKING:
    from rocourse.schema import Certificate

EXAMPLES = options.examples(
    "rocourse certify model/ denied.csv",
    "rocourse certify model/ denied.csv --at 0.01 --exact --out certified.csv",
    "rocourse certify model/ denied.csv --kind witnesses --reference train.csv --at 0.9",
    "rocourse certify model/ denied.csv --kind sampled --delta 0.02 --json",
)


def certify(
    model: options.Model,
    data: options.Data,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help=options.KINDS_OF_CERTIFICATE)
    ] = "delta",
    at: options.At = None,
    confidence: options.Confidence = 0.95,
    exact: options.Exact = False,
    delta: options.Delta = None,
    reference: options.Reference = None,
    count: options.Count = None,
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
    """Advise each row, and say what is proved of the advice, how surely, and what is not."""
    from collections import Counter

    from rocourse.artifacts import StoredModel
    from rocourse.console import CertificateRequest, Sheet, ask_rows, target_of
    from rocourse.tables import (
        JsonRecords,
        check_table_path,
        is_folder,
        open_rows,
        read_labelled,
    )

    output = Output(as_json=as_json, quiet=quiet)
    where = options.engine(engine, address, jobs)
    if out is not None:
        check_table_path(out, force=force)
    stored = StoredModel(model, model_from)
    fitted = stored()
    rows = open_rows(data, schema=fitted.schema_, drop=drop, id=id)
    levels = {"at": at, "confidence": confidence, "exact": exact, "delta": delta, "count": count}
    known = (None, None) if reference is None else read_labelled(reference, fitted.schema_)
    listed = as_json and (out is None or not is_folder(out))
    request = CertificateRequest(
        desired=target_of(fitted).wanted(),
        kind=kind,  # type: ignore[arg-type]
        levels=levels,
        reference=known,
        id=rows.id,
        stable=rows.several,
        table=out is not None,
        records=listed,
    )
    asked = {"kind": kind, **levels, "reference": None if reference is None else str(reference)}
    plan = {"command": "certify", "model": fitted.digest_, **rows.origin, "id": rows.id, **asked}
    sheet = None if out is None else Sheet(out, force, plan)
    told: list[Certificate] = []
    counts: Counter[str] = Counter({"advised": 0} if at is None else {"advised": 0, "certified": 0})
    with JsonRecords() as records:
        with output.row_progress(rows.total) as report:
            for answer in ask_rows(request, rows, stored, where, report, sheet=sheet):
                counts.update(answer.counts)
                if answer.told is not None:
                    told.append(answer.told)
                if answer.records is not None:
                    records.add(answer.records)
        head = {"model": str(model), "data": str(data), "method": fitted.method, "rows": rows.total}
        stated = {"certificate": told[0].statement()} if told else {}
        if listed:
            records.print({**head, **counts, **stated}, "records")
        else:
            output.emit({**head, **counts, **stated})
    if told:
        output.show(*_lines(told, counts["advised"]))
    if out is not None:
        output.show(f"Certificates of {rows.total} rows written to {out}")


def _lines(parts: "list[Certificate]", advised: int) -> list[str]:
    from dataclasses import replace

    import numpy as np

    if not advised:
        return ["No row has advice, so there is nothing to certify."]
    told = replace(parts[0], level=np.concatenate([part.level for part in parts]))
    least, middle, most = np.nanquantile(told.level, [0.0, 0.5, 1.0])
    sure = "" if told.confidence is None else f" at a confidence of {told.confidence:g}"
    spread = f"{least:.4g} to {most:.4g}, median {middle:.4g}"
    reach = [] if told.holds is None else [f"{int(told.holds.sum())} of them reach {told.at:g}"]
    lines = [f"Level of {advised} rows with advice{sure}: {spread}", *reach]
    return [*lines, *told.sentences()]
