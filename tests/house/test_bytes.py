"""What becomes a view is computed alike on every processor: no functions in `data` whose last bits depend on it."""

import ast
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "src" / "molyneux" / "data"
NAMES = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "power", "float_power", "cbrt", "softmax", "sigmoid"),
    *("tan", "arctan", "arctan2", "arcsin", "arccos", "atan", "atan2", "asin", "acos", "sinh", "cosh", "affine_grid", "addcmul"),
    *("matmul", "einsum", "dot", "inner", "tensordot", "bmm", "eigh", "svd", "qr", "norm", "cov", "corrcoef"),
}
"""Functions and methods of NumPy and torch with kernels of their own for some processors; those of `math` are the C library's."""
KNOWN = {
    "worlds/binary_channels.py": "what noise leaves of bits: numbers beside scores",
    "worlds/rendering_reader.py": "reads views",
    "worlds/rendering_colours.py": "reads views",
    "worlds/rendering_cover.py": "reads views",
    "worlds/renderings.py": "reads views",
    "worlds/altered_colours.py": "what judges learn from; bytes of today's are in processors.json",
    "worlds/altered.py": "what judges learn from; bytes of today's are in processors.json",
    "worlds/altered_pictures.py": "what judges learn from; bytes of today's are in processors.json",
    "worlds/altered_scenes.py": "what judges learn from; bytes of today's are in processors.json",
    "worlds/foreign_shapes.py": "what judges learn from; bytes of today's are in processors.json",
    "worlds/molyneux_shapes/comparison.py": "reads views; the shapes that it chose are kept as numbers",
    "worlds/push/simulation.py": "a length of two numbers, rounded up to steps",
    "benchmarks/hanzi_strokes/references.py": "reads views",
    "benchmarks/digits/images.py": "test_no_pixel_lies_near_a_border_of_rounding",
    "benchmarks/av_mnist/playing.py": "sounds to listen to; no sample is made of them",
    "benchmarks/av_mnist/sounds.py": "an estimate that exact comparisons settle",
    "benchmarks/twins/multibench.py": "random files for tests",
}


def uses(path):
    """Lines of a file with such a function, with a product of matrices, or with a function of torch that MKL computes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "math"):
            of_torch = (
                isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in ("sin", "cos", "sqrt", "tanh")
            )
            if node.attr in NAMES or of_torch:
                yield node.lineno, node.attr
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield node.lineno, "@"
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("torch", "numpy", "scipy.special")):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in NAMES)


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.py")), ids=lambda path: path.relative_to(DATA).as_posix())
def test_no_function_whose_last_bits_depend_on_the_processor(path):
    if path.relative_to(DATA).as_posix() not in KNOWN:
        assert list(uses(path)) == [], "use core.elementary, `math`, or a compiled loop; or say in KNOWN why bytes cannot differ"


@pytest.mark.parametrize("name", KNOWN)
def test_every_exception_is_needed(name):
    assert list(uses(DATA / name))
