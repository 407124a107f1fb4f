# %% [markdown]
# Encoders that saw and felt 128 shapes together choose the right one of two new shapes far more often than not, though no sense
# ever met them. Encoders to which the same shapes came apart guess. Where both shapes are alike in what is easy to measure, it
# is harder.
#
# ## The question
#
# William Molyneux asked in 1688 whether a man born blind, who knows a cube and a sphere by touch, would know by sight which is
# which. Here 320 shapes are asked about. A hand goes along a shape in a frame of its own, and a picture turns it as it likes:
# nothing but the shape is common to both.
# %%
import numpy as np

from molyneux.data import Bridging, MolyneuxShapes

STEPS, SAMPLES, QUESTIONS = 1500, 3000, 400  # `molyneux run configs/molyneux-v1.yaml` takes 2,000 steps
designs = {bridged: Bridging(bridged=bridged, share=0.5, assignment=1) for bridged in (0, 128)}
worlds = {
    bridged: MolyneuxShapes(level=2, image_size=32, modalities=["image", "touch"], bridging=design)
    for bridged, design in designs.items()
}
world = worlds[128]
samples = world.batch(np.arange(SAMPLES), split="test", seed=1)
print({name: tuple(view.shape[1:]) for name, view in samples.views.items()})
# %% [markdown]
# ## Look at sight and touch
#
# A *two-way question* gives one thing in one sense and two in another. These are about `new` shapes, which no training shows.
# %%
from matplotlib.figure import Figure

from molyneux.report.plots import finger_paths
from molyneux.run import answer_by_codes, answer_by_outlines, open_model, two_way_questions


def ask(alike="", count=QUESTIONS):
    """Questions from touch to sight about new shapes."""
    return two_way_questions(
        samples, world.spec, count, source="touch", target="image", where={"role": "new"}, alike=alike, seed=1
    )


asked = {"any two shapes": ask(), "two that are alike": ask("pair")}
channels = world.spec.modality("touch").channels
figure = Figure(figsize=(7, 4.6), layout="constrained")
for (name, questions), (given, *choices) in zip(asked.items(), figure.subplots(2, 3), strict=True):
    for finger in finger_paths(questions.given_view(0).numpy(), channels):
        given.plot(*finger.T)
    given.set(title=f"felt ({name})", aspect="equal", xticks=[], yticks=[])
    given.invert_yaxis()
    for place, (drawn, picture) in enumerate(zip(choices, questions.choice_views(0), strict=True)):
        drawn.imshow(picture.permute(1, 2, 0).numpy())
        drawn.set(title="this one" if place == questions.right[0] else "not this one", xticks=[], yticks=[])
figure
# %% [markdown]
# ## What answers without learning
#
# Geometry, which compares outlines in every rotation and size, is never wrong. Of any two shapes, the longer one is told apart
# by elongation alone; of two that are alike, it is not. So the second column is the one to look at.
# %%
measured = ["compactness", "elongation", "unevenness"]
for chooser, statistics in {"geometry": [], "elongation": ["elongation"], "three statistics": measured}.items():
    shares = {name: answer_by_outlines(world, part, statistics=statistics).share.share for name, part in asked.items()}
    print(f"{chooser:16}", *(f"{name}: {100 * share:.1f} %" for name, share in shares.items()), sep="   ")
# %% [markdown]
# ## Train two encoders for each sense
#
# [Contrastive encoders](../reference/learn/representations.md) learn that codes of one sample are alike. Both trainings are the
# same, but for how many shapes came to both senses in the same sample: 0 or 128. With none there is no pair to learn from, and
# the encoders stay as they were.
# %%
import torch
from molyneux.learn import ContrastiveEncoders, Training, fit
from molyneux.learn.encoders.nets import NormalisedConvolutional, PooledSeries

settings = Training(
    steps=STEPS, batch_size=128, learning_rate=3.0e-3, schedule="cosine", warmup_steps=STEPS // 10, keep="last", threads=1
)


def new_model():
    """Encoders before their training."""
    torch.manual_seed(0)
    nets = {"image": NormalisedConvolutional(channels=24), "touch": PooledSeries()}
    return ContrastiveEncoders(world.spec, latent_dim=32, temperature=0.032, nets=nets)


models = {}
for bridged, shown in worlds.items():
    model = new_model()
    fit(model, shown.source("train", 40 * STEPS, seed=1), training=settings, seed=1)
    models[bridged] = open_model(model, data=shown)
print(*models.values(), sep="\n")
# %% [markdown]
# ## Ask them
#
# The shape whose code is nearer to that of what is felt is chosen. These are the same questions, by the same functions, as on
# the page *Which is which?* of [the studio](../how-to/studio.md).
# %%
shares = {
    bridged: {name: answer_by_codes(model, questions).share for name, questions in asked.items()}
    for bridged, model in models.items()
}
for bridged, parts in shares.items():
    for name, share in parts.items():
        low, high = share.interval
        print(f"{bridged:3} bridged, {name}: {100 * share.share:.0f} % right ({100 * low:.0f} to {100 * high:.0f})")
# %% [markdown]
# Questions about one shape are not independent: who confuses it once confuses it again. So an interval resamples the shapes with
# all their questions, and holds for other shapes; from the questions alone it would be far too narrow. The measure
# `two_way_choice` asks all questions that there are, with intervals of the same kind, and controls: raw numbers of both senses
# and a net before its training are at chance.
# %%
from molyneux.measure import Evaluation, TwoWayChoice, evaluate

test = world.source("test", SAMPLES, seed=1)
measure = TwoWayChoice(by="role", alike="pair", pairs=[["touch", "image"], ["touch", "touch"]])
for score in evaluate([measure], Evaluation(models[128].module, test, untrained=new_model, seed=1)).scores:
    if score.about.get("role") in ("new", "felt") and score.name == "two_way_choice.accuracy":
        controls = ", ".join(f"{name} {value:.0f} %" for name, value in score.controls.items())
        low, high = score.interval
        about = f"{score.about['role']}, {score.about['source']} to {score.about['target']}"
        print(f"{about}: {score.value:.1f} % ({low:.1f} to {high:.1f}); {controls}")
# %% [markdown]
# ## Both ends of the curve
# %%
figure = Figure(figsize=(5.6, 3.4), layout="constrained")
drawn = figure.subplots()
for name in asked:
    values = [100 * shares[bridged][name].share for bridged in worlds]
    ends = np.array([shares[bridged][name].interval for bridged in worlds]).T * 100
    drawn.errorbar([0, 1], values, abs(ends - values), marker="o", capsize=3, label=name)
drawn.axhline(50, color="0.5", linestyle=":", label="guessing")
drawn.axhline(58, color="0.5", linestyle="--", label="children, two days after they were given sight")
drawn.set(
    xticks=[0, 1], xticklabels=["0", "128"], xlabel="shapes seen and felt together", ylabel="right choices, %", ylim=(40, 102)
)
drawn.legend(frameon=False, fontsize=8, loc="upper left")
figure
# %% [markdown]
# The children are those of Held and others (2011). [The study](../results/molyneux-v1.md) has the points between, other models
# and what the answer depends on. `molyneux studio` asks you: are you better?
