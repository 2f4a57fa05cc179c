"""The panel: as few changes as convince models retrained on shifted rows."""

from rocourse.recourse.panel._members import Layers, network_of
from rocourse.recourse.panel._proposer import PanelProposer, convincing, own_networks

__all__ = ["Layers", "PanelProposer", "convincing", "network_of", "own_networks"]
