"""Features, their constraints, encoding, cost, and the record of recourses.

`Schema` turns rows into arrays and back; `Recourse` is what every method emits. Importing this
package does not import
JAX: the constraint layer of compiled code lives in `rocourse.schema.constraints`.
"""

from rocourse.schema._clipping import ClippedWarning
from rocourse.schema._cost import features_changed, proximity
from rocourse.schema._cut_off import CutOff, threshold_of_rate, verdicts
from rocourse.schema._describe import describe_change
from rocourse.schema._encoding import OutOfRange
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._layout import Layout, Rows, one_hot
from rocourse.schema._recourse import Recourse
from rocourse.schema._row import EncodedRow, RowCodec, RowCodes
from rocourse.schema._rules import COLUMN, NEGLIGIBLE_CHANGE, CategoryRule, Fault, NumberRule
from rocourse.schema._schema import Schema
from rocourse.schema._values import ValueIndex

__all__ = [
    "COLUMN",
    "EncodedRow",
    "NEGLIGIBLE_CHANGE",
    "Categorical",
    "CategoryRule",
    "ClippedWarning",
    "Continuous",
    "CutOff",
    "Fault",
    "Feature",
    "Layout",
    "NumberRule",
    "OutOfRange",
    "Recourse",
    "RowCodec",
    "RowCodes",
    "Rows",
    "Schema",
    "Target",
    "ValueIndex",
    "describe_change",
    "features_changed",
    "one_hot",
    "proximity",
    "threshold_of_rate",
    "verdicts",
]
