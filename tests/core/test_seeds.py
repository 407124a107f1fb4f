import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from molyneux.core import seeds


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**63), index=st.integers(0, 2**63), count=st.integers(1, 19))
def test_uniforms_are_numpys_philox_of_that_counter(seed, index, count):
    stream = seeds.key(seed, "world", "train")
    expected = np.random.Generator(np.random.Philox(key=stream, counter=[0, index, 0, 0])).random(count)
    np.testing.assert_array_equal(seeds.uniforms(stream, np.array([index], dtype=np.uint64), count)[0], expected)


def test_any_order_and_slice_gives_the_same_rows():
    stream = seeds.key(1, "a")
    whole = seeds.uniforms(stream, np.arange(1000), 7)
    order = np.random.default_rng(0).permutation(1000)
    np.testing.assert_array_equal(seeds.uniforms(stream, order, 7), whole[order])
    np.testing.assert_array_equal(seeds.uniforms(stream, np.arange(300, 400), 7), whole[300:400])
    np.testing.assert_array_equal(seeds.uniforms(stream, np.arange(1000), 3), whole[:, :3])


def test_uniform_and_uncorrelated():
    draws = seeds.uniforms(seeds.key(2, "b"), np.arange(100_000), 4)
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    for column in draws.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 0.02
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.02


@pytest.mark.parametrize("names", [("a",), ("b",), ("a", "b"), ("ab",), (1,), ("1",), ("a", 1)])
def test_streams_of_different_names_differ(names):
    others = [("a",), ("b",), ("a", "b"), ("ab",), (1,), ("1",), ("a", 1)]
    same = [other for other in others if (seeds.key(5, *other) == seeds.key(5, *names)).all()]
    assert same == [names]


def test_root_seed_changes_every_stream():
    assert not (seeds.key(1, "a") == seeds.key(2, "a")).any()
    assert seeds.generator(1, "a").random() != seeds.generator(2, "a").random()
    assert seeds.torch_generator(1, "a").initial_seed() != seeds.torch_generator(2, "a").initial_seed()


def test_keys_are_fixed_for_ever():
    """A change of the hash would change every world's bytes."""
    assert [int(word) for word in seeds.key(1, "cdsprites-v1", "train")] == [15402308953358238725, 7666305775945924385]


def test_torch_keeps_32_bits_of_a_seed_on_a_cpu():
    """What the docstring says; should torch keep more one day, it and the streams' numbers change."""
    draws = [torch.rand(4, generator=torch.Generator().manual_seed(5 + high)).tolist() for high in (0, 1 << 32)]
    assert draws[0] == draws[1]
    generators = [seeds.torch_generator(1, "noise", step) for step in range(1000)]
    assert len({generator.initial_seed() & 0xFFFFFFFF for generator in generators}) == 1000
