"""Diffusion models of codes, which are fitted after the autoencoders that give the codes."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.diffusion.code_diffusion import CodeDiffusion
    from molyneux.learn.diffusion.fit import ExPostDiffusion

__all__ = ["CodeDiffusion", "ExPostDiffusion"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
