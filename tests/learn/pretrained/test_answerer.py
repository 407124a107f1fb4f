"""Answerers against the class called directly: its own chat template, processor and `generate`."""

import pytest
import torch

from molyneux.core import Compares, ConfigError, DataError, NotApplicableError, Predicts, Spec, Target
from molyneux.learn import Answerer


@pytest.fixture(scope="module")
def model(tiny, folder):
    return Answerer(tiny.SPEC, folder("llava"))


def next_shares(model, picture, prompt):
    """Log-probabilities of the first token of the answer, by `generate` on the official inputs."""
    content = [{"type": "image", "image": picture}, {"type": "text", "text": prompt}]
    given = model.processor.apply_chat_template(
        [{"role": "user", "content": content}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    )
    made = model.model.generate(
        **given, max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True, pad_token_id=1
    )
    return made.logits[0][0].log_softmax(-1)


def ids(model, *words):
    known = model.processor.tokenizer.convert_tokens_to_ids(list(words))
    assert model.processor.tokenizer.unk_token_id not in known
    return torch.tensor(known)


def test_the_logit_is_that_of_the_next_word_whatever_the_batch(tiny, folder, model):
    given = tiny.batch()
    pairs, expected = model.pairs(given), []
    for picture, text in zip(pairs.picture, pairs.text, strict=True):
        caption = pairs.texts[text]
        shares = next_shares(
            model, pairs.pictures[picture], f'Is this statement about the image true? "{caption}" Answer with yes or no.'
        )
        yes, no = ids(model, "Yes", "yes", "ĠYes", "Ġyes"), ids(model, "No", "no", "ĠNo", "Ġno")
        expected.append(shares[yes].exp().sum().log() - shares[no].exp().sum().log())
    logits = torch.stack(expected)
    assert logits.std() > 1e-3
    for size in (1, 3, 32):
        one = Answerer(tiny.SPEC, folder("llava"), batch_size=size)
        assert torch.allclose(one.predict(given)["agreement"].logits, logits, atol=1e-5)
    assert isinstance(model, Predicts)
    assert isinstance(model, Compares)


def test_a_model_that_reads_videos_too_needs_no_torchvision(tiny, folder):
    model, given = Answerer(tiny.SPEC, folder("qwen"), batch_size=3), tiny.batch()
    pairs, expected = model.pairs(given), []
    for picture, text in zip(pairs.picture, pairs.text, strict=True):
        prompt = (
            f'USER: <|vision_start|><|image_pad|><|vision_end|>\nIs this statement about the image true? "{pairs.texts[text]}"'
        )
        inputs = model.inputs(images=[[pairs.pictures[picture]]], text=[f"{prompt} Answer with yes or no. ASSISTANT:"])
        made = model.model.generate(
            **inputs, max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True, pad_token_id=1
        )
        shares = made.logits[0][0].log_softmax(-1)
        yes, no = ids(model, "Yes", "yes", "ĠYes", "Ġyes"), ids(model, "No", "no", "ĠNo", "Ġno")
        expected.append(shares[yes].logsumexp(0) - shares[no].logsumexp(0))
    logits = torch.stack(expected)
    assert logits.std() > 1e-3
    assert torch.allclose(model.agreement(given), logits, atol=1e-5)


def test_a_text_alone_gives_one_answer_for_all_pictures(tiny, model):
    alone = model.agreement(tiny.batch(), ["text"])
    assert torch.equal(alone[0], alone[2])
    assert alone[0] != alone[1]
    assert model.pairs(tiny.batch(), ["image"]).texts == [""]


def test_answers_of_several_tokens_are_written_to_their_end(tiny, folder):
    model = Answerer(tiny.SPEC, folder("llava"), yes=("Quite",), no=("Nope",), batch_size=3)
    given, tokens = tiny.batch(), model.processor.tokenizer
    pairs = model.pairs(given)
    expected = []
    for picture, text in zip(pairs.picture, pairs.text, strict=True):
        prompt = model.written(model.prompt.replace("{caption}", pairs.texts[text]))
        total = []
        for word in ("Quite", "Nope"):
            shares = []
            for form in (word, f" {word}"):
                answer = torch.tensor([tokens(form, add_special_tokens=False)["input_ids"]])
                inputs = model.inputs(images=[[pairs.pictures[picture]]], text=[prompt])
                length = inputs["input_ids"].shape[1]
                whole = torch.cat([inputs["input_ids"], answer], 1)
                with torch.no_grad():
                    made = model.model(input_ids=whole, pixel_values=inputs["pixel_values"]).logits[0].log_softmax(-1)
                shares.append(made[length - 1 : -1].gather(1, answer.T).sum())
                assert answer.numel() > 1
            total.append(torch.stack(shares).logsumexp(0))
        expected.append(total[0] - total[1])
    assert torch.allclose(model.agreement(given), torch.stack(expected), atol=1e-4)


def test_a_choice_is_averaged_over_both_orders(tiny, model):
    given = tiny.batch()
    found = model.compare(given)["agreement"]
    pairs = model.pairs(given)
    assert found.logits.shape == (2, 2, 2)
    a, b = ids(model, "A", "ĠA"), ids(model, "B", "ĠB")
    for row in (0, 2, 4, 6):
        picture, texts = pairs.pictures[pairs.picture[row]], [pairs.texts[pairs.text[row + place]] for place in (0, 1)]
        gains = []
        for first, second in ((0, 1), (1, 0)):
            asked = f"Which of these statements about the image is true?\nA. {texts[first]}\nB. {texts[second]}\n"
            shares = next_shares(model, picture, f"{asked}Answer with its letter.")
            gains.append(shares[a].logsumexp(0) - shares[b].logsumexp(0))
        expected = (gains[0] - gains[1]) / 2
        logits = found.logits[row // 4, row % 4 // 2]
        assert torch.allclose(logits[0] - logits[1], expected, atol=1e-5)
    turned = torch.tensor([1, 0, 3, 2, 5, 4, 7, 6])  # the two texts of each set change places
    assert torch.allclose(model.compare(given[turned])["agreement"].logits, found.logits.flip(-1), atol=1e-6)
    blind = model.compare(given, ["image"])["agreement"].probs
    assert torch.equal(blind, torch.full_like(blind, 0.5))


def test_choices_are_scored(tiny, model):
    from molyneux.measure import Evaluation, ForcedChoice

    given = tiny.batch()
    found = model.compare(given)["agreement"].logits
    right = (found.argmax(-1) == torch.arange(2)).double()
    scores = {
        (score.name, score.about["source"]): score
        for score in ForcedChoice()(Evaluation(model, tiny.Samples(given), seed=1, batch_size=7)).scores
    }
    assert scores["forced_choice.accuracy", ("image", "text")].value == pytest.approx(100 * right.mean().item())
    assert scores["forced_choice.set_accuracy", ("image", "text")].value == pytest.approx(100 * right.prod(1).mean().item())
    assert scores["forced_choice.accuracy", "text"].value == 50.0
    assert scores["forced_choice.set_accuracy", "text"].value == 0.0
    assert scores["forced_choice.set_accuracy", "image"].value == 25.0


def test_what_cannot_be_chosen_from_is_refused(tiny, folder, model):
    with pytest.raises(DataError, match="expected whole contrast sets of 4 samples, got 6"):
        model.compare(tiny.batch()[:6])
    plain = Answerer(Spec(tiny.SPEC.modalities, targets=(Target("fits", "agreement"),)), folder("llava"))
    with pytest.raises(NotApplicableError, match="contrast sets of several texts"):
        plain.compare(tiny.batch())


def test_a_model_without_a_chat_template_reads_the_prompt_alone(tiny, folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder("llava"), tmp_path / "plain")
    (copy / "chat_template.jinja").unlink()
    assert Answerer(tiny.SPEC, copy, prompt="Is it true? {caption}").written("Yes?") == "<image>Yes?"
    said = Answerer(tiny.SPEC, copy, prompt="USER: {image} {caption} True? ASSISTANT:")
    assert said.written(said.prompt.replace("{caption}", "Red.")) == "USER: <image> Red. True? ASSISTANT:"
    assert torch.isfinite(said.agreement(tiny.batch())).all()


def test_prompts_and_words_that_cannot_be_used_are_refused(tiny, folder):
    with pytest.raises(ConfigError) as told:
        Answerer(tiny.SPEC, folder("llava"), prompt="Is it true?", choice="Which?", yes=())
    assert told.value.problems == (
        "prompt: expected {caption} in it, got 'Is it true?'",
        "choice: expected {options} in it, got 'Which?'",
        "yes: expected at least one word",
    )
    with pytest.raises(ConfigError, match="no: expected words that the tokenizer tells from those of yes"):
        Answerer(tiny.SPEC, folder("llava"), yes=("yes", "no"), no=("no",))
