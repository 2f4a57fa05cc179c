"""Stored models: what is written comes back, and nothing damaged is read."""

import errno
import hashlib
import itertools
import json
import math
import os
import stat
import threading

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from tests.applicants import TARGET, make_applicants, make_schema, trained_model, untrained_model

import rocourse
from rocourse.artifacts import (
    check_file_path,
    check_model_path,
    load,
    model_digest,
    new_file,
    save,
    write_file,
)
from rocourse.errors import ArtifactError, OutputError
from rocourse.estimators import METHODS
from rocourse.schema import Rows

HEADER, WEIGHTS = "model.json", "weights.safetensors"
LAYOUT = make_schema(make_applicants()).layout
PROBE = Rows(np.full((4, LAYOUT.n_continuous), 0.5), np.zeros((4, LAYOUT.n_categorical), int))


@pytest.fixture(scope="module")
def rows():
    return make_applicants(30, seed=1).drop(columns=TARGET)


@pytest.fixture
def stored(tmp_path):
    return save(untrained_model(), tmp_path / "model")


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def edit_header(folder, *, sign=True, **changes):
    """Changes header fields (None removes one); signed again as only a careful forger would."""
    header = json.loads((folder / HEADER).read_text())
    header.update(changes)
    header = {name: value for name, value in header.items() if value is not None}
    if sign:
        header.pop("digest", None)
        canonical = json.dumps(header, sort_keys=True, separators=(",", ":"))
        header["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    (folder / HEADER).write_text(json.dumps(header, indent=2) + "\n")


def refusal(path):
    """The sentence with which loading is refused."""
    with pytest.raises(ArtifactError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".") and "; " in message
    assert str(path) in message
    return message


@pytest.mark.parametrize("classes", [("denied", "granted"), (0, 1, 2), (False, True)])
@pytest.mark.parametrize("method", METHODS)
def test_a_model_comes_back_as_it_was(method, classes, rows, tmp_path):
    model = untrained_model(method, frame=make_applicants(classes=classes))
    loaded = load(save(model, tmp_path / "model"))
    assert type(loaded) is type(model)
    assert loaded.schema_ == model.schema_
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.history_ == model.history_
    assert loaded.best_epoch_ == model.best_epoch_
    before, after = model.get_params(deep=False), loaded.get_params(deep=False)
    # A model of ours that was explained is stored as what it was explained by: its predictor.
    assert before | {"model": None} == after | {"model": None}
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    first, second = model.recourse(rows), loaded.recourse(rows)
    pd.testing.assert_frame_equal(second.attempted(), first.attempted())
    assert second.to_records() == first.to_records()


def test_a_trained_model_comes_back_with_its_history_and_best_metrics(rows, tmp_path):
    model = trained_model()
    path = save(model, tmp_path / "model")
    loaded = rocourse.load(path)
    assert loaded.history_ == model.history_
    assert loaded.recourse(rows).to_records() == model.recourse(rows).to_records()
    header = json.loads((path / HEADER).read_text())
    assert header["metrics"] == model.history_[model.best_epoch_ - 1]


def test_the_header_says_what_the_model_is(stored):
    header = json.loads((stored / HEADER).read_text())
    assert (header["format"], header["version"]) == ("rocourse-model", 2)
    assert header["method"] == "rocoursenet"
    assert header["params"]["trainer"]["encoder_widths"] == [8, 4]
    assert header["classes"] == ["denied", "granted"]
    assert header["schema"]["format"] == "rocourse-schema"
    assert set(header["versions"]) == {"rocourse", "python", "jax", "numpy"}
    assert header["versions"]["rocourse"] == rocourse.__version__
    weights = (stored / WEIGHTS).read_bytes()
    assert header["weights"] == {
        "bytes": len(weights),
        "sha256": hashlib.sha256(weights).hexdigest(),
    }


def test_the_same_model_is_stored_in_the_same_bytes(tmp_path):
    first = save(untrained_model(), tmp_path / "first")
    second = save(untrained_model(), tmp_path / "second")
    assert contents(first) == contents(second)


def test_nothing_but_its_files_is_left(stored):
    assert listing(stored) == ["card.md", HEADER, WEIGHTS]
    assert listing(stored.parent) == ["model"]


def test_others_may_read_what_the_umask_lets_them(tmp_path):
    before = os.umask(0o022)
    try:
        path = save(untrained_model(), tmp_path / "model")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert stat.S_IMODE((path / HEADER).stat().st_mode) == 0o644


def test_directories_above_are_made(tmp_path):
    path = save(untrained_model(), tmp_path / "runs" / "first" / "model")
    assert load(path).method == "rocoursenet"


def test_the_method_of_the_estimator_stores_it_too(tmp_path):
    path = untrained_model().save(str(tmp_path / "model"))
    assert load(path).method == "rocoursenet"


def test_a_loss_that_overflowed_is_stored_as_null_and_read_as_nan(tmp_path):
    model = untrained_model()
    model.history_ = [*model.history_, {"epoch": 2, "l1": math.nan, "l2": math.inf}]
    path = save(model, tmp_path / "model")
    assert json.loads((path / HEADER).read_text())["history"][1]["l1"] is None
    assert math.isnan(load(path).history_[1]["l1"])


def test_numpy_numbers_among_the_parameters_are_stored_as_numbers(tmp_path):
    model = untrained_model()
    model.set_params(trainer__learning_rate=np.float64(0.5), proposer__dropout=np.float64(0.25))
    path = save(model, tmp_path / "model")
    assert json.loads((path / HEADER).read_text())["params"]["proposer"]["dropout"] == 0.25
    assert load(path).trainer.learning_rate == 0.5


def test_weights_that_are_not_finite_are_not_stored(tmp_path):
    model = untrained_model()
    header, tensors = model.to_state()
    name = min(tensors)
    tensors = {**tensors, name: np.full_like(tensors[name], np.nan)}
    broken = type(model).from_state(header, tensors)
    with pytest.raises(ArtifactError, match=f"tensor '{name}' holds NaN or infinity"):
        save(broken, tmp_path / "model")
    assert listing(tmp_path) == []


def test_a_missing_model_is_refused(tmp_path):
    assert "nothing is there" in refusal(tmp_path / "model")


def test_a_file_in_place_of_a_model_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_text("{}")
    assert "it is a file" in refusal(path)


@pytest.mark.parametrize("name", [HEADER, WEIGHTS])
def test_a_model_without_one_of_its_files_is_refused(stored, name):
    (stored / name).unlink()
    assert f"must hold a readable {name}" in refusal(stored)


@pytest.mark.parametrize("kept", [0, 1, 500])
def test_a_truncated_header_is_refused(stored, kept):
    (stored / HEADER).write_bytes((stored / HEADER).read_bytes()[:kept])
    assert "model.json is truncated or damaged" in refusal(stored)


@pytest.mark.parametrize("text", ["{'format': 1}", "\xff\xfe", "[" * 100_000, '{"a": NaN}'])
def test_a_header_that_is_no_json_is_refused(stored, text):
    (stored / HEADER).write_bytes(text.encode("latin-1"))
    assert "model.json is truncated or damaged" in refusal(stored)


@pytest.mark.parametrize("text", ["[]", "3", "{}", '{"format": "other-model"}'])
def test_a_header_of_another_format_is_refused(stored, text):
    (stored / HEADER).write_text(text)
    assert "must have the format 'rocourse-model'" in refusal(stored)


@pytest.mark.parametrize("version", [0, 1, 3, "2", True, None])
def test_a_model_of_another_format_version_is_refused(stored, version):
    edit_header(stored, version=version)
    assert f"must have format version 2, but it has {version!r}" in refusal(stored)


@pytest.mark.parametrize("change", [{"best_epoch": 2}, {"seed": None}, {"note": "mine"}])
def test_an_altered_header_is_refused(stored, change):
    edit_header(stored, sign=False, **change)
    assert "model.json has been altered" in refusal(stored)


def test_a_header_without_a_digest_is_refused(stored):
    edit_header(stored, sign=False, digest=None)
    assert "model.json has been altered" in refusal(stored)


def test_a_model_of_an_unknown_method_is_refused(stored):
    edit_header(stored, method="oracle")
    assert "roar, rbr, rocourse-panel, but it is of 'oracle'" in refusal(stored)


def test_truncated_weights_are_refused(stored):
    content = (stored / WEIGHTS).read_bytes()
    (stored / WEIGHTS).write_bytes(content[:100])
    assert f"is truncated to 100 of {len(content)} bytes" in refusal(stored)


def test_altered_weights_are_refused(stored):
    content = bytearray((stored / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (stored / WEIGHTS).write_bytes(content)
    assert "weights.safetensors is altered" in refusal(stored)


def test_weights_of_a_model_of_another_schema_are_refused(stored, tmp_path):
    frame = make_applicants().drop(columns="age")
    schema = rocourse.Schema.infer(frame, target=TARGET, favourable=max(frame[TARGET]))
    other = save(untrained_model(schema=schema), tmp_path / "other")
    weights = (other / WEIGHTS).read_bytes()
    (stored / WEIGHTS).write_bytes(weights)
    assert "weights.safetensors is" in refusal(stored)
    # Even with matching digests, the shapes do not fit.
    digest = hashlib.sha256(weights).hexdigest()
    edit_header(stored, weights={"bytes": len(weights), "sha256": digest})
    assert "weights do not belong to this header" in refusal(stored)


def test_weights_that_are_no_safetensors_are_refused(stored):
    weights = b"no tensors"
    (stored / WEIGHTS).write_bytes(weights)
    digest = hashlib.sha256(weights).hexdigest()
    edit_header(stored, weights={"bytes": len(weights), "sha256": digest})
    assert "must hold its weights as safetensors" in refusal(stored)


@pytest.mark.parametrize(
    "change",
    [
        {"history": None},
        {"params": {"colour": "red"}},
        {"params": {"trainer": {"kind": "plain"}}},
        {"fitted": None},
        {"network": {"encoder": [16, 4], "head": [4]}},
        {"schema": {"format": "rocourse-schema", "version": 9}},
        {"weights": None},
        {"weights": 7},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_header_that_is_signed_but_incomplete_is_refused(stored, change):
    edit_header(stored, **change)
    refusal(stored)


def edit_weights(folder, change):
    """Changes every tensor, and signs what comes of it."""
    tensors = safetensors.numpy.load((folder / WEIGHTS).read_bytes())
    content = safetensors.numpy.save(
        {name: change(name, tensor) for name, tensor in tensors.items()}
    )
    (folder / WEIGHTS).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    edit_header(folder, weights={"bytes": len(content), "sha256": digest})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_not_read(stored, value):
    edit_weights(stored, lambda _, tensor: np.full_like(tensor, value))
    assert "holds NaN or infinity" in refusal(stored)


@pytest.mark.parametrize("tested", [True, False])
def test_weights_that_overflow_are_not_read(stored, tested):
    def huge(_, tensor):
        return np.where(np.arange(tensor.size).reshape(tensor.shape) % 2, 3e38, -3e38).astype("f4")

    edit_weights(stored, huge)
    if not tested:
        edit_header(stored, self_test=None)
    assert "it gives no probabilities for some rows" in refusal(stored)


def test_a_model_that_overflows_is_not_stored(tmp_path, monkeypatch):
    model = untrained_model()
    monkeypatch.setattr(
        type(model), "probabilities", lambda _, rows: np.full((len(rows.continuous), 2), np.nan)
    )
    with pytest.raises(ArtifactError, match="must work to be stored"):
        save(model, tmp_path / "model")
    assert listing(tmp_path) == []


def test_a_model_that_answers_otherwise_than_it_did_is_refused(stored):
    edit_weights(stored, lambda _, tensor: tensor[..., ::-1].copy())
    assert "does not answer as it did" in refusal(stored)


def test_a_generator_that_proposes_otherwise_than_it_did_is_refused(tmp_path):
    def change(name, tensor):
        return tensor[..., ::-1].copy() if name.startswith("state") else tensor

    folder = save(trained_model(), tmp_path / "model")
    edit_weights(folder, change)
    assert "does not advise as it did" in refusal(folder)


def test_a_generator_that_overflows_is_refused(stored):
    def change(name, tensor):
        return np.full_like(tensor, 3e38) if name.startswith("state") else tensor

    edit_weights(stored, change)
    assert "does not advise" in refusal(stored) or "NaN or infinite" in refusal(stored)


def test_jurors_that_judge_otherwise_than_they_did_are_refused(tmp_path):
    folder = save(untrained_model("rocourse"), tmp_path / "model")
    test = json.loads((folder / HEADER).read_text())["self_test"]
    test["learned"]["chance"] = [[1.0 - chance] for (chance,) in test["learned"]["chance"]]
    edit_header(folder, self_test=test)
    assert "does not advise as it did" in refusal(folder)


@pytest.mark.parametrize("learned", [None, [], {}, {"proposed": [[0.5]]}, {"proposed": "x"}])
def test_a_self_test_of_another_shape_is_refused(stored, learned):
    test = json.loads((stored / HEADER).read_text())["self_test"]
    edit_header(stored, self_test={**test, "learned": learned})
    assert "its self-test" in refusal(stored)
    # A release of before wrote down less.
    del test["learned"]
    edit_header(stored, self_test=test)
    assert load(stored).method == "rocoursenet"


def test_a_model_without_a_self_test_is_asked_all_the_same(stored):
    edit_header(stored, self_test=None)
    assert load(stored).method == "rocoursenet"


ODD = [["x"], {}, {"x": 1}, None, 5, -1, 1e308, "x", True, [[]], [None]]


def _places(value, deep=4):
    """Where something could be another thing, by the names that lead there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for name, part in inside:
        yield (name,)
        if deep > 1 and isinstance(part, dict | list):
            yield from ((name, *rest) for rest in _places(part, deep - 1))


def test_a_header_of_any_shape_is_refused_in_a_sentence_or_read(stored):
    header = json.loads((stored / HEADER).read_text())
    # What is only told, and what is so long that one of its kind stands for all.
    header["history"] = header["history"][:1]
    places = [place for place in _places(header) if place[0] not in ("format", "version", "digest")]
    assert len(places) > 100
    rng = np.random.default_rng(0)
    for place in places:
        odd = json.loads(json.dumps(header))
        part = odd
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = ODD[rng.integers(len(ODD))]
        edit_header(stored, **{**dict.fromkeys(header), **odd})
        try:
            load(stored)
        except ArtifactError as error:
            assert "\n" not in str(error) and str(error).endswith("."), (place, error)


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_method_that_is_no_name_is_refused(stored, odd):
    edit_header(stored, method=odd)
    refusal(stored)


def test_a_digest_is_that_of_the_model_that_was_read(tmp_path):
    models = [save(untrained_model(seed=seed), tmp_path / str(seed)) for seed in range(2)]
    biases = {model_digest(path): load(path).probabilities(PROBE).tolist() for path in models}
    place, stop = tmp_path / "place", threading.Event()
    place.symlink_to(models[0])

    def swap():
        for turn in itertools.cycle((1, 0)):
            (tmp_path / "next").symlink_to(models[turn])
            (tmp_path / "next").rename(place)
            if stop.wait(0.001):
                return

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = set()
        for _ in range(40):
            loaded = load(place)
            assert loaded.probabilities(PROBE).tolist() == biases[loaded.digest_]
            seen.add(loaded.digest_)
    finally:
        stop.set()
        swapping.join()
    assert seen == set(biases)


def test_an_existing_path_is_not_overwritten_without_force(stored):
    before = contents(stored)
    with pytest.raises(OutputError, match="must be new, but it exists already; .*--force"):
        save(untrained_model(seed=1), stored)
    assert contents(stored) == before


def test_force_replaces_a_model(stored, rows):
    other = untrained_model(seed=1)
    save(other, stored, force=True)
    np.testing.assert_array_equal(load(stored).predict_proba(rows), other.predict_proba(rows))
    assert listing(stored.parent) == ["model"]
    assert listing(stored) == ["card.md", HEADER, WEIGHTS]


def test_force_replaces_a_damaged_model(stored):
    (stored / HEADER).write_bytes((stored / HEADER).read_bytes()[:100])
    (stored / WEIGHTS).unlink()
    save(untrained_model(), stored, force=True)
    assert load(stored).method == "rocoursenet"


def test_force_through_a_link_replaces_the_model_and_keeps_the_link(stored, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(stored)
    save(untrained_model("counternet"), link, force=True)
    assert link.is_symlink()
    assert load(stored).method == "counternet"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"thesis.tex": "years of work"},
        {HEADER: '{"format": "other"}', WEIGHTS: ""},
        {HEADER: ""},
    ],
    ids=["empty", "other files", "another format", "empty header"],
)
def test_force_never_replaces_another_directory(tmp_path, files):
    path = tmp_path / "precious"
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    with pytest.raises(OutputError, match="must be a model to be replaced"):
        save(untrained_model(), path, force=True)
    assert {name: text.decode() for name, text in contents(path).items()} == files


def test_force_never_replaces_a_model_that_other_files_lie_beside(stored):
    (stored / "notes.txt").write_text("do not lose")
    with pytest.raises(OutputError, match=r"holds 'notes\.txt' too; move that away"):
        save(untrained_model(), stored, force=True)
    assert (stored / "notes.txt").exists()


def test_force_never_replaces_a_file(tmp_path):
    path = tmp_path / "model"
    path.write_text("mine")
    with pytest.raises(OutputError, match="but it is a file"):
        save(untrained_model(), path, force=True)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("check", [check_model_path, check_file_path])
def test_a_path_below_a_file_is_refused(tmp_path, check):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must lie in a directory, but .* is a file"):
        check(tmp_path / "file" / "sub" / "model")


def test_a_full_disk_leaves_the_old_model_and_nothing_else(stored, monkeypatch):
    before = contents(stored)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="must be writable, but got No space left on device"):
        save(untrained_model(seed=1), stored, force=True)
    with pytest.raises(OutputError, match="No space left on device"):
        write_file(stored.parent / "advice.csv", b"row\n")
    assert contents(stored) == before
    assert listing(stored.parent) == ["model"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(errno.EACCES, "Permission denied")])
def test_a_failure_between_the_renames_puts_the_old_model_back(stored, monkeypatch, failure):
    before = contents(stored)
    rename = type(stored).rename
    calls = []

    def failing(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise failure
        return rename(self, target)

    monkeypatch.setattr(type(stored), "rename", failing)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        save(untrained_model(seed=1), stored, force=True)
    assert contents(stored) == before
    assert listing(stored.parent) == ["model"]


def test_a_file_is_written_whole_and_replaced_only_with_force(tmp_path):
    path = tmp_path / "new" / "advice.csv"
    write_file(path, b"row\n1\n")
    with pytest.raises(OutputError, match="exists already"):
        write_file(path, b"row\n2\n")
    assert path.read_bytes() == b"row\n1\n"
    write_file(path, b"row\n2\n", force=True)
    assert path.read_bytes() == b"row\n2\n"
    assert listing(path.parent) == ["advice.csv"]


def test_a_file_that_is_written_piece_by_piece_appears_when_it_is_done(tmp_path):
    path = tmp_path / "new" / "advice.csv"
    with new_file(path) as file:
        file.write(b"row\n")
        assert not path.exists()
        file.write(b"1\n")
    assert path.read_bytes() == b"row\n1\n"
    assert listing(path.parent) == ["advice.csv"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
def test_a_file_that_is_not_done_leaves_nothing(tmp_path, failure):
    (tmp_path / "old").mkdir()
    for path in (tmp_path / "old" / "advice.csv", tmp_path / "new" / "er" / "advice.csv"):
        with pytest.raises((KeyboardInterrupt, OutputError)), new_file(path) as file:
            file.write(b"row\n")
            raise failure
    assert listing(tmp_path) == ["old"] and listing(tmp_path / "old") == []


def test_a_file_that_came_in_between_is_not_replaced(tmp_path):
    path = tmp_path / "advice.csv"
    with pytest.raises(OutputError, match="exists already"), new_file(path) as file:
        file.write(b"mine\n")
        path.write_text("theirs")
    assert path.read_text() == "theirs" and listing(tmp_path) == ["advice.csv"]


def test_a_directory_is_no_place_for_a_file(tmp_path):
    with pytest.raises(OutputError, match="but it is a directory; add a file name"):
        write_file(tmp_path, b"", force=True)


def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError):
        write_file(tmp_path / "a", b"")
