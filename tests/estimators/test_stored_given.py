"""A model that is given is stored where it can be, and told from others where not."""

import json
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from tests.loans import make_loans, make_schema, small

import rocourse
from rocourse.artifacts import model_digest
from rocourse.errors import ArtifactError
from rocourse.estimators import RoCourse, VanillaCF
from rocourse.models.adapters import adapt

# Walks through trees are compiled by it.
pytest.importorskip("numba", reason="trees need rocourse[trees], which is missing")

TEXT = ["job", "region"]
# Loads models where nothing is known but their directories, and the rows of applicants.
ANSWERING = """
import json, sys
import pandas as pd
import rocourse
rows = pd.read_json(sys.argv[1], orient="table")
told = {}
for path in sys.argv[2:]:
    loaded = rocourse.load(path)
    told[path] = loaded.recourse(rows, desired=1).to_records()
    told[path + " each"] = loaded.recourse_each(rows.head(3).to_dict("records"), desired=1)
    libraries = [name for name in ("xgboost", "torch", "lightgbm") if name in sys.modules]
    told[path + " libraries"] = libraries
json.dump(told, sys.stdout)
"""


def boosting():
    prepared = make_column_transformer((OrdinalEncoder(), TEXT), remainder="passthrough")
    return make_pipeline(prepared, HistGradientBoostingClassifier(max_iter=12, random_state=0))


def line():
    prepared = make_column_transformer((OneHotEncoder(), TEXT), remainder=StandardScaler())
    return make_pipeline(prepared, LogisticRegression())


def xgboost():
    library = pytest.importorskip("xgboost", reason="xgboost is missing")
    prepared = make_column_transformer((OneHotEncoder(), TEXT), remainder="passthrough")
    model = library.XGBClassifier(n_estimators=12, max_depth=3, n_jobs=1, random_state=0)
    return make_pipeline(prepared, model)


def crossed():
    """A pipeline whose columns are not prepared each by itself: stored by skops."""
    pytest.importorskip("skops", reason="skops is missing")
    prepared = make_column_transformer((OneHotEncoder(), TEXT), remainder=StandardScaler())
    return make_pipeline(prepared, PolynomialFeatures(interaction_only=True), line()[-1])


MODELS = {"boosting": boosting, "line": line, "xgboost": xgboost, "crossed": crossed}
OPTIONS = {"boosting": {}, "line": {"threshold": 0.7}, "xgboost": {}, "crossed": {}}


@pytest.fixture(scope="module")
def table():
    return make_loans(250, seed=3)


@pytest.fixture(scope="module")
def rows(table):
    return table.drop(columns="grade").head(24)


@pytest.fixture(scope="module")
def fitted(table):
    """Recourses for models by name, each fitted when it is first asked for."""
    known = {}

    def get(name, **options):
        key = (name, *options.items())
        if key not in known:
            X, y = table.drop(columns="grade"), table["grade"]
            model = MODELS[name]().fit(X, y)
            method = RoCourse(
                make_schema(table),
                model=model,
                random_state=0,
                **small(RoCourse, proposer__kept=0.5, proposer__shift__drift=0.2),
                **options,
            )
            known[key] = method.fit(X, y)
        return known[key]

    return get


def as_told(records):
    """Records as JSON has them, the probabilities of the given model apart."""
    records = json.loads(json.dumps(records))
    shares = [
        [record.pop(name, 0.0) for name in ("probability", "probability_before")]
        for record in records
    ]
    return records, np.array(shares)


def assert_same(found, expected):
    (found, shares), (expected, own) = as_told(found), as_told(expected)
    assert found == expected
    np.testing.assert_allclose(shares, own, rtol=0, atol=1e-6)


def test_stored_models_answer_alike_elsewhere(fitted, rows, tmp_path):
    """In another process, without training rows and without the library of the model."""
    paths = {name: tmp_path / name for name in MODELS}
    for name, path in paths.items():
        rocourse.save(fitted(name, **OPTIONS[name]), path)
    (tmp_path / "rows.json").write_text(rows.to_json(orient="table"))
    command = [sys.executable, "-c", ANSWERING, str(tmp_path / "rows.json")]
    ran = subprocess.run(
        [*command, *map(str, paths.values())], capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    # What is stored as arrays needs no library; skops, which is asked last, imports its own.
    assert all(told[f"{path} libraries"] == [] for name, path in paths.items() if name != "crossed")
    for name, path in paths.items():
        model = fitted(name, **OPTIONS[name])
        expected = model.recourse(rows, desired=1)
        assert {"found", "not_needed"} <= set(expected.status)
        assert_same(told[str(path)], expected.to_records())
        each = model.recourse_each(rows.head(3).to_dict("records"), desired=1)
        assert_same(told[f"{path} each"], each)


@pytest.mark.parametrize("name", ["boosting", "line"])
def test_refits_are_as_they_were(name, fitted, rows, tmp_path):
    model = fitted(name, **OPTIONS[name])
    loaded = rocourse.load(model.save(tmp_path / "model"))
    x = rocourse.schema.one_hot(model.schema_.encode(rows), model.schema_.layout)
    assert len(loaded.state_.members) == len(model.state_.members) == 6
    for mine, theirs in zip(loaded.state_.members, model.state_.members, strict=True):
        np.testing.assert_array_equal(mine.quick_probabilities(x), theirs.quick_probabilities(x))
        np.testing.assert_allclose(mine.probabilities(x), theirs.probabilities(x), atol=1e-6)
        for one, other in zip(
            mine.slopes(x, np.ones(len(x), int)),
            theirs.slopes(x, np.ones(len(x), int)),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_stored_model_can_be_stored_again_and_explained_anew(fitted, rows, table, tmp_path):
    model = fitted("boosting")
    first = rocourse.load(model.save(tmp_path / "first"))
    second = rocourse.load(first.save(tmp_path / "second"))
    assert second.recourse(rows).to_records() == first.recourse(rows).to_records()
    search = VanillaCF(model=first.model_, random_state=0, proposer__steps=20)
    search.fit(table.drop(columns="grade"), None)
    np.testing.assert_array_equal(search.predict(rows), model.predict(rows))


def test_the_directory_holds_json_and_arrays_alone(fitted, tmp_path):
    path = fitted("boosting").save(tmp_path / "model")
    assert {file.name for file in path.iterdir()} == {
        "card.md",
        "model.json",
        "weights.safetensors",
    }
    for file in path.iterdir():
        # How every pickle that Python 3 writes begins, and what scikit-learn's ones name.
        assert file.suffix == ".safetensors" or not file.read_bytes().startswith(b"\x80")
        assert b"_hist_gradient_boosting" not in file.read_bytes()
    given = json.loads((path / "model.json").read_text())["given"]
    assert given["name"] == "Pipeline that ends in HistGradientBoostingClassifier"
    assert given["stored"]["last_step"] == "trees"
    assert len(given["sha256"]) == 64


def test_the_models_own_library_may_answer(fitted, rows, tmp_path):
    model = fitted("boosting")
    loaded = rocourse.load(model.save(tmp_path / "model"), model=model.model)
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()


def test_another_model_is_refused(fitted, table, tmp_path):
    model = fitted("boosting")
    path = model.save(tmp_path / "model")
    other = boosting().fit(table.drop(columns="grade").iloc[:200], table["grade"].iloc[:200])
    with pytest.raises(ArtifactError, match="must be the one that recourses were fitted for, Pip"):
        rocourse.load(path, model=other)


def test_a_function_is_known_by_its_answers(table, rows, tmp_path):
    def score(frame, high=40.0):
        return np.clip(frame["income"].to_numpy() / (2 * high), 0.0, 1.0)

    X = table.drop(columns="grade")
    model = VanillaCF(make_schema(table), model=score, random_state=0, proposer__steps=20)
    path = model.fit(X, None).save(tmp_path / "model")
    with pytest.raises(ArtifactError, match="stored without its 'model'"):
        rocourse.load(path)
    with pytest.raises(ArtifactError, match="of 256 rows otherwise; give that one, or fit anew"):
        rocourse.load(path, model=lambda frame: score(frame, high=41.0))
    loaded = rocourse.load(path, model=score)
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()


def test_the_digest_of_a_directory_covers_the_given_model(table, tmp_path):
    X = table.drop(columns="grade")
    digests = set()
    for high in (40.0, 41.0):
        model = VanillaCF(
            make_schema(table),
            model=lambda frame, high=high: np.clip(frame["income"] / (2 * high), 0.0, 1.0),
            random_state=0,
        )
        digests.add(model_digest(model.fit(X, None).save(tmp_path / str(high))))
    assert len(digests) == 2


@pytest.fixture(scope="module")
def unstorable(table):
    """Models that only their owner has: one, and refits of it on other rows."""
    X, y = table.drop(columns="grade"), table["grade"]
    drawn = [table.sample(200, random_state=seed).index for seed in range(3)]
    fitted = [line().fit(X, y), *(line().fit(X.loc[i], y.loc[i]) for i in drawn)]
    judge, *members = [partial(_ask, model) for model in fitted]
    return judge, members


def _ask(model, frame):
    return model.predict_proba(frame)[:, 1]


def test_refits_that_cannot_be_stored_are_given_again(unstorable, table, rows, tmp_path):
    def refit(X, y, seed):
        return partial(_ask, line().fit(X, y))

    schema = make_schema(table)
    given = adapt(unstorable[0], schema, refit=refit)
    model = RoCourse(schema, model=given, random_state=0, **small(RoCourse))
    model.fit(table.drop(columns="grade"), table["grade"])
    with pytest.warns(UserWarning, match="not stored, because a partial cannot be.*refits_"):
        path = model.save(tmp_path / "model")
    again = adapt(unstorable[0], schema, members=model.refits_)
    loaded = rocourse.load(path, model=again)
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())
    with pytest.raises(ArtifactError, match="without its 'model', because a partial cannot be"):
        rocourse.load(path)
    with pytest.raises(ArtifactError, match="without its refits, but the model brings 0"):
        rocourse.load(path, model=adapt(unstorable[0], schema, refit=refit))
    # A model of which only the refits are functions.
    whole = adapt(line().fit(table.drop(columns="grade"), table["grade"]), schema, refit=refit)
    model = RoCourse(schema, model=whole, random_state=0, **small(RoCourse))
    model.fit(table.drop(columns="grade"), table["grade"])
    with pytest.warns(UserWarning, match="because its refits cannot be stored"):
        path = model.save(tmp_path / "whole")
    with pytest.raises(ArtifactError, match="because its refits cannot be stored"):
        rocourse.load(path)


def test_refits_of_yours_are_given_again(unstorable, table, rows, tmp_path):
    judge, members = unstorable
    schema = make_schema(table)
    given = adapt(judge, schema, members=members)
    model = RoCourse(schema, model=given, random_state=0, **small(RoCourse))
    model.fit(table.drop(columns="grade"), table["grade"])
    path = model.save(tmp_path / "model")
    loaded = rocourse.load(path, model=given)
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())
    with pytest.raises(ArtifactError, match="without its refits, but the model brings 0"):
        rocourse.load(path, model=judge)
    with pytest.raises(ArtifactError, match="Member 0 must be the one"):
        rocourse.load(path, model=adapt(judge, schema, members=members[::-1]))
