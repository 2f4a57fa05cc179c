"""Fitted trees, forests and boosted trees of scikit-learn as arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models.trees._ensemble import Tree, TreeEnsemble, joined


def read_forest(model: Any, name: str) -> TreeEnsemble:
    """A `DecisionTreeClassifier`, `RandomForestClassifier` or one of their extra random kin."""
    estimators = getattr(model, "estimators_", [model])
    if model.n_outputs_ > 1:
        raise ConfigError(
            f"{name} must predict one target, but it predicts {model.n_outputs_}; fit one for each."
        )
    trees = []
    for estimator in estimators:
        shares = estimator.tree_.value[:, 0] / estimator.tree_.value[:, 0].sum(1, keepdims=True)
        shares = shares[:, 1:] if shares.shape[1] == 2 else shares
        trees.append(_tree(estimator.tree_, shares / len(estimators)))
    return _joined(model, trees, base=np.zeros(trees[0].value.shape[1]), link="mean")


def read_gradient_boosting(model: Any, name: str) -> TreeEnsemble:
    """A `GradientBoostingClassifier`."""
    n_outputs = model.estimators_.shape[1]
    # The link of the exponential loss is twice as steep.
    steep = 2.0 if model.loss == "exponential" else 1.0
    base = np.zeros(n_outputs)
    if model.init is None:
        least = np.finfo(np.float32).eps
        prior = np.clip(model.init_.class_prior_, least, 1.0 - least)
        base = np.log(prior[1:] / (1.0 - prior[1:])) if n_outputs == 1 else np.log(prior)
    elif model.init != "zero":
        raise ConfigError(
            f"{name} must start from its classes' shares to be read as trees, but got "
            f"init={model.init!r}; fit it with init=None, or pass it to adapt."
        )
    trees = [
        _tree(tree.tree_, steep * model.learning_rate * tree.tree_.value[:, 0], output=k)
        for stage in model.estimators_
        for k, tree in enumerate(stage)
    ]
    return _joined(model, trees, base=base, link="logistic" if n_outputs == 1 else "softmax")


def _tree(fitted: Any, value: np.ndarray, output: int = 0) -> Tree:
    return Tree(
        feature=np.where(fitted.children_left < 0, -1, fitted.feature),
        threshold=fitted.threshold,
        left=fitted.children_left,
        right=fitted.children_right,
        missing_left=fitted.missing_go_to_left,
        value=value,
        output=output,
    )


def _joined(model: Any, trees: Sequence[Tree], **options: Any) -> TreeEnsemble:
    return joined(
        trees,
        strict=False,
        single=True,
        missing=["nan"] * model.n_features_in_,
        names=getattr(model, "feature_names_in_", None),
        classes=model.classes_,
        **options,
    )


def read_hist_gradient_boosting(model: Any, name: str) -> TreeEnsemble:
    """A `HistGradientBoostingClassifier`.

    scikit-learn has no public view of its trees; tests compare every answer with `predict_proba`.
    """
    n_features = model.n_features_in_
    columns, categories = np.arange(n_features), [None] * n_features
    if model.is_categorical_ is not None:
        # Its own preparation puts categories first, as places among their sorted values.
        columns = np.argsort(~model.is_categorical_, kind="stable")
        encoder = model._preprocessor.named_transformers_["encoder"]
        for column, known in zip(columns, encoder.categories_, strict=False):
            categories[column] = tuple(value for value in known.tolist() if value == value)
    known_codes, place = model._bin_mapper.make_known_categories_bitsets()
    n_outputs = len(model._predictors[0]) if model._predictors else 1
    trees = [
        _hist_tree(predictor, k, columns, known_codes, place)
        for stage in model._predictors
        for k, predictor in enumerate(stage)
    ]
    return joined(
        trees,
        base=model._baseline_prediction,
        link="logistic" if n_outputs == 1 else "softmax",
        strict=False,
        single=False,
        missing=["nan"] * n_features,
        categories=categories,
        names=getattr(model, "feature_names_in_", None),
        classes=model.classes_,
    )


def _hist_tree(
    predictor: Any, output: int, columns: np.ndarray, known_codes: np.ndarray, place: np.ndarray
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    apart = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        left = _codes(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        known = _codes(known_codes[place[nodes["feature_idx"][node]]])
        # Codes that it does not know go where missing values do.
        unknown = bool(missing_left[node])
        apart[int(node)] = (sorted(known - left if unknown else left), unknown)
    return Tree(
        feature=np.where(leaf, -1, columns[np.where(leaf, 0, nodes["feature_idx"])]),
        threshold=nodes["num_threshold"],
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=missing_left,
        value=np.where(leaf, nodes["value"], 0.0)[:, None],
        output=output,
        apart=apart,
    )


def _codes(bitset: np.ndarray) -> set[int]:
    bits = np.unpackbits(np.ascontiguousarray(bitset, "<u4").view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())
