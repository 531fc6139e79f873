"""Pretrained encoders inside models of the script's own: whether padding comes to them without a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.observation import UnmaskedFacts
from harness.frameworks.watch import tensors, torch_batches

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS = 200


class Masks:
    """Told of the calls of transformers' models inside other models."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._calls = 0

    def ran(self, module: Any, args: Any, kwargs: Any) -> None:
        """One call. Only token ids whose padding id the model's configuration knows can be judged."""
        self._calls += 1
        config = getattr(module, "config", None)
        pad = getattr(config, "pad_token_id", None)
        if self._calls > _CALLS or not getattr(config, "_name_or_path", "") or not isinstance(pad, int):
            return
        given = torch_batches.named(module, args, kwargs)
        ids: Any = given.get("input_ids")
        if not tensors.is_tensor(ids) or ids.dim() != 2 or "attention_mask" in given or not self._watch.on_cpu(ids):
            return
        seen = self._watch.seen
        if seen.unmasked is None:
            seen.unmasked = UnmaskedFacts(kind=type(module).__name__, site=self._watch.session.sites.here())
        seen.unmasked.batches += 1
        padded: Any = ids == pad
        if bool(padded[:, -1].any()) or bool(padded[:, 0].any()):
            seen.unmasked.padded += 1
            seen.unmasked.share = max(seen.unmasked.share, float(padded.float().mean()))
