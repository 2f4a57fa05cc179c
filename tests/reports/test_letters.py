"""Letters say decision, reasons, changes, date, reference and rights, in every format."""

import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocourse import datasets
from rocourse.errors import ConfigError
from rocourse.reasons import Reason
from rocourse.reports.letters import (
    Advice,
    Case,
    FeatureWords,
    Lender,
    WithheldLetter,
    cases_of,
    make_letter,
    read_lender,
    read_words,
    render_letter,
)
from rocourse.reports.letters._letter import Block

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = datasets.load("german_credit").schema


def reason(feature, value, beside=None, *, protected=False):
    return Reason(feature, value, beside, -1.0, 0.3, False, protected, "")


REASONS = [
    reason("Credit amount", 12204, "higher"),
    reason("Status", 2, "other"),
    reason("Duration", 48, "higher"),
]
SHORTER = {"feature": "Duration", "from": 48, "to": 24}
ACCOUNT = {"feature": "Status", "from": 2, "to": 3}


def case(advice=(), *, reasons=REASONS, until=date(2027, 5, 17)):
    return Case("A-1 <b>", date(2026, 11, 18), until, reasons, advice)


def text_of(one, language="en", lender=None, law=None):
    letter = make_letter(one, SCHEMA, read_words(language), lender or Lender(), law=law)
    return " ".join(render_letter(letter, "text").decode().split())


def test_a_letter_has_all_that_it_owes():
    lender = Lender(
        name="Sample Bank",
        address=("1 Main Street",),
        agency="An Agency, Washington",
        reviewed="A. Lawyer, 2026-11-01",
        features={"Duration": FeatureWords(code="R1", name={"en": "Term of the loan"})},
    )
    text = text_of(case([Advice([SHORTER], True, "0189-ab")]), lender=lender)
    for part in (
        "Sample Bank 1 Main Street",
        "Date: 18 November 2026",
        "Your reference: A-1 <b>",
        "decided not to approve",
        "1. Credit amount: 12,204 DM. This is higher than is usual for approved applications.",
        "2. Status: balance below 0 DM",
        "3. Term of the loan: 48 months. This is higher than is usual for approved applications. "
        "(R1)",
        "If you apply again by 17 May 2027",
        "Reference of this promise: 0189-ab",
        "- Term of the loan: 24 months (now: 48 months)",
        "Equal Credit Opportunity Act",
        "concerning this creditor is An Agency, Washington.",
    ):
        assert part in text, part
    assert "DRAFT" not in text and "report from" not in text


def test_letters_are_drafts_until_a_lawyer_has_read_them():
    for language, word in (("en", "DRAFT"), ("de", "ENTWURF")):
        assert word in text_of(case(), language)


def test_what_is_promised_is_told_apart_from_what_is_not():
    both = [Advice([SHORTER], True), Advice([ACCOUNT], False)]
    text = text_of(case(both))
    assert text.index("by 17 May 2027") < text.index("Option 1:") < text.index("cannot promise")
    assert text.index("cannot promise") < text.index("Option 2:")
    unsure = text_of(case([Advice([SHORTER], False)], until=None))
    assert "we will approve" not in unsure and "On the day of our decision" in unsure
    assert "found none that we could recommend" in text_of(case())


def test_german_letters_have_german_numbers_units_and_the_lenders_words():
    lender = read_lender(ROOT / "examples" / "lender.toml", SCHEMA)
    text = text_of(case([Advice([SHORTER, ACCOUNT], True)]), "de", lender)
    for part in (
        "Datum: 18. November 2026",
        "Höhe des Kredits: 12.204 DM. Das ist mehr, als bei bewilligten Anträgen üblich ist. (R2)",
        "Ihr Girokonto: im Minus",
        "- Laufzeit des Kredits: 24 Monate (jetzt: 48 Monate)",
        "- Ihr Girokonto: Guthaben von 0 bis 200 DM (jetzt: im Minus)",
        "bis zum 17. Mai 2027",
        "Artikel 22 Absatz 3",
        "KI-Verordnung",
    ):
        assert part in text, part


def test_numbers_that_are_codes_have_words_and_units_of_one_are_singular():
    lender = read_lender(ROOT / "examples" / "lender.toml", SCHEMA)
    rate = {"feature": "Installment rate", "from": 4, "to": 1}
    month = {"feature": "Duration", "from": 48, "to": 1}
    told = case([Advice([rate, month], True)], reasons=[reason("Installment rate", 4, "higher")])
    text = text_of(told, lender=lender)
    assert "part of your disposable income: less than 20%. What approved" in text
    assert "income: 35% or more (now: less than 20%)" in text
    assert "Term of the loan: 1 month (now: 48 months)" in text
    assert "Laufzeit des Kredits: 1 Monat (jetzt: 48 Monate)" in text_of(told, "de", lender)


def test_what_is_neither_more_nor_less_is_set_beside_others_too():
    reasons = [reason("Status", 2, "other"), reason("History", None), reason("Duration", 48)]
    more = "What approved applications state here counts for more on average."
    assert text_of(case(reasons=reasons)).count(more) == 3
    assert text_of(case(reasons=reasons), "de").count("zählt im Durchschnitt mehr.") == 3


def test_what_takes_longer_than_a_promise_holds_is_not_promised():
    options = [
        {"status": "found", "months": months, "changes": [{**SHORTER, "to": to}]}
        for months, to in ((None, 12), (6.0, 24), (7.0, 30))
    ]
    recourse = SimpleNamespace(to_records=lambda: [{"options": options}])
    reasons = SimpleNamespace(principal=lambda: [REASONS], refused=[True])
    decided, until = date(2026, 11, 18), date(2027, 5, 31)
    for day, promised in ((until, [True, True, False]), (None, [False, False, False])):
        (told,) = cases_of(recourse, reasons, ["A-1"], decided=decided, until=day)
        assert [one.promised for one in told.advice] == promised


def test_the_law_is_the_one_asked_for_or_the_lenders():
    assert "AI Act" in text_of(case(), law="gdpr")
    assert "AI Act" in text_of(case(), lender=Lender(law="gdpr"))
    assert "a free copy of your report" in text_of(case(), lender=Lender(bureau="A Bureau"))
    with pytest.raises(ConfigError, match="know, 'gdpr', but got 'ecoa'"):
        text_of(case(), "de", law="ecoa")


def test_a_protected_attribute_is_told_only_in_the_lenders_own_words():
    refused = case(reasons=[reason("Age", 22, "lower", protected=True)])
    with pytest.raises(WithheldLetter, match="'Age' as a reason, which looks like a protected"):
        text_of(refused)
    worded = Lender(features={"Age": FeatureWords(reason={"en": "Your age of {value}."})})
    assert "1. Your age of 22 years." in text_of(refused, lender=worded)
    with pytest.raises(WithheldLetter):
        text_of(refused, "de", lender=worded)
    with pytest.raises(WithheldLetter, match="must tell reasons"):
        text_of(case(reasons=[]))


def test_pages_escape_what_applicants_and_lenders_write():
    letter = make_letter(case(), SCHEMA, read_words("en"), Lender(name="A & B"))
    page = render_letter(letter, "html").decode()
    assert "A-1 &lt;b&gt;" in page and "A &amp; B" in page and "<b>" not in page
    assert '<html lang="en">' in page


def test_a_pdf_is_one_in_any_alphabet(tmp_path):
    letter = make_letter(case(), SCHEMA, read_words("de"), Lender(name="Żółty Bank Ελλάς Банк"))
    content = render_letter(letter, "pdf")
    assert content.startswith(b"%PDF-") and content.rstrip().endswith(b"%%EOF")
    (tmp_path / "letter.pdf").write_bytes(content)
    try:
        told = subprocess.run(
            ["pdftotext", str(tmp_path / "letter.pdf"), "-"], capture_output=True, text=True
        ).stdout
    except FileNotFoundError:
        return
    assert "Żółty Bank Ελλάς Банк" in told and "12.204 DM" in told


def test_an_item_is_on_one_page_with_its_mark():
    """However far down it begins: torn apart, its mark would have a page of its own."""
    letter = make_letter(case(), SCHEMA, read_words("en"), Lender(name="A"))
    item = "A way that takes more than a line to be told, so that it may be torn apart: " * 2
    for count in (27, 28, 29):
        blocks = (Block(text="\n".join(["line"] * count)), Block(items=(item,) * 6))
        content = render_letter(replace(letter, blocks=blocks), "pdf")
        assert content.count(b"/Type /Page\n") <= 2


def test_neither_heading_nor_signature_stands_alone(tmp_path):
    letter = make_letter(case(), SCHEMA, read_words("en"), Lender(name="A"))
    for count in range(20, 30):
        filling = Block(text="\n".join(["line"] * count))
        blocks = (filling, Block(heading="Your rights"), Block(text="They are many. " * 20))
        letter = replace(letter, blocks=blocks, closing=("Yours", "A"))
        (tmp_path / "letter.pdf").write_bytes(render_letter(letter, "pdf"))
        try:
            told = subprocess.check_output(["pdftotext", tmp_path / "letter.pdf", "-"], text=True)
        except FileNotFoundError:
            return
        # Pages end with form feeds.
        (last,) = (page for page in told.split("\f") if "Yours" in page)
        assert "They are many" in last and "Your rights" in last


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[lender]\nnam = 'x'", "'nam' \\(did you mean 'name'\\?\\)"),
        ("[features.Durations]\ncode = 'x'", "did you mean 'Duration'"),
        ("[lender]\nname = 3", "lender.name must be text, but got 3"),
        ("[features]\nDuration = 'x'", "features.Duration must be a table"),
        ("name", "must be TOML or .json, but it is not"),
    ],
)
def test_a_lenders_file_that_is_wrong_is_refused_in_a_sentence(tmp_path, content, says):
    path = tmp_path / "lender.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=says):
        read_lender(path, SCHEMA)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_lender(tmp_path / "missing.toml", SCHEMA)


def test_a_language_of_ones_own_is_a_copy_of_english(tmp_path):
    from importlib.resources import files

    english = (files("rocourse.reports.letters") / "words" / "en.toml").read_text()
    own = tmp_path / "nl.toml"
    own.write_text(english.replace('language = "en"', 'language = "nl"').replace("Dear", "Beste"))
    assert "Beste applicant" in text_of(case(), str(own))
    own.write_text(english.replace("closing =", "ending ="))
    with pytest.raises(ConfigError, match="must have the parts of en.toml"):
        read_words(str(own))
    with pytest.raises(ConfigError, match="one of en, de, or a file of words"):
        read_words("fr")
