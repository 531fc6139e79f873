"""PyTorch's CTC loss, and the symbol that stands for nothing."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import blanks, tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


def attach(watch: TorchWatcher) -> None:
    """Hook `ctc_loss`, which its module calls as well."""
    session, known = watch.session, blanks.Blanks(watch.session)

    def look(log_probs: Any, targets: Any, _: Any, lengths: Any, blank: int = 0, *_more: Any, **_named: Any) -> None:
        watch.origins.loss()
        with session.paused():
            ends = np.asarray([int(length) for length in lengths])
            known.called(targets.detach().cpu().numpy(), ends, int(blank), int(log_probs.shape[-1]))
            if tensors.readable(log_probs):
                known.given(log_probs.detach().float().exp().sum(-1).cpu().numpy())

    session.patches.replace(watch.torch.nn.functional, "ctc_loss", functools.partial(blanks.wrap, session=session, look=look))
