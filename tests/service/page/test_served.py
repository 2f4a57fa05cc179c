"""The page in a browser, served by the service itself: from an application to the audit."""

import json
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("playwright", reason="the page is tested with playwright, which is missing")

from playwright.sync_api import expect  # noqa: E402
from tests.service.making import ROW  # noqa: E402
from tests.service.page.test_page import CHROMIUM, PATIENCE, browser  # noqa: E402, F401
from tests.service.test_notices import LENDER  # noqa: E402

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in chromium: missing")


@pytest.fixture(scope="module")
def address(tmp_path_factory, stored):
    """A service in a process of its own, with a ledger and a candidate."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(stored / "model", folder / "model")
    command = [sys.executable, "-m", "rocourse.cli", "serve", str(folder / "model"), "--port", "0"]
    command += ["--ledger", str(folder / "l.db"), "--candidate", str(stored / "contrary")]
    (folder / "lender.toml").write_text(LENDER)
    command += ["--lender", str(folder / "lender.toml"), "--deadline", "60"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield process.stdout.readline().split()[-1]
        process.terminate()


@pytest.fixture
def page(address, browser):  # noqa: F811
    """The page, which must not complain."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    faults = []
    page.on("console", lambda line: faults.append(line.text) if _is_fault(line) else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.get_by_role("button", name="Load the example").click()
    yield page
    assert faults == []
    page.close()


def _is_fault(line):
    # What the service refuses, the browser reports as well.
    return line.type == "error" and "status of 422" not in line.text


def test_from_an_application_to_the_audit(page):
    page.get_by_label("How many options").select_option("1")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("heading", name="Refused")).to_be_visible()
    expect(page.get_by_text("of 3 models of shifted data would honour this")).to_be_visible()
    changed = page.get_by_role("table").first.get_by_role("row")
    assert changed.count() > 1

    for kind, begins in (("Letter (HTML)", b"<!DOCTYPE html>"), ("Letter (PDF)", b"%PDF-")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=kind, exact=True).click()
        letter = saved.value.path().read_bytes()
        assert letter.startswith(begins) and saved.value.suggested_filename.startswith("letter-")

    page.get_by_role("link", name="See the promise").click()
    expect(page.get_by_text(re.compile("open", re.IGNORECASE)).first).to_be_visible()

    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("img").first).to_be_visible()
    # The model in service keeps the one promise that there is; the contrary one breaks it.
    expect(page.get_by_text("Honours 1 of 1 promise")).to_be_visible()
    expect(page.get_by_text("Honours 0 of 1 promise")).to_be_visible()


def test_a_gap_wishes_and_three_options_of_which_one_is_redeemed(page):
    file = {"name": "a.json", "mimeType": "text/plain", "buffer": json.dumps(ROW).encode()}
    page.get_by_label("Load from a file").set_input_files(file)
    page.locator("#decide-0").fill("")
    expect(page.locator("#decide-0-note")).to_contain_text("Not given: it counts as")
    page.get_by_role("button", name="My wishes").click()
    page.get_by_label("Keep age as it is").check()
    page.get_by_label("At least years employed").fill("3")
    page.get_by_role("button", name="Decide").click()
    expect(page.locator("#decision")).to_contain_text("rests on what was not given: income counts")
    cards = page.locator(".option")
    expect(cards).to_have_count(3)
    for card in cards.all():
        expect(card).not_to_contain_text("age:")
    first, second = (cards.nth(k).locator("code").inner_text() for k in range(2))
    cards.nth(1).get_by_role("link", name="See the promise").click()
    expect(page.locator("#found")).to_contain_text("age as before; years employed of at least 3")
    page.get_by_role("button", name="Check and record").click()
    expect(page.locator(".outcome")).to_contain_text("The promise is kept")
    page.get_by_label("Id of the promise").fill(first)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#promise-status")).to_contain_text("Withdrawn")
    expect(page.locator("#found")).to_contain_text(f"{second} was redeemed")


def test_wishes_that_are_not_to_be_had_are_told_beside_the_field(page):
    page.get_by_role("button", name="My wishes").click()
    page.get_by_label("At least income").fill("60")
    page.get_by_label("At most income").fill("50")
    with page.expect_response("**/v1/decisions") as answer:
        page.get_by_role("button", name="Decide").click()
    assert answer.value.status == 422
    error = page.locator("#decide-0-error")
    expect(error).to_contain_text("must leave a value between its ends")
