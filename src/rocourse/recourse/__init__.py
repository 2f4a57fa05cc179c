"""What proposes recourses, a folder a method, and the one place where they are answered."""

from rocourse.recourse._certified import TIMES
from rocourse.recourse._proposer import Context, Fitting, Pledge, Promise, Proposer, State
from rocourse.recourse.answer import Advisor
from rocourse.recourse.generator import GeneratorProposer
from rocourse.recourse.jury import JuryProposer
from rocourse.recourse.panel import PanelProposer
from rocourse.recourse.rbr import RBRProposer
from rocourse.recourse.roar import ROARProposer
from rocourse.recourse.vae import VAEProposer
from rocourse.recourse.vanillacf import VanillaCFProposer

__all__ = [
    "TIMES",
    "Advisor",
    "Context",
    "Fitting",
    "GeneratorProposer",
    "JuryProposer",
    "PanelProposer",
    "Pledge",
    "Promise",
    "Proposer",
    "RBRProposer",
    "ROARProposer",
    "State",
    "VAEProposer",
    "VanillaCFProposer",
]
