"""The report: one page that needs nothing else, made from the stored result alone."""

import json
import re
from html.parser import HTMLParser

import pytest

from rocourse.errors import ArtifactError
from rocourse.experiments import render_demo
from rocourse.reports.demo import DemoResult, render_report


class Page(HTMLParser):
    """Tags, with a check that they nest."""

    VOID = {"meta", "img", "source", "br", "link"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(result) -> Page:
    return Page(render_report(result))


def test_page_needs_nothing_from_elsewhere(page):
    assert not page.named("script") and not page.named("link")
    sources = [image["src"] for image in page.named("img")]
    sources += [source["srcset"] for source in page.named("source")]
    assert all(source.startswith("data:image/svg+xml,") for source in sources)
    style = page.text[: page.text.index("Does the advice outlive the model?")]
    assert "url(" not in style and "@import" not in style


def test_page_has_every_picture_for_light_and_dark_with_words_for_those_who_cannot_see(page):
    # Two methods and one applicant.
    assert len(page.named("img")) == len(page.named("source")) == 3
    assert "logistic regression 50% without change and 41% with" in page.named("img")[1]["alt"]


def test_page_shows_figures_advice_and_doubts(page):
    text = re.sub(r"\s+", " ", page.text)
    assert "97% of its 40 promises are kept by retrained models of its own kind" in text
    assert "Had the same people changed nothing: 30%. The advice adds +67 points." in text
    assert "Worse than silence: by logistic regression" in text
    assert "Fewer than stated are kept by gradient boosting (91%)" in text
    assert "Duration: 48 → 24 months" in text
    assert "Approved by 8 of 8 retrained models; without any change by 1." in text
    assert "Present residence, History may not change" in text
    assert "rocourse demo --seed 0" in text
    assert "CC BY 4.0" in text


def test_page_can_do_without_promises(nothing_promised):
    page = Page(render_report(nothing_promised))
    assert len(page.named("img")) == 2
    assert "found no recourse for any refused applicant" in page.text
    assert "It promises nothing." in page.text
    assert "None" not in page.text


def test_words_from_the_data_are_escaped(record):
    record["samples"][0]["changes"][0]["text"] = "Duration: <script>alert(1)</script> & more"
    page = Page(render_report(DemoResult.from_dict(record)))
    assert not page.named("script")
    assert "<script>alert(1)</script> & more" in page.text


def test_redrawing_reads_the_stored_result_and_nothing_else(tmp_path, record):
    stored = json.dumps(record)
    (tmp_path / "result.json").write_text(stored)
    written = render_demo(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in written} == {
        "report.html",
        "figures/kept.png",
        "figures/applicant.png",
    }
    before = {path: path.read_bytes() for path in written}
    assert render_demo(tmp_path) == written
    assert {path: path.read_bytes() for path in written} == before
    assert (tmp_path / "result.json").read_text() == stored


def test_redrawing_without_a_result_writes_nothing(tmp_path):
    with pytest.raises(ArtifactError):
        render_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []
