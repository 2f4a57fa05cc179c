"""What the README says of the demo is what the demo's own command wrote."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from rocourse.errors import ConfigError
from rocourse.experiments import publish_demo, render_demo
from rocourse.reports.demo import DemoResult, fill_readme

ROOT = Path(__file__).parents[3]
MARKS = "a\n<!-- demo figures -->\nold\n<!-- end -->\nb\n<!-- demo applicant -->\n<!-- end -->\nc\n"


@pytest.fixture(scope="module")
def published() -> DemoResult:
    return DemoResult.from_dict(json.loads((ROOT / "docs/results/demo.json").read_text("utf-8")))


def test_the_readme_has_the_figures_of_the_record(published):
    readme = (ROOT / "README.md").read_text("utf-8")
    assert fill_readme(readme, published) == readme


def test_the_readmes_picture_is_of_the_record(published):
    with Image.open(ROOT / "docs/images/demo.png") as picture:
        assert picture.text["Source"] == published.digest


def test_figures_go_between_the_marks_and_nothing_else_changes(result):
    text = fill_readme(MARKS, result)
    assert text.startswith("a\n<!-- demo figures -->\n| ") and text.endswith("<!-- end -->\nc\n")
    assert "old" not in text
    assert "| RoCourse | 50 | 40 | 6 | 97% ± 3 (+67) |" in text
    assert "| 41% ± 1 (-9) | 1.5 | 90% |" in text
    assert '"Duration": 48' in text and "Duration: 48 → 24 months" in text
    assert fill_readme(text, result) == text


def test_other_figures_give_another_text(result):
    rocourse, counternet = result.methods
    other = replace(result, methods=(replace(rocourse, promised=39), counternet))
    assert fill_readme(MARKS, other) != fill_readme(MARKS, result)


def test_a_readme_without_marks_is_refused(result):
    with pytest.raises(ConfigError, match="demo applicant"):
        fill_readme(MARKS.replace("demo applicant", "something"), result)


def test_publishing_writes_readme_record_and_picture(tmp_path, record, result):
    out, readme = tmp_path / "run", tmp_path / "README.md"
    out.mkdir()
    (out / "result.json").write_text(json.dumps(record))
    render_demo(out)
    readme.write_text(MARKS)
    publish_demo(out, readme)
    assert readme.read_text("utf-8") == fill_readme(MARKS, result)
    stored = json.loads((tmp_path / "docs/results/demo.json").read_text("utf-8"))
    assert DemoResult.from_dict(stored) == result
    with Image.open(tmp_path / "docs/images/demo.png") as picture:
        assert picture.text["Source"] == result.digest
