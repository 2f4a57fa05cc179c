"""Fitted CatBoost models as arrays, by the JSON form that CatBoost itself stores them in."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError
from rocourse.models.trees._ensemble import Tree, TreeEnsemble, joined

_LOSSES = ("Logloss", "CrossEntropy", "MultiClass")


class _Split(NamedTuple):
    """A question that all nodes of a level ask."""

    column: int
    border: float = 0.0
    missing_left: bool = True
    code: int | None = None
    """The category that goes to the right, if it is one that is known."""
    of_category: bool = False


def read_catboost(
    model: Any, name: str, categories: Mapping[str, Sequence[Any]] | None
) -> TreeEnsemble:
    """The trees of a `CatBoostClassifier`; arguments as of `read_trees`."""
    stored = _stored(model)
    if "oblivious_trees" not in stored:
        raise ConfigError(
            f"{name} must have symmetric trees, but got others; fit it with "
            "grow_policy='SymmetricTree', or pass it to adapt."
        )
    loss = stored["model_info"]["params"]["loss_function"]["type"]
    if loss not in _LOSSES:
        raise ConfigError(
            f"{name} must have one of the losses {', '.join(_LOSSES)} to be read as trees, but got "
            f"{loss!r}; fit it with one of these, or pass it to adapt."
        )
    infos = stored["features_info"]
    for kind in ("text_features", "embedding_features"):
        if infos.get(kind):
            raise ConfigError(
                f"{name} must look at numbers and categories alone to be read as trees, but it has "
                f"{kind.replace('_', ' ')}; pass it to adapt."
            )
    scale, bias = stored["scale_and_bias"]
    known = _known_categories(infos, stored["oblivious_trees"], name, categories)
    splits = _splits_reader(model, stored, name, known)
    trees = [
        _tree(
            [splits(i, place, split) for place, split in enumerate(tree["splits"] or ())],
            scale * np.asarray(tree["leaf_values"]).reshape(-1, len(bias)),
        )
        for i, tree in enumerate(stored["oblivious_trees"])
    ]
    return joined(
        trees,
        base=bias,
        link="softmax" if loss == "MultiClass" else "logistic",
        strict=False,
        single=True,
        missing=["nan"] * len(model.feature_names_),
        categories=known,
        names=model.feature_names_,
        classes=model.classes_,
    )


def _stored(model: Any) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored


def _known_categories(
    infos: dict[str, Any],
    trees: Sequence[dict[str, Any]],
    name: str,
    stated: Mapping[str, Sequence[Any]] | None,
) -> list[tuple[Any, ...] | None]:
    """The categories of each column that a tree asks for; CatBoost keeps only their hashes."""
    described = infos.get("categorical_features") or []
    numbers = infos.get("float_features") or []
    known: list[tuple[Any, ...] | None] = [None] * (len(described) + len(numbers))
    asked = {
        split.get("cat_feature_index")
        for tree in trees
        for split in tree["splits"] or ()
        if split["split_type"] != "FloatFeature"
    }
    for feature in described:
        column = feature["flat_feature_index"]
        values = (stated or {}).get(feature["feature_id"] or str(column))
        if values is None and feature["feature_index"] in asked:
            raise ConfigError(
                f"The categories of {feature['feature_id'] or column!r} must be stated for {name}, "
                "because CatBoost keeps only their hashes; give "
                f"categories={{{feature['feature_id'] or str(column)!r}: [...]}}."
            )
        known[column] = tuple(values or ())
    return known


def _splits_reader(
    model: Any, stored: dict[str, Any], name: str, known: Sequence[tuple[Any, ...] | None]
) -> Callable[[int, int, dict[str, Any]], _Split]:
    """How the splits of a tree are read: from its number, the split's place and the split."""
    infos = stored["features_info"]
    numbers = {f["feature_index"]: f for f in infos.get("float_features") or []}
    columns = {
        f["feature_index"]: f["flat_feature_index"] for f in infos.get("categorical_features") or []
    }
    leaves: dict[int, np.ndarray] = {}

    def read(tree: int, place: int, split: dict[str, Any]) -> _Split:
        kind = split["split_type"]
        if kind == "FloatFeature":
            number = numbers[split["float_feature_index"]]
            return _Split(
                number["flat_feature_index"],
                float(np.float32(split["border"])),
                number["nan_value_treatment"] != "AsTrue",
            )
        if kind != "OneHotFeature":
            raise ConfigError(
                f"{name} must look at categories one by one to be read as trees, but it looks at "
                "statistics of them; fit it with one_hot_max_size at least the number of "
                "categories of each feature, or pass it to adapt."
            )
        column = columns[split["cat_feature_index"]]
        if column not in leaves:
            leaves[column] = _leaves_by_category(model, known, numbers, column)
        # The model itself says which category has the hash that the split asks for.
        answers = np.flatnonzero(leaves[column][:, tree] >> place & 1)
        code = int(answers[0]) if len(answers) else None
        return _Split(column, code=code, of_category=True)

    return read


def _leaves_by_category(
    model: Any,
    known: Sequence[tuple[Any, ...] | None],
    numbers: Mapping[int, dict[str, Any]],
    column: int,
) -> np.ndarray:
    """Into which leaf of each tree rows come whose column is one category after the other."""
    values = known[column] or ()
    frame = pd.DataFrame(
        {
            name: pd.Series(
                list(values) if k == column else [0.0 if known[k] is None else ""] * len(values),
                dtype=float if known[k] is None else object,
            )
            for k, name in enumerate(model.feature_names_)
        }
    )
    leaves: np.ndarray = np.asarray(model.calc_leaf_indexes(frame), np.int64)
    return leaves


def _tree(splits: Sequence[_Split], values: np.ndarray) -> Tree:
    """A symmetric tree as nodes, those included that the nodes above have decided already."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    missing_left: list[bool] = []
    leaf: list[int] = []
    apart: dict[int, tuple[list[int], bool]] = {}

    def grow(depth: int, index: int) -> int:
        place = len(feature)
        inner = depth < len(splits)
        feature.append(splits[depth].column if inner else -1)
        threshold.append(splits[depth].border if inner else 0.0)
        missing_left.append(splits[depth].missing_left if inner else True)
        left.append(-1)
        right.append(-1)
        leaf.append(index)
        if inner:
            split = splits[depth]
            if split.of_category:
                apart[place] = ([] if split.code is None else [split.code], True)
            left[place] = grow(depth + 1, index)
            right[place] = grow(depth + 1, index | 1 << depth)
        return place

    grow(0, 0)
    is_leaf = np.array(feature) < 0
    return Tree(
        feature=np.array(feature),
        threshold=np.array(threshold),
        left=np.array(left),
        right=np.array(right),
        missing_left=np.array(missing_left),
        value=np.where(is_leaf[:, None], values[leaf], 0.0),
        apart=apart,
    )
