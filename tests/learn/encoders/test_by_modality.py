"""Modules by modality, whatever the names."""

import torch

from molyneux.learn.encoders.by_modality import ModalityDict, module_key

NAMES = ("image", "BRK.B", "values", "training", "a/b", 'x">', "left-camera", "100%", "%2E", ".", "forward", "Größe 2")


def test_names_of_submodules():
    found = ModalityDict[torch.nn.Linear]()
    for name in NAMES:
        found[name] = torch.nn.Linear(1, 1)
    assert found.keys() == list(NAMES) == [name for name, _ in found.items()]
    assert len({module_key(name) for name in NAMES}) == len(found) == len(found.values()) == 12
    assert "BRK.B" in found
    assert "BRK" not in found
    assert module_key("image") == "image"
    assert [unset for unset in ("AAPL", "%") if unset in found] == []
    found.load_state_dict(found.state_dict())
