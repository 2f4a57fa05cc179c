"""Letters over HTTP: of promises that bind, by the model that decided."""

import pytest
from tests.service.making import (
    detail,
    plain_rows,
    promise_for,
    replace_model,
    serving,
)

from rocourse.errors import ConfigError

LENDER = """
[lender]
name = "Sample Bank"
reviewed = "us"
[features.age]
reason = { en = "Your age ({value}).", de = "Ihr Alter ({value})." }
"""


@pytest.fixture(scope="module")
def lender(tmp_path_factory):
    path = tmp_path_factory.mktemp("lender") / "lender.toml"
    path.write_text(LENDER)
    return path


@pytest.fixture(scope="module")
def client(tmp_path_factory, stored, lender):
    folder = tmp_path_factory.mktemp("letters")
    with serving(folder, stored / "model", lender=lender) as client:
        yield client


def notice(client, id, **params):
    return client.get(f"/v1/recourses/{id}/notice", params=params)


def test_a_promise_has_a_letter_in_every_format_and_language(client, asked):
    _, recourse = promise_for(client, plain_rows(asked))
    page = notice(client, recourse["id"])
    assert page.status_code == 200, page.text
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert recourse["id"] in page.text and "Sample Bank" in page.text
    german = notice(client, recourse["id"], format="text", language="de")
    assert german.headers["content-type"] == "text/plain; charset=utf-8"
    assert "Die wichtigsten Gründe".upper() in german.text
    pdf = notice(client, recourse["id"], format="pdf")
    assert pdf.headers["content-type"] == "application/pdf" and pdf.content.startswith(b"%PDF-")
    assert "format" in detail(notice(client, recourse["id"], format="doc"), 422)


def test_all_options_of_a_decision_are_in_one_letter(client, asked):
    for row in plain_rows(asked):
        body = {"applicants": [{"row": row, "options": 3, "subject": "A-7"}]}
        (said,) = client.post("/v1/decisions", json=body).json()["decisions"]
        options = [one for one in (said["recourse"] or {}).get("options", []) if one["id"]]
        if len(options) > 1:
            break
    text = notice(client, options[1]["id"], format="text").text
    assert "Your reference: A-7" in text
    told = [one for one in options if one["id"] in text]
    assert told
    for one in options:
        # One that is left out asks for all that another asks for, and for more.
        asked_for = {change["feature"] for change in one["changes"]}
        fewer = ({change["feature"] for change in other["changes"]} for other in told)
        assert one in told or any(some <= asked_for for some in fewer)


def test_letters_are_of_promises_that_there_are_and_of_the_model_that_decided(
    tmp_path, stored, asked, lender
):
    with serving(tmp_path, stored / "model", lender=lender) as client:
        _, recourse = promise_for(client, plain_rows(asked))
        unknown = recourse["id"][:-4] + "0000"
        assert "one of a promise in the ledger" in detail(notice(client, unknown), 404)
        replace_model(tmp_path / "model", stored / "contrary")
        assert client.post("/v1/model/reload").status_code == 200
        assert "the model that decided" in detail(notice(client, recourse["id"]), 409)
    (tmp_path / "none").mkdir()
    with serving(tmp_path / "none", stored / "model", ledger=False) as client:
        assert "keeps no ledger" in detail(notice(client, unknown), 409)


def test_a_lenders_file_that_is_wrong_is_known_at_the_start(tmp_path, stored):
    path = tmp_path / "lender.toml"
    path.write_text("[lender]\nnom = 'x'")
    with (
        pytest.raises(ConfigError, match="'nom'"),
        serving(tmp_path, stored / "model", lender=path),
    ):
        pass
