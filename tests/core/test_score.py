import json
import math

import pytest

from molyneux.core import DataError, Score


def test_round_trip():
    about = {"source": "text", "target": ("image", "BRK.B")}
    about = {"source": "text", "target": ("image", "BRK.B")}
    score = Score("coherence.strict", 47.3, about, (45.2, 49.4), 10_000, "%", True, (0, 100), 3.33, {"constant": 3.4})
    assert Score.from_json(json.loads(json.dumps(score.to_json()))) == score


def test_nan_is_refused():
    with pytest.raises(DataError, match="NaN"):
        Score("x", math.nan)


def test_unknown_fields_are_refused():
    with pytest.raises(DataError, match="cannot be read"):
        Score.from_json({"name": "x", "value": 1.0, "colour": "red"})
