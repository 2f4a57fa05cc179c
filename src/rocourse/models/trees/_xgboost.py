"""Fitted XGBoost models as arrays, by the JSON form that XGBoost itself stores them in."""

import json
from typing import Any

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models.trees._ensemble import Tree, TreeEnsemble, joined

_ONE_OUTPUT, _SEVERAL = ("binary:logistic",), ("multi:softprob", "multi:softmax")


def read_xgboost(model: Any, name: str) -> TreeEnsemble:
    """The trees of an `XGBClassifier` or `Booster`."""
    wrapped = hasattr(model, "get_booster")
    booster = model.get_booster() if wrapped else model
    if wrapped and not np.isnan(model.missing):
        raise ConfigError(
            f"{name} must mark missing values by NaN, but got missing={model.missing!r}; replace "
            "that number by NaN and fit the model with missing=nan."
        )
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting, objective = learner["gradient_booster"], learner["objective"]["name"]
    if boosting["name"] != "gbtree":
        raise ConfigError(
            f"{name} must be boosted by gbtree to be read as trees, but got {boosting['name']!r}; "
            "fit it with booster='gbtree', or pass it to adapt."
        )
    if objective not in _ONE_OUTPUT + _SEVERAL:
        raise ConfigError(
            f"{name} must have one of the objectives {', '.join(_ONE_OUTPUT + _SEVERAL)} to be "
            f"read as trees, but got {objective!r}; fit it with one of these, or pass it to adapt."
        )
    stored = boosting["model"]
    n_trees = len(stored["trees"])
    # As `predict_proba` does; a Booster's own `predict` uses all trees.
    best = booster.attr("best_iteration") if wrapped else None
    if best is not None:
        n_trees = stored["iteration_indptr"][int(best) + 1]
    trees = [
        _tree(tree, output, name)
        for tree, output in zip(stored["trees"][:n_trees], stored["tree_info"], strict=False)
    ]
    n_features = int(learner["learner_model_param"]["num_feature"])
    n_classes = max(2, int(learner["learner_model_param"]["num_class"]))
    several = objective in _SEVERAL
    score = np.array(json.loads(learner["learner_model_param"]["base_score"]), np.float64)
    score = score.astype(np.float32).astype(np.float64).reshape(-1)
    base = np.broadcast_to(score, n_classes) if several else np.log(score / (1.0 - score))
    return joined(
        trees,
        base=base,
        link="softmax" if several else "logistic",
        strict=True,
        single=True,
        missing=["nan"] * n_features,
        categories=_categories(booster, n_features),
        names=booster.feature_names,
        classes=model.classes_ if wrapped else np.arange(n_classes),
    )


def _tree(stored: dict[str, Any], output: int, name: str) -> Tree:
    if int(stored["tree_param"]["size_leaf_vector"]) > 1:
        raise ConfigError(
            f"{name} must have one number a leaf, but got vectors; fit it with "
            "multi_strategy='one_output_per_tree'."
        )
    left = np.array(stored["left_children"])
    leaf = left < 0
    # float32 all of them, written with as few digits as tell them apart.
    numbers = np.array(stored["split_conditions"], np.float32).astype(np.float64)
    codes = np.array(stored["categories"], int)
    starts = stored["categories_segments"]
    return Tree(
        feature=np.where(leaf, -1, stored["split_indices"]),
        threshold=numbers,
        left=left,
        right=np.array(stored["right_children"]),
        missing_left=np.array(stored["default_left"], bool),
        value=np.where(leaf, numbers, 0.0)[:, None],
        output=output,
        # The codes of a set go to the right, all others to the left.
        apart={
            node: (codes[start : start + size].tolist(), True)
            for node, start, size in zip(
                stored["categories_nodes"], starts, stored["categories_sizes"], strict=True
            )
        },
    )


def _categories(booster: Any, n_features: int) -> list[tuple[Any, ...] | None]:
    exported = booster.get_categories(export_to_arrow=True).to_arrow()
    if not exported:
        return [None] * n_features
    return [None if known is None else tuple(known.to_pylist()) for _, known in exported]
