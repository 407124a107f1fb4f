"""A decoder that waits for its encoder."""

from __future__ import annotations

from dataclasses import dataclass

from molyneux.core import ConfigError, Progress


@dataclass(frozen=True)
class Aggressive:
    """The encoder is trained more often than the decoder at first: He et al. (ICLR 2019), algorithm 1.

    Lagging Inference Networks and Posterior Collapse in Variational Autoencoders. In the first `fraction` of the training only
    every `encoder_steps`-th step trains the decoder too: codes that lag behind what a decoder has learned tell it nothing, and it
    learns to do without them.

    Deviations: in the paper the inner loop goes on until the bound rises no more, up to 100 steps, and the whole ends when the
    mutual information of codes and samples falls on validation data; here both are fixed numbers. In the paper a step trains
    either the encoder or the decoder; here the step of the decoder trains both. Weights that both share are the encoder's.

    Args:
        encoder_steps: of so many steps, one trains the decoder.
        fraction: share of the training in which this is so.
    """

    encoder_steps: int = 10
    fraction: float = 0.2

    def __post_init__(self) -> None:
        problems = [] if self.encoder_steps >= 1 else [f"encoder_steps: expected at least 1, got {self.encoder_steps}"]
        if not 0 < self.fraction <= 1:
            problems.append(f"fraction: expected a share of the training in 0..1, above 0, got {self.fraction}")
        if problems:
            raise ConfigError(problems)

    def spares_decoder(self, progress: Progress) -> bool:
        """Whether this step leaves the decoder as it is."""
        return progress.fraction < self.fraction and (progress.step + 1) % self.encoder_steps != 0
