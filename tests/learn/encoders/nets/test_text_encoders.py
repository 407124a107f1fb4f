import pytest
import torch

from molyneux.core import ConfigError, Modality, Spec, SpecError
from molyneux.learn import VAE
from molyneux.learn.encoders.nets import Averaging, CausalTransformer, Dense, Patches, Recurrent, Slots
from molyneux.learn.encoders.nets.text_encoders import SlotEncoder, balanced
from molyneux.learn.likelihoods import default_likelihood

TEXT = Modality("text", "text", (6,), "uint8", tuple(" abcde."), 0, end=6)
SPEC = Spec((TEXT,))
IDS = torch.tensor([[1, 2, 6, 0, 0, 0], [4, 5, 3, 1, 2, 6]])


def plain(**settings):
    """Slot attention proper."""
    return Slots(**{"own": True, "role": "position", "assignment": "soft", "features": 0, **settings})


def attention(reader):
    return reader.attention(IDS, reader.table(IDS))


def test_slots_share_every_position_and_padding_is_nobodys():
    torch.manual_seed(0)
    shares = attention(plain(slots=3).encoder(TEXT, 6))
    torch.testing.assert_close(shares.sum(-1), torch.ones(2, 3))
    assert (shares[0, :, 3:] == 0).all()
    assert (shares[0, :, :3] > 0).all()


def test_attention_is_that_of_the_paper():
    torch.manual_seed(0)
    reader = plain(slots=3, sharpness=2.0).encoder(TEXT, 6)
    logits = reader.roles(reader.table(IDS), reader.places)
    for row, length in enumerate((3, 6)):
        for slot in range(3):
            won = torch.stack([torch.softmax(2 * logits[row, :, place], 0)[slot] for place in range(length)])
            torch.testing.assert_close(attention(reader)[row, slot, :length], won / won.sum())


def test_a_slot_hears_nothing_of_the_symbols_it_did_not_win():
    torch.manual_seed(0)
    reader = plain(slots=2, reach=0, sharpness=1e4).encoder(TEXT, 8)
    with torch.no_grad():
        reader.roles.last.weight.zero_()
        reader.roles.last.bias.zero_()
        reader.places.zero_()
        reader.roles.near.weight.zero_()
        reader.roles.near.weight[0, :, 0] = reader.table.weight[2]  # looks for symbol 2
        reader.roles.last.weight[0, 0] = 1.0
        reader.roles.last.bias[1] = reader.table.weight[2].square().sum() - 1e-3
        reader.roles.near.bias.zero_()
    raw = reader(torch.tensor([[1, 2, 3, 6, 0, 0], [1, 2, 4, 6, 0, 0]]))
    shares = reader.attention(IDS[:1], reader.table(IDS[:1]))[0]
    assert shares[0].argmax() == 1
    assert raw.shape == (2, 8)
    torch.testing.assert_close(raw[0, 0::2], raw[1, 0::2])  # of slot 0, which won symbol 2 alone
    assert (raw[0, 1::2] - raw[1, 1::2]).abs().max() > 1e-4


def test_a_position_goes_to_one_slot_by_gumbel():
    torch.manual_seed(0)
    reader = plain(slots=3, assignment="gumbel").encoder(TEXT, 6)
    logits = reader.roles(reader.table(IDS), reader.places)
    winners = logits.argmax(1)
    reader.eval()
    for row, length in enumerate((3, 6)):
        for slot in range(3):
            of_slot = (winners[row, :length] == slot).float()
            torch.testing.assert_close(attention(reader)[row, slot, :length], of_slot / of_slot.sum().clamp(min=1))
    reader.train()
    drawn = torch.stack([attention(reader)[1] > 0 for _ in range(3000)]).float()
    assert (drawn.sum(1) == 1).all()
    torch.testing.assert_close(drawn.mean(0), logits[1].softmax(0), atol=0.04, rtol=0)


def test_balanced_shares_are_those_of_sinkhorn_over_the_positions_that_count():
    torch.manual_seed(0)
    logits = 2 * torch.randn(2, 3, 6)
    counted = torch.tensor([3 * [True] + 3 * [False], 6 * [True]])
    shares = balanced(logits, counted).exp()
    for row, length in enumerate((3, 6)):
        matrix = logits[row, :, :length].double().exp().numpy()
        for _ in range(3):
            matrix *= length / 3 / matrix.sum(1, keepdims=True)
            matrix /= matrix.sum(0, keepdims=True)
        torch.testing.assert_close(shares[row, :, :length].double(), torch.as_tensor(matrix), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("role", ["position", "symbol"])
def test_slots_with_balanced_shares_are_seldom_empty(role):
    torch.manual_seed(0)
    empty = {"gumbel": 0, "balanced": 0}
    for assignment in empty:
        for _ in range(30):
            reader = plain(slots=6, assignment=assignment, role=role).encoder(TEXT, 6)
            reader(IDS)
            won = attention(reader.eval())[1] > 0
            assert (won.sum(0) == 1).all()
            empty[assignment] += int((~won.any(1)).sum())
    assert empty["balanced"] < 0.7 * empty["gumbel"]


def mean_by_symbol(values):
    """What is said of a position, (slots, positions) of both texts, where each symbol says the mean over its positions."""
    found = [torch.empty_like(value) for value in values]
    of_symbols = {}
    for row, length in enumerate((3, 6)):
        for place in range(length):
            of_symbols.setdefault(int(IDS[row, place]), []).append(values[row][:, place])
    for row, length in enumerate((3, 6)):
        for place in range(length):
            found[row][:, place] = torch.stack(of_symbols[int(IDS[row, place])]).mean(0)
    return found


@pytest.mark.parametrize("assignment", ["soft", "balanced"])
def test_a_symbol_has_one_role_the_mean_over_its_positions(assignment):
    torch.manual_seed(0)
    reader = Slots(slots=3, sharpness=2.0, assignment=assignment).encoder(TEXT, 6)
    symbols, counted = reader.table(IDS), torch.tensor([3 * [True] + 3 * [False], 6 * [True]])
    said = 2 * reader.roles(symbols, reader.places)
    means = mean_by_symbol([said[0, :, :3], said[1]])
    if assignment == "balanced":
        means = mean_by_symbol([balanced(mean[None], torch.ones(1, mean.shape[1], dtype=torch.bool))[0] for mean in means])
    found = reader.logits(IDS, symbols, counted)
    torch.testing.assert_close(found[0, :, :3], means[0])
    torch.testing.assert_close(found[1], means[1])
    torch.testing.assert_close(reader.symbol_means.table[1], means[0][:, 0])
    assert reader.symbol_means.observed.tolist() == [False] + 6 * [True]  # padding does not count


def test_roles_of_symbols_are_remembered_and_the_later_batches_count_more():
    torch.manual_seed(0)
    reader = Slots(slots=3, assignment="gumbel").encoder(TEXT, 6)
    counted = torch.ones(2, 6, dtype=torch.bool)
    expected = None
    for _ in range(4):
        with torch.no_grad():
            reader.table.weight.add_(torch.randn_like(reader.table.weight))
        reader(IDS)
        said = reader.roles(reader.table(IDS), reader.places)[1, :, 0].detach()
        expected = said if expected is None else 0.95 * expected + 0.05 * said
    torch.testing.assert_close(reader.symbol_means.table[4], expected)
    reader.eval()
    other = torch.tensor([[4, 4, 0, 0, 0, 0]])
    found = reader.logits(other, reader.table(other), counted[:1])
    torch.testing.assert_close(found[0, :, :2], expected[:, None].expand(-1, 2))
    torch.testing.assert_close(found[0, :, 2:], reader.roles(reader.table(other), reader.places)[0, :, 2:])  # never seen
    weights = VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=4)}).state_dict()
    assert {"networks.encoders.text.symbol_means.table", "networks.encoders.text.symbol_means.observed"} <= set(weights)


@pytest.mark.parametrize("role", ["position", "symbol"])
@pytest.mark.parametrize("assignment", ["gumbel", "balanced"])
def test_a_slot_learns_where_it_won_nothing(assignment, role):
    torch.manual_seed(0)
    reader = Slots(slots=8, assignment=assignment, role=role).encoder(TEXT, 8)
    reader(IDS).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in reader.parameters())
    assert (reader.roles.last.weight.grad.abs().amax((1, 2)) > 0).all()  # 8 slots, 6 positions: some won nothing
    assert reader.roles.near.weight.grad.abs().max() > 0


def test_features_of_a_number_are_of_that_number_alone():
    torch.manual_seed(0)
    model = VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=2, features=3)})
    features, writer = model.decoders["text"]
    codes = torch.randn(5, 4)
    other = codes.clone()
    other[:, 2] += 1
    moved = (features(codes) != features(other)).any(0)
    assert moved.tolist() == 6 * [False] + 3 * [True] + 3 * [False]
    expected = [
        (features.slopes[number] * codes[1, number] + features.offsets[number]).relu() @ features.weights[number]
        for number in range(4)
    ]
    torch.testing.assert_close(features(codes)[1], torch.cat(expected))
    torch.testing.assert_close(
        model.decoders["text"](codes).log_prob(IDS[:1].expand(5, -1)), writer(features(codes)).log_prob(IDS[:1].expand(5, -1))
    )


def test_a_position_that_does_not_look_at_itself_has_its_slot_from_around_it():
    torch.manual_seed(0)
    other = IDS.clone()
    other[1, 2] = 5
    for own in (True, False):
        reader = plain(slots=3, reach=1, own=own).encoder(TEXT, 6)
        logits = [reader.roles(reader.table(ids), reader.places)[1] for ids in (IDS, other)]
        moved = (logits[0] != logits[1]).any(0)
        assert moved.tolist() == [False, True, own, True, False, False]
        assert (logits[0][:, 1] != logits[0][:, 2]).any()


def test_location_and_variance_of_a_number_are_of_the_same_slot():
    model = VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=2)})
    reader = model.encoders["text"]
    assert isinstance(reader, SlotEncoder)
    with torch.no_grad():
        reader.biases.copy_(torch.tensor([[1.0] * 4, [2.0] * 4]))
        reader.weights.zero_()
        raw = reader(IDS)
    assert raw[0].tolist() == [1, 2, 1, 2, 1, 2, 1, 2]


def test_another_net_writes():
    codes = torch.zeros(2, 4)
    for writer in (Recurrent(), CausalTransformer(), Dense()):
        model = VAE(SPEC, latent_dim=4, nets={"text": plain(slots=4, writer=writer)})
        assert type(model.decoders["text"]) is type(writer.decoder(TEXT, 4, default_likelihood(TEXT)))
        assert model.decoders["text"](codes).view.shape == (2, 6)


@pytest.mark.parametrize(("latent", "slots"), [(4, 3), (3, 2), (4, 8), (6, 4)])
def test_slots_that_do_not_divide_the_code_are_refused_with_both_numbers(latent, slots):
    """Also where they divide means and deviations together: those of one number would come from two slots."""
    with pytest.raises(SpecError, match=f"has {slots} slots, but is asked for {latent} numbers for each text"):
        VAE(SPEC, latent_dim=latent, nets={"text": Slots(slots=slots)})


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Slots(slots=0, width=0, reach=-1, sharpness=0.0, role="word", assignment="hard", features=-1, writer=Patches())
    told = [problem.partition(":")[0] for problem in caught.value.problems]
    assert told == ["slots", "width", "reach", "features", "role", "assignment", "sharpness", "writer"]
    with pytest.raises(ConfigError, match=r"^reach: expected at least 1 where a position does not look at its own symbol, got 0"):
        Slots(reach=0)


def test_a_text_is_the_mean_of_its_words_times_the_root_of_their_number():
    torch.manual_seed(0)
    reader = Averaging(embedding=4, width=5, layers=2).encoder(TEXT, 3)
    first, second, last = (layer for layer in reader.layers if isinstance(layer, torch.nn.Linear))
    for row, length in enumerate((3, 6)):
        mean = reader.table.weight[IDS[row, :length]].mean(0)
        expected = last(second(first(mean * length**0.5).relu()).relu())
        torch.testing.assert_close(reader(IDS)[row], expected)


def test_order_and_what_stands_after_the_end_do_not_count():
    torch.manual_seed(0)
    reader = Averaging().encoder(TEXT, 3)
    raw = reader(torch.tensor([[1, 2, 3, 6, 0, 0], [3, 1, 2, 6, 5, 5], [1, 2, 4, 6, 0, 0]]))
    torch.testing.assert_close(raw[0], raw[1])
    assert (raw[0] != raw[2]).any()


def test_words_are_left_out_in_training_alone():
    torch.manual_seed(0)
    reader = Averaging(dropout=0.25, layers=0, embedding=7).encoder(TEXT, 7)
    with torch.no_grad():
        reader.table.weight.copy_(torch.eye(7))
        reader.layers[0].weight.copy_(torch.eye(7))
        reader.layers[0].bias.zero_()
    ids = IDS[1:].expand(4000, -1)
    read = reader(ids) > 0
    assert read[:, 1:].float().mean().item() == pytest.approx(0.75, abs=0.01)
    assert not read[:, 0].any()
    assert read.sum(1).min() < 4
    assert (reader.eval()(ids)[:, 1:] > 0).all()


def test_a_text_of_which_all_is_left_out_is_read_as_nothing():
    reader = Averaging(dropout=0.99).encoder(TEXT, 3)
    assert reader(IDS.repeat(50, 1)).isfinite().all()


@pytest.mark.parametrize("writer", [Recurrent(), Recurrent(coupling="concat-only"), CausalTransformer(), Dense()])
def test_the_decoder_of_averaging_is_that_of_another_net(writer):
    model = VAE(Spec((TEXT,)), latent_dim=4, nets={"text": Averaging(writer=writer)})
    assert type(model.decoders["text"]) is type(writer.decoder(TEXT, 4, default_likelihood(TEXT)))
    assert model.decoders["text"](torch.zeros(2, 4)).view.shape == (2, 6)


def test_all_problems_of_averaging_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        Averaging(embedding=0, width=0, layers=-1, dropout=1.0, writer=Patches())
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "embedding",
        "width",
        "layers",
        "dropout",
        "writer",
    ]
