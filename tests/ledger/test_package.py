"""What the package is made of."""

import subprocess
import sys

HEAVY = {
    "jax",
    "numpy",
    "pandas",
    "sklearn",
    "rocourse.schema",
    "rocourse.estimators",
    "rocourse.models",
}


def test_ledger_knows_neither_models_nor_schemas():
    code = f"import sys, rocourse.ledger; print(sorted({HEAVY} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
