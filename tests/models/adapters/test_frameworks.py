"""Optional frameworks: never imported for others, and missed politely."""

import subprocess
import sys

import numpy as np
import pytest

from rocourse.errors import DependencyError
from rocourse.models._frameworks import is_from
from rocourse.models.adapters import adapt


def pretend(name, module, **members):
    """An object whose type claims to come from a framework."""
    return type(name, (), {"__module__": module, **members})()


@pytest.mark.parametrize(
    ("framework", "model"),
    [
        ("torch", pretend("Module", "torch.nn.modules.module")),
        ("xgboost", pretend("Booster", "xgboost.core", feature_names=None)),
    ],
)
def test_a_missing_framework_is_an_error_that_says_how_to_install_it(
    framework, model, schema, monkeypatch
):
    monkeypatch.setattr(type(model), "num_features", lambda self: 5, raising=False)
    # None in sys.modules makes the import fail as if nothing were installed.
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(DependencyError, match=rf"pip install 'rocourse\[{framework}\]'"):
        adapt(model, schema)


def test_a_type_is_told_by_its_ancestors_too():
    parent = type("Module", (), {"__module__": "torch.nn.modules.module"})
    child = type("Net", (parent,), {"__module__": "project.nets"})()
    assert is_from(child, "torch", "Module")
    assert not is_from(child, "torch", "Tensor")
    assert not is_from(child, "torchlike", "Module")


@pytest.mark.parametrize("what", ["rocourse", "rocourse.models.adapters"])
def test_importing_the_package_imports_no_framework(what):
    code = f"import sys, {what}; print({{'torch', 'xgboost', 'lightgbm'}} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "set()"


def test_other_models_need_no_framework(schema, encoded, monkeypatch):
    for framework in ("torch", "xgboost", "lightgbm"):
        monkeypatch.setitem(sys.modules, framework, None)
    adapted = adapt(lambda frame: np.full(len(frame), 0.25), schema)
    np.testing.assert_array_equal(adapted.probabilities(encoded[:2]), [[0.75, 0.25]] * 2)
