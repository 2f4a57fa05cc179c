"""Fitted LightGBM models as arrays, by the form in which LightGBM dumps them."""

from typing import Any

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models.trees._ensemble import Missing, Tree, TreeEnsemble, joined

_MISSING: dict[str, Missing] = {"None": "never", "Zero": "zero", "NaN": "nan"}
# Rows that are asked about are kept without their zeros, up to this float32.
_ZERO = float(np.float32(1e-35))
# How an infinite threshold, which separates missing values from all others, is dumped.
_INFINITE = 1e300
_OBJECTIVES = ("binary", "multiclass", "cross_entropy")


def read_lightgbm(model: Any, name: str) -> TreeEnsemble:
    """The trees of an `LGBMClassifier` or `Booster`."""
    wrapped = hasattr(model, "booster_")
    booster = model.booster_ if wrapped else model
    dumped = booster.dump_model()
    objective, *options = str(dumped.get("objective", "none")).split()
    if objective not in _OBJECTIVES:
        raise ConfigError(
            f"{name} must have one of the objectives {', '.join(_OBJECTIVES)} to be read as trees, "
            f"but got {objective!r}; fit it with one of these, or pass it to adapt."
        )
    slope = next((float(o.partition(":")[2]) for o in options if o.startswith("sigmoid:")), 1.0)
    n_outputs, n_features = int(dumped["num_tree_per_iteration"]), int(booster.num_feature())
    stored = dumped["tree_info"]
    # A forest's outputs are means.
    share = n_outputs / len(stored) if dumped["average_output"] and stored else 1.0
    missing: list[Missing] = ["nan"] * n_features
    trees = [
        _tree(tree["tree_structure"], i % n_outputs, slope * share, missing, name)
        for i, tree in enumerate(stored)
    ]
    names = dumped["feature_names"]
    unnamed = names == [f"Column_{k}" for k in range(n_features)]
    return joined(
        trees,
        base=np.zeros(n_outputs),
        link="logistic" if n_outputs == 1 else "softmax",
        strict=False,
        single=False,
        zero=_ZERO,
        missing=missing,
        categories=_categories(dumped, booster.pandas_categorical or []),
        names=None if unnamed else model.feature_name_ if wrapped else names,
        classes=model.classes_ if wrapped else np.arange(max(2, n_outputs)),
    )


def _tree(
    root: dict[str, Any], output: int, scale: float, missing: list[Missing], name: str
) -> Tree:
    """A dumped tree; tells which numbers are missing in the features that it looks at."""
    feature: list[int] = []
    threshold: list[float] = []
    children: list[tuple[int, int]] = []
    missing_left: list[bool] = []
    value: list[float] = []
    apart: dict[int, tuple[list[int], bool]] = {}
    waiting = [(root, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        place = len(feature)
        if parent >= 0:
            left, right = children[parent]
            children[parent] = (left, place) if side else (place, right)
        leaf = "split_feature" not in node
        if "leaf_coeff" in node:
            raise ConfigError(
                f"{name} must have one number a leaf, but got linear functions; fit it with "
                "linear_tree=False."
            )
        feature.append(-1 if leaf else node["split_feature"])
        threshold.append(0.0)
        children.append((-1, -1))
        missing_left.append(False)
        value.append(scale * node["leaf_value"] if leaf else 0.0)
        if leaf:
            continue
        if node["decision_type"] == "==":
            # The codes of a set go to the left; all others, and missing values, to the right.
            apart[place] = ([int(code) for code in str(node["threshold"]).split("||")], False)
        else:
            threshold[place] = node["threshold"]
            if abs(threshold[place]) >= _INFINITE:
                threshold[place] = np.copysign(np.inf, threshold[place])
            missing_left[place] = node["default_left"]
            missing[feature[place]] = _MISSING[node["missing_type"]]
        waiting += [(node["right_child"], place, 1), (node["left_child"], place, 0)]
    left, right = np.array(children).T
    return Tree(
        feature=np.array(feature),
        threshold=np.array(threshold),
        left=left,
        right=right,
        missing_left=np.array(missing_left),
        value=np.array(value)[:, None],
        output=output,
        apart=apart,
    )


def _categories(
    dumped: dict[str, Any], known: list[list[Any]]
) -> list[tuple[Any, ...] | None] | None:
    """The categories of pandas columns, which LightGBM keeps in order but without their names."""
    infos = dumped["feature_infos"]
    columns = [
        k for k, name in enumerate(dumped["feature_names"]) if infos.get(name, {}).get("values")
    ]
    if len(columns) != len(known):
        return None
    result: list[tuple[Any, ...] | None] = [None] * len(dumped["feature_names"])
    for column, values in zip(columns, known, strict=True):
        result[column] = tuple(values)
    return result
