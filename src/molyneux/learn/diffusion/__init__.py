"""Diffusion models of codes, which are fitted after the autoencoders that give the codes."""

from molyneux.learn.diffusion.code_diffusion import CodeDiffusion
from molyneux.learn.diffusion.fit import ExPostDiffusion

__all__ = ["CodeDiffusion", "ExPostDiffusion"]
