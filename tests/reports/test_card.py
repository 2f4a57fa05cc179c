"""Model cards: every figure is one that was measured, and what was not is said to be so."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from tests.applicants import untrained_model
from tests.command_line import refused, succeed
from tests.loans import make_loans, make_schema, small

import rocourse
from rocourse.estimators import CounterNet, RoCourse, VanillaCF
from rocourse.models import PlainTrainer, SteadyTrainer, TrainingRows, held_out_answers
from rocourse.models.adapters import adapt
from rocourse.reports import render_card
from rocourse.schema import Rows, Schema, one_hot

NUMBERS = ["income", "debt", "age"]


@pytest.fixture(scope="module")
def table():
    return make_loans(240, seed=8)


def section(card, title):
    """The text under a title."""
    return card.split(f"## {title}\n")[1].split("\n## ")[0]


def cell(text, name):
    """What a table says beside a name."""
    return re.search(rf"^\| {re.escape(name)} \| (.*?) \|", text, flags=re.MULTILINE)[1]


@pytest.fixture(scope="module")
def fitted(table):
    model = RoCourse(make_schema(table), random_state=0, **small(RoCourse, proposer__kept=0.5))
    groups = np.arange(len(table)) % 3
    return model.fit(table.drop(columns="grade"), table["grade"], groups=groups)


def test_a_card_tells_what_was_stated_and_measured(fitted, table):
    card = fitted.card()
    counts = table["grade"].value_counts()
    rows = section(card, "Training rows")
    assert "240 rows. They came in 3 groups." in rows
    assert cell(rows, "`1`") == str(counts[1])
    promise, pledge = section(card, "What is promised"), fitted.pledge()
    assert cell(promise, "share of promises to be kept by the next model") == "50.0%"
    kept = cell(promise, "kept by models outside the search, of training rows")
    assert kept == f"{100 * pledge.expected:.1f}%"
    covered = cell(promise, "refused training rows that are promised something")
    assert covered == f"{100 * pledge.coverage:.1f}%"
    assert "made up" not in promise
    assumed = section(card, "Shifts that it is prepared for")
    assert "| jurors | `group_tilt` | 0.7 |" in assumed
    assert "| witnesses | `group_tilt` | 1.5 |" in assumed
    limits = section(card, "What advice may ask for")
    assert "| `region` | north; south | not change it |" in limits
    assert "**protected by its name, but advice may ask for it: `age`**" in limits
    assert section(card, "Certificates").strip() == "Not measured."
    assert f"accuracy | {fitted.measured_['accuracy']:.3f}" in section(card, "How well it predicts")


def test_a_stored_card_is_that_of_the_directory_with_its_digest(fitted, tmp_path):
    path = fitted.save(tmp_path / "model")
    card = (path / "card.md").read_text()
    assert rocourse.card(path) == card
    assert succeed("card", path).stdout == card
    succeed("card", path, "--out", tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text() == card
    assert "must be new" in refused("card", path, "--out", tmp_path / "card.md")
    assert "nothing is there" in refused("card", tmp_path / "other")
    digest = cell(section(card, "The model"), "digest, as in ledgers")
    assert digest == f"`{rocourse.artifacts.model_digest(path)}`"
    without = "\n".join(line for line in card.split("\n") if "digest, as in ledgers" not in line)
    assert without == fitted.card() == rocourse.load(path).card()


def training_rows(table):
    schema = make_schema(table)
    rows = schema.encode(table.drop(columns="grade"))
    return TrainingRows(rows, table["grade"].to_numpy().astype(np.int32), 2, schema)


@pytest.mark.parametrize("trainer", [PlainTrainer(epochs=2), SteadyTrainer(epochs=2, copies=0)])
def test_held_out_rows_are_not_learned_from(trainer, table):
    """Were their values others, the network would be the same (but for its verdicts' balance)."""
    data = training_rows(table)
    trainer = trainer(**({"balance": 0.0} if hasattr(trainer, "balance") else {}))
    trained = trainer.train(data, seed=3)
    places = trained.held_out[0]
    assert len(places) == 24
    values = data.rows.continuous.copy()
    values[places] = 1.0 - values[places]
    other = data._replace(rows=Rows(values, data.rows.categories))
    again = trainer.train(other, seed=3).networks[0]
    np.testing.assert_array_equal(again.output.weight, trained.networks[0].output.weight)
    answers = held_out_answers(trained, data)
    x = one_hot(data.rows, data.schema.layout)
    for k, places in enumerate(trained.held_out):
        logit = np.asarray(trained.networks[k](x[places].T))[0]
        own = answers.probabilities[24 * k : 24 * (k + 1), 1]
        np.testing.assert_allclose(own, 1.0 / (1.0 + np.exp(-logit)), rtol=0, atol=1e-5)
        np.testing.assert_array_equal(answers.labels[24 * k : 24 * (k + 1)], data.labels[places])


def test_copies_that_were_blurred_are_not_said_to_be_held_out(table):
    assert SteadyTrainer(epochs=1, copies=1).train(training_rows(table), seed=0).held_out == ()


def test_a_given_model_is_measured_by_a_refit(table):
    X, y = table[NUMBERS], table["grade"]
    schema = Schema.infer(table[[*NUMBERS, "grade"]], target="grade", favourable=1)
    learned = []

    def refit(X, y, seed):
        learned.append((X, y))
        return LogisticRegression(max_iter=500).fit(X, y)

    given = adapt(refit(X, y, 0), schema, refit=refit)
    model = RoCourse(schema, model=given, random_state=0, **small(RoCourse)).fit(X, y)
    # The refit that was measured is the one of the fewest rows.
    seen, labels = min(learned, key=lambda one: len(one[0]))
    rows = X.merge(seen.assign(seen=1), how="left", on=NUMBERS)
    asked = rows["seen"].isna().to_numpy()
    assert model.measured_["rows"] == asked.sum() == 48
    likely = LogisticRegression(max_iter=500).fit(seen, labels).predict_proba(X[asked])[:, 1]
    expected = brier_score_loss(y[asked], likely), roc_auc_score(y[asked], likely)
    found = model.measured_["brier"], model.measured_["auc"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)
    told = section(model.card(), "How well it predicts")
    assert "the figures are of that refit, on 48 others" in told


def test_what_was_not_measured_is_said_to_be_so(table):
    X = table.drop(columns="grade")

    def score(frame):
        return np.clip(frame["income"].to_numpy() / 90.0, 0.0, 1.0)

    schema = make_schema(table)
    for labels, told in (
        (None, "Not measured: there were no held-out rows with labels."),
        (table["grade"], "Not measured on held-out rows: the model was trained elsewhere."),
    ):
        card = VanillaCF(schema, model=score, random_state=0).fit(X, labels).card()
        assert told in section(card, "How well it predicts")
        assert "Nothing: advice marked `found` is valid" in section(card, "What is promised")
        assert "None: nothing prepares" in section(card, "Shifts that it is prepared for")
        assert "because a function cannot be written" in section(card, "The model")
        assert ("without labels" in section(card, "Training rows")) is (labels is None)


def test_a_model_that_cannot_be_stored_has_a_card_nevertheless(table):
    schema = make_schema(table)

    def score(frame):
        return np.clip(frame["income"].to_numpy() / 90.0, 0.0, 1.0)

    given = adapt(score, schema, refit=lambda X, y, seed: score)
    model = RoCourse(schema, model=given, random_state=0, **small(RoCourse))
    model.fit(table.drop(columns="grade"), table["grade"])
    assert "because a function cannot be written" in section(model.card(), "The model")


def test_names_do_not_break_the_tables(table):
    odd = table.rename(columns={"income": "in|come\nnet"})
    model = CounterNet(make_schema(odd), random_state=0, **small(CounterNet, trainer__epochs=1))
    card = model.fit(odd.drop(columns="grade"), odd["grade"]).card()
    assert "| `in\\|come net` |" in card


def test_models_of_before_say_that_they_do_not_know():
    card = untrained_model().card()
    assert "Not known" in section(card, "Training rows")
    header = untrained_model().described()
    told = ("title", "summary", "training", "measured", "promise", "assumed")
    before = render_card({name: value for name, value in header.items() if name not in told})
    assert before.startswith("# Model card: rocoursenet for")
    assert section(before, "How well it predicts") == section(card, "How well it predicts")


def test_what_was_measured_since_is_filled_in(fitted, table, tmp_path):
    fitted.save(tmp_path / "model")
    table.to_csv(tmp_path / "t.csv", index=False)
    args = (tmp_path / "model", tmp_path / "t.csv")
    for name, text in {
        "c": succeed("certify", *args, "--at", "0.001", "--json").stdout,
        "e": succeed("evaluate", *args, "--by", "age", "--json").stdout,
    }.items():
        (tmp_path / f"{name}.json").write_text(text)
    options = ("--with", tmp_path / "c.json", "--with", tmp_path / "e.json")
    card = succeed("card", tmp_path / "model", *options).stdout
    assert "of them reach 0.001" in section(card, "Certificates")
    assert "age=over" in section(card, "Fairness")
    (tmp_path / "o.json").write_text("{}")
    assert "is none" in refused("card", tmp_path / "model", "--with", tmp_path / "o.json")
