"""Vision-language models that are asked whether a text is true of a picture, or which of several texts is."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any, ClassVar, Unpack, final

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.distributions import Categorical

from molyneux.core import Batch, ConfigError, DataError, NotApplicableError, Spec
from molyneux.core.tooling.moved import moved
from molyneux.learn.pretrained.folder import transformers
from molyneux.learn.pretrained.pairs import DistinctPairs
from molyneux.learn.pretrained.picture_text_model import PictureTextModel, Shared, Threshold, parts

PROMPT = 'Is this statement about the image true? "{caption}" Answer with yes or no.'
CHOICE = "Which of these statements about the image is true?\n{options}\nAnswer with its letter."

Sequences = Sequence[tuple[int, ...]]
"""Answers as ids of tokens."""


@dataclass(frozen=True)
class Questions:
    """What a model is asked, and which words answer it.

    Args:
        prompt: the question about one text; has `{caption}` in it.
        yes: words that stand for this answer.
        no: words that stand for this answer.
        choice: the question about several texts; has `{options}` in it: a line for each text, `A. There is a red square.`
    """

    prompt: str = PROMPT
    yes: Sequence[str] = ("yes", "Yes")
    no: Sequence[str] = ("no", "No")
    choice: str = CHOICE

    def __post_init__(self) -> None:
        parts_of = {"prompt": (self.prompt, "{caption}"), "choice": (self.choice, "{options}")}
        problems = [f"{name}: expected {part} in it, got {text!r}" for name, (text, part) in parts_of.items() if part not in text]
        answers = (("yes", self.yes), ("no", self.no))
        problems += [f"{name}: expected at least one word" for name, words in answers if not any(words)]
        if problems:
            raise ConfigError(problems)


@final
class Answerer(PictureTextModel):
    """A vision-language model from a folder of `transformers` that answers questions, such as LLaVA (Liu et al., NeurIPS 2023).

    The logit of agreement is log p(yes) - log p(no), the probabilities that the answer to the prompt begins with one of the words
    of "yes" or "no", with or without a space before it. Nothing is sampled. A prompt is written by the model's own chat template
    where it has one, as the message of a user with a picture; else it is the whole input, and `{image}` in it, or else its
    beginning, is the place of the picture.

    With contrast sets of several texts it satisfies `core.Compares`: asked for a choice, it gives the probability of the letter
    of each text. Models prefer letters and places, so every text is shown in every place once, and log-probabilities are averaged
    over these orders: of two texts, both orders.

    Args:
        spec: what the batches look like.
        folder: of a class that `transformers.AutoModelForImageTextToText` knows, with a decoder alone.
        threshold: see `PictureTextModel`; at 0 the more probable answer counts.
        questions: what it is asked.
        **shared: see `PictureTextModel`.
    """

    kinds: ClassVar[str] = "a vision-language model that writes text, a class such as LlavaForConditionalGeneration"

    @moved(prompt="questions.prompt", yes="questions.yes", no="questions.no", choice="questions.choice")
    def __init__(
        self,
        spec: Spec,
        folder: Path,
        *,
        threshold: Threshold = 0.0,
        questions: Questions = Questions(),
        **shared: Unpack[Shared],
    ) -> None:
        super().__init__(spec, folder, threshold=threshold, **shared)
        if self.model.config.is_encoder_decoder:
            raise ConfigError(f"expected a model with a decoder alone, got {type(self.model).__name__}, which has an encoder too")
        self.prompt, self.choice = questions.prompt, questions.choice
        self.yes, self.no = tuple(questions.yes), tuple(questions.no)
        self._answers = self._apart(yes=self.yes, no=self.no)
        self._template = _chat_template(self.processor)

    @classmethod
    def reads(cls, kind: type) -> bool:
        """Whether a class is one that writes text about pictures."""
        known = transformers().models.auto.modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        return kind.__name__ in known.values()

    def logits(self, pairs: DistinctPairs, chosen: np.ndarray) -> Tensor:
        """See `PictureTextModel`."""
        asked = [
            (pairs.pictures[picture], self.written(self.prompt.replace("{caption}", pairs.texts[text])))
            for picture, text in chosen
        ]
        found = self._log_probabilities(asked, self._answers)
        return found[:, 0] - found[:, 1]

    @torch.no_grad()
    def compare(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Categorical]:
        """Which text of a contrast set goes with each picture; see `core.Compares`."""
        pictures, texts = (1, 1) if self.target is None else self.target.contrast
        if self.target is None or texts < 2:
            raise NotApplicableError("a choice needs contrast sets of several texts: choose a source that has them")
        if texts > len(ascii_uppercase):
            raise NotApplicableError(f"a choice is one of at most {len(ascii_uppercase)} letters, got {texts} texts")
        if len(batch) % (pictures * texts):
            raise DataError(f"expected whole contrast sets of {pictures * texts} samples, got {len(batch)} samples")
        pairs = self.pairs(batch, observed)
        sets = np.concatenate([pairs.picture[::texts, None], pairs.text.reshape(-1, texts)], 1)  # a picture, and its texts
        distinct, places = np.unique(sets, axis=0, return_inverse=True)
        letters = self._apart(**{letter: (letter,) for letter in ascii_uppercase[:texts]})
        found = torch.zeros(texts, len(distinct), texts)
        for shift in range(texts):
            order = [(place + shift) % texts for place in range(texts)]
            asked = [(pairs.pictures[row[0]], self._choices([pairs.texts[row[1 + text]] for text in order])) for row in distinct]
            found[shift][:, order] = self._log_probabilities(asked, letters)
        means = found.sort(0).values.mean(0)  # in this order, equal texts have equal means
        logits = means[torch.from_numpy(places.ravel())].reshape(-1, pictures, texts)
        return {self.target.name: Categorical(logits=logits.to(batch.views[self.image.name].device), validate_args=False)}

    @property
    def origin(self) -> Mapping[str, Any]:
        """What scores record about the model."""
        return {**super().origin, "prompt": self.prompt, "yes": self.yes, "no": self.no, "choice": self.choice}

    def written(self, prompt: str) -> str:
        """A prompt as the model reads it, with the place of the picture."""
        if self._template:
            content = [{"type": "image"}, {"type": "text", "text": prompt}]
            written: str = self.processor.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}],
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
            )
            return written
        token = getattr(self.processor, "image_token", "")
        return prompt.replace("{image}", token) if "{image}" in prompt else token + prompt

    def _choices(self, texts: Sequence[str]) -> str:
        options = "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, texts, strict=False))
        return self.written(self.choice.replace("{options}", options))

    def _log_probabilities(self, asked: Sequence[tuple[Image.Image, str]], answers: Sequence[Sequences]) -> Tensor:
        """The log-probability (N, A) of each of A answers, any of its sequences of tokens, to N prompts with pictures."""
        found = []
        for part in parts(len(asked), self.batch_size):
            pictures, prompts = zip(*asked[part], strict=True)
            begins = self.processor.tokenizer.bos_token
            special = {} if begins is None or not prompts[0].startswith(begins) else {"add_special_tokens": False}
            images = [[picture] for picture in pictures]
            # padded at the end, what is computed of a prompt does not depend on its neighbours
            inputs = self.inputs(images=images, text=list(prompts), padding=True, padding_side="right", **special)
            inputs.pop("labels", None)
            found.append(self._answered(inputs, answers))
        return torch.cat(found)

    def _answered(self, inputs: Mapping[str, Tensor], answers: Sequence[Sequences]) -> Tensor:
        """As `_log_probabilities`, of tokens; sequences that differ in their last token alone pass through the model once."""
        ends = inputs["attention_mask"].sum(1)
        after = {begin: self._following(_extended(inputs, ends, begin), ends, begin) for begin in _beginnings(answers)}
        return torch.stack(
            [torch.stack([after[one[:-1]][:, one[-1]] for one in answer], 1).logsumexp(1) for answer in answers], 1
        ).cpu()

    def _following(self, inputs: Mapping[str, Tensor], ends: Tensor, begin: tuple[int, ...]) -> Tensor:
        """The log-probability (N, V) that the answer begins with these tokens and then with each of V tokens."""
        places = ends[:, None] - 1 + torch.arange(len(begin) + 1, device=ends.device)
        needed, columns = torch.unique(places, return_inverse=True)
        kept = {"logits_to_keep": needed} if "logits_to_keep" in inspect.signature(self.model.forward).parameters else {}
        logits = self.model(**inputs, **kept).logits
        rows = torch.arange(len(ends), device=ends.device)[:, None]
        shares = logits[rows, columns if kept else places].float().log_softmax(-1)
        found: Tensor = shares[:, -1] + sum(shares[:, place, token, None] for place, token in enumerate(begin))
        return found

    def _apart(self, **answers: Sequence[str]) -> list[Sequences]:
        """Answers as tokens; raises ConfigError where the model cannot tell them apart."""
        found = [_tokens(self.processor.tokenizer, words) for words in answers.values()]
        owners: dict[tuple[int, ...], str] = {}
        for name, sequences in zip(answers, found, strict=True):
            for one in sequences:
                if other := next((owner for known, owner in owners.items() if _begins(known, one) and owner != name), ""):
                    raise ConfigError(
                        f"{name}: expected words that the tokenizer tells from those of {other}, got {answers[name]}"
                    )
                owners[one] = name
        return found


def _chat_template(processor: Any) -> str:
    """The template of conversations with pictures, in the language Jinja; empty where there is none."""
    for found in (getattr(processor, "chat_template", None), processor.tokenizer.chat_template):
        template = found.get("default") if isinstance(found, Mapping) else found
        if template and "image" in template:
            return str(template)
    return ""


def _tokens(tokenizer: Any, words: Sequence[str]) -> Sequences:
    """Words, alone and after a space, as tokens; those of one token where there are such, and none that begins with another."""
    forms = [form for word in words for form in (word, f" {word}")]
    found = sorted({tuple(tokenizer(form, add_special_tokens=False)["input_ids"]) for form in forms} - {()}, key=len)
    short = [one for one in found if len(one) == 1] or found
    return [one for place, one in enumerate(short) if not any(_begins(other, one) for other in short[:place])]


def _begins(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether one of two sequences is the beginning of the other."""
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]


def _beginnings(answers: Sequence[Sequences]) -> list[tuple[int, ...]]:
    """What stands before the last token of the sequences, each once."""
    return list(dict.fromkeys(one[:-1] for answer in answers for one in answer))


def _extended(inputs: Mapping[str, Tensor], ends: Tensor, begin: tuple[int, ...]) -> dict[str, Tensor]:
    """Prompts (N, L) that go on with these tokens after their ends; what is told of each token is told of the new ones too."""
    found, shape = dict(inputs), inputs["input_ids"].shape
    if not begin:
        return found
    rows, places = (
        torch.arange(len(ends), device=ends.device)[:, None],
        ends[:, None] + torch.arange(len(begin), device=ends.device),
    )
    for name, values in inputs.items():
        if values.shape == shape:
            last = values.gather(1, ends[:, None] - 1)
            new = values.new_tensor(begin) if name == "input_ids" else last
            found[name] = torch.cat([values, values[:, -1:].expand(-1, len(begin))], 1)
            found[name][rows, places] = new.expand(len(ends), len(begin))
    return found
