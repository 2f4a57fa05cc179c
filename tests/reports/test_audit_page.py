"""The page and the picture of an audit: one file that needs nothing else."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from rocourse.evaluation import AuditCounts, AuditReport, BrokenPromise
from rocourse.reports import draw_audits, render_audit

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NASTY = "<script>alert('x')</script> & $a_b$ -->"


class Page(HTMLParser):
    """Tags, with a check that they nest."""

    VOID = {"meta"}

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self._open = [], "", []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


def make_broken(k, **changes):
    fields = {
        "id": f"promise-{k}",
        "subject": f"applicant-{k}",
        "issuer": "m1",
        "issued_at": NOW,
        "age_days": k,
        "desired": "granted",
        "promised": 0.9,
        "probability": 0.2,
        "margin": -1.5,
        "reason": None,
    }
    return BrokenPromise(**{**fields, **changes})


def make_report(name="2027", *, total=AuditCounts(10, 7, 1), issuers=None, **changes):  # noqa: B008
    fields = {
        "name": name,
        "model": f"digest of {name}",
        "at": NOW,
        "total": total,
        "by_age": {"0-30": total, "31-90": AuditCounts()},
        "by_issuer": {"m1": total} if issuers is None else issuers,
        "by_status": {"open": total},
        "unreadable": {"a category of 'job' is unknown to the model": 1},
        "worst": (make_broken(1), make_broken(2)),
    }
    return AuditReport(**{**fields, **changes})


def render(*reports, ledger="ledger.db", **options):
    html = render_audit(reports, ledger=ledger, **options)
    return html, Page(html)


def test_the_page_needs_nothing_from_elsewhere():
    html, page = render(make_report("2026"), make_report("2027"))
    tags = {tag for tag, _ in page.tags}
    assert "svg" in tags
    assert not tags & {"script", "link", "img", "iframe", "object", "base"}
    assert "http" not in html and "//" not in html
    assert "url(" not in html.replace("url(#", "") and "@import" not in html
    places = [value for _, attrs in page.tags for key, value in attrs.items() if "href" in key]
    assert places and all(value.startswith("#") for value in places)


def test_words_from_outside_are_escaped():
    report = make_report(
        NASTY,
        model=NASTY,
        issuers={NASTY: AuditCounts(9, 7, 1), "m2": AuditCounts(1)},
        unreadable={NASTY: 1},
        worst=(make_broken(1, subject=NASTY, issuer=NASTY, desired=NASTY, id=NASTY),),
    )
    html, page = render(report, ledger=NASTY)
    assert "script" not in {tag for tag, _ in page.tags}
    assert "<script" not in html
    assert page.text.count(NASTY) >= 6


def test_the_page_says_what_was_found():
    _, page = render(make_report(), required=0.7)
    text = re.sub(r"\s+", " ", page.text)
    assert "70.0%" in text and "honoured: 7 of 10 promises" in text
    assert "95% interval 39.7% to 89.2%" in text
    assert "2 broken, 1 unreadable" in text
    assert "✓ meets the required 70%" in text
    assert "a category of 'job' is unknown to the model" in text
    assert "applicant-2" in text and "-1.50" in text
    assert "Ages as of 2026-06-01 12:00 UTC" in text


def test_a_share_that_misses_never_looks_like_enough():
    _, page = render(make_report(total=AuditCounts(100_000, 97_999)), required=0.98)
    assert "97.999%" in page.text
    assert "✗ misses the required 98%" in page.text


def test_many_broken_promises_are_folded_and_counted():
    worst = tuple(make_broken(k) for k in range(12))
    _, page = render(make_report(total=AuditCounts(90, 10), worst=worst))
    assert [tag for tag, _ in page.tags].count("details") == 1
    assert "12 of 80." in re.sub(r"\s+", " ", page.text) and "2 more" in page.text


def test_no_promises_are_said_in_a_sentence():
    empty = make_report(total=AuditCounts(), issuers={}, unreadable={}, worst=())
    _, page = render(empty, required=0.9)
    assert "has no promises that are owed, so there is nothing to honour." in page.text
    assert "svg" not in {tag for tag, _ in page.tags}


def test_the_picture_has_a_line_for_each_issuer_and_one_for_all():
    one = {"m1": AuditCounts(10, 7)}
    many = {f"m{k}": AuditCounts(10 - k, 5 - k) for k in range(4)}
    for issuers, lines in ((one, 1), (many, 5)):
        html, _ = render(make_report("a", issuers=issuers), make_report("b", issuers=issuers))
        assert len(set(re.findall(r"stroke: var\(--(?:series-\d|ink)\)", html))) == lines


def test_the_page_is_the_same_each_time():
    assert render(make_report())[0] == render(make_report())[0]


def test_audits_are_drawn_over_the_models_with_their_intervals():
    audits = {
        "CounterNet": [make_report("2005", total=AuditCounts(10, 9)), make_report("2006")],
        "_Panel $1": [
            make_report("2006", total=AuditCounts(10, 10)),
            make_report("2007", total=AuditCounts()),
        ],
    }
    figure = draw_audits(audits, required=0.95)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2005", "2006", "2007"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CounterNet", r" _Panel \$1"]
    first, second = axes.containers
    assert list(first.lines[0].get_ydata()) == [0.9, 0.7]
    assert list(second.lines[0].get_ydata()) == [1.0]
    low, high = first.lines[2][0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx(AuditCounts(10, 9).interval)
    figure.canvas.draw()


def test_long_names_and_other_scripts_can_be_drawn():
    names = ["模型 2027", *(f"a/very/long/path/to/the/model-{k}" for k in range(6))]
    html, _ = render(*(make_report(name) for name in names))
    assert "<svg" in html
