"""The options of the commands of trained models, of sharing them, and of `check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from molyneux.cli.parser import add_trust, completed, worlds_starting
from molyneux.cli.vocabulary import path

_GIVEN = (
    "What is given is named by its modality: --text CAPTION, --image FILE, --audio FILE; the same name several times is several "
    "inputs."
)


def _add_model(parser: argparse.ArgumentParser) -> None:
    model = "a model that comes with the package (molyneux list pretrained), the folder of a run or an export, or hf://user/name"
    completed(parser.add_argument("model", metavar="MODEL", help=model), models_starting)
    parser.add_argument("--raw", action="store_true", help="take texts as they are, symbol by symbol")
    add_trust(parser)


def add_check(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux check`."""
    parser.epilog = (
        "Without an experiment file, what the columns of a table are is guessed, or said: --labels '[kind]' --tabular '[width]'. "
        "Of an experiment, all settings are checked, and whether model and measures fit the data; of a study, all its "
        "runs. The exit status is 0 if nothing is wrong, 1 if something is wrong with the data, 2 if settings cannot be used."
    )
    data = "the file of an experiment or a study, a table, a folder of tables or images, or arrays (.npz)"
    parser.add_argument("data", metavar="DATA", help=data)
    parser.add_argument("--all", action="store_true", help="every place and note, not the first ones of each kind")


def add_ask(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux ask`."""
    parser.epilog = "molyneux ask molyneux-shapes --questions 200 --picture questions.png"
    model = "a model of pictures and touches, trained on MolyneuxShapes: one of the package, the folder of a run or an export"
    completed(parser.add_argument("model", metavar="MODEL", help=model), models_starting)
    add_trust(parser)
    parser.add_argument("--questions", type=int, default=200, metavar="N", help="questions of each kind (default: 200)")
    given = "modality of what is given: touch or image (default: touch); the two things to choose from are of the other one"
    parser.add_argument("--given", choices=("touch", "image"), default="touch", help=given)
    role = "what the shapes are to the model: new, felt, seen, parted or bridged (default: new)"
    parser.add_argument("--role", metavar="ROLE", help=role)
    parser.add_argument("--seed", type=int, default=0, help="of the samples and of the questions (default: 0)")
    picture = "file to write: a sheet of the first questions about two that are alike, with what was chosen"
    parser.add_argument("--picture", type=path, metavar="FILE.png", help=picture)


def add_generate(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux generate`."""
    parser.epilog = f'molyneux generate cdsprites-level5 --text "small red heart at top left on light" --to image. {_GIVEN}'
    _add_model(parser)
    to = "modality to generate; may be given several times (default: all that are not given)"
    parser.add_argument("--to", action="append", default=[], metavar="MODALITY", help=to)
    parser.add_argument("--count", type=int, default=1, help="samples for each input; from a prior, in all (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="root of the noise (default: 0)")
    parser.add_argument("--from-prior", action="store_true", help="generate from the prior, given nothing")
    parser.add_argument("--prior", metavar="NAME", help="the same, from the prior of this name")
    out = "file to write: .png (a sheet of pictures), .txt, .json or .npz; a name without suffix is a folder of single files"
    parser.add_argument("--out", type=path, help=out)


def add_predict(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux predict`."""
    parser.epilog = f"molyneux predict av-mnist --image digit.png --audio digit.wav. {_GIVEN}"
    _add_model(parser)


def add_read(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux read`."""
    parser.epilog = "Settings of a world are given by their names, such as --level 5; a model knows those of its world."
    world = "name of a world, as in molyneux list worlds; or a trained model, its name or folder, whose world reads"
    completed(parser.add_argument("world", metavar="WORLD|MODEL", help=world), read_starting)
    add_trust(parser)
    parser.add_argument("view", metavar="FILE|TEXT", help="file of a picture or a sound, or a caption")
    parser.add_argument("--modality", metavar="MODALITY", help="what it is a view of (default: the one that fits)")


def add_push(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux push`."""
    parser.epilog = "It is sent with the token of `hf auth login` or HF_TOKEN, in one commit, after every file was checked."
    parser.add_argument("folder", type=path, metavar="FOLDER", help="what molyneux export wrote of a run")
    parser.add_argument("address", metavar="ADDRESS", help="hf://user/name")
    private = "make a repository that only its owner can read (default: all can, unless the organisation has it otherwise)"
    parser.add_argument("--private", action="store_true", help=private)


def read_starting(prefix: str, **_: object) -> Iterable[str]:
    """Worlds, and models that come with the package, for a shell."""
    return [*worlds_starting(prefix), *models_starting(prefix)]


def models_starting(prefix: str, **_: object) -> Iterable[str]:
    """The models that come with the package, for a shell."""
    from molyneux.run.trained.shipped import shipped_names

    return [name for name in shipped_names() if name.startswith(prefix)]
