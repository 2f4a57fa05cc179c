"""The demo's result: on disk, and on a terminal."""

import io
import json

import pytest
from rich.console import Console

from rocourse.errors import ArtifactError
from rocourse.reports.demo import DemoResult, load_demo


def printed(result: DemoResult, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    for renderable in result.renderables():
        console.print(renderable)
    return console.file.getvalue()


def without_later_measures(value):
    """What subsets of version 1 have, of whatever holds such subsets."""
    plausibility = ("neighbour_distance", "inliers", "usual")
    later = ("version", "unchanged", "unchanged_validity", *plausibility)
    if isinstance(value, dict):
        return {n: without_later_measures(part) for n, part in value.items() if n not in later}
    return [without_later_measures(part) for part in value] if isinstance(value, list) else value


def test_stored_result_is_read_back_unchanged(record, result):
    again = json.loads(json.dumps(result.to_dict()))
    assert DemoResult.from_dict(again) == result
    assert again["version"] == record["version"]
    assert without_later_measures(again) == without_later_measures(record)


def test_headline_figures_are_those_of_the_original_models_recourses(result):
    robust = {method.name: method.recourses("adverse") for method in result.methods}
    assert robust["counternet"].robust_validity == 0.5
    assert robust["rocoursenet"].robust_validity == 0.875
    assert result.adviser.name == "rocoursenet"


def test_matrix_has_issuers_in_rows_and_judges_in_columns(result):
    assert result.methods[0].subsets.matrix("adverse") == ((0.95, 0.5), (0.25, 0.75))
    assert result.to_dict()["methods"][0]["matrices"]["order"] == ["org", "upt"]


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


def test_terminal_shows_figures_and_advice(result):
    text = printed(result, width=200)
    for words in ("CounterNet", "RoCourseNet", "40 refused", "100 all", "87.5%", "50.0%", "37.5%"):
        assert words in text
    assert "Duration: 48 → 24 months" in text
    assert "not honoured" in text
    assert "honours 35 (87.5%)" in text


def test_terminal_of_80_columns_is_wide_enough(result):
    text = printed(result, width=80)
    assert "…" not in text
    assert "RoCourseNet 40 refused" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_terminal_without_refused_applicants_says_so(nobody_refused):
    text = printed(nobody_refused, width=200)
    assert "RoCourseNet refused nobody." in text
    assert "found no recourse for any refused applicant" in text
    assert "Beware: RoCourseNet's model of the original data gives every test row" in text
    assert "None" not in text
