"""`rocourse notice`: letters to refused applicants."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocourse.console import Output, needing_service, options

if TYPE_CHECKING:
    import pandas as pd

    from rocourse.estimators import RecourseClassifier
    from rocourse.reports.letters import Case, Format

EXAMPLES = options.examples(
    "rocourse notice model/ denied.csv --out letters/",
    "rocourse notice model/ denied.csv --lender lender.toml --format pdf --out letters/",
    "rocourse notice model/ denied.csv --language de --options 3 --valid-days 180 --out letters/",
    "rocourse notice model/ --ledger promises.db --promise ID --format pdf --out letters/",
)

_SUFFIXES = {"html": ".html", "text": ".txt", "pdf": ".pdf"}
# So many of the letters that are withheld are named; JSON names all.
_TOLD = 5


def notice(
    model: options.Model,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory for the letters.")],
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="Rows, in a .csv or .parquet file."),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAMES", help="html, text, pdf, or several separated by commas."
        ),
    ] = "html",
    lender: Annotated[
        Path | None,
        typer.Option(
            "--lender",
            metavar="FILE",
            help="Who writes, and what features are called: .toml or .json; see docs/notices.md.",
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option("--language", metavar="LANG", help="en, de, or a file of words (.toml)."),
    ] = "en",
    law: Annotated[
        str | None,
        typer.Option(
            "--law",
            metavar="LAW",
            help="Whose rights are told: ecoa or gdpr; by default the lender's or the language's.",
        ),
    ] = None,
    several: Annotated[
        int, typer.Option("--options", min=1, max=8, help="The most options to give a row.")
    ] = 1,
    valid_days: Annotated[
        int | None,
        typer.Option(
            "--valid-days",
            min=1,
            max=36500,
            help="Promise what was found for so many days; without it, nothing is promised.",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="URL", help="With --promise: where it is recorded."),
    ] = None,
    promise: Annotated[
        str | None,
        typer.Option("--promise", metavar="ID", help="The promise to write about, by its id."),
    ] = None,
    id: options.Id = None,
    drop: options.Drop = None,
    model_from: options.ModelFrom = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a letter to each refused applicant: decision, reasons, what to change, rights.

    A letter whose reasons name a protected attribute is withheld, unless the lender's file has a
    sentence for it. A lawyer has to read the letters: until the lender's file says so, they are
    drafts.
    """
    from rocourse.artifacts import load_from, write_file
    from rocourse.reports.letters import (
        Lender,
        WithheldLetter,
        make_letter,
        read_lender,
        read_words,
        render_letter,
    )

    output = Output(as_json=as_json, quiet=quiet)
    recorded = ledger is not None and promise is not None
    if (data is None) == (not recorded) or (ledger is None) != (promise is None):
        raise typer.BadParameter("Give either DATA, or --ledger and --promise.")
    _check_directory(out, force=force)
    chosen = _formats(formats)
    words = read_words(language)
    fitted = load_from(model, model_from)
    writer = Lender() if lender is None else read_lender(lender, fitted.schema_)
    if data is not None:
        cases = _of_rows(fitted, data, id, drop, several, valid_days)
    else:
        assert ledger is not None and promise is not None
        cases = iter([_of_promise(fitted, ledger, promise)])
    written: list[str] = []
    withheld: list[str] = []
    unsaid: Counter[str] = Counter()
    # Two rows may have one reference.
    names: Counter[str] = Counter()
    for case in cases:
        try:
            letter = make_letter(case, fitted.schema_, words, writer, law=law)
        except WithheldLetter as error:
            withheld.append(str(error))
            if error.feature is not None:
                unsaid[error.feature] += 1
            continue
        names[name := _file_name(case.reference)] += 1
        name += f"-{names[name]}" if names[name] > 1 else ""
        for format in chosen:
            path = out / f"{name}{_SUFFIXES[format]}"
            write_file(path, render_letter(letter, format), force=force)
            written.append(path.name)
    output.emit({"model": str(model), "out": str(out), "letters": written, "withheld": withheld})
    for sentence in withheld[:_TOLD]:
        output.warn(f"withheld: {sentence}")
    if len(withheld) > _TOLD:
        output.warn(f"… and {len(withheld) - _TOLD} more; --json names all of them")
    for feature, count in unsaid.items():
        output.warn(_how_to_say(feature, count, language, lender))
    output.show(f"{len(written)} files written to {out}, {len(withheld)} letters withheld")
    if written and not writer.reviewed:
        output.show("They are drafts: a lawyer has to read them (lender.reviewed).")


def _how_to_say(feature: str, count: int, language: str, lender: Path | None) -> str:
    """What the lender's file needs before letters can give a feature as a reason."""
    code = Path(language).stem
    where = "a lender's file (--lender)" if lender is None else str(lender)
    name = feature if re.fullmatch(r"[\w-]+", feature, re.ASCII) else json.dumps(feature)
    return (
        f"{count} of them can be written once {where} has a sentence that a lawyer agrees to:\n"
        f'[features.{name}]\nreason = {{ {code} = "… ({{value}}) …" }}'
    )


def _of_rows(
    fitted: "RecourseClassifier",
    data: Path,
    id: str | None,
    drop: list[str] | None,
    several: int,
    valid_days: int | None,
) -> Iterator["Case"]:
    from rocourse.console import target_of
    from rocourse.reports.letters import cases_of
    from rocourse.tables import open_rows

    wanted, today = target_of(fitted).wanted(), datetime.now().date()
    until = None if valid_days is None else today + timedelta(days=valid_days)
    rows = open_rows(data, schema=fitted.schema_, drop=drop, id=id)
    for frame in rows.frames:
        references = _references(frame, rows.id)
        found = fitted.recourse(frame, desired=wanted, options=several)
        reasons = fitted.reasons(frame, desired=wanted)
        yield from cases_of(found, reasons, references, decided=today, until=until)


def _references(frame: "pd.DataFrame", id: str | None) -> list[str]:
    if id is None:
        return [f"row {label}" for label in frame.index]
    return [str(value) for value in frame[id]]


def _of_promise(fitted: "RecourseClassifier", ledger: str, promise: str) -> "Case":
    import pandas as pd

    from rocourse.errors import DataError
    from rocourse.reports.letters import case_of

    with needing_service():
        from rocourse.ledger import Ledger

    with Ledger.open(ledger, create=False) as book:
        promises = book.options_of(promise)
    if promises[0].model != fitted.digest_:
        raise DataError(
            "A letter must be made with the model that decided, but the promise is of the model "
            f"{promises[0].model[:12]} and this one is {fitted.digest_[:12]}; give that one."
        )
    row = pd.DataFrame([dict(promises[0].row)])
    reasons = fitted.reasons(row, desired=promises[0].desired)
    return case_of(promises, reasons, at=datetime.now(UTC))


def _check_directory(out: Path, *, force: bool) -> None:
    from rocourse.errors import OutputError

    if out.exists() and not out.is_dir():
        raise OutputError(
            f"Output path {str(out)!r} must be a directory, but it is a file; choose another path."
        )
    if out.exists() and any(out.iterdir()) and not force:
        raise OutputError(
            f"Output path {str(out)!r} must be empty, but it holds files; choose another path, or "
            "replace letters with --force."
        )


def _formats(text: str) -> list["Format"]:
    from rocourse.reports.letters import FORMATS

    asked = [part.strip() for part in text.split(",")]
    unknown = [part for part in asked if part not in FORMATS]
    if unknown:
        raise typer.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(FORMATS)}.", param_hint="'--format'"
        )
    return [format for format in FORMATS if format in asked]


def _file_name(reference: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", reference).strip(".-")[:100] or "letter"
