"""VAE-CF: a conditional variational auto-encoder."""

from rocourse.recourse.vae._proposer import VAEProposer

__all__ = ["VAEProposer"]
