"""What the searches share: blocks of rows, log-odds, the space of what rows may become."""

from rocourse.recourse.search._blocks import (
    LANES,
    Query,
    fill_lanes,
    propose_in_blocks,
    settings_of,
    traced,
)
from rocourse.recourse.search._candidate import Candidate, better, no_candidate
from rocourse.recourse.search._committees import committee_scores
from rocourse.recourse.search._edits import (
    EDIT_PRICE,
    Edit,
    Edits,
    Numbers,
    allowed_edit,
    category_edits,
    made_edits,
    owned_columns,
)
from rocourse.recourse.search._feasible import Space, group_members, hard, project
from rocourse.recourse.search._log_odds import (
    LEAST_PROBABILITY,
    Network,
    judge,
    judged,
    log_odds,
    log_odds_of,
    log_odds_slope,
)

__all__ = [
    "EDIT_PRICE",
    "LANES",
    "LEAST_PROBABILITY",
    "Candidate",
    "Edit",
    "Edits",
    "Network",
    "Numbers",
    "Query",
    "Space",
    "allowed_edit",
    "better",
    "category_edits",
    "committee_scores",
    "fill_lanes",
    "group_members",
    "hard",
    "judge",
    "judged",
    "log_odds",
    "log_odds_of",
    "log_odds_slope",
    "made_edits",
    "no_candidate",
    "owned_columns",
    "project",
    "propose_in_blocks",
    "settings_of",
    "traced",
]
