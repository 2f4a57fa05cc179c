"""What the code on the pages finds: German Credit, in files and by name, and small models of it.

Everything is trained as the pages say, but for seconds: with few epochs and a small jury.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pandas as pd
from tests.command_line import run
from tests.docs.pages import ROOT, Block

import rocourse
from rocourse import RoCourse, Schema, datasets
from rocourse.estimators import RecourseClassifier
from rocourse.ledger import Issue, Ledger, NewPromise

ROWS = 200
SMALL = {
    "trainer__epochs": 20,
    "trainer__batch_size": 32,
    "trainer__learning_rate": 0.03,
    "trainer__committee": 1,
    "trainer__encoder_widths": (16, 8),
    "trainer__head_widths": (8,),
    "proposer__jurors": 2,
    "proposer__witnesses": 4,
    "proposer__kept": 0.5,
    "proposer__shift__drift": 0.2,
    "proposer__members": 2,
    "proposer__epochs": 8,
    "proposer__samples": 20,
}


@contextlib.contextmanager
def small_fits():
    """Methods are fitted with the small options, whatever else is stated."""
    fit = RecourseClassifier.fit

    def small(self, *args, **kwargs):
        known = self.get_params()
        self.set_params(**{name: value for name, value in SMALL.items() if name in known})
        return fit(self, *args, **kwargs)

    RecourseClassifier.fit = small
    try:
        yield
    finally:
        RecourseClassifier.fit = fit


def make_world(folder: Path) -> dict[str, object]:
    """Fills the folder with the files that pages name, and gives the names that they use."""
    data = datasets.load("german_credit")
    df = data.subsets["upt"].sample(ROWS, random_state=0, ignore_index=True)
    schema = data.actionable_schema
    X, y = df[list(schema.names)], df[data.target]
    years = pd.Series(2020 + np.arange(ROWS) % 3, index=df.index, name="Year")
    with small_fits():
        model = RoCourse(schema, random_state=0).fit(X, y)
        other = RoCourse(schema, random_state=1).fit(X, y)
    X_refused = X[model.predict(X) == 0]
    df.to_csv(folder / "loans.csv", index=False)
    df.assign(Year=years).to_csv(folder / "years.csv", index=False)
    X_refused.to_csv(folder / "refused.csv", index=False)
    model.save(folder / "model")
    other.save(folder / "candidate")
    model.save(folder / "runs" / "demo" / "model")
    schema.save(folder / "schema.json")
    gaps = df.mask(np.random.default_rng(0).random(df.shape) < 0.05).assign(**{data.target: y})
    gaps.to_csv(folder / "gaps.csv", index=False)
    applications(data.subsets["upt"]).to_csv(folder / "applications.csv", index=False)
    promise(folder / "promises.db", model, X_refused)
    return {
        "pd": pd,
        "np": np,
        "rocourse": rocourse,
        "Schema": Schema,
        "df": df,
        "schema": schema,
        "X": X,
        "y": y,
        "years": years,
        "model": model,
        "X_refused": X_refused,
        "gaps": gaps,
    }


def applications(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as a stranger's table has them: words, an id, empty cells."""
    rows = rows.sample(ROWS, random_state=0, ignore_index=True)
    accounts = {1: "none", 2: "overdrawn", 3: "small", 4: "large"}
    histories = {0: "late", 1: "critical", 2: "clean", 3: "paid", 4: "all paid"}
    gaps = np.random.default_rng(0).random((len(rows), 2)) < 0.06
    return pd.DataFrame(
        {
            "number": [f"K-{k:04}" for k in range(len(rows))],
            "duration": rows["Duration"],
            "amount": rows["Credit amount"].mask(gaps[:, 0]).astype("Int64"),
            "age": rows["Age"],
            "account": rows["Status"].map(accounts).mask(gaps[:, 1]),
            "history": rows["History"].map(histories),
            "credits": rows["Existing credits"],
            "good": rows["GoodCustomer"].map({0: "no", 1: "yes"}),
        }
    )


def promise(path: Path, model: RecourseClassifier, rows: pd.DataFrame) -> None:
    """Writes a ledger in which the advice for these rows is promised."""
    now = datetime.now(UTC)
    before, after = as_rows(rows), as_rows(model.recourse(rows).frame())
    promises = [
        NewPromise(
            subject=f"A-{k}",
            model="today",
            schema_version="1",
            row=row,
            recourse=changed,
            desired=1,
            probability_before=0.2,
            probability_after=0.8,
            robustness=None,
            issued_at=now - timedelta(days=30),
            expires_at=now + timedelta(days=335),
        )
        for k, (row, changed) in enumerate(zip(before, after, strict=True))
    ]
    with Ledger.open(path) as ledger:
        ledger.issue([Issue(promises=promises, fingerprint="f", answer="{}")])


def as_rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Rows as JSON has them."""
    rows: list[dict[str, object]] = json.loads(frame.to_json(orient="records"))
    return rows


class Page:
    """Runs the blocks of one page, one after the other, in a folder of its own."""

    def __init__(self, names: dict[str, object], folder: Path) -> None:
        self._names = {"__name__": "page", **names}
        self._folder = folder
        self._port = free_port()
        self._service: subprocess.Popen[str] | None = None

    def run(self, block: Block, where: str) -> None:
        """Runs a block; whatever fails names the page and the line."""
        if block.language == "python":
            self._python(block, where)
            return
        lines = list(commands(block))
        assert lines, f"{where} has no command"
        for line in lines:
            self._command(line, where)

    def close(self) -> None:
        """Ends the service, if the page has started one."""
        if self._service is not None:
            self._service.terminate()
            self._service.wait(timeout=30)
            self._service.stderr.close()
            self._service = None

    def _python(self, block: Block, where: str) -> None:
        # Empty lines before it, so that a traceback has the lines of the page.
        code = compile("\n" * (block.line - 1) + block.code, where, "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, self._names)

    def _command(self, line: str, where: str) -> None:
        words = shlex.split(line, comments=True)
        if words[:2] == ["rocourse", "serve"]:
            self._serve(words[1:-1] if words[-1] == "&" else words[1:])
        elif words[0] == "rocourse" and not re.search(r"[|>;]|\$\(", line):
            if words[1] == "train":
                words.append("--force")
            result = run(*words[1:])
            # 3: an audit or an alarm that has found something has done as it should.
            assert result.exit_code in (0, 3), f"{where}: {line}\n{result.stderr}"
        else:
            self._shell(line, where)

    def _shell(self, line: str, where: str) -> None:
        line = line.replace("localhost:8000", f"localhost:{self._port}")
        if line.startswith("curl"):
            line = line.replace("curl", "curl --fail-with-body", 1)
        done = subprocess.run(
            ["bash", "-ec", line], env=environment(), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{where}: {line}\n{done.stdout}{done.stderr}"

    def _serve(self, words: list[str]) -> None:
        self.close()
        self._service = subprocess.Popen(
            [sys.executable, "-m", "rocourse.cli", *words, "--port", str(self._port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            assert self._service.poll() is None, self._service.stderr.read()
            with contextlib.suppress(URLError, ConnectionError):
                urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=5).close()
                return
            time.sleep(0.2)
        raise AssertionError("the service does not answer")


def commands(block: Block) -> list[str]:
    """The commands of a block, each on one line; of `console`, what follows a `$`."""
    lines = block.code.splitlines()
    found: list[str] = []
    open_line = False
    for line in lines:
        if block.language == "console" and not open_line:
            if not line.startswith("$ "):
                continue
            line = line[2:]
        if open_line:
            found[-1] += "\n" + line
        elif line.strip() and not line.lstrip().startswith("#"):
            found.append(line)
        else:
            continue
        open_line = found[-1].endswith("\\") or found[-1].count("'") % 2 == 1
    return [line.replace("\\\n", " ") for line in found]


def environment() -> dict[str, str]:
    """What programs outside the test process get: this package, and a `rocourse` on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src")}


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def copy_world(source: Path, target: Path) -> None:
    """A fresh copy of the prepared folder."""
    shutil.copytree(source, target, dirs_exist_ok=True)
