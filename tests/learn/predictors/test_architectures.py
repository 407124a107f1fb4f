"""The numbers of weights of the published architectures."""

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, SpecError, Target
from molyneux.learn.predictors.architectures import ARCHITECTURES, multizoo


def image(*shape):
    return ("image", shape)


def series(*shape):
    return ("series", shape)


def table(*shape):
    return ("tabular", shape)


def classes(count):
    return Target("y", "class", tuple(map(str, range(count))))


LABELS = Target("y", "multilabel", tuple(map(str, range(23))))
NUMBER, PUSH = Target("y", "number"), Target("y", "number", shape=(16, 2))
STATIC, HOURS = table(5), series(24, 12)
POSTER = (table(300), table(4096))
DIGIT, SOUND = image(1, 28, 28), image(1, 112, 112)
POSITION, FORCE, CAMERA, CONTROL = series(16, 3), series(16, 7), ("video", (16, 1, 32, 32)), series(16, 7)
PUSHED = (POSITION, FORCE, CAMERA, CONTROL)
COLOUR, TOUCH, JOINTS, DEPTH, ACTION = image(3, 128, 128), series(32, 6), table(8), image(1, 128, 128), table(4)
ROBOT = (COLOUR, TOUCH, JOINTS, DEPTH, ACTION)
STOCKS = [(series(500, 1),) * count for count in (4, 6, 7)]
GROUPED = [tuple(series(500, size) for size in sizes) for sizes in ((1, 1, 2), (2, 2, 2), (2, 2, 3))]


def gru(inputs, width, outputs=0):
    """Weights of a GRU, and of a linear layer after it."""
    return 3 * width * (inputs + width + 2) + (outputs and outputs * (width + 1))


def transformer(inputs, width):
    """Weights of five published transformer layers after a projection without bias."""
    return inputs * width + 5 * (4 * width * (width + 1) + 2048 * (width + 1) + width * 2049 + 4 * width)


def perceptron(inputs, width, outputs=1):
    """Weights of one hidden layer and a linear one."""
    return width * (inputs + 1) + outputs * (width + 1)


def factors(rank, outputs, *inputs):
    """Weights of low-rank fusion."""
    return rank * outputs * sum(size + 1 for size in inputs) + rank + outputs


MOSI, HUMOR = (35, 74, 300), (371, 81, 300)
AFFECT, FUNNY = (tuple(series(50, size) for size in sizes) for sizes in (MOSI, HUMOR))
SCREENS, VGG = (image(3, 256, 128),) * 2, 9_225_984 + 16 * 25_089
SIZES = {"affect": (AFFECT, MOSI, (64, 128, 512), (40, 10, 600)), "humor": (FUNNY, HUMOR, (512, 256, 600), (400, 100, 600))}
BLENDED = {"affect": ((70, 150, 600), (32, 64, 256)), "humor": ((700, 150, 600), (512, 64, 256))}
FUSED = []
for data, (modalities, inputs, widths, attending) in SIZES.items():
    blended, heads = BLENDED[data]
    tensor, ranked = (
        sum(gru(i, w, o) for i, w, o in zip(inputs, widths, sizes, strict=True)) for sizes in ((4, 19, 79), (32, 32, 128))
    )
    recurrent, attention, blend = (
        sum(map(kind, inputs, sizes)) for kind, sizes in ((gru, widths), (transformer, attending), (transformer, blended))
    )
    FUSED += [
        (f"{data}/lf-gru", modalities, NUMBER, recurrent + perceptron(sum(widths), 512)),
        (f"{data}/lf-transformer", modalities, NUMBER, attention + perceptron(sum(attending), 256)),
        (f"{data}/tf", modalities, NUMBER, tensor + perceptron(8000, 512)),
        (f"{data}/lrtf", modalities, NUMBER, ranked + factors(32, 128, 32, 32, 128) + perceptron(128, 512)),
        (
            f"{data}/gradblend",
            modalities,
            classes(2),
            blend + perceptron(sum(blended), 512, 2) + sum(perceptron(w, h, 2) for w, h in zip(blended, heads, strict=True)),
        ),
    ]

COUNTS = [
    *FUSED,
    ("affect/ef-transformer", AFFECT, NUMBER, transformer(409, 300) + perceptron(300, 128)),
    ("affect/text", AFFECT[2:], NUMBER, gru(300, 600) + perceptron(600, 512)),
    ("enrico/image", SCREENS[:1], classes(20), VGG + 20 * 17),
    ("enrico/set", SCREENS[:1], classes(20), VGG + 20 * 17),
    ("enrico/cca", SCREENS, classes(20), 19_255_476),
    ("enrico/gradblend", SCREENS, classes(20), 19_255_476 + 2 * 20 * 17),
    ("enrico/tf", SCREENS, classes(20), 2 * VGG + 20 * (17 * 17 + 1)),
    ("enrico/lrtf", SCREENS, classes(20), 2 * VGG + factors(20, 32, 16, 16) + 20 * 33),
    ("enrico/mi", SCREENS, classes(20), 2 * VGG + 32 * (16 * 16 + 16 + 16 + 1) + 20 * 33),
    ("av-mnist/image", (DIGIT,), classes(10), 19_848),
    ("av-mnist/audio", (SOUND,), classes(10), 242_184),
    ("av-mnist/lf", (DIGIT, SOUND), classes(10), 260_922),
    ("av-mnist/mi", (DIGIT, SOUND), classes(10), 2_530_602),
    ("av-mnist/lrtf", (DIGIT, SOUND), classes(10), 249_082 + 40 * (49 + 193) * 120),
    ("av-mnist/cca", (DIGIT, SOUND), classes(10), 246_046),
    ("av-mnist/refnet", (DIGIT, SOUND), classes(10), 14_011_058),
    ("av-mnist/mfm", (DIGIT, SOUND), classes(10), 915_850),
    ("av-mnist/mvae", (DIGIT, SOUND), classes(10), 807_550),
    ("mimic/mfm", (STATIC, HOURS), classes(2), 322_715),
    ("mimic/mvae", (STATIC, HOURS), classes(2), 312_415),
    ("mm-imdb/cca", POSTER, LABELS, 9_511_023),
    ("mm-imdb/refnet", POSTER, LABELS, 26_968_987),
    ("mm-imdb/mfm", POSTER, LABELS, 21_275_411),
    ("vision-touch/refnet", ROBOT, classes(2), 134_898_274 - 20 * 2_001),  # the published refiner has 20 outputs without an input
    ("enrico/refnet", (image(3, 256, 128),) * 2, classes(20), 25_743_540),
    ("av-mnist/gradblend", (DIGIT, SOUND), classes(10), 287_142),
    ("mimic/gradblend", (STATIC, HOURS), classes(6), 63_048),
    ("mimic/lf", (STATIC, HOURS), classes(6), 33_616),
    ("mimic/lf", (STATIC, HOURS), classes(2), 33_452),
    ("mimic/static", (STATIC,), classes(2), 692),
    ("mimic/series", (HOURS,), classes(2), 18_947),
    ("mimic/lrtf", (STATIC, HOURS), classes(2), 2_936_392),
    ("mimic/mi", (STATIC, HOURS), classes(2), 801_352),
    ("mimic/nl-gate", (STATIC, HOURS), classes(2), 39_652),
    ("mm-imdb/lf", POSTER, LABELS, 10_311_279),
    ("mm-imdb/ef", POSTER, LABELS, 5_050_479),
    ("mm-imdb/mi", POSTER, LABELS, 279_796_335),
    ("mm-imdb/lrtf", POSTER, LABELS, 77_540_079),
    ("stocks/lf-lstm", STOCKS[0], NUMBER, 4_929),
    ("stocks/lf-lstm", STOCKS[1], NUMBER, 7_393),
    ("stocks/lf-lstm", STOCKS[2], NUMBER, 8_625),
    ("stocks/ef-lstm", STOCKS[0], NUMBER, 68_737),
    ("stocks/gradblend", STOCKS[0], NUMBER, 337_541),
    ("stocks/gradblend", STOCKS[2], NUMBER, 540_680),
    ("stocks/ef-transformer", STOCKS[0], NUMBER, 117_997),
    ("stocks/lf-transformer", STOCKS[0], NUMBER, 471_877),
    ("stocks/lf-transformer", STOCKS[1], NUMBER, 707_815),
    ("stocks/lf-transformer", STOCKS[2], NUMBER, 825_784),
    ("stocks/mult", GROUPED[0], NUMBER, 125_020),
    ("stocks/mult", GROUPED[1], NUMBER, 125_038),
    ("stocks/mult", GROUPED[2], NUMBER, 125_047),
    ("push/ef", PUSHED, PUSH, 3_918_426),
    ("push/ef", (CAMERA,), PUSH, 3_879_898),
    ("push/ef", (FORCE,), PUSH, 3_330_946),
    ("push/ef", (POSITION,), PUSH, 3_330_690),
    ("push/lf", PUSHED, PUSH, 1_904_986),
    ("push/tf", PUSHED, PUSH, 23_472_890),
    ("push/mult", PUSHED, PUSH, 14_582_106),
    ("vision-touch/lf", ROBOT, classes(2), 1_198_514),
    ("vision-touch/lf", ROBOT, classes(4), 1_198_772),
    ("vision-touch/image", (COLOUR, DEPTH, ACTION), classes(2), 1_001_506),
    ("vision-touch/force", (TOUCH, ACTION), classes(2), 126_194),
    ("vision-touch/proprioception", (JOINTS, ACTION), classes(2), 82_210),
    ("vision-touch/lrtf", ROBOT, classes(2), 1_089_186 + 8_488_000),
    ("vision-touch/sensor-fusion", ROBOT, classes(2), 1_100_594 - 2 * 128),
    ("enrico/lf", (image(3, 256, 128),) * 2, classes(20), 19_255_476),
    ("affect/mult", (series(50, 35), series(50, 74), series(50, 300)), NUMBER, 3_080_321),
    ("affect/mult", (series(50, 20), series(50, 5), series(50, 300)), NUMBER, 3_076_961),
    ("affect/mctn", (series(20, 300),) * 3, NUMBER, 198_809),
    ("affect/ef-gru", (series(50, 35), series(50, 74), series(50, 300)), NUMBER, 1_680_897),
]


AT_INFERENCE = {
    "av-mnist/cca": 246_046,
    "av-mnist/refnet": 284_730,
    "av-mnist/mfm": 388_962,
    "av-mnist/mvae": 341_062,
    "mimic/mfm": 315_242 - 2 * 30_200,  # the published number has the networks of the private factors in it
    "mimic/mvae": 304_942,
    "mm-imdb/mfm": 10_949_743,
    "mm-imdb/refnet": 10_311_279,  # that of late fusion
    "vision-touch/refnet": 1_198_514,
    "enrico/refnet": 19_255_476,
}


def spec_of(name, modalities, target):
    views = tuple(Modality(f"m{number}", kind, shape) for number, (kind, shape) in enumerate(modalities))
    return Spec(views, targets=(target,))


def weights(model):
    """Weights without the standard deviation of a number."""
    return sum(parameter.numel() for name, parameter in model.named_parameters() if not name.endswith("log_scale"))


@pytest.mark.parametrize(("name", "modalities", "target", "count"), COUNTS)
def test_numbers_of_weights(name, modalities, target, count):
    with torch.device("meta"):
        model = multizoo(name, spec_of(name, modalities, target))
    assert weights(model) == count


@pytest.mark.parametrize(("name", "count"), AT_INFERENCE.items())
def test_numbers_of_weights_at_inference(name, count):
    _, modalities, target, _ = next(row for row in COUNTS if row[0] == name)
    with torch.device("meta"):
        model = multizoo(name, spec_of(name, modalities, target))
    assert weights(model) - weights(model.objectives) == count


def test_every_architecture_is_counted():
    assert {name for name, *_ in COUNTS} == set(ARCHITECTURES)


LEARNS = [
    "affect/lf-gru",
    "affect/lrtf",
    "affect/tf",
    "affect/mctn",
    "av-mnist/lrtf",
    "mimic/gradblend",
    "mimic/nl-gate",
    "stocks/ef-lstm",
    "vision-touch/lrtf",
]
LEARNS += ["av-mnist/cca", "av-mnist/refnet", "av-mnist/mfm", "av-mnist/mvae", "mimic/mfm", "mimic/mvae"]


@pytest.mark.parametrize("name", LEARNS)
def test_they_have_a_loss(name):
    _, modalities, target, _ = next(row for row in COUNTS if row[0] == name)
    spec = spec_of(name, modalities, target)
    batch = Batch({item.name: torch.randn(3, *item.shape) for item in spec.modalities}, targets={"y": torch.zeros(3).long()})
    if target.task == "number":
        batch.targets["y"] = torch.zeros(3)
    model = multizoo(name, spec)
    model.loss(batch, Progress(0, 1)).total.backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())


def test_steps_of_the_push_have_values_of_their_own():
    spec = spec_of("push/lf", (POSITION, FORCE), PUSH)
    batch = Batch({item.name: torch.randn(2, *item.shape) for item in spec.modalities}, targets={"y": torch.zeros(2, 16, 2)})
    model = multizoo("push/lf", spec)
    found = model.predict(batch)["y"]
    assert found.mean.shape == (2, 16, 2)
    assert found.batch_shape == (2,)
    changed = model.predict(Batch({**batch.views, "m0": torch.cat([batch.views["m0"][:, :8], -batch.views["m0"][:, 8:]], 1)}))[
        "y"
    ]
    torch.testing.assert_close(changed.mean[:, :8], found.mean[:, :8])  # its recurrent layers see the past alone
    assert not torch.allclose(changed.mean[:, 8:], found.mean[:, 8:])


def test_unknown_names_and_other_samples_are_refused():
    with pytest.raises(ConfigError, match=r"unknown architecture 'avmnist/lf'; did you mean .av-mnist/lf"):
        multizoo("avmnist/lf", spec_of("", (DIGIT,), NUMBER))
    with pytest.raises(SpecError, match="expected samples of 2 modalities, got m0"):
        multizoo("av-mnist/lf", spec_of("", (DIGIT,), NUMBER))
