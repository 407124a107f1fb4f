"""What scores are called in words. Unknown names get words too: these lists only say it better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from molyneux.core import Score

MEASURES = {
    "accuracy": "Accuracy",
    "active_units": "Active units",
    "dci_completeness": "DCI completeness",
    "dci_disentanglement": "DCI disentanglement",
    "dci_informativeness": "DCI informativeness",
    "distortion": "Distortion",
    "diversity": "Diversity",
    "elbo": "ELBO",
    "features": "Features",
    "gaussian_kl": "Gaussian KL divergence",
    "hoyer": "Hoyer sparsity",
    "irs": "IRS",
    "iwae": "IWAE bound",
    "kim_mnih": "Kim-Mnih",
    "kl": "KL divergence",
    "letters": "Letters",
    "letters_padded": "Letters, whole length",
    "log_likelihood": "Log-likelihood",
    "marginal_kl": "Marginal KL divergence",
    "mig": "MIG",
    "mmd": "MMD",
    "mse": "Mean squared error",
    "sap": "SAP",
    "sliced_wasserstein": "Sliced Wasserstein distance",
    "ssim": "SSIM",
    "strict": "Strict",
    "strict_forced": "Strict (forced choice)",
    "unreadable": "Unreadable",
    "value_accuracy": "Accuracy of a value",
}
FAMILIES = {
    "code_use": "Use of codes",
    "coherence": "Coherence",
    "disentanglement": "Disentanglement",
    "latent": "What the codes know",
    "latent_probe": "What the codes know",
    "likelihood": "Likelihood",
    "posterior_gap": "Posterior and prior",
    "reconstruction": "Reconstruction",
}
CONTROLS = {
    "ceiling": "judge ceiling",
    "constant": "best constant",
    "majority": "most common value",
    "unpaired": "unpaired draws",
}
_JOINT = frozenset({"joint", "prior"})


def is_joint(about: Mapping[str, str]) -> bool:
    """Whether a score with this `about` is about views made from one draw of the prior."""
    return about.get("source") in _JOINT


def direction(score: Score) -> str:
    """From which senses to which; empty where a score has no direction.

    >>> direction(Score("coherence.strict", 1.0, {"source": "image+touch", "target": "text"}))
    'image + touch → text'
    """
    return direction_of(score.about)


def direction_of(about: Mapping[str, str]) -> str:
    """The direction that an `about` speaks of."""
    parts = (about.get("source", ""), about.get("target", ""))
    return " → ".join(part.replace("+", " + ") for part in parts if part)


def subject(score: Score, *, without: Iterable[str] = ()) -> str:
    """What a score is about: its direction, then everything else that `about` says, such as `image, dimension 3`."""
    return ", ".join(subjects(score, without=without))


def subjects(score: Score, *, without: Iterable[str] = ()) -> list[str]:
    """What a score is about, part by part."""
    left = {"source", "target", *without}
    rest = [_said(name, value) for name, value in score.about.items() if name not in left]
    return [part for part in (direction(score), *rest) if part]


def family(name: str) -> str:
    """The part of a score's name before its last point: `coherence` of `coherence.strict`."""
    return name.rpartition(".")[0] or name


def family_title(name: str) -> str:
    """A heading for a family of scores."""
    return FAMILIES.get(name) or _sentence(name)


def measure(score: Score) -> str:
    """The words for a score's own name, with its unit, or with how many it is counted out of.

    >>> measure(Score("coherence.strict", 1.0, unit="%")), measure(Score("latent.active_units", 3, bounds=(0, 24)))
    ('Strict, %', 'Active units, of 24')
    """
    last = score.name.rpartition(".")[2]
    words = MEASURES.get(last) or _sentence(last)
    if score.unit not in ("", "1"):
        return f"{words}, {score.unit}"
    most = score.bounds[1]
    return f"{words}, of {most:g}" if most is not None and most > 1 and most == int(most) else words


def control(name: str) -> str:
    """The words for a control: any name with `ceiling` in it is what the judge reads in true views.

    >>> control("judge ceiling"), control("text_only")
    ('judge ceiling', 'text only')
    """
    for part, words in CONTROLS.items():
        if part in name:
            return words
    return _spaced(name)


def slug(text: str) -> str:
    """Words as a short name for files and links.

    >>> slug("text → image, 5 %")
    'text-image-5'
    """
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower())
    return "-".join(part for part in kept.split("-") if part)


def setting(path: str) -> str:
    """The short name of a dotted setting: `latent dim` of `learn.model.init_args.latent_dim`."""
    return _spaced(path.removesuffix(".class_path").rpartition(".")[2])


def _said(name: str, value: str) -> str:
    if name == "variant":
        return f"{value} {name}"
    return str(value) if name in ("factor", "measure", "modality") else f"{_spaced(name)} {value}"


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace(".", " ")


def _sentence(name: str) -> str:
    words = _spaced(name)
    return words[:1].upper() + words[1:]
