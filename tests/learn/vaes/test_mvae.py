import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.learn.nets import Dense
from molyneux.learn.vaes import MVAE


def test_random_subsets_are_drawn_anew_and_are_neither_single_nor_whole(build):
    model = build(MVAE, 5, random_subsets=3)
    generator = torch.Generator().manual_seed(0)
    drawn = set()
    for _ in range(200):
        members = model._members(generator)
        assert members.shape == (5 + 1 + 3, 5)
        assert members[:5].equal(torch.eye(5, dtype=torch.bool))
        assert members[5].all()
        drawn |= {tuple(row.tolist()) for row in members[6:]}
    assert {sum(row) for row in drawn} == {2, 3, 4}
    assert len(drawn) == 10 + 10 + 5


def test_two_modalities_have_no_other_subsets(build):
    assert build(MVAE, 2, random_subsets=4)._members(None).int().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert build(MVAE, 1)._members(None).int().tolist() == [[1]]


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
    assert MVAE(spec, latent_dim=2)._members(None).shape == (14, 12)
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
