"""Missing modalities under the names of statistics: completely at random, at random, and not at random.

The names are those of Rubin, "Inference and Missing Data" (Biometrika, 1976). Each is a `Missing` with arguments that make it so;
training, validation and test samples are sources of their own, and are wrapped apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from molyneux.core import ConfigError, Source
from molyneux.data.missing import Missing


@final
class MCAR(Missing):
    """Missing completely at random: each modality at its rate, whatever the sample is, given that one is left (`Missing`).

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1; modalities not named are never missing.
        seed: of the masks.

    Raises:
        ConfigError: as `Missing`.
    """

    def __init__(self, source: Source, rates: Mapping[str, float], *, seed: int) -> None:
        super().__init__(source, rates, seed=seed)


@final
class MAR(Missing):
    """Missing at random: the rate depends on a factor that an always observed modality shows.

    Given what is observed, that something is missing tells nothing more. That the modality shows the factor is for the caller to
    see to; it has to be there in every sample, so it has no rate.

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1, of all but the observed one.
        observed: name of the modality that is always observed.
        by: by the name of a factor that it shows, or of a target of task class, what the rates of samples with some of its values
            are multiplied by.
        seed: of the masks.

    Raises:
        ConfigError: a rate of the observed modality, nothing that rates depend on, or as `Missing`.
    """

    def __init__(
        self,
        source: Source,
        rates: Mapping[str, float],
        *,
        observed: str,
        by: Mapping[str, Mapping[str, float]],
        seed: int,
    ) -> None:
        problems = []
        if rates.get(observed, 0.0) > 0:
            problems.append(
                f"observed: expected a modality that is never missing, got {observed} at the rate {rates[observed]:g}"
            )
        if not by:
            problems.append("by: expected a factor that the rates depend on, got none: name one, or use MCAR")
        if problems:
            raise ConfigError(problems)
        super().__init__(source, {**rates, observed: 0.0}, seed=seed, by=by)
        self.observed = observed


@final
class MNAR(Missing):
    """Missing not at random: the rate depends on what goes missing, on its class or on its own values.

    With `above`, a modality is missing only where the mean of its values is above a number (self-masking, as in Ipsen, Mattei and
    Frellsen, "not-MIWAE", ICLR 2021): bright images, say. With `by`, its rate depends on a factor or class that it shows.

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1; modalities not named are never missing.
        seed: of the masks.
        by: see `Missing`.
        above: see `Missing`.

    Raises:
        ConfigError: nothing that rates depend on, or as `Missing`.
    """

    def __init__(
        self,
        source: Source,
        rates: Mapping[str, float],
        *,
        seed: int,
        by: Mapping[str, Mapping[str, float]] | None = None,
        above: Mapping[str, float] | None = None,
    ) -> None:
        if not by and not above:
            raise ConfigError("by, above: expected what the rates depend on, got none: name a factor or a mean, or use MCAR")
        super().__init__(source, rates, seed=seed, by=by, above=above)
