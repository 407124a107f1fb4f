"""Views of a batch in the form that models compute with, without what is absent or lies beyond a length."""

from __future__ import annotations

from torch import Tensor

from molyneux.core import Batch, Spec
from molyneux.core.views import to_model


def read_view(batch: Batch, spec: Spec, name: str) -> Tensor:
    """A view in model form; what is absent is 0 and what lies beyond a length is padding, so that it reaches no gradient."""
    view = batch.without_rest(name, spec, to_model(spec.modality(name), batch.views[name]))
    if name in batch.present:
        view = view.where(batch.present[name].reshape(-1, *[1] * (view.dim() - 1)), 0)
    return view
