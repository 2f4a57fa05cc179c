"""The page in a browser, against a stand-in for the service."""

import shutil
import threading
import time

import pytest

pytest.importorskip("playwright", reason="the page is tested with playwright, which is missing")
uvicorn = pytest.importorskip("uvicorn", reason="the stand-in needs uvicorn, which is missing")

from playwright.sync_api import expect, sync_playwright  # noqa: E402
from tests.service.page.stub import EXPIRED, PROMISE, REASON, ROW, SCRIPT, make_app  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
KEY = "sesame"
# A busy machine must not decide what a test sees.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in chromium: missing")


class Running:
    """A stand-in that answers on a port of its own."""

    def __init__(self, **options):
        self.app = make_app(**options)
        config = uvicorn.Config(self.app, port=0, log_level="warning", ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self):
        self._thread.start()
        until = time.monotonic() + 30
        while not self._server.started:
            assert self._thread.is_alive() and time.monotonic() < until, "the stub did not start"
            time.sleep(0.02)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(30)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def running():
    with Running() as running:
        yield running


@pytest.fixture
def stub(running):
    running.app.state.asked.clear()
    running.app.state.wished.clear()
    running.app.state.redeemed = False
    return running


@pytest.fixture
def visit(browser):
    """Opens pages that must not complain; errors of the network are the test's own business."""
    contexts, complaints = [], []

    def open_page(url, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: heard(message))
        page.goto(url)
        return page

    def heard(message):
        refused = "Failed to load resource" in message.text and "/v1/" in message.location["url"]
        if message.type in ("error", "warning") and not refused:
            complaints.append(message.text)

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(visit, stub):
    return visit(stub.url)


def fill_in(page, options=1, **changes):
    page.get_by_role("button", name="Load the example").click()
    page.get_by_label("How many options").select_option(str(options))
    for name, value in changes.items():
        page.locator("#decide-form").get_by_label(name).fill(str(value))


def submit(page):
    page.get_by_role("button", name="Decide", exact=True).click()


def has_focus(locator):
    return locator.evaluate("node => node === document.activeElement")


def visible_rows(page):
    rows = page.locator("#decision tbody tr, #found .comparison tbody tr")
    return [row.locator("th").inner_text() for row in rows.all() if row.is_visible()]


def test_header_says_which_model_is_in_service(page):
    expect(page.locator("#model")).to_have_text("In service: RoCourseNet 3fa93fa9")
    expect(page).to_have_title("Decide on an application · rocourse")


def test_form_says_what_the_schema_says(page):
    duration = page.get_by_label("Duration (months)")
    assert duration.get_attribute("step") == "1"
    expect(page.locator("#decide-0-hint")).to_have_text("Usually 4 to 72, whole number")
    expect(page.locator("#decide-3-hint")).to_contain_text("cannot be asked to change")
    expect(page.locator("#decide-4-hint")).to_contain_text("can only go up")
    expect(page.locator("#decide-2-hint")).to_contain_text("can only go down")
    duration.fill("90")
    expect(page.locator("#decide-0-note")).to_contain_text("it counts as 72")
    duration.fill("72")
    expect(page.locator("#decide-0-note")).to_be_empty()


def test_refused_applicant_gets_a_recourse(page, stub):
    fill_in(page)
    page.get_by_label("Subject reference").fill("A-1017")
    submit(page)
    expect(page.locator("#verdict")).to_contain_text("Refused")
    assert has_focus(page.locator("#verdict"))
    expect(page.locator("#announcer")).to_have_text(
        "Refused. A recourse was found, with 2 changes."
    )
    expect(page.get_by_text("Duration: 36 → 24 months").first).to_be_in_viewport()
    decision = page.locator("#decision")
    expect(decision).to_contain_text("a probability of 31%")
    expect(decision).to_contain_text("Duration: 36 → 24 months")
    expect(decision).to_contain_text("7 of 8 models of shifted data would honour this.")
    expect(decision).to_contain_text(PROMISE)
    expect(decision).to_contain_text("2 Mar 2027")
    assert page.locator(".bar .filled").count() == 7
    # The types of the categories are those of the schema.
    assert stub.app.state.asked[0][1:] == (ROW, "A-1017")


def test_changed_fields_stand_out_and_the_others_can_be_shown(page):
    fill_in(page)
    submit(page)
    expect(page.locator("#verdict")).to_be_visible()
    assert visible_rows(page) == ["Duration", "Status"]
    page.get_by_label("All fields").check()
    assert visible_rows(page) == list(ROW)
    changed = page.locator("#decision tr.changed")
    assert changed.count() == 2
    expect(changed.nth(0).locator(".tag")).to_have_text("down by 12")
    expect(changed.nth(1).locator(".tag")).to_have_text("changed")
    page.get_by_label("Changed only").check()
    assert visible_rows(page) == ["Duration", "Status"]


def test_approved_applicant_has_nothing_to_change(page):
    fill_in(page, Duration=12)
    submit(page)
    expect(page.locator("#verdict")).to_contain_text("Approved")
    assert page.locator("#decision table").count() == 0


def test_says_that_no_recourse_was_found(page):
    fill_in(page, CreditAmount=60_000)
    submit(page)
    expect(page.locator("#decision")).to_contain_text("No recourse was found")


def test_missing_values_are_named_beside_their_fields(page, stub):
    page.get_by_label("Duration (months)").fill("12.5")
    submit(page)
    expect(page.locator("#decide-0-error")).to_have_text("Enter a whole number.")
    expect(page.locator("#decide-1-error")).to_contain_text("Enter a number")
    expect(page.locator("#decide-5-error")).to_contain_text("Choose one")
    assert has_focus(page.get_by_label("Duration (months)"))
    assert page.get_by_label("Duration (months)").get_attribute("aria-invalid") == "true"
    assert stub.app.state.asked == []


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("busy", "The service has more to do than it can. Try again in 1 second."),
        ("often", "Too many requests. Try again in 7 seconds."),
        ("large", "A body may have at most 1 MB, but this one has more."),
        ("broken", "The service answered with an error (502)."),
    ],
)
def test_errors_of_the_service_are_told_in_words(page, subject, words):
    fill_in(page)
    page.get_by_label("Subject reference").fill(subject)
    submit(page)
    expect(page.locator("#decide-alert")).to_have_text(words)
    assert has_focus(page.locator("#decide-alert"))


def test_error_that_names_a_feature_is_told_beside_it(page):
    fill_in(page)
    page.get_by_label("Subject reference").fill("named")
    submit(page)
    expect(page.locator("#decide-3-error")).to_contain_text("must be at least 18")
    assert has_focus(page.get_by_label("Age (years)"))


def test_same_application_is_sent_again_under_the_same_key(page, stub):
    fill_in(page)
    page.get_by_label("Subject reference").fill("busy")
    for _ in range(2):
        submit(page)
        expect(page.locator("#decide-alert")).to_be_visible()
    page.get_by_label("Subject reference").fill("A-1")
    for _ in range(2):
        submit(page)
        expect(page.locator("#verdict")).to_be_visible()
    keys = [key for key, *_ in stub.app.state.asked]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_unreachable_service_is_told_in_words(page):
    fill_in(page)
    page.route("**/v1/decisions", lambda route: route.abort())
    submit(page)
    expect(page.locator("#decide-alert")).to_contain_text("could not be reached")


def load(page, name, text):
    expect(page.locator("#decide-form")).to_be_visible()
    file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    page.get_by_label("Load from a file").set_input_files(file)


def test_application_is_loaded_from_csv(page, stub):
    cells = ROW | {"Purpose": '"education"', "Telephone": "True", "Status": "3.0", "Extra": "1"}
    load(page, "a.csv", "\ufeff" + ";".join(cells) + "\r\n" + ";".join(map(str, cells.values())))
    expect(page.locator("#file-note")).to_contain_text("Not asked for, so ignored: Extra.")
    submit(page)
    expect(page.locator("#verdict")).to_be_visible()
    expected = ROW | {"Purpose": "education", "Telephone": True, "Status": 3}
    assert stub.app.state.asked[0][1] == expected


def test_application_is_loaded_from_json(page):
    load(page, "a.json", '{"Duration": 20, "Status": 9}')
    expect(page.get_by_label("Duration (months)")).to_have_value("20")
    expect(page.locator("#decide-5-error")).to_have_text("“9” is not one of the choices.")
    expect(page.locator("#file-note")).to_contain_text("still empty: CreditAmount")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The file is empty."),
        ("{", "cannot be read as JSON"),
        ("[1, 2]", "must hold one object"),
        ("a,b\n1,2\n3,4", "but this one has 2 rows"),
        ("a,b\n1", "2 columns, but the row has 1"),
    ],
)
def test_file_that_is_not_an_application_is_refused_in_words(page, text, words):
    load(page, "a.txt", text)
    expect(page.locator("#file-alert")).to_contain_text(words)
    assert has_focus(page.locator("#file-alert"))


def test_data_is_shown_as_text(page):
    fill_in(page)
    page.get_by_label("Purpose").select_option(label=SCRIPT)
    page.get_by_label("Subject reference").fill(SCRIPT)
    submit(page)
    expect(page.locator("#decision")).to_contain_text(f"Subject: {SCRIPT}")
    page.get_by_label("All fields").check()
    expect(page.locator("#decision table")).to_contain_text(SCRIPT)
    expect(page).to_have_title("Decide on an application · rocourse")
    assert page.locator("main script").count() == 0


def test_options_are_cards_with_their_changes_cost_certainty_and_promise(page, stub):
    fill_in(page, options=3)
    submit(page)
    expect(page.locator("#announcer")).to_have_text("Refused. There are 3 options.")
    cards = page.locator(".option")
    expect(cards).to_have_count(3)
    expect(page.locator("#decision")).to_contain_text("There are 3 ways, each enough by itself.")
    first, second, third = cards.all()
    expect(first).to_contain_text("Duration: 36 → 24 months")
    expect(first).to_contain_text("Takes about4.5 months")
    expect(first).to_contain_text("Likely to hold when the model is renewed.")
    expect(first).to_contain_text("7 of 8 models of shifted data would honour this.")
    expect(first).to_contain_text(PROMISE)
    expect(second).to_contain_text("Very likely to hold")
    expect(second).to_contain_text("estimated at 97%")
    expect(second.get_by_role("heading")).to_have_text("Option 2promised")
    expect(third.get_by_role("heading")).to_have_text("Option 3cheapest")
    expect(third).to_contain_text("Unlikely to hold")
    expect(third).to_contain_text("Not promised")
    assert third.get_by_role("link").count() == 0
    assert stub.app.state.wished == [(3, None)]
    # The rows stay folded until they are asked for.
    assert visible_rows(page) == []
    second.get_by_text("Before and after").first.click()
    assert visible_rows(page) == ["Duration"]
    first.get_by_role("link", name="See the promise").click()
    expect(page.locator("#found")).to_contain_text("One of several options")
    expect(page.locator("#found")).to_contain_text(
        "Purpose as before; CreditAmount of at least 10,000 DM"
    )


def test_a_certificate_says_what_it_covers_and_what_not_beside_the_letter(page):
    fill_in(page, options=3)
    submit(page)
    first = page.locator(".option").first
    expect(first.get_by_text("It does not say more")).to_be_hidden()
    first.get_by_text("Certified", exact=True).click()
    expect(first).to_contain_text("Every model whose weights move by at most the level honours it.")
    expect(first).to_contain_text("Level: 0.0213, 0.01 asked for.")
    expect(first).to_contain_text("It does not say more: Training anew moves them further.")
    # One letter tells of all the options.
    expect(page.get_by_role("button", name="Letter (PDF)")).to_have_count(1)


def test_wishes_are_sent_as_they_were_made(page, stub):
    fill_in(page)
    assert page.locator(".wish").count() == 0
    wishes = page.get_by_role("button", name="My wishes")
    wishes.click()
    # What cannot be asked to change needs no wish.
    expect(page.locator(".wish")).to_have_count(len(ROW) - 2)
    page.get_by_label("Keep Purpose as it is").check()
    page.get_by_label("At least CreditAmount").fill("10000")
    page.get_by_label("Keep Duration as it is").check()
    expect(page.get_by_label("At most Duration")).to_be_disabled()
    expect(page.get_by_label("Change Duration rather than others")).to_be_disabled()
    page.get_by_label("Change CreditAmount rather than others").check()
    expect(wishes).to_have_text("My wishes (3)")
    wishes.click()
    expect(page.get_by_label("Keep Purpose as it is")).to_be_hidden()
    submit(page)
    expect(page.locator("#verdict")).to_be_visible()
    wished = {
        "lock": ["Duration", "Purpose"],
        "ranges": {"CreditAmount": [10_000, None]},
        "prefer": ["CreditAmount"],
    }
    assert stub.app.state.wished == [(1, wished)]
    page.get_by_role("button", name="Clear").click()
    expect(wishes).to_have_text("My wishes")
    wishes.click()
    assert not page.get_by_label("Keep Purpose as it is").is_checked()
    expect(page.get_by_label("At least CreditAmount")).to_have_value("")


def test_categories_that_will_do_are_ticked(page, stub):
    fill_in(page)
    page.get_by_role("button", name="My wishes").click()
    wish = page.locator(".wish", has=page.get_by_label("Keep Purpose as it is"))
    wish.get_by_text("End as one of").click()
    wish.get_by_label("Car", exact=True).check()
    wish.get_by_label("Education").check()
    expect(page.locator("#wishes")).to_have_text("My wishes (1)")
    submit(page)
    expect(page.locator("#verdict")).to_be_visible()
    wished = {"lock": [], "ranges": {"Purpose": ["car", "education"]}, "prefer": []}
    assert stub.app.state.wished == [(1, wished)]
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#wishes")).to_have_text("My wishes")


def test_wishes_that_cannot_be_met_are_told_with_the_reason(page):
    fill_in(page, CreditAmount=60_000)
    page.get_by_role("button", name="My wishes").click()
    page.get_by_label("Keep Purpose as it is").check()
    submit(page)
    expect(page.locator("#decision")).to_contain_text("The wishes cannot be met")
    expect(page.locator("#decision")).to_contain_text(REASON)


def test_promise_is_looked_up_and_redeemed(page):
    page.get_by_role("link", name="Promise").click()
    expect(page).to_have_title("Look up a promise · rocourse")
    assert has_focus(page.get_by_role("heading", level=1))
    page.get_by_label("Id of the promise").fill(f" {PROMISE.upper()} ")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#promise-status")).to_contain_text("Open")
    expect(page.locator("#found")).to_contain_text("87.5% of the models of shifted data")
    expect(page.locator("#found")).to_contain_text("issued")
    assert visible_rows(page) == ["Duration", "Status"]
    form = page.locator("#return-form")
    expect(form.get_by_label("Duration (months)")).to_have_value("24")
    form.get_by_label("Age (years)").fill("32")
    form.get_by_label("Duration (months)").fill("30")
    form.get_by_role("button", name="Check and record").click()
    outcome = page.locator(".outcome")
    expect(outcome).to_contain_text("Not approved, and not as promised")
    expect(outcome).to_contain_text("Duration: 24 months was promised, 30 months is presented.")
    expect(outcome).to_contain_text("Age: was 31 years, now 32 years.")
    form.get_by_label("Duration (months)").fill("24")
    form.get_by_role("button", name="Check and record").click()
    expect(outcome).to_contain_text("The promise is kept")
    assert has_focus(page.locator("#outcome-title"))
    expect(page.locator("#promise-status")).to_contain_text("Redeemed")


def test_promise_that_has_run_out_cannot_be_redeemed(visit, stub):
    page = visit(f"{stub.url}#promise/{EXPIRED}")
    expect(page.locator("#found")).to_contain_text("nothing left to check")
    assert page.locator("#return-form").count() == 0


def test_unknown_promise_is_told_in_words(page, stub):
    page.goto(f"{stub.url}#promise/{PROMISE[:-1]}f")
    expect(page.locator("#lookup-alert")).to_contain_text("no promise with this id")
    page.get_by_label("Id of the promise").fill("nonsense/%")
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#lookup-alert")).to_contain_text("That is not the id of a promise")


def test_audit_shows_counts_picture_and_broken_promises(page):
    page.get_by_role("link", name="Audit").click()
    expect(page.locator(".counts")).to_contain_text("120")
    chart = page.get_by_role("img", name="Promises that each model honours")
    expect(chart).to_be_visible()
    expect(chart.locator("desc")).to_contain_text("in service: 98.3%")
    # Three series, three models.
    assert chart.locator(".interval").count() == 9
    lowest = chart.locator(".tick").all_text_contents
    assert "0%" in lowest()
    page.get_by_label("Zoomed").check()
    assert "0%" not in lowest()
    cards = page.locator("#report > .card")
    expect(cards.nth(2)).to_contain_text("Honours 118 of 120 promises: 98.3%.")
    expect(cards.nth(2)).to_contain_text("By age of the promise")
    people = cards.nth(2).get_by_role("table", name="By people")
    expect(people).to_contain_text("Age=over 40 to 75 (few)")
    cards.nth(4).get_by_role("button", name="Show all 30").click()
    assert cards.nth(4).locator("tbody a").count() == 30
    cards.nth(2).get_by_role("link", name=PROMISE).click()
    expect(page.locator("#promise-status")).to_contain_text("Open")


def test_service_without_a_ledger_says_so(visit):
    with Running(ledger=False) as running:
        page = visit(f"{running.url}#audit")
        expect(page.locator("#report")).to_contain_text("keeps no ledger")
        page.get_by_role("link", name="Decide").click()
        fill_in(page, options=3)
        submit(page)
        expect(page.locator("#decision")).to_contain_text("Nothing is promised")
        page.close()


def test_no_key_is_asked_for_where_none_is_needed(visit):
    with Running() as running:
        page = visit(running.url)
        expect(page.locator("#model")).to_contain_text("RoCourseNet")
        expect(page.get_by_label("API key")).to_be_hidden()
        page.close()


def test_key_is_asked_for_and_kept_in_memory_only(visit):
    with Running(key=KEY) as running:
        page = visit(running.url)
        expect(page.locator("#model-alert")).to_contain_text("asks for an API key")
        page.get_by_label("API key").fill("wrong")
        page.get_by_label("API key").press("Enter")
        expect(page.locator("#model-alert")).to_contain_text("does not know this API key")
        page.get_by_label("API key").fill(KEY)
        page.get_by_role("button", name="Use key").click()
        expect(page.locator("#model")).to_contain_text("RoCourseNet")
        expect(page.locator("#model-alert")).to_be_hidden()
        fill_in(page)
        submit(page)
        expect(page.locator("#verdict")).to_be_visible()
        stored = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
        assert stored == [0, 0, ""]
        page.close()


def test_keyboard_alone_gets_through(page):
    """From the top of the page to a copied id, by Tab, Enter and arrows."""
    expect(page.get_by_label("Duration (months)")).to_be_visible()
    keys = page.keyboard
    keys.press("Tab")
    assert has_focus(page.locator("#skip"))
    keys.press("Enter")
    assert has_focus(page.locator("main"))
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_label("Duration (months)")).to_have_value("36")
    for _ in range(3):
        keys.press("Tab")
    assert has_focus(page.get_by_role("button", name="My wishes"))
    keys.press("Tab")
    assert has_focus(page.get_by_label("Duration (months)"))
    keys.press("ArrowUp")
    for _ in range(5):
        keys.press("Tab")
    assert has_focus(page.get_by_label("Status"))
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    for _ in range(4):
        keys.press("Tab")
    assert has_focus(page.get_by_label("How many options"))
    keys.press("Home")
    keys.press("Tab")
    keys.type("A-1")
    keys.press("Enter")
    expect(page.locator("#verdict")).to_contain_text("Refused")
    # Past the certificate.
    keys.press("Tab")
    keys.press("Tab")
    keys.press("ArrowRight")
    assert len(visible_rows(page)) == len(ROW)
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#announcer")).to_contain_text("The id")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#promise-status")).to_contain_text("Open")


@pytest.mark.parametrize("view", ["decide", "promise", "audit"])
def test_phone_needs_no_sideways_scrolling(visit, stub, view):
    page = visit(stub.url, viewport={"width": 360, "height": 740})
    fill_in(page, options=3 if view == "decide" else 1)
    page.get_by_role("button", name="My wishes").click()
    amount = page.get_by_label("CreditAmount (DM)")
    amount.fill("-5")
    submit(page)
    expect(page.locator("#decide-1-error")).to_have_text("Enter 0 or more.")
    amount.fill("99")
    submit(page)
    expect(page.locator("#verdict")).to_be_visible()
    if view == "decide":
        page.get_by_text("Before and after").first.click()
    page.get_by_label("All fields").first.check()
    if view == "promise":
        page.get_by_role("link", name="See the promise").click()
        page.get_by_role("button", name="Check and record").click()
        expect(page.locator(".outcome")).to_be_visible()
    if view == "audit":
        page.get_by_role("link", name="Audit").click()
        expect(page.locator(".chart")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_control_has_a_label(visit, stub):
    page = visit(stub.url)
    fill_in(page, options=3)
    page.get_by_role("button", name="My wishes").click()
    submit(page)
    page.get_by_role("link", name="See the promise").first.click()
    expect(page.locator("#return-form")).to_be_visible()
    unlabelled = page.evaluate(
        "[...document.querySelectorAll('input, select')].filter(n => !n.labels.length).length"
    )
    assert unlabelled == 0
    repeated = page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map(n => n.id);"
        " return ids.filter((id, i) => ids.indexOf(id) !== i); })()"
    )
    assert repeated == []


@pytest.mark.parametrize(
    ("address", "options"), [("", {"locale": "de-DE"}), ("?language=de", {"locale": "fr-FR"})]
)
def test_the_page_speaks_german_to_whoever_prefers_it(visit, stub, address, options):
    page = visit(stub.url + address, **options)
    expect(page.get_by_role("heading", level=1)).to_have_text("Über einen Antrag entscheiden")
    assert page.locator("html").get_attribute("lang") == "de"
    page.get_by_role("button", name="Beispiel laden").click()
    page.get_by_label("Wie viele Möglichkeiten").select_option("1")
    page.get_by_role("button", name="Entscheiden", exact=True).click()
    expect(page.get_by_role("heading", level=2, name="Abgelehnt")).to_be_visible()
    decision = page.locator("#decision")
    expect(decision).to_contain_text("Damit steigt die Wahrscheinlichkeit von")
    expect(decision).to_contain_text("Brief (PDF)")
    # Names and values are data, and stay.
    expect(decision).to_contain_text("CreditAmount")
    page.get_by_role("link", name="Prüfen").click()
    expect(page.locator("#report")).to_contain_text("Nach dem urteilenden Modell")


def test_the_address_wins_over_the_browser(visit, stub):
    page = visit(f"{stub.url}?language=en", locale="de-DE")
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide on an application")
