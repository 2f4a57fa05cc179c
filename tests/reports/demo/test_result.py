"""The demo's result: on disk, and on a terminal."""

import io

import pytest
from rich.console import Console

from rocourse.errors import ArtifactError
from rocourse.reports.demo import DemoResult, Verdicts, load_demo
from rocourse.reports.demo._wording import verdicts


def printed(result: DemoResult, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    for renderable in result.renderables():
        console.print(renderable)
    return console.file.getvalue()


def test_stored_result_is_read_back_unchanged(record, result):
    again = DemoResult.from_dict(record)
    assert again == result
    assert again.digest == result.digest


def test_another_result_has_another_digest(record, result):
    record["methods"][0]["promised"] -= 1
    assert DemoResult.from_dict(record).digest != result.digest


def test_verdicts_are_means_over_models_and_lift_is_what_advice_adds():
    verdicts = Verdicts(kept=(0.9, 1.0), unchanged=(0.5, 0.4))
    assert verdicts.mean_kept.mean == pytest.approx(0.95)
    assert verdicts.mean_kept.std == pytest.approx(0.0707, abs=1e-4)
    assert verdicts.lift.mean == pytest.approx(0.5)
    assert verdicts.lift.std == pytest.approx(0.1414, abs=1e-4)


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 1}])
def test_other_format_or_version_is_refused(record, change):
    with pytest.raises(ArtifactError, match="run `rocourse demo` again"):
        DemoResult.from_dict({**record, **change})


@pytest.mark.parametrize("name", ["seed", "schema", "methods", "samples", "versions"])
def test_missing_field_is_refused(record, name):
    del record[name]
    with pytest.raises(ArtifactError, match=name):
        DemoResult.from_dict(record)


@pytest.mark.parametrize("content", [None, "", "{", "[]", '"text"'])
def test_missing_or_damaged_file_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"result\.json"):
        load_demo(tmp_path)


def test_terminal_shows_counts_shares_and_lift(result):
    text = printed(result, width=200)
    for words in ("97% ± 3*", "30% ± 0", "+67", "85% ± 3*", "-9", "none", "90%"):
        assert words in text
    assert "RoCourse makes a promise to 40 of the 50 whom it refuses" in text
    assert "6 more are told what is valid today, without a promise: 80% of that" in text
    assert "Fewer than stated are kept by gradient boosting (91%)." in text
    assert "Duration: 48 → 24 months" in text


def test_terminal_says_plainly_what_is_worse_than_silence(result):
    warned = [line for line in verdicts(result) if "Worse than silence" in line]
    assert len(warned) == 1
    assert warned[0].startswith("CounterNet") and "by logistic regression," in warned[0]


def test_terminal_of_80_columns_is_wide_enough(result):
    text = printed(result, width=80)
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_terminal_without_promises_says_so(nothing_promised):
    text = printed(nothing_promised, width=200)
    assert "RoCourse promises nothing to the 50 whom it refuses. 46 are told" in text
    assert "found no recourse for any refused applicant" in text
    assert "None" not in text
