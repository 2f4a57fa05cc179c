"""How candidates are judged: by models of rows that are shifted, or of other subsets."""

import numpy as np
import pytest
from tests.experiments.reproduction.tiny import OPTIONS

from rocourse.datasets import load
from rocourse.experiments.reproduction import Job, Store, run_jobs
from rocourse.experiments.reproduction._choosing import (
    LEAST_OF_A_CLASS,
    LEAST_ROWS,
    cut,
    relabelled,
)

SMALL = {name: value for name, value in OPTIONS.items() if name != "proposer__widths"}
SMALL |= {
    "trainer__epochs": 10,
    "trainer__learning_rate": 0.03,
    "trainer__committee": 1,
    "trainer__copies": 1,
    "proposer__members": 2,
}


@pytest.fixture(scope="module")
def student():
    return load("student", seed=0)


def test_relabelling_exchanges_the_codes_of_two_columns_and_nothing_else(student):
    rows = student.subsets["gp"]
    shifted = relabelled(rows, student.schema, np.random.default_rng(0))
    changed = [name for name in rows if not shifted[name].equals(rows[name])]
    assert 1 <= len(changed) <= 2
    categorical = {feature.name for feature in student.schema.categorical}
    assert set(changed) <= categorical
    for name in changed:
        pairs = set(zip(rows[name], shifted[name], strict=True))
        assert len(pairs) == rows[name].nunique(), "one code for one code"


def test_a_cut_keeps_one_side_with_enough_of_both_classes(student):
    rows = student.subsets["gp"]
    for seed in range(5):
        side = cut(rows, student.schema, student.target, np.random.default_rng(seed))
        assert LEAST_ROWS <= len(side) < len(rows)
        assert side[student.target].value_counts().min() >= LEAST_OF_A_CLASS
        assert side.index.isin(rows.index).all()


@pytest.mark.parametrize(
    ("kind", "inputs", "names"),
    [
        (
            "shifted-choice",
            {"share": 0.25, "shift": "cut", "options": SMALL},
            {"robust_validity", "proximity", "accuracy", "inliers", "spread"},
        ),
        (
            "judged-choice",
            {"subsets": ("gp", "ms"), "rows": 150, "options": SMALL},
            {
                "robust_validity",
                "proximity",
                "accuracy",
                "adverse_robust_validity",
                "adverse_proximity",
                "spread",
            },
        ),
        (
            "folds",
            {"folds": 2, "candidates": {"a": SMALL, "b": {**SMALL, "trainer__epochs": 5}}},
            {"trials"},
        ),
        ("inliers", {"thresholds": ("auto", 0.05), "options": SMALL}, {"shares"}),
    ],
)
def test_jobs_of_choices_run(kind, inputs, names, tmp_path):
    job = Job(kind, {"dataset": "student", "seeds": (20,), **inputs})
    store = Store(tmp_path)
    outcome = run_jobs([job], store)
    assert not outcome.failed
    result = store.read(job)
    assert set(result) == names
    if "robust_validity" in result:
        assert 0 <= result["robust_validity"] <= 1
    for trial in result.get("trials", ()):
        assert (trial["gain"] == 0) == (trial["name"] == "a") or trial["standard_error"] >= 0
    for share in result.get("shares", ()):
        assert 0 <= share["recourses"] <= 1 and 0 <= share["test_rows"] <= 1
