import multiprocessing
import shutil
import signal
import time
import warnings
from dataclasses import replace

import pytest
import torch
from torch import nn

from molyneux.core import (
    ConfigError,
    ConflictError,
    CorruptFileError,
    DataError,
    Progress,
    SpecError,
    StoreError,
    TrainingError,
    seeds,
)
from molyneux.data import CdSprites, Subset
from molyneux.learn import History, Stage, Training, fit, load_batch
from molyneux.learn.training import trainer
from molyneux.learn.training.batches import BatchReader, evaluation_order, training_order
from molyneux.learn.training.checkpoints import Checkpoints
from molyneux.learn.training.hardware import threads


def settings(**changes):
    return Training(**{"epochs": 4, "batch_size": 16, "tensorboard": False, "clip": 5.0, **changes})


def interruptible(**changes):
    """Every step leaves a checkpoint, and batches are fetched one by one."""
    return settings(**{**changes, "checkpoint_seconds": 0.0, "memory": "stream", "prefetch": 0})


def weights(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same(a, b):
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)


def losses(history):
    return [{name: value for name, value in row.items() if "second" not in name} for row in history.rows]


class KilledError(Exception):
    pass


class DyingSource:
    """A source whose process dies while it makes a batch."""

    def __init__(self, source, batches, error=KilledError):
        self.source, self.spec, self.batches, self.error = source, source.spec, batches, error

    def __len__(self):
        return len(self.source)

    def batch(self, indices):
        self.batches -= 1
        if self.batches < 0:
            raise self.error
        return self.source.batch(indices)


@pytest.mark.filterwarnings("ignore:precision. bf16 is asked for")
@pytest.mark.kernels
@pytest.mark.parametrize(
    "changes",
    [
        {"prefetch": 2},
        {"memory": "load", "optimizer": "adamw", "weight_decay": 0.1, "channels_last": False},
        {"optimizer": "sgd", "learning_rate": 1e-3, "weight_decay": 0.1},
        {"precision": "bf16"},
    ],
)
def test_resumed_training_equals_an_uninterrupted_one(make_model, source, validation, tmp_path, changes):
    whole, broken = make_model(), make_model()
    expected = fit(whole, source, validation, settings(**changes), tmp_path / "whole", seed=5)
    for _ in range(2):  # each gets nine steps further, into the midst of an epoch
        with pytest.raises(KilledError):
            fit(make_model(), DyingSource(source, 9), validation, interruptible(**changes), tmp_path / "broken", seed=5)
    history = fit(broken, source, validation, settings(**changes), tmp_path / "broken", seed=5)
    assert_same(weights(whole), weights(broken))
    assert losses(history) == losses(expected)
    tables = [(tmp_path / name / "history.csv").read_text().splitlines() for name in ("whole", "broken")]
    assert tables[0][0] == tables[1][0]
    assert losses(History.read_csv(tmp_path / "broken" / "history.csv")) == losses(expected)


@pytest.mark.parametrize("memory", ["load", "stream"])
def test_a_training_on_samples_in_blocks_is_resumed(make_model, source, validation, tmp_path, memory):
    source.block_size = 8
    whole, broken = make_model(), make_model()
    fit(whole, source, validation, settings(), tmp_path / "whole", seed=5)
    dying = DyingSource(source, 9)
    dying.block_size = 8
    with pytest.raises(KilledError):
        fit(make_model(), dying, validation, interruptible(memory="stream"), tmp_path / "broken", seed=5)
    fit(broken, source, validation, settings(memory=memory), tmp_path / "broken", seed=5)
    assert_same(weights(whole), weights(broken))
    plain = make_model()
    source.block_size = None
    fit(plain, source, validation, settings(), tmp_path / "plain", seed=5)
    assert not torch.equal(plain.linear.weight, whole.linear.weight)


@pytest.mark.kernels
@pytest.mark.parametrize("keep", ["best", "last"])
def test_resumed_without_validation(make_model, source, tmp_path, keep):
    """No epoch is the best then: the weights are those of the last."""
    whole, broken = make_model(), make_model()
    fit(whole, source, None, settings(keep=keep), tmp_path / "whole", seed=5)
    with pytest.raises(KilledError):
        fit(make_model(), DyingSource(source, 9), None, interruptible(keep=keep), tmp_path / "broken", seed=5)
    fit(broken, source, None, settings(keep=keep), tmp_path / "broken", seed=5)
    assert_same(weights(whole), weights(broken))


def test_another_seed_gives_another_training(make_model, source, tmp_path):
    first, second = make_model(), make_model()
    fit(first, source, None, settings(epochs=1), tmp_path / "1", seed=1)
    fit(second, source, None, settings(epochs=1), tmp_path / "2", seed=2)
    assert not torch.equal(first.linear.weight, second.linear.weight)


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_same_as_a_plain_loop(make_model, source, tmp_path, name):
    """The loop is what one would write by hand."""
    model, plain = make_model(), make_model()
    model.drop.p = plain.drop.p = 0.0
    training = settings(
        epochs=2, precision="32", device="cpu", keep="last", clip=0.5, betas=(0.8, 0.99), weight_decay=0.1, optimizer=name
    )
    fit(model, source, None, training, tmp_path, seed=3)

    optimizer = torch.optim.Adam(plain.parameters(), betas=(0.8, 0.99), weight_decay=0.1)
    if name == "sgd":
        optimizer = torch.optim.SGD(plain.parameters(), 0.1, momentum=0.8, weight_decay=0.1)
    for epoch in range(2):
        for batch in BatchReader(source).read(training_order(96, 16, seed=3, epoch=epoch, first=6 * epoch)):
            optimizer.param_groups[0]["lr"] = training.rate(batch.number, 12)
            optimizer.zero_grad()
            generator = seeds.torch_generator(3, "learn", "noise", "train", batch.number)
            plain.loss(batch.batch, Progress(batch.number, 12), generator).total.backward()
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
            optimizer.step()
    for name, tensor in plain.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], tensor, rtol=1e-4, atol=1e-6)


def test_called_again_after_the_end_only_loads(make_model, source, validation, tmp_path):
    model, again = make_model(), make_model()
    history = fit(model, source, validation, settings(), tmp_path, seed=1)
    assert fit(again, source, validation, settings(), tmp_path, seed=1) == history
    assert_same(weights(model), weights(again))
    assert not model.training


class StuckSource(DyingSource):
    """A source that sends a word after so many batches, and then waits to be killed."""

    def batch(self, indices):
        self.batches -= 1
        if self.batches < 0:
            self.error.send("stuck")
            time.sleep(3600)
        return self.source.batch(indices)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_killed_process_goes_on(make_model, source, validation, tmp_path):
    folder, context = tmp_path / "killed", multiprocessing.get_context("fork")
    training = interruptible(tensorboard=True, threads=1)
    ours, theirs = context.Pipe(duplex=False)
    call = (make_model(), StuckSource(source, 9, theirs), validation, training, folder)
    process = context.Process(target=fit, args=call, kwargs={"seed": 5})
    process.start()
    assert ours.recv() == "stuck"
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    whole, killed = make_model(), make_model()
    fit(killed, source, validation, settings(tensorboard=True, threads=1), folder, seed=5)
    fit(whole, source, validation, settings(threads=1), tmp_path / "whole", seed=5)
    assert_same(weights(whole), weights(killed))
    assert len(list((folder / "tensorboard").glob("events*"))) == 2


def test_control_c_is_a_keyboard_interrupt_and_leaves_a_checkpoint(make_model, source, validation, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(), DyingSource(source, 15, KeyboardInterrupt), validation, interruptible(), tmp_path, seed=5)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(History.read_csv(tmp_path / "history.csv").rows) == 2
    assert fit(make_model(), source, validation, settings(), tmp_path, seed=5).epochs == 4


class RemovingSource:
    """A source after some batches of which somebody has removed a folder."""

    def __init__(self, source, batches, folder):
        self.source, self.left, self.folder, self.spec = source, batches, folder, source.spec

    def __len__(self):
        return len(self.source)

    def batch(self, indices):
        self.left -= 1
        if self.left == 0:
            shutil.rmtree(self.folder)
        return self.source.batch(indices)


@pytest.mark.parametrize("batches", [1, 4])
def test_a_folder_that_is_removed_during_the_training_is_not_made_again(make_model, source, tmp_path, batches):
    folder = tmp_path / "model"
    with pytest.raises(StoreError, match="was removed or renamed during the training"):
        fit(make_model(), RemovingSource(source, batches, folder), None, interruptible(), folder, seed=1)
    assert not folder.exists()


def test_best_and_last_checkpoints(make_model, source, validation, tmp_path):
    """A learning rate far too large makes the loss worse after a while."""
    training = settings(epochs=6, learning_rate=0.3, schedule="constant")
    best, last = make_model(), make_model()
    history = fit(best, source, validation, training, tmp_path, seed=0)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-01-000000036"]
    fit(last, source, validation, settings(epochs=6, learning_rate=0.3, schedule="constant", keep="last"), tmp_path, seed=0)
    assert torch.equal(best.linear.weight, last.linear.weight) == (history.best_epoch == 6)


def test_progress_is_told(make_model, source, validation, tmp_path):
    steps, rows = [], []

    class Progress:
        def step(self, done, total, samples_per_second, seconds_left):
            steps.append((done, total))
            assert samples_per_second > 0
            assert seconds_left >= 0

        def epoch(self, row):
            rows.append(row)

    history = fit(make_model(), source, validation, settings(), tmp_path, seed=0, progress=Progress())
    assert steps[-1] == (24, 24)
    assert steps == sorted(set(steps))
    assert tuple(rows) == history.rows


def test_patience_stops_and_stays_stopped(make_model, source, validation, tmp_path):
    training = settings(epochs=50, learning_rate=1.0, schedule="constant", patience=2)
    history = fit(make_model(), source, validation, training, tmp_path, seed=0)
    assert history.epochs < 50
    assert history.epochs - history.best_epoch == 2
    assert fit(make_model(), source, validation, training, tmp_path, seed=0) == history


def test_steps_end_in_the_midst_of_an_epoch(make_model, source, validation, tmp_path):
    history = fit(make_model(), source, validation, settings(steps=10), tmp_path, seed=0)
    assert [row["step"] for row in history.rows] == [6, 10]
    assert all("validation/loss" in row for row in history.rows)


def test_history_has_every_term(make_model, source, validation, tmp_path):
    row = fit(make_model(), source, validation, settings(epochs=1), tmp_path, seed=0).rows[0]
    terms = {f"{split}/{term}" for split in ("train", "validation") for term in ("loss", "error", "penalty")}
    assert set(row) == {"epoch", "step", "seconds", "samples_per_second", "learning_rate"} | terms
    assert row["train/loss"] == pytest.approx(row["train/error"] + row["train/penalty"])


def test_validation_loss_is_the_mean_over_samples(make_model, source, validation, tmp_path):
    """40 samples in batches of 16, 16 and 8: the last must not weigh as much as the others."""
    model = make_model()
    row = fit(model, source, validation, settings(epochs=1, precision="32", device="cpu"), tmp_path, seed=2).rows[0]
    total = 0.0
    with torch.no_grad():
        for batch in BatchReader(validation).read(evaluation_order(40, 16)):
            generator = seeds.torch_generator(2, "learn", "noise", "validation", batch.number)
            total += model.loss(batch.batch, Progress(6, 6), generator).total.item() * len(batch)
    assert row["validation/loss"] == pytest.approx(total / 40, rel=1e-5)


def test_other_settings_are_refused(make_model, source, validation, tmp_path):
    fit(make_model(), source, validation, settings(epochs=1), tmp_path, seed=0)
    for other in ({"training": settings(epochs=2)}, {"seed": 1}, {"model": make_model(width=5)}):
        call = {"model": make_model(), "training": settings(epochs=1), "seed": 0, **other}
        with pytest.raises(ConflictError, match="another configuration"):
            fit(call["model"], source, validation, call["training"], tmp_path, seed=call["seed"])


def test_another_precision_is_refused_even_if_the_setting_is_the_same(make_model, source, tmp_path, monkeypatch):
    """`auto` is bf16 on one machine and 32 bits on another."""
    monkeypatch.setattr(trainer, "precision_of", lambda training, model: "32")
    fit(make_model(), source, None, settings(epochs=1, precision="auto"), tmp_path, seed=1)
    monkeypatch.setattr(trainer, "precision_of", lambda training, model: "bf16")
    with pytest.raises(ConflictError, match="precision: '32' -> 'bf16'"):
        fit(make_model(), source, None, settings(epochs=1, precision="auto"), tmp_path, seed=1)


@pytest.mark.kernels
def test_a_training_goes_on_with_as_many_threads_as_before(make_model, source, tmp_path, monkeypatch):
    model, counts = make_model(), []
    with threads(2):
        fit(model, source, None, settings(epochs=1), tmp_path, seed=1)
    resume = Checkpoints.resume
    monkeypatch.setattr(Checkpoints, "resume", lambda *call: (counts.append(torch.get_num_threads()), resume(*call))[1])
    with threads(1):
        fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=1)
        with pytest.raises(ConflictError, match="threads: 2 -> 1"):
            fit(make_model(), source, None, settings(epochs=1, threads=1), tmp_path, seed=1)
    assert counts[0] == 2


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.safetensors", "stage.json"])
@pytest.mark.parametrize("damage", ["truncated", "altered", "removed"])
def test_damaged_checkpoint_is_named(make_model, source, tmp_path, name, damage):
    fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)
    path = tmp_path / "checkpoints" / "checkpoint-01-000000006" / name
    content = bytearray(path.read_bytes())
    if damage == "removed":
        path.unlink()
    elif damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
    with pytest.raises(CorruptFileError, match="checkpoint-01-000000006"):
        fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)


def test_unfinished_checkpoint_is_no_checkpoint(make_model, source, tmp_path):
    part = tmp_path / "checkpoints" / "checkpoint-01-000000006.part"
    part.mkdir(parents=True)
    (part / "weights.safetensors").write_bytes(b"half")
    fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)
    assert not part.exists()


def test_poisoned_loss_names_term_and_step_and_saves_the_batch(make_model, source, tmp_path):
    model = make_model()
    plain = model.loss

    def poisoned(batch, progress, generator=None):
        loss = plain(batch, progress, generator)
        if progress.step == 3:
            loss.terms["error"].fill_(float("nan"))
            return type(loss)(loss.total * float("nan"), loss.terms)
        return loss

    model.loss = poisoned
    with pytest.raises(TrainingError, match="in error at step 3") as caught:
        fit(model, source, None, settings(), tmp_path, seed=0)
    path = tmp_path / "broken-batch-step-3.safetensors"
    assert str(path) in str(caught.value)
    batches = list(BatchReader(source).read(training_order(96, 16, seed=0, epoch=0)))
    assert torch.equal(load_batch(path).views["touch"], batches[3].batch.views["touch"])
    assert torch.equal(load_batch(path).factors, batches[3].batch.factors)


def test_poisoned_gradient_names_the_parameter(make_model, source, tmp_path):
    model = make_model()
    model.linear.weight.register_hook(lambda gradient: gradient / 0)
    with pytest.raises(TrainingError, match=r"gradient of linear\.weight at step 0"):
        fit(model, source, None, settings(), tmp_path, seed=0)


def test_nan_in_data_is_named(make_model, source, tmp_path):
    source.touch[17, 2, 1] = float("nan")
    with pytest.raises(DataError, match=r"modality touch: .* in sample 17"):
        fit(make_model(), source, None, settings(), tmp_path, seed=0)


def test_nan_behind_a_presence_mask_is_not_read(make_model, source, tmp_path):
    source.touch[17] = float("nan")
    source.present = {"touch": torch.ones(len(source), dtype=torch.bool)}
    source.present["touch"][17] = False
    fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)


def test_model_without_loss(source, tmp_path):
    with pytest.raises(TrainingError, match="Linear"):
        fit(torch.nn.Linear(2, 2), source, None, settings(), tmp_path, seed=0)


def test_file_where_the_folder_should_be(make_model, source, tmp_path):
    (tmp_path / "model").write_text("")
    with pytest.raises(StoreError, match="file stands"):
        fit(make_model(), source, None, settings(), tmp_path / "model", seed=0)


def test_global_state_is_left_alone(make_model, source, tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    count = torch.get_num_threads()
    filters = list(warnings.filters)
    fit(make_model(), source, None, settings(epochs=1, threads=2), tmp_path, seed=0)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == count
    assert warnings.filters == filters


def test_nothing_is_said_and_no_stray_files(make_model, source, validation, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit(make_model(), source, validation, settings(epochs=1, tensorboard=True), tmp_path / "run", seed=0)
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".lock", "checkpoints", "history.csv", "tensorboard"]


def test_checkpoints_that_cannot_be_written(make_model, source, tmp_path):
    (tmp_path / "checkpoints").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        fit(make_model(), source, None, settings(), tmp_path, seed=0)


STAGES = (
    Stage(name="pretrain", parameters=("convolution.*", "norm.*", "linear.bias"), epochs=2, learning_rate=0.01, warmup_steps=3),
    Stage(name="fuse", parameters=("linear.*",), steps=8, optimizer="adamw", schedule="constant"),
    Stage(name="polish"),
)


def staged(**changes):
    return settings(**{"epochs": 1, "stages": STAGES, **changes})


def interruptible_stages(keep):
    return replace(staged(keep=keep), checkpoint_seconds=0.0, memory="stream", prefetch=0)


@pytest.mark.kernels
@pytest.mark.parametrize(("keep", "validated"), [("best", True), ("last", True), ("best", False)])
def test_stages_resume_anywhere_as_if_uninterrupted(make_model, source, validation, tmp_path, keep, validated):
    """Steps 12, 8 and 6: killed in the first stage, in the midst of the second, between both and in the third."""
    validation = validation if validated else None
    whole, broken = make_model(), make_model()
    expected = fit(whole, source, validation, staged(keep=keep), tmp_path / "whole", seed=5)
    assert [(row["epoch"], row["stage"], row["step"]) for row in expected.rows] == [
        (1, 1, 6), (2, 1, 12), (3, 2, 18), (4, 2, 20), (5, 3, 26)
    ]  # fmt: skip
    for batches in (4, 10, 6, 3):
        with pytest.raises(KilledError):
            fit(make_model(), DyingSource(source, batches), validation, interruptible_stages(keep), tmp_path / "broken", seed=5)
    history = fit(broken, source, validation, staged(keep=keep), tmp_path / "broken", seed=5)
    assert losses(history) == losses(expected) == losses(History.read_csv(tmp_path / "broken" / "history.csv"))
    assert_same(weights(whole), weights(broken))
    again = make_model()
    assert fit(again, source, validation, staged(keep=keep), tmp_path / "broken", seed=5) == history
    assert_same(weights(whole), weights(again))
    with pytest.raises(ConflictError, match="stages"):
        fit(make_model(), source, validation, staged(keep=keep, stages=STAGES[:2]), tmp_path / "broken", seed=5)


def test_a_stage_trains_its_parameters_by_its_settings_and_tells_its_name(make_model, source, tmp_path):
    model, told, before = make_model(), [], {}
    plain = model.loss

    def watched(batch, progress, generator=None):
        if not told or told[-1][0] != progress.stage:
            before[progress.stage] = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
        told.append((progress.stage, progress.step, progress.steps))
        return plain(batch, progress, generator)

    model.loss = watched
    history = fit(model, source, None, staged(keep="last"), tmp_path, seed=5)
    assert told == [
        (name, step, count) for name, count in (("pretrain", 12), ("fuse", 8), ("polish", 6)) for step in range(count)
    ]
    changed = [
        {name for name, tensor in before[one].items() if not torch.equal(tensor, before[other][name])}
        for one, other in (("pretrain", "fuse"), ("fuse", "polish"))
    ]
    everything = {name for name, _ in model.named_parameters()}
    assert changed == [everything - {"linear.weight"}, {"linear.weight", "linear.bias"}]
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert [row["learning_rate"] for row in history.rows][2:4] == [1e-3, 1e-3]


@pytest.mark.parametrize(("stages", "hint"), [(STAGES, "pretrain"), ((), "the training has no stages")])
def test_a_model_that_names_a_stage_that_there_is_not_is_refused(make_model, source, tmp_path, stages, hint):
    model = make_model()
    model.part = nn.Identity()
    model.part.named_stages = ("pretrian",)
    with pytest.raises(ConfigError, match=f"Identity: no stage 'pretrian'.*{hint}"):
        fit(model, source, None, staged(stages=stages), tmp_path)
    assert not list(tmp_path.iterdir())


def test_models_and_samples_that_are_none_are_refused(make_model, source, tmp_path):
    with pytest.raises(ConfigError) as caught:
        fit(nn.Identity, "ok.npz", None, staged(), tmp_path)
    assert caught.value.problems == (
        "model: expected an instance of Module, got the class Identity: write Identity(...)",
        "train: expected an instance of Source, got 'ok.npz'",
    )


def test_one_stage_of_everything_is_a_training_without_stages(make_model, source, validation, tmp_path):
    plain, staged_model = make_model(), make_model()
    expected = fit(plain, source, validation, settings(epochs=2), tmp_path / "plain", seed=3)
    history = fit(staged_model, source, validation, settings(epochs=2, stages=(Stage(name="all"),)), tmp_path / "staged", seed=3)
    assert_same(weights(plain), weights(staged_model))
    assert [{name: value for name, value in row.items() if name != "stage"} for row in losses(history)] == losses(expected)


class CountingSource(DyingSource):
    """A source that counts the samples it is asked for."""

    def __init__(self, source):
        super().__init__(source, 10**9)
        self.asked = 0

    def batch(self, indices):
        self.asked += len(indices)
        return super().batch(indices)


@pytest.mark.kernels
def test_a_stage_with_samples_of_its_own_learns_from_them_alone_and_resumes(make_model, source, validation, tmp_path):
    """Stages of 2 epochs, 8 steps and 1 epoch of batches of 16: the second has 48 samples of its own, the others 96."""
    rows = torch.arange(48).numpy()
    own, own_validation = (CountingSource(Subset(one, rows[:count])) for one, count in ((source, 48), (validation, 16)))
    usual = CountingSource(source)
    others = {"fuse": (own, own_validation)}
    whole, broken = make_model(), make_model()
    stream = staged(keep="last", memory="stream", prefetch=0)
    expected = fit(whole, usual, validation, stream, tmp_path / "whole", seed=5, others=others)
    assert [(row["stage"], row["step"]) for row in expected.rows] == [(1, 6), (1, 12), (2, 15), (2, 18), (2, 20), (3, 26)]
    assert (usual.asked, own.asked, own_validation.asked) == (3 * 96, 8 * 16, 3 * 16)
    plain = fit(make_model(), source, validation, stream, tmp_path / "plain", seed=5)
    assert losses(plain)[:2] == losses(expected)[:2]
    assert losses(plain)[2] != losses(expected)[2]
    for batches in (3, 4):
        dying = {"fuse": (DyingSource(own, batches), own_validation)}
        with pytest.raises(KilledError):
            fit(make_model(), source, validation, interruptible_stages("last"), tmp_path / "broken", seed=5, others=dying)
    history = fit(broken, source, validation, staged(keep="last"), tmp_path / "broken", seed=5, others=others)
    assert losses(history) == losses(expected)
    assert_same(weights(whole), weights(broken))
    with pytest.raises(ConflictError, match="others"):
        fit(make_model(), source, validation, staged(keep="last"), tmp_path / "broken", seed=5)


def test_samples_of_stages_that_there_are_not_or_of_another_kind(make_model, source, tmp_path):
    with pytest.raises(ConfigError, match=r"no stage 'fuze' of the training; .*fuse"):
        fit(make_model(), source, None, staged(), tmp_path, seed=0, others={"fuze": (source, None)})
    other = CdSprites(level=1).source("train", 20, seed=1)
    with pytest.raises(SpecError, match="stage fuse: expected samples of the same modalities"):
        fit(make_model(), source, None, staged(), tmp_path, seed=0, others={"fuse": (other, None)})
    with pytest.raises(ConfigError, match="batch_size: expected at most the 8 samples"):
        few = Subset(source, torch.arange(8).numpy())
        fit(make_model(), source, None, staged(), tmp_path, seed=0, others={"fuse": (few, None)})
    assert not list(tmp_path.iterdir())


def test_a_stage_of_unknown_parameters(make_model, source, tmp_path):
    with pytest.raises(ConfigError, match=r"got 'encoder\.\*', which none matches"):
        fit(make_model(), source, None, settings(stages=(Stage(name="a", parameters=("encoder.*",)),)), tmp_path, seed=0)
    assert not list(tmp_path.iterdir())


def test_checkpoints_by_time_and_at_the_end_of_stages(make_model, source, validation, tmp_path, monkeypatch):
    saved = []
    save = Checkpoints.save
    monkeypatch.setattr(Checkpoints, "save", lambda *call: (saved.append((call[3].stage, call[3].step)), save(*call))[1])
    fit(make_model(), source, validation, staged(checkpoint_seconds=60.0), tmp_path / "slow", seed=0)
    assert saved == [(1, 0), (2, 0), (2, 6)]
    saved.clear()
    fit(make_model(), source, validation, interruptible(epochs=2), tmp_path / "fast", seed=0)
    assert saved == [*((0, step) for step in range(1, 13)), (0, 12)]


def test_files_of_a_checkpoint_are_hashed_while_they_are_written(make_model, source, tmp_path, monkeypatch):
    def refuse(path, known=None):
        raise AssertionError(path)

    monkeypatch.setattr("molyneux.core.store.checksum", refuse)
    fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)
    monkeypatch.undo()
    fit(make_model(), source, None, settings(epochs=1), tmp_path, seed=0)  # which verifies them


@pytest.mark.kernels
def test_a_model_that_the_processor_cannot_compute_in_bf16(make_model, source, tmp_path, monkeypatch):
    """Though it has bf16 arithmetic, and the model no layer that is known to lack it."""
    monkeypatch.setattr("molyneux.learn.training.hardware.has_bf16", lambda: True)
    model = make_model()

    def refused(batch, progress, generator=None):
        raise RuntimeError("could not create a primitive descriptor for the LSTM forward propagation primitive")

    model.loss = refused
    with pytest.raises(ConfigError, match=r"precision: .* compute TinyModel in bf16.*: set precision to 32"):
        fit(model, source, None, settings(precision="bf16"), tmp_path / "16", seed=0)
    with pytest.raises(RuntimeError, match="primitive"):
        fit(model, source, None, settings(precision="32"), tmp_path / "32", seed=0)


def test_the_line_about_bf16_reaches_whoever_takes_notes(make_model, source, tmp_path, monkeypatch):
    monkeypatch.setattr("molyneux.learn.training.hardware.has_bf16", lambda: False)

    class Notes:
        def __init__(self):
            self.lines = []

        def step(self, done, total, samples_per_second, seconds_left):
            pass

        def epoch(self, row):
            pass

        def note(self, text):
            self.lines.append(text)

    notes, asked = Notes(), settings(epochs=1, precision="bf16", device="cpu")
    fit(make_model(), source, None, asked, tmp_path / "notes", seed=0, progress=notes)
    assert len(notes.lines) == 1
    with pytest.warns(UserWarning, match="trained in 32 bits"):
        fit(make_model(), source, None, asked, tmp_path / "warned", seed=0)
    fit(make_model(), source, None, asked, tmp_path / "notes", seed=0, progress=notes)  # which trains no more
    assert len(notes.lines) == 1
    model = make_model()
    model.training_notes = ("what was chosen",)
    fit(model, source, None, settings(epochs=1, device="cpu"), tmp_path / "chosen", seed=0, progress=notes)
    assert notes.lines[1:] == ["what was chosen"]
