"""What can be proved of a recourse, without a commercial solver."""

from rocourse.certificates._counts import draws_for, lower_bound, more_for
from rocourse.certificates._delta import certify_delta, certify_sampled
from rocourse.certificates._ellipsoid import certify_ellipsoid, last_layers
from rocourse.certificates._votes import certify_votes
from rocourse.certificates._witnesses import (
    Judge,
    certify_witnesses,
    fresh_witnesses,
    stored_witnesses,
    witnesses_for,
)

__all__ = [
    "Judge",
    "certify_delta",
    "certify_ellipsoid",
    "certify_sampled",
    "certify_votes",
    "certify_witnesses",
    "draws_for",
    "fresh_witnesses",
    "last_layers",
    "lower_bound",
    "more_for",
    "stored_witnesses",
    "witnesses_for",
]
