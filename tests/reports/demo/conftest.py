"""A stored result, small and with numbers that tell each other apart."""

import copy
import json
from pathlib import Path

import pytest

from rocourse.reports.demo import DemoResult

# A file, not code: it also pins the format that earlier runs have left on disks.
STORED = Path(__file__).with_name("demo_result.json")


@pytest.fixture
def record() -> dict:
    """The stored result as JSON, free to be altered."""
    return json.loads(STORED.read_text(encoding="utf-8"))


@pytest.fixture
def result(record) -> DemoResult:
    return DemoResult.from_dict(record)


@pytest.fixture
def without_samples(record) -> DemoResult:
    return DemoResult.from_dict({**record, "samples": []})


@pytest.fixture
def nobody_refused(record) -> DemoResult:
    """A run whose models approve everyone: constant predictors, nothing to measure."""
    record = copy.deepcopy(record)
    record["samples"] = []
    for method in record["methods"]:
        method["unchanged"]["adverse"] = None
        for subset in method["subsets"]["subsets"]:
            subset["scores"]["constant"] = 1
            adverse = subset["scores"]["protocols"]["adverse"]
            adverse["judged"] = dict.fromkeys(adverse["judged"])
            adverse["rows"] = 0
            for measure in ("validity", "robust_validity", "proximity", "features_changed"):
                adverse[measure] = None
    return DemoResult.from_dict(record)
