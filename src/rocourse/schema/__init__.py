"""Features, their constraints, encoding, cost, and the record of recourses.

`Schema` turns rows into arrays and back; `Recourse` is what every method emits. Importing this
package does not import
JAX: the constraint layer of compiled code lives in `rocourse.schema.constraints`.
"""

from rocourse.schema._clipping import ClippedWarning
from rocourse.schema._cost import features_changed, proximity
from rocourse.schema._describe import describe_change
from rocourse.schema._encoding import OutOfRange
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._layout import Layout, Rows, one_hot
from rocourse.schema._recourse import Recourse
from rocourse.schema._row import EncodedRow, RowCodec, RowCodes
from rocourse.schema._schema import Schema
from rocourse.schema._settle import NEGLIGIBLE_CHANGE

__all__ = [
    "EncodedRow",
    "NEGLIGIBLE_CHANGE",
    "Categorical",
    "ClippedWarning",
    "Continuous",
    "Feature",
    "Layout",
    "OutOfRange",
    "Recourse",
    "RowCodec",
    "RowCodes",
    "Rows",
    "Schema",
    "Target",
    "describe_change",
    "features_changed",
    "one_hot",
    "proximity",
]
