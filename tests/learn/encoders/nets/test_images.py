import torch

from molyneux.core import Modality
from molyneux.learn.encoders.nets.images import Centre, Convolutional, RawImage, crop


def test_size_of_the_published_image_net():
    encoder = Convolutional().encoder(Modality("image", "image", (3, 64, 64), "uint8"), 32)
    # The published net has a second, unused 256x256 layer.
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 256_160 - (256 * 256 + 256)


def test_crop_and_pad_undo_each_other():
    image = torch.rand(2, 3, 7, 9)
    assert torch.equal(crop(crop(image, 16, 12), 7, 9), image)
    assert crop(image, 16, 12).shape == (2, 3, 16, 12)
    assert torch.equal(crop(image, 16, 12).flatten().sort().values[-2 * 3 * 7 * 9 :], image.flatten().sort().values)
    assert crop(image, 7, 9) is image


def test_images_are_centred():
    image = Centre(8, 8)(torch.ones(1, 1, 4, 4))
    assert image[0, 0, 0, 0] == -1
    assert image[0, 0, 4, 4] == 1


def test_raw_numbers_of_an_image_are_parameters_then_channels():
    raw = torch.arange(6.0).reshape(1, 6, 1, 1).expand(1, 6, 4, 4)
    shaped = RawImage(2, 3, 4, 4)(raw)
    assert shaped[0, :, :, 0, 0].tolist() == [[0, 1, 2], [3, 4, 5]]
