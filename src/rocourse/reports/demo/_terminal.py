"""The demo's findings for a terminal."""

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rocourse.reports.demo._result import DemoResult, MethodRun
from rocourse.reports.demo._wording import (
    ABSENT,
    CODES,
    KINDS,
    number,
    percent,
    points,
    promised,
    spread,
    verdicts,
)


def demo_renderables(result: DemoResult) -> list[RenderableType]:
    """What happened, who was told what, what became of it, and five recourses."""
    return [
        Text(
            f"A lender corrects its records batch by batch: {result.corrected} of "
            f"{result.customers} customers are corrected today. Three methods learn from them and "
            f"answer {result.applicants} applicants. Then all are corrected, and "
            f"{result.judges} models of each of {len(result.kinds)} kinds are retrained: which "
            "advice do they honour?\n"
        ),
        _answers(result),
        _kept(result),
        *(Text(f"{sentence}\n") for sentence in verdicts(result)),
        _samples(result),
        Text(CODES, style="dim"),
    ]


def _table(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(names[0])
    for name in names[1:]:
        table.add_column(name, justify="right")
    return table


def _answers(result: DemoResult) -> Table:
    table = _table(
        "What refused applicants are told",
        "",
        "accuracy",
        "refused",
        "promised",
        "only valid\ntoday",
        "nothing\nfound",
        "cost",
        "unusual\nnumbers",
    )
    for method in result.methods:
        table.add_row(
            method.title,
            percent(method.accuracy),
            str(method.refused),
            promised(method),
            str(method.unsure),
            str(method.not_found),
            number(method.proximity),
            percent(method.unusual),
        )
    return table


def _kept(result: DemoResult) -> Table:
    table = _table(
        "Approved by retrained models: mean ± std; * of the method's own kind",
        "",
        *(KINDS[kind].replace(" ", "\n", 1) for kind in result.kinds),
    )
    for method in result.methods:
        of = "promises" if method.stated is not None else "advice"
        table.add_row(
            Text(f"{method.title}'s {of}", style="bold"),
            *(_cell(method, kind) for kind in result.kinds),
        )
        told = [method.told.get(kind) for kind in result.kinds]
        table.add_row(
            "  without any change",
            *(ABSENT if one is None else spread(one.mean_unchanged) for one in told),
            style="dim",
        )
        table.add_row(
            "  lift, in points",
            *(ABSENT if one is None else points(one.lift) for one in told),
            end_section=True,
        )
    return table


def _cell(method: MethodRun, kind: str) -> Text:
    if kind not in method.told:
        return Text(ABSENT)
    mark = "*" if kind == method.own else " "
    return Text(f"{spread(method.told[kind].mean_kept)}{mark}", style="bold")


def _samples(result: DemoResult) -> RenderableType:
    if not result.samples:
        return Text(f"{result.adviser.title} found no recourse for any refused applicant.")
    models = result.judges * len(result.kinds)
    title = "promises" if result.samples[0].promised else "tells, without a promise"
    table = Table(
        title=f"What {result.adviser.title} {title}, from cheap to dear",
        title_justify="left",
        show_lines=True,
        box=box.HORIZONTALS,
    )
    table.add_column("Applicant", justify="right")
    table.add_column("To be approved, change")
    table.add_column(f"Approved by,\nof {models} models", justify="right")
    for sample in result.samples:
        table.add_row(
            str(sample.applicant),
            "\n".join(change.text for change in sample.changes),
            f"{sample.kept}\n(unchanged: {sample.unchanged})",
        )
    return table
