"""What the README says about the demo, written from a result and nothing else."""

import json
import re

from rocourse.errors import ConfigError
from rocourse.reports.demo._result import DemoResult, MethodRun
from rocourse.reports.demo._wording import (
    ABSENT,
    KINDS,
    number,
    percent,
    points,
    promised,
    spread,
)


def fill_readme(text: str, result: DemoResult) -> str:
    """The text with the demo's figures and its applicant between its marks.

    Marks are comments: `<!-- demo figures -->` up to `<!-- end -->`, and the same with `applicant`.

    Raises:
        ConfigError: If a mark is missing.
    """
    for name, content in (("figures", _figures(result)), ("applicant", _applicant(result))):
        start = f"<!-- demo {name} -->"
        marked = re.compile(f"{re.escape(start)}\n.*?<!-- end -->", re.DOTALL)
        if not marked.search(text):
            raise ConfigError(
                f"A README must have the marks {start!r} and '<!-- end -->', but one is missing; "
                "put them on lines of their own, where the demo's figures belong."
            )
        filled = f"{start}\n{content}\n<!-- end -->"
        text = marked.sub(lambda _, filled=filled: filled, text)  # type: ignore[misc]
    return text


def _figures(result: DemoResult) -> str:
    columns = [
        "",
        "refused",
        "promised",
        "only valid today",
        *(KINDS[kind] for kind in result.kinds),
        "cost",
        "unusual numbers",
    ]
    lines = [columns, ["---"] * len(columns), *map(_line, result.methods)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _line(method: MethodRun) -> list[str]:
    return [
        method.title,
        str(method.refused),
        promised(method),
        str(method.unsure),
        *(_cell(method, kind) for kind in KINDS),
        number(method.proximity),
        percent(method.unusual),
    ]


def _cell(method: MethodRun, kind: str) -> str:
    if kind not in method.told:
        return ABSENT
    told = method.told[kind]
    return f"{spread(told.mean_kept)} ({points(told.lift)})"


def _applicant(result: DemoResult) -> str:
    if not result.samples:
        return ""
    sample = result.samples[len(result.samples) // 2]
    row = json.dumps(sample.values)
    advice = "\n".join(f"  {change.text}" for change in sample.changes)
    asking = "curl -s localhost:8000/v1/decisions -H 'Content-Type: application/json'"
    return f"""```sh
rocourse serve runs/demo/model --ledger promises.db   # a page at http://127.0.0.1:8000
{asking} -d '{{"applicants": [{{"row":
  {row}}}]}}'
```

The applicant is refused, and {"promised a credit" if sample.promised else "told"} for:

```text
{advice}
```"""
