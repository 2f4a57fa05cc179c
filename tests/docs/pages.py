"""The blocks of code on the pages: what is run, what is not and why."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])

RUN = ("python", "sh", "console")
SHOWN = ("text", "json", "toml", "yaml")
"""Languages of outputs and files, which nobody runs."""

# A block may stand in a list or under a tab, indented.
_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n+)?"
    r"(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$",
    flags=re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its line on the page, its language, and why it is not run, if so."""

    line: int
    language: str
    code: str
    reason: str | None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        code = re.sub(f"(?m)^{match['indent']}", "", match["code"])
        found.append(Block(line, match["language"], code, match["reason"]))
    return found


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def name(page: Path) -> str:
    """A page as the tests are called."""
    return str(page.relative_to(ROOT))
