"""The words of the page: every sentence of the scripts and of the page is there in German."""

import html
import json
import re
from html.parser import HTMLParser

from tests.service.page.stub import STATIC

LITERAL = r'"((?:[^"\\]|\\.)*)"'
GERMAN = json.loads((STATIC / "words" / "de.json").read_text(encoding="utf-8"))
# Names, and what stands for itself.
ALIKE = {"rocourse", *"12345678"}


def first_argument(text):
    """What a call's parenthesis holds before its first comma, however it is nested."""
    depth, quoted = 0, False
    for place, sign in enumerate(text):
        if sign == '"' and text[place - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if sign in "([{":
            depth += 1
        if sign in ")]}" or (sign == "," and depth == 0):
            if depth == 0:
                return text[:place]
            depth -= 1
    raise AssertionError("a call without an end")


def said_by_scripts():
    said = {"open", "redeemed", "broken", "withdrawn", "expired"}
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8").replace('("aria-label")', "()")
        for call in re.finditer(r"(?<!\w)(?:t|parts)\(", text):
            said.update(re.findall(rf"(?<!= ){LITERAL}", first_argument(text[call.end() :])))
        for one, many in re.findall(rf"count\([^\"()]*{LITERAL}(?:, {LITERAL})?\)", text):
            said |= {f"{{n}} {one}", f"{{n}} {many or one + 's'}"}
    return said


class Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.texts, self.inside = set(), []

    def handle_starttag(self, tag, attrs):
        self.inside = [tag, *self.inside]
        self.texts.update(value for name, value in attrs if name == "aria-label")

    def handle_data(self, data):
        if self.inside[:1] not in (["title"], ["script"]) and data.strip():
            self.texts.add(" ".join(data.split()))


def said_by_the_page():
    parser = Texts()
    parser.feed(html.unescape((STATIC / "index.html").read_text(encoding="utf-8")))
    return parser.texts - ALIKE


def test_every_sentence_is_there_in_german_and_no_other():
    said = said_by_scripts() | said_by_the_page()
    assert len(said) > 150
    assert GERMAN.keys() - said == set()
    assert said - GERMAN.keys() == set()


def test_a_translation_has_the_same_places():
    for english, german in GERMAN.items():
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", german))


def test_no_sentence_is_left_out():
    sentence = re.compile(r'"([A-Z][a-z]+ [^"]*)"')
    for path in STATIC.glob("*.js"):
        code = re.sub(r"^ *//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        left = {text for text in sentence.findall(code) if not text.startswith("Bearer ")}
        assert left - GERMAN.keys() == set(), path.name
