"""Files of models' own libraries, for models that are no arrays, and that hold no code.

They are XGBoost's JSON, LightGBM's text, ONNX, and skops for scikit-learn, of which only classes of
known libraries are read.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from rocourse.errors import ArtifactError, DependencyError
from rocourse.models._frameworks import import_framework, is_from
from rocourse.models.adapters._onnx import OnnxModel

# Libraries whose classes may be made again from a file. Nothing of them runs when it is read.
_KNOWN_LIBRARIES = ("sklearn", "numpy", "scipy", "xgboost", "lightgbm")
_KNOWN_OTHERS = ("collections.OrderedDict",)


class Unstorable(Exception):
    """A model cannot be written to a file; the text says why, as in "because …"."""


class Format(NamedTuple):
    """How models of a library are written and read."""

    dump: Callable[[Any], bytes]
    load: Callable[[bytes], Any]
    lasting: bool
    """Whether the same model is always written in the same bytes."""


def format_of(model: Any) -> str:
    """The name of the format that a model is stored in.

    Raises:
        Unstorable: There is none.
    """
    if isinstance(model, OnnxModel):
        return "onnx"
    for library in ("xgboost", "lightgbm"):
        if _booster(model, library) is not None:
            return library
    if isinstance(model, BaseEstimator):
        return "skops"
    if is_from(model, "torch", "Module"):
        raise Unstorable("of a PyTorch module nothing but its weights can be written to a file")
    kind = "a function" if hasattr(model, "__qualname__") else f"a {type(model).__name__}"
    raise Unstorable(f"{kind} cannot be written to a file")


def _booster(model: Any, library: str) -> Any:
    """The Booster of a model that is one, or has one and nothing else to say."""
    if is_from(model, library, "Booster"):
        return model
    if is_from(model, library, {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[library]):
        return model.get_booster() if library == "xgboost" else model.booster_
    return None


def _dump_xgboost(model: Any) -> bytes:
    booster = _booster(model, "xgboost")
    best = booster.attr("best_iteration") if booster is not model else None
    # As `predict_proba` does; a Booster's own `predict` uses all trees.
    booster = booster if best is None else booster[: int(best) + 1]
    return bytes(booster.save_raw(raw_format="json"))


def _load_xgboost(content: bytes) -> Any:
    booster = import_framework("xgboost").Booster()
    booster.load_model(bytearray(content))
    return booster


def _dump_lightgbm(model: Any) -> bytes:
    text: str = _booster(model, "lightgbm").model_to_string()
    return text.encode()


def _load_lightgbm(content: bytes) -> Any:
    return import_framework("lightgbm").Booster(model_str=content.decode())


def _dump_skops(model: Any) -> bytes:
    try:
        skops = import_framework("skops.io", "skops")
    except DependencyError as error:
        raise Unstorable(
            "skops, which stores what is no arrays, is not installed: pip install 'rocourse[skops]'"
        ) from error
    try:
        content: bytes = skops.dumps(model)
        unknown = _unknown_parts(skops, content)
    except Exception as error:
        # Whatever skops does not know how to write; of many kinds.
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise Unstorable(f"skops cannot store it ({type(error).__name__}: {reason})") from error
    if unknown:
        raise Unstorable(f"its part {unknown[0]} is of no library that is known to be safe to read")
    return content


def _load_skops(content: bytes) -> Any:
    skops = import_framework("skops.io", "skops")
    if unknown := _unknown_parts(skops, content):
        raise ArtifactError(
            f"its model must be made of parts of {', '.join(_KNOWN_LIBRARIES)}, but it has a "
            f"{unknown[0]}; save it anew with the release of rocourse that is here."
        )
    return skops.loads(content, trusted=skops.get_untrusted_types(data=content))


def _unknown_parts(skops: Any, content: bytes) -> list[str]:
    return [name for name in skops.get_untrusted_types(data=content) if not _is_known_class(name)]


def _is_known_class(name: str) -> bool:
    """Whether a dotted name is a class, which is made and not run, of a library that is known."""
    if name in _KNOWN_OTHERS:
        return True
    module, _, last = name.rpartition(".")
    if module.partition(".")[0] not in _KNOWN_LIBRARIES:
        return False
    try:
        return isinstance(getattr(import_module(module), last, None), type)
    except ImportError:
        return False


FORMATS = {
    "lightgbm": Format(_dump_lightgbm, _load_lightgbm, lasting=True),
    "onnx": Format(lambda model: bytes(model.content), OnnxModel.of, lasting=True),
    "skops": Format(_dump_skops, _load_skops, lasting=False),
    "xgboost": Format(_dump_xgboost, _load_xgboost, lasting=True),
}
"""By the names that stored models use."""
