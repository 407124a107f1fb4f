import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.vaes import MVAE
from molyneux.learn.vaes.subsets import drawn_members, subset_members


def test_random_subsets_are_drawn_anew_and_are_neither_single_nor_whole():
    generator = torch.Generator().manual_seed(0)
    drawn = set()
    for _ in range(200):
        members = subset_members("sampled", 5, 3, generator)
        assert members.shape == (5 + 1 + 3, 5)
        assert members[:5].equal(torch.eye(5, dtype=torch.bool))
        assert members[5].all()
        drawn |= {tuple(row.tolist()) for row in members[6:]}
    assert {sum(row) for row in drawn} == {2, 3, 4}
    assert len(drawn) == 10 + 10 + 5


def test_two_modalities_have_no_other_subsets():
    assert subset_members("sampled", 2, 4, None).int().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert subset_members("sampled", 1, 1, None).int().tolist() == [[1]]
    assert subset_members("singles", 3, 4, None).int().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_each_sample_draws_its_subset_and_all_are_equally_probable():
    members = drawn_members(3, 7000, torch.Generator().manual_seed(0))
    numbers, counts = (members.int() * torch.tensor([[1], [2], [4]])).sum(0).unique(return_counts=True)
    assert numbers.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert counts.tolist() == pytest.approx([1000] * 7, abs=150)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_a_subset_for_each_sample_has_the_loss_of_all_subsets_in_expectation(missing, linear):
    losses = {}
    for subsets in ("all", "drawn"):
        model = linear.build(MVAE, 3, subsets=subsets)
        views = {name: view.repeat(4000, 1) for name, view in linear.views_of(model, 4).items()}
        present = torch.rand(3, 4, generator=torch.Generator().manual_seed(2)) >= missing
        batch = Batch(views, {name: mask.repeat(4000) for name, mask in zip(views, present, strict=True)})
        with torch.no_grad():
            losses[subsets] = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(0))
    assert losses["drawn"].total.item() == pytest.approx(losses["all"].total.item(), rel=0.03)
    for name, term in losses["all"].terms.items():
        assert losses["drawn"].terms[name].item() == pytest.approx(term.item(), rel=0.05)


def test_a_subset_reconstructs_its_own_modalities(build, batch_of):
    model, rows = build(MVAE, 3, subsets="all"), {}
    for name, net in model.decoders.items():
        net.register_forward_pre_hook(lambda _, codes, key=name: rows.update({key: len(codes[0])}))
    batch = batch_of(model.spec)
    model.loss(batch, Progress(0, 1))
    assert set(rows.values()) == {4}
    model.always = frozenset(model.spec.names)
    model.loss(batch, Progress(0, 1))
    assert set(rows.values()) == {7}


def test_all_subsets_of_many_modalities_are_estimated_by_some():
    spec = Spec(tuple(Modality(f"m{i}", "tabular", (2,)) for i in range(12)))
    model = MVAE(spec, subsets="all", latent_dim=2, nets=dict.fromkeys(spec.names, Dense(width=4)))
    assert subset_members("sampled", 12, 1, None).shape == (14, 12)
    observation = model.observe(Batch({name: torch.randn(3, 2) for name in spec.names}))
    stack = model.stacked(observation, None)
    assert stack.weight.shape == (255, 3)
    assert stack.weight.sum(0).tolist() == pytest.approx([4095.0] * 3)


def test_all_problems_at_once(build):
    with pytest.raises(ConfigError) as caught:
        build(MVAE, subsets="none", reconstruct="some", random_subsets=-1)
    assert len(caught.value.problems) == 3
    with pytest.raises(ConfigError, match="no modality 'm9'"):
        build(MVAE, 2, reconstruct=("m0", "m9"))
