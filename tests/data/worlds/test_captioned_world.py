import numpy as np
import pytest

from molyneux.data.worlds.captioned_world import spread


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 10, 11, 100])
def test_every_item_is_worked_on_once(threads, count):
    done = np.zeros(count, int)

    def work(part):
        done[part] += 1

    spread(work, count, threads=threads, chunk=10)
    assert (done == 1).all()


def test_errors_of_threads_are_raised():
    def work(part):
        raise ValueError(f"at {part.start}")

    with pytest.raises(ValueError, match="at 0"):
        spread(work, 100, threads=2, chunk=10)
