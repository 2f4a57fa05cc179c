"""Models and results on disk, written whole or not at all."""

from rocourse._files import check_file_path, check_parents, new_file, write_file
from rocourse.artifacts._factory import make_model
from rocourse.artifacts._model import card, check_model_path, load, model_digest, save
from rocourse.artifacts._stored import StoredModel, load_from

__all__ = [
    "StoredModel",
    "card",
    "check_file_path",
    "check_model_path",
    "check_parents",
    "load",
    "load_from",
    "make_model",
    "model_digest",
    "new_file",
    "save",
    "write_file",
]
