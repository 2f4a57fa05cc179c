"""`rocourse demo`: the whole story on embedded data."""

from pathlib import Path
from typing import Annotated

import typer

from rocourse.console import Output, options

EXAMPLES = options.examples(
    "rocourse demo", "rocourse demo --out runs/demo-7 --seed 7", "rocourse demo --readme README.md"
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Directory of the results.")
    ] = Path("runs/demo"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same seed, same results.")
    ] = 0,
    readme: Annotated[
        Path | None,
        typer.Option(
            "--readme",
            metavar="FILE",
            help="Write the figures into this README, between its marks, and docs/ beside it.",
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train on embedded data, judge the recourses after a shift, and write a report."""
    from rocourse.experiments import publish_demo, run_demo

    output = Output(as_json=as_json, quiet=quiet)
    with output.progress() as report:
        result = run_demo(out, seed=seed, on_progress=report)
    if readme is not None:
        publish_demo(out, readme)
    output.emit(result.to_dict())
    output.show(
        *result.renderables(),
        f"\nThe report, with what to make of this: {out}/report.html\n"
        f"To try the model: rocourse serve {out}/model --ledger promises.db\n"
        "With a table of yours: rocourse train loans.csv --target paid --period batch --out model/",
    )
