"""Tiny models of `transformers` made from configurations, with a tokenizer made here, saved as people save theirs."""

from pathlib import Path

import numpy as np
import torch

from molyneux.core import Batch, Modality, Spec, Target

CAPTIONS = ("a red square is here .", "a red circle is here .", "a blue square is here .", "two shapes .")
WORDS = ("<pad>", "<eos>", *sorted({word for caption in CAPTIONS for word in caption.split()}))
LENGTH = 8
SPEC = Spec(
    (
        Modality("image", "image", (3, 24, 24), "uint8"),
        Modality("text", "text", (LENGTH,), "uint8", WORDS, 0, None, 1),
    ),
    targets=(Target("agreement", "agreement", contrast=(2, 2)),),
)
TEXT = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**TEXT, "image_size": 16, "patch_size": 8}
SIZE = {"height": 16, "width": 16}
CHAT = (
    "{% for message in messages %}USER: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>\n{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %} ASSISTANT:{% endif %}"
)


def batch(pictures=4):
    """Contrast sets of two pictures and two captions, in a row."""
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (pictures, 3, 24, 24), dtype=np.uint8))
    ids = torch.zeros(len(CAPTIONS), LENGTH, dtype=torch.uint8)
    for row, caption in enumerate(CAPTIONS):
        written = [WORDS.index(word) for word in (*caption.split(), "<eos>")]
        ids[row, : len(written)] = torch.tensor(written, dtype=torch.uint8)
    first = torch.arange(pictures).reshape(-1, 2)
    shown = first.repeat_interleave(2, 1).flatten()
    said = first.repeat(1, 2).flatten() % len(CAPTIONS)
    agree = (shown == first.repeat(1, 2).flatten()).long()
    return Batch({"image": images[shown], "text": ids[said]}, targets={"agreement": agree})


class Samples:
    """The batch as a source."""

    def __init__(self, given, spec=SPEC):
        self.given, self.spec = given, spec

    def __len__(self):
        return len(self.given)

    def batch(self, indices):
        return self.given[torch.as_tensor(np.asarray(indices))]


def tokenizer(*special, closed=True, **settings):
    """A byte-level tokenizer that knows a few words, with <s> and </s> around texts where they are closed."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    names = ["<unk>", "<pad>", "<s>", "</s>", *special]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=names, initial_alphabet=alphabet, show_progress=False)
    words = [f"{space}{word}" for word in ("Yes", "yes", "No", "no", "A", "B", "red", "square", "circle") for space in ("", " ")]
    made.train_from_iterator(words * 2, trainer)
    if closed:
        made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)])
    known = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **known, **{"model_max_length": 64, **settings})


def text_config(words):
    """The configuration of a text encoder for a tokenizer."""
    ids = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 1}
    return {**TEXT, **ids, "vocab_size": len(words), "max_position_embeddings": 64}


def save(folder, model, *parts):
    """Save a model, with weights that make its answers differ, and what belongs to it."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.4)
    for part in (model, *parts):
        part.save_pretrained(folder)
    return folder


def clip(folder: Path) -> Path:
    import transformers

    torch.manual_seed(1)
    words = tokenizer()
    config = transformers.CLIPConfig(text_config=text_config(words), vision_config=VISION, projection_dim=8)
    pictures = transformers.CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size=SIZE)
    return save(folder, transformers.CLIPModel(config), words, pictures)


def siglip(folder: Path) -> Path:
    import transformers

    torch.manual_seed(2)
    words = tokenizer()
    config = transformers.SiglipConfig(text_config=text_config(words), vision_config=VISION)
    model = transformers.SiglipModel(config)
    with torch.no_grad():
        model.logit_scale.fill_(2.0)
        model.logit_bias.fill_(-3.0)
    return save(folder, model, words, transformers.SiglipImageProcessorPil(size=SIZE))


def blip(folder: Path) -> Path:
    import transformers

    torch.manual_seed(3)
    words = tokenizer()
    text = {**text_config(words), "encoder_hidden_size": 16}
    config = transformers.BlipConfig(text_config=text, vision_config=VISION, image_text_hidden_size=8)
    return save(folder, transformers.BlipForImageTextRetrieval(config), words, transformers.BlipImageProcessorPil(size=SIZE))


def vilt(folder: Path) -> Path:
    import transformers

    torch.manual_seed(4)
    words = tokenizer()
    config = transformers.ViltConfig(**text_config(words), image_size=16, patch_size=8)
    pictures = transformers.ViltImageProcessorPil(size={"shortest_edge": 16}, size_divisor=8)
    return save(folder, transformers.ViltForImageAndTextRetrieval(config), words, pictures)


def llava(folder: Path) -> Path:
    import transformers

    torch.manual_seed(5)
    words = tokenizer("<image>", closed=False, extra_special_tokens={"image_token": "<image>"})
    image = words.convert_tokens_to_ids("<image>")
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**VISION, projection_dim=8),
        text_config=transformers.LlamaConfig(**TEXT, vocab_size=len(words), num_key_value_heads=2, pad_token_id=1),
        image_token_id=image,
    )
    pictures = transformers.CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size=SIZE)
    given = {"patch_size": 8, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    processor = transformers.LlavaProcessor(pictures, words, chat_template=CHAT, **given)
    return save(folder, transformers.LlavaForConditionalGeneration(config), processor)


def qwen(folder: Path) -> Path:
    """A model whose processor has a part for videos."""
    import json

    import transformers

    torch.manual_seed(6)
    marks = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")
    words = tokenizer(*marks, closed=False)
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    ids = dict(zip(names, words.convert_tokens_to_ids(list(marks)), strict=True))
    sides = {"patch_size": 8, "spatial_merge_size": 2, "temporal_patch_size": 2}
    rotary = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
    config = transformers.Qwen2VLConfig(
        vision_config={"depth": 2, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "mlp_ratio": 2, **sides},
        text_config={**TEXT, "vocab_size": len(words), "num_key_value_heads": 2, "rope_parameters": rotary},
        **ids,
    )
    pictures = transformers.Qwen2VLImageProcessorPil(patch_size=8, min_pixels=256, max_pixels=4096)
    save(folder, transformers.Qwen2VLForConditionalGeneration(config), words, pictures)
    (folder / "chat_template.jinja").write_text(CHAT.replace("<image>", "<|vision_start|><|image_pad|><|vision_end|>"))
    (folder / "processor_config.json").write_text(json.dumps({"processor_class": "Qwen2VLProcessor"}))
    return folder
