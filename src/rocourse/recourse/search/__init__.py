"""What the searches share: blocks of rows, log-odds, the space of what rows may become."""

from rocourse.recourse.search._asked import Asked, Ways, complete, cut_back, leads
from rocourse.recourse.search._blocks import (
    LANES,
    Query,
    fill_lanes,
    propose_in_blocks,
    settings_of,
    traced,
)
from rocourse.recourse.search._candidate import Candidate, better, no_candidate
from rocourse.recourse.search._committees import committee_logits
from rocourse.recourse.search._edits import (
    EDIT_PRICE,
    Edit,
    Edits,
    Numbers,
    allowed_edits,
    category_edits,
    edit_costs,
    edited,
    made_edits,
    owned_columns,
)
from rocourse.recourse.search._feasible import Space, group_members, hard, project
from rocourse.recourse.search._first_layers import (
    Columns,
    all_feature_layers,
    ask_about_edits,
    ask_along,
    edit_layers,
    feature_layers,
    first_layers,
)
from rocourse.recourse.search._lanes import Size, propose_in_lanes, through_lanes
from rocourse.recourse.search._log_odds import (
    LEAST_PROBABILITY,
    Network,
    judge,
    judged,
    log_odds,
    log_odds_of,
    log_odds_slope,
)
from rocourse.recourse.search._pruning import prune
from rocourse.recourse.search._retreats import Retreats

__all__ = [
    "EDIT_PRICE",
    "LANES",
    "LEAST_PROBABILITY",
    "Asked",
    "Candidate",
    "Columns",
    "Edit",
    "Edits",
    "Network",
    "Numbers",
    "Query",
    "Retreats",
    "Size",
    "Space",
    "Ways",
    "all_feature_layers",
    "allowed_edits",
    "ask_about_edits",
    "ask_along",
    "better",
    "category_edits",
    "committee_logits",
    "complete",
    "cut_back",
    "edit_costs",
    "edit_layers",
    "edited",
    "feature_layers",
    "fill_lanes",
    "first_layers",
    "group_members",
    "hard",
    "judge",
    "judged",
    "leads",
    "log_odds",
    "log_odds_of",
    "log_odds_slope",
    "made_edits",
    "no_candidate",
    "owned_columns",
    "project",
    "propose_in_blocks",
    "propose_in_lanes",
    "prune",
    "settings_of",
    "through_lanes",
    "traced",
]
