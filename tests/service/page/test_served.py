"""The page in a browser, served by the service itself: from an application to the audit."""

import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("playwright", reason="the page is tested with playwright, which is missing")

from playwright.sync_api import expect  # noqa: E402
from tests.service.page.test_page import CHROMIUM, browser  # noqa: E402, F401

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in chromium: missing")


@pytest.fixture(scope="module")
def address(tmp_path_factory, stored):
    """A service in a process of its own, with a ledger and a candidate."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(stored / "model", folder / "model")
    command = [sys.executable, "-m", "rocourse.cli", "serve", str(folder / "model"), "--port", "0"]
    command += ["--ledger", str(folder / "l.db"), "--candidate", str(stored / "contrary")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield process.stdout.readline().split()[-1]
        process.terminate()


def test_from_an_application_to_the_audit(address, browser):  # noqa: F811
    page = browser.new_page()
    faults = []
    page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.get_by_role("button", name="Load the example").click()
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("heading", name="Refused")).to_be_visible()
    expect(page.get_by_text("of 3 models of shifted data would honour this")).to_be_visible()
    changed = page.get_by_role("table").first.get_by_role("row")
    assert changed.count() > 1

    page.get_by_role("link", name="See the promise").click()
    expect(page.get_by_text(re.compile("open", re.IGNORECASE)).first).to_be_visible()

    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("img").first).to_be_visible()
    # The model in service keeps the one promise that there is; the contrary one breaks it.
    expect(page.get_by_text("Honours 1 of 1 open promise")).to_be_visible()
    expect(page.get_by_text("Honours 0 of 1 open promise")).to_be_visible()
    assert faults == []
    page.close()
