"""docs/add-a-method.md, followed to the letter in a copy of the package."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.applicants import TARGET, make_applicants

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "add-a-method.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)

CONTRACT = """
import pandas as pd
from rocourse.recourse.nearest import NearestProposer

frame = pd.read_csv("loans.csv")
X, y = frame.drop(columns="Approve"), frame["Approve"]
schema = rocourse.Schema.infer(frame, target="Approve", immutable=["region"])
"""
CHECKS = """
assert advice.valid.mean() > 0.8, advice.valid.mean()
assert (advice.frame()["region"] == X["region"]).all()
assert (model.recourse(X).frame() == advice.frame()).all().all()
assert model.get_params()["proposer__candidates"] == 200
found = advice.status == "found"
assert (model.predict(advice.frame())[found] == advice.desired[found]).all()
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A folder with the package as the page leaves it, and a file of loans."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for language, code in BLOCKS:
        named = re.match(r"# (src/\S+)\n", code)
        if language == "python" and named:
            path = folder / named[1]
            path.parent.mkdir(exist_ok=True)
            before = path.read_text(encoding="utf-8") if path.exists() else ""
            path.write_text(before + "\n" + code, encoding="utf-8")
    table = make_applicants(120, classes=(0, 1)).rename(columns={TARGET: "Approve"})
    table.to_csv(folder / "loans.csv", index=False)
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_page_has_what_the_test_follows():
    assert [language for language, _ in BLOCKS] == ["python", "python", "python", "sh"]


def test_the_method_fits_answers_and_is_stored(extended):
    usage = BLOCKS[2][1]
    setup, code = usage.split("\n", 1)
    result = run(extended, "-c", f"{setup}\n{CONTRACT}\n{code}\n{CHECKS}")
    assert result.returncode == 0, result.stderr


def test_the_command_line_knows_the_method(extended):
    for line in BLOCKS[3][1].strip().splitlines():
        program, *arguments = shlex.split(line)
        assert program == "rocourse"
        extra = ["--force"] if "train" in arguments else []
        result = run(extended, "-m", "rocourse.cli", *arguments, *extra)
        assert result.returncode == 0, result.stderr
    assert (extended / "model" / "model.json").is_file()
