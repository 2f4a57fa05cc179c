"""The demo's findings for a terminal."""

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rocourse.reports.demo._result import DEMO_PROTOCOLS, DemoResult
from rocourse.reports.demo._wording import (
    CODES,
    HONOURED,
    PROTOCOLS,
    constant_warnings,
    number,
    percent,
    verdicts,
)


def demo_renderables(result: DemoResult) -> list[RenderableType]:
    """The table of figures, the sample recourses, and what to beware of."""
    warnings = [Text(f"Beware: {text}", style="yellow") for text in constant_warnings(result)]
    return [
        _metrics(result),
        *(Text(sentence) for sentence in verdicts(result)),
        *warnings,
        Text(),
        _samples(result),
        Text(CODES, style="dim"),
    ]


def _metrics(result: DemoResult) -> Table:
    table = Table(
        title="Advice from the original data, judged by models of the corrected data",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        # Eight columns fit into 80 characters only without padding.
        padding=0,
    )
    table.add_column("Method")
    table.add_column("Test rows")
    for name in (
        "Accuracy",
        "Validity",
        "Robust\nvalidity",
        "Without\nchange",
        "Proximity",
        "Features\nchanged",
    ):
        table.add_column(name, justify="right")
    for method in result.methods:
        for protocol in DEMO_PROTOCOLS:
            scores = method.recourses(protocol)
            table.add_row(
                method.title if protocol == DEMO_PROTOCOLS[0] else "",
                f"{scores.rows} {PROTOCOLS[protocol]}",
                percent(method.issuer.accuracy),
                percent(scores.validity),
                percent(scores.robust_validity),
                percent(method.unchanged[protocol]),
                number(scores.proximity),
                number(scores.features_changed),
            )
    return table


def _samples(result: DemoResult) -> RenderableType:
    if not result.samples:
        return Text(f"{result.adviser.title} found no recourse for any refused applicant.")
    table = Table(
        title=f"What {result.adviser.title} tells refused applicants",
        title_justify="left",
        show_lines=True,
        box=box.HORIZONTALS,
    )
    table.add_column("Applicant", justify="right")
    table.add_column("Advice")
    table.add_column("After retraining", no_wrap=True)
    for sample in result.samples:
        style = "green" if sample.honoured else "red"
        table.add_row(
            str(sample.applicant),
            "\n".join(change.text for change in sample.changes),
            Text(HONOURED[sample.honoured], style=style),
        )
    return table
