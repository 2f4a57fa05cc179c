"""Models that are no arrays are stored in a format of their library's, and never as code."""

import io
import json
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from tests.loans import make_loans, make_schema, small

import rocourse
from rocourse.errors import ArtifactError, ConfigError, DependencyError
from rocourse.estimators import RoCourse, VanillaCF
from rocourse.models.adapters import _formats, adapt
from rocourse.schema import one_hot

TEXT = ["job", "region"]
NUMBERS = ["income", "debt", "age"]


@pytest.fixture(scope="module")
def table():
    return make_loans(200, seed=5)


@pytest.fixture(scope="module")
def X(table):
    return table.drop(columns="grade")


@pytest.fixture(scope="module")
def schema(table):
    return make_schema(table)


def searched(model, X, schema):
    """Recourses by a search that asks the model alone."""
    return VanillaCF(schema, model=model, random_state=0, proposer__steps=15).fit(X, None)


def promised(model, table, schema):
    """Recourses that refits of the model have to be convinced of."""
    method = RoCourse(schema, model=model, random_state=0, **small(RoCourse, proposer__kept=0.5))
    return method.fit(table.drop(columns="grade"), table["grade"])


def stored(path):
    return json.loads((path / "model.json").read_text())["given"]


def assert_no_code(path):
    """Neither in the files nor in what they hold are there objects that Python would run."""
    tensors = safetensors.numpy.load((path / "weights.safetensors").read_bytes())
    for name, tensor in tensors.items():
        content = tensor.tobytes()
        assert not content.startswith(b"\x80") or tensor.dtype != np.uint8, name
        if not content.startswith(b"PK"):
            continue
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.namelist():
                assert entry == "schema.json" or entry.endswith(".npy"), entry
                if entry.endswith(".npy"):
                    np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)


def prepared(*steps):
    columns = make_column_transformer((OneHotEncoder(), TEXT), remainder=StandardScaler())
    return make_pipeline(columns, *steps)


def crossed():
    """Its columns are not prepared each by itself."""
    return prepared(PolynomialFeatures(interaction_only=True), LogisticRegression())


def calibrated():
    return CalibratedClassifierCV(prepared(LogisticRegression()), cv=2)


def bayes():
    return prepared(GaussianNB())


@pytest.mark.parametrize("make", [crossed, calibrated, bayes])
def test_pipelines_that_are_no_arrays_are_stored_by_skops(make, table, X, schema, tmp_path):
    pytest.importorskip("skops", reason="skops is missing")
    model = searched(make().fit(X, table["grade"]), X, schema)
    path = model.save(tmp_path / "model")
    assert stored(path)["stored"]["format"] == "skops"
    assert_no_code(path)
    loaded = rocourse.load(path)
    rows = X.head(10)
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()
    again = loaded.save(tmp_path / "again")
    # The file is another one each time; the digest is of what the model says.
    assert stored(again)["sha256"] == stored(path)["sha256"]


class Own(TransformerMixin, BaseEstimator):
    """A part of the user's own code."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X) * 2.0


def test_code_of_the_users_own_is_given_again(table, X, schema, tmp_path):
    pytest.importorskip("skops", reason="skops is missing")
    given = prepared(Own(), GaussianNB())
    model = searched(given.fit(X, table["grade"]), X, schema)
    path = model.save(tmp_path / "model")
    with pytest.raises(ArtifactError, match="because its part .*Own is of no library that is know"):
        rocourse.load(path)
    loaded = rocourse.load(path, model=given)
    rows = X.head(10)
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()


@pytest.mark.parametrize("part", [Own(), print, np.loadtxt])
def test_a_file_with_other_parts_than_known_ones_is_not_read(part):
    skops = pytest.importorskip("skops.io", reason="skops is missing")
    with pytest.raises(ArtifactError, match="must be made of parts of sklearn"):
        _formats.FORMATS["skops"].load(skops.dumps({"part": part}))


def test_without_skops_the_reason_is_told(table, X, schema, tmp_path, monkeypatch):
    def missing(framework, extra=None):
        raise DependencyError(f"no {framework}")

    monkeypatch.setattr(_formats, "import_framework", missing)
    path = searched(bayes().fit(X, table["grade"]), X, schema).save(tmp_path / "model")
    with pytest.raises(ArtifactError, match=r"skops.* is not installed: pip install 'rocourse\[sk"):
        rocourse.load(path)


def xgboost_booster(X, y, seed=0, **params):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is missing")
    data = xgboost.DMatrix(X[NUMBERS], y)
    options = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "seed": seed}
    return xgboost.train(options | params, data, num_boost_round=8)


def lightgbm_booster(X, y, seed=0, **params):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is missing")
    options = {"objective": "binary", "num_leaves": 7, "num_threads": 1, "verbose": -1}
    data = lightgbm.Dataset(X[NUMBERS], y)
    return lightgbm.train(options | params | {"seed": seed}, data, num_boost_round=8)


@pytest.mark.parametrize(
    ("make", "params", "kind"),
    [
        (xgboost_booster, {}, "arrays"),
        (xgboost_booster, {"booster": "dart", "rate_drop": 0.3}, "xgboost"),
        (lightgbm_booster, {}, "arrays"),
        (lightgbm_booster, {"linear_tree": True}, "lightgbm"),
    ],
)
def test_bare_boosters_are_stored_with_their_refits(make, params, kind, table, tmp_path):
    """As arrays, or where these do not say all, in the library's own text."""
    pytest.importorskip("numba", reason="trees need rocourse[trees], which is missing")
    numbers = table[[*NUMBERS, "grade"]]
    schema = rocourse.Schema.infer(numbers, target="grade", favourable=1)
    booster = make(numbers, numbers["grade"], **params)
    given = adapt(booster, schema, refit=lambda X, y, seed: make(X, y, seed, **params))
    model = promised(given, numbers, schema)
    path = model.save(tmp_path / "model")
    assert_no_code(path)
    entry = stored(path)
    assert entry["stored"]["format"] == kind
    assert [one["stored"]["format"] for one in entry["refits"]] == [kind] * 6
    loaded, rows = rocourse.load(path), numbers[NUMBERS].head(40)
    found, expected = loaded.recourse(rows, desired=1), model.recourse(rows, desired=1)
    pd.testing.assert_frame_equal(found.frame(), expected.frame())
    assert found.status.tolist() == expected.status.tolist()
    np.testing.assert_allclose(found.probability, expected.probability, rtol=0, atol=1e-6)
    assert expected.valid.any()
    other = make(numbers.head(150), numbers["grade"].head(150), **params)
    with pytest.raises(ArtifactError, match="must be the one that recourses were fitted for"):
        rocourse.load(path, model=other)


def test_a_classifier_that_stopped_early_is_stored_as_far_as_it_is_asked(table, X, tmp_path):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is missing")
    numbers = table[[*NUMBERS, "grade"]]
    schema = rocourse.Schema.infer(numbers, target="grade", favourable=1)
    model = xgboost.XGBClassifier(
        n_estimators=60, early_stopping_rounds=2, booster="dart", rate_drop=0.2, n_jobs=1
    )
    half = numbers.head(100)
    model.fit(
        half[NUMBERS],
        half["grade"],
        eval_set=[(numbers[NUMBERS].tail(100), numbers["grade"].tail(100))],
        verbose=False,
    )
    assert model.best_iteration < model.get_booster().num_boosted_rounds() - 1
    path = searched(model, numbers[NUMBERS], schema).save(tmp_path / "model")
    assert stored(path)["stored"]["format"] == "xgboost"
    rows = numbers[NUMBERS]
    told = rocourse.load(path).predict_proba(rows)
    np.testing.assert_allclose(told, model.predict_proba(rows), rtol=0, atol=1e-6)


def test_a_library_that_reads_a_file_otherwise_is_noticed(table, tmp_path, monkeypatch):
    numbers = table[[*NUMBERS, "grade"]]
    schema = rocourse.Schema.infer(numbers, target="grade", favourable=1)
    options = {"booster": "dart", "rate_drop": 0.3}
    booster, other = (xgboost_booster(numbers, numbers["grade"], k, **options) for k in range(2))
    path = searched(booster, numbers[NUMBERS], schema).save(tmp_path / "model")
    changed = _formats.FORMATS["xgboost"]._replace(load=lambda content: other)
    monkeypatch.setitem(_formats.FORMATS, "xgboost", changed)
    with pytest.raises(ArtifactError, match="as it is read here, must be the one.*but it answers"):
        rocourse.load(path)


def module(schema, x, y, seed):
    torch = pytest.importorskip("torch", reason="torch is missing")
    torch.manual_seed(seed)
    net = torch.nn.Sequential(
        torch.nn.Linear(schema.layout.width, 8),
        torch.nn.BatchNorm1d(8),
        torch.nn.ReLU(),
        torch.nn.Linear(8, 1),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    x, wanted = torch.tensor(x), torch.tensor(np.asarray(y), dtype=torch.float32)
    for _ in range(40):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], wanted).backward()
        optimizer.step()
    return net


def test_a_module_brings_its_code_and_finds_its_refits_weights(table, X, schema, tmp_path):
    x = one_hot(schema.encode(X), schema.layout)
    net = module(schema, x, table["grade"], 0)
    given = adapt(net, schema, refit=lambda x, y, seed: module(schema, x, y, seed % 2**31))
    model = promised(given, table, schema)
    path, rows = model.save(tmp_path / "model"), X.head(30)
    assert_no_code(path)
    with pytest.raises(ArtifactError, match="of a PyTorch module nothing but its weights"):
        rocourse.load(path)
    loaded = rocourse.load(path, model=net)
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()
    for mine, theirs in zip(loaded.state_.members, model.state_.members, strict=True):
        np.testing.assert_array_equal(mine.probabilities(x), theirs.probabilities(x))
    with pytest.raises(ArtifactError, match="must be the one that recourses were fitted for"):
        rocourse.load(path, model=module(schema, x, table["grade"], 1))


def field(number, content):
    """A field of a protocol buffer: a number, or what is told in bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def onnx_line(weights, bias):
    """A logistic regression in ONNX, as any exporter would write it."""

    def tensor(name, values):
        data = struct.pack(f"<{len(values)}f", *values)
        dims = field(1, len(values)) + (field(1, 1) if name == "w" else b"")
        return dims + field(2, 1) + field(8, name) + field(9, data)

    def value(name, columns):
        dims = field(1, field(2, "n")) + field(1, field(1, columns))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    def node(kind, inputs, output):
        names = b"".join(field(1, name) for name in inputs)
        return names + field(2, output) + field(4, kind)

    graph = (
        field(1, node("MatMul", ["x", "w"], "product"))
        + field(1, node("Add", ["product", "b"], "score"))
        + field(1, node("Sigmoid", ["score"], "probability"))
        + field(2, "line")
        + field(5, tensor("w", weights))
        + field(5, tensor("b", [bias]))
        + field(11, value("x", len(weights)))
        + field(12, value("probability", 1))
    )
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph)


WEIGHTS, BIAS = [0.08, -0.15, 0.0], -1.0


def test_a_model_in_onnx_is_asked_stored_and_read(table, tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime is missing")
    numbers = table[[*NUMBERS, "grade"]]
    schema = rocourse.Schema.infer(numbers, target="grade", favourable=1)
    content, rows = onnx_line(WEIGHTS, BIAS), numbers[NUMBERS]
    file = tmp_path / "line.onnx"
    file.write_bytes(content)
    model = searched(str(file), rows, schema)
    expected = 1.0 / (1.0 + np.exp(-(rows.to_numpy() @ WEIGHTS + BIAS)))
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], expected, rtol=0, atol=1e-5)
    path = model.save(tmp_path / "model")
    assert stored(path)["stored"]["format"] == "onnx"
    file.unlink()
    found = rocourse.load(path).recourse(rows.head(30), desired=1)
    assert found.to_records() == model.recourse(rows.head(30), desired=1).to_records()
    assert (found.status == "found").any()
    other = adapt(onnx_line(WEIGHTS, -1.2), schema)
    with pytest.raises(ArtifactError, match="must be the one that recourses were fitted for"):
        rocourse.load(path, model=other)


def test_files_that_are_no_models_in_onnx_get_a_sentence(schema, tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime is missing")
    with pytest.raises(ConfigError, match="must be a readable file in ONNX, but got No such file"):
        adapt(tmp_path / "none.onnx", schema)
    with pytest.raises(ConfigError, match="must be one that onnxruntime can read"):
        adapt(b"no model", schema)
    with pytest.raises(ConfigError, match="must be fitted on the 5 columns .* it was fitted on 3"):
        adapt(onnx_line(WEIGHTS, BIAS), schema)


@pytest.mark.parametrize("mapped", [True, False])
def test_a_converted_pipeline_takes_a_column_an_input(mapped, table, X, schema):
    convert = pytest.importorskip("skl2onnx", reason="skl2onnx is missing")
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    pipeline = prepared(LogisticRegression()).fit(X, table["grade"])
    kinds = {"income": FloatTensorType, "debt": Int64TensorType, "age": Int64TensorType}
    types = [(name, kinds.get(name, StringTensorType)([None, 1])) for name in X.columns]
    options = {} if mapped else {"options": {"zipmap": False}}
    content = convert.to_onnx(pipeline, initial_types=types, **options).SerializeToString()
    told = adapt(content, schema).probabilities(one_hot(schema.encode(X), schema.layout))
    np.testing.assert_allclose(told, pipeline.predict_proba(X), rtol=0, atol=1e-4)
