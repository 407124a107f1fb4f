# %% [markdown]
# ## See a world
#
# A world makes samples whose factors are known. A sample is determined by its number and the seed.
# %%
import numpy as np
from PIL import Image

from molyneux.core.image_files import image_of
from molyneux.data import CdSprites

world = CdSprites(level=5)
batch = world.batch(np.arange(6), split="train", seed=1)
print(world.spec.names, [factor.name for factor in world.spec.factors])
Image.fromarray(np.hstack([np.asarray(image_of(view.numpy())) for view in batch.views["image"]]))
# %% [markdown]
# ## Draw a picture
#
# A model that comes with the package draws what a caption says, and says what it sees.
# %%
import molyneux

model = molyneux.open_model("cdsprites-level5")
drawn = model.generate("image", text="small red heart at top left on light", count=4, seed=1)
Image.fromarray(np.hstack([np.asarray(picture) for picture in drawn.images()]))
# %%
print(model.generate("text", image=drawn.images()[0], seed=1).values()[0])
# %% [markdown]
# ## Train a model
#
# A model is made from the description of the samples, and trained by one trainer. These are few steps; `molyneux run` takes more.
# %%
import torch
from molyneux.learn import MVAE, Training, fit

small = CdSprites(level=1)
train = small.source("train", 512, seed=1)
torch.manual_seed(0)  # the weights that it starts with
model = MVAE(train.spec, latent_dim=8)
history = fit(model, train, training=Training(epochs=1, batch_size=64), seed=1)
print(history.steps, "steps")
# %% [markdown]
# ## Measure it
#
# A score stands beside guessing and its interval. After so few steps it is hardly above it.
# %%
from molyneux.learn import load_judge
from molyneux.measure import Coherence, Evaluation, evaluate

test = small.source("test", 100, seed=1)
judge = load_judge(small.name, "image").reader(test.spec, "image", small.visible("image"))
found = evaluate([Coherence()], Evaluation(model, test, readers={"image": judge}, exact=small.readers(), seed=1)).scores
for score in found:
    if score.name == "coherence.strict":
        print(score.about["source"], "to", score.about["target"], f"{score.value:.0f} %, guessing {score.chance:.0f} %")
