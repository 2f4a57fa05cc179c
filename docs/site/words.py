"""Counts the words of the pages outside the appendix, as the navigation has it."""

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def appendix() -> set[str]:
    """The pages of the appendix."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    (pages,) = [entry["Appendix"] for entry in nav if "Appendix" in entry]
    return {path for page in pages for path in page.values()}


def words() -> dict[str, int]:
    """How many words each page has that is not of the appendix, code and tables included."""
    kept_apart = appendix()
    pages = sorted((ROOT / "docs").glob("*.md"))
    return {
        page.name: len(page.read_text(encoding="utf-8").split())
        for page in pages
        if page.name not in kept_apart
    }


if __name__ == "__main__":
    counted = words()
    for name, count in counted.items():
        print(f"{count:6,}  {name}")
    print(f"{sum(counted.values()):6,}  in all")
