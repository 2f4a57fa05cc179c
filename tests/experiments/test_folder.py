"""Where a run may write."""

import json
import os

import pytest

from rocourse.errors import OutputError
from rocourse.experiments import check_result_folder


def test_new_empty_and_own_folders_are_accepted(tmp_path):
    check_result_folder(tmp_path / "new" / "deep", "rocourse-demo")
    assert list(tmp_path.iterdir()) == []
    check_result_folder(tmp_path, "rocourse-demo")
    (tmp_path / "result.json").write_text(json.dumps({"format": "rocourse-demo", "version": 0}))
    (tmp_path / "report.html").write_text("")
    check_result_folder(tmp_path, "rocourse-demo")


def test_file_is_refused(tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    with pytest.raises(OutputError, match="must be a directory, but it is a file"):
        check_result_folder(path, "rocourse-demo")


def test_path_below_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(OutputError, match="must lie in a directory"):
        check_result_folder(tmp_path / "taken" / "demo", "rocourse-demo")


@pytest.mark.parametrize(
    "content",
    [None, "", "[]", '{"format": "rocourse-comparison"}'],
    ids=["no result", "damaged", "no object", "other result"],
)
def test_foreign_folder_is_refused(tmp_path, content):
    (tmp_path / "thesis.tex").write_text("precious")
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(OutputError, match="choose another path"):
        check_result_folder(tmp_path, "rocourse-demo")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("name", [".", "new"])
def test_unwritable_folder_is_refused(tmp_path, name):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="must be writable"):
            check_result_folder(tmp_path / name, "rocourse-demo")
    finally:
        tmp_path.chmod(0o700)
