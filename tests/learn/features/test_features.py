import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from molyneux.core import CorruptFileError, Features, Modality, Spec, SpecError, StoreError
from molyneux.learn import load_judge
from molyneux.learn.features import Inception, InceptionFeatures, load_features
from molyneux.learn.features.inception import BranchBlock, Convolution
from molyneux.learn.judges import shipped_file

SPEC = Spec((Modality("image", "image", (3, 20, 20), "uint8"), Modality("text", "text", (4,), "uint8", (" ", "a"), 0)))


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    with torch.device("meta"):
        names = Inception().state_dict()
    return {
        name: torch.rand(tensor.shape) * 0.1 if tensor.is_floating_point() else torch.tensor(0) for name, tensor in names.items()
    }


def test_the_network_has_the_published_number_of_weights():
    """Inception v3 without its classifiers."""
    with torch.device("meta"):
        assert sum(parameter.numel() for parameter in Inception().parameters()) == 21_785_568


def test_features_of_pictures_have_2048_numbers(weights):
    network = InceptionFeatures(Inception.of(weights), SPEC.modality("image"), "abc")
    assert isinstance(network, Features)
    pictures = torch.randint(0, 256, (2, 3, 20, 20), dtype=torch.uint8)
    assert network.features(pictures).shape == (2, 2048)
    assert network.features(pictures[:0]).shape == (0, 2048)
    with pytest.raises(SpecError, match="modality text: Inception takes pictures"):
        InceptionFeatures(Inception.of(weights), SPEC.modality("text"), "abc")


def test_a_block_joins_its_branches():
    torch.manual_seed(0)
    layers = [
        [[("one", 2, 1, 1)]],
        [[("two_1", 3, 3, 1)], [("two_2a", 1, (1, 3), 1), ("two_2b", 1, (3, 1), 1)]],
        [[("branch_pool", 1, 1, 1)]],
    ]
    block, maps = BranchBlock(4, layers, "average").eval(), torch.randn(2, 4, 5, 5)
    middle = block.two_1(maps)
    pooled = nn.AvgPool2d(3, 1, 1, count_include_pad=False)(maps)
    expected = torch.cat([block.one(maps), block.two_2a(middle), block.two_2b(middle), block.branch_pool(pooled)], 1)
    torch.testing.assert_close(block(maps), expected)
    assert block.outputs == 5
    assert BranchBlock(4, [[[("smaller", 3, 3, 2)]]], "halve").eval()(maps).shape == (2, 7, 2, 2)
    assert Convolution(4, 2, 3, padded=False)(maps).shape == (2, 2, 3, 3)


def test_other_weights_are_refused(weights, tmp_path):
    with pytest.raises(SpecError, match="whose classifier has 1008 outputs, got one of 1000"):
        Inception.of({**weights, "fc.bias": torch.zeros(1000)})
    with pytest.raises(SpecError, match="1 are missing and 1 have other shapes"):
        short = {name: tensor for name, tensor in weights.items() if name != "Conv2d_1a_3x3.bn.bias"}
        Inception.of({**short, "Conv2d_1a_3x3.bn.weight": torch.zeros(3)})
    path = tmp_path / "other.safetensors"
    with pytest.raises(StoreError, match="which is not there"):
        load_features(path, SPEC, "image")
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(SpecError, match="expected a judge, or the weights of Inception v3"):
        load_features(path, SPEC, "image")
    path.write_bytes(b"no tensors")
    with pytest.raises(CorruptFileError, match="no safetensors file"):
        load_features(path, SPEC, "image")


def test_judges_have_features(weights):
    path = shipped_file("cdsprites-v1", "image")
    network = load_features(path, Spec((Modality("image", "image", (3, 64, 64), "uint8"),)), "image")
    pictures = torch.randint(0, 256, (3, 3, 64, 64), dtype=torch.uint8)
    found = network.features(pictures).clone()
    assert found.shape == (3, 128)
    net = load_judge("cdsprites-v1", "image").net
    name = net.names[0]
    logits = net.heads[name](found)
    torch.testing.assert_close(logits, net(pictures / 255)[name], atol=1e-4, rtol=1e-4)
    assert network.origin["digest"]


def test_a_file_of_weights_is_read(weights, tmp_path):
    save_file(
        {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in weights.items()},
        tmp_path / "a.safetensors",
    )
    network = load_features(tmp_path / "a.safetensors", SPEC, "image")
    assert network.modality == "image"
    assert network.origin["network"] == "Inception of FID"
    assert next(network._net.parameters()).dtype == torch.float32
