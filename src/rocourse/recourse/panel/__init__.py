"""The panel: as few changes as convince models retrained on shifted rows."""

from rocourse.recourse.panel._members import Network, network_of
from rocourse.recourse.panel._proposer import PanelProposer, convincing, own_networks

__all__ = ["Network", "PanelProposer", "convincing", "network_of", "own_networks"]
