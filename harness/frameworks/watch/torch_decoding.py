"""Loops of a script's own in which a decoder writes token by token: whether they go on from the padding behind a shorter prompt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.checks.text_facts import PromptFacts
from harness.frameworks.watch import tensors, torch_batches
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_LOOPS, _ALONE, _FRAMES, _LARGEST = 8, 4, 40, 1 << 18
_IDS, _MASK = ("input_ids", "ids", "idx", "tokens", "x"), "attention_mask"


class OwnDecoding:
    """Told of forwards without gradients. Where the next one is given the same rows and one token more, the first token that was written
    is held against what the model says of some of the padded rows, alone and without their padding."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._before: tuple[Any, Any, list[int]] | None = None  # ids, how long each row is without padding, what follows its last place
        self._loops = 0
        self._further = False

    def ran(self, call: RootCall) -> None:
        """A model has answered in an evaluation."""
        if self._loops >= _LOOPS:
            return
        given = torch_batches.named(call.module, call.args, call.kwargs)
        ids, mask = next((given[name] for name in (*_IDS, *given) if _are_ids(given.get(name))), None), given.get(_MASK)
        before, self._before = self._before, None
        if ids is None:
            return
        follows = before is not None and ids.shape[0] == before[0].shape[0] and ids.shape[1] == before[0].shape[1] + 1 and bool(
            (ids[:, :-1] == before[0]).all())
        if before is not None and follows and not self._further:
            self._goes_on(call, before, ids[:, -1].tolist(), masked=mask is not None)
        self._further = follows
        lengths = self._lengths(call.module, ids, mask)
        output = self._watch.losses.output_of([call])
        if lengths is not None and output is not None and output.dim() == 3 and output.shape[:2] == ids.shape:
            self._before = ids.detach().clone(), lengths, output[:, -1].argmax(-1).tolist()

    def _lengths(self, module: Any, ids: Any, mask: Any) -> Any:
        """Of each row; None where nothing tells its padding, or the model is no decoder alone."""
        config = getattr(module, "config", None)
        padding = getattr(config, "pad_token_id", None)
        if getattr(config, "is_encoder_decoder", False) or ids.numel() > _LARGEST:
            return None
        masked = tensors.is_tensor(mask) and mask.shape == ids.shape
        real: Any = mask != 0 if masked else ids != (0 if padding is None else padding)
        inside: Any = (real.flip(1).cumsum(1) > 0).flip(1)  # up to the last place that is real
        return inside.sum(1) if bool((real | ~inside).all()) and bool(real.any(1).all()) else None

    def _goes_on(self, call: RootCall, before: tuple[Any, Any, list[int]], written: list[int], *, masked: bool) -> None:
        ids, lengths, greedy = before
        evaluation, width = self._watch.seen.evaluation, ids.shape[1]
        ends = [row for row, length in enumerate(lengths.tolist()) if length < width]
        if evaluation.prompts is not None and evaluation.prompts.other:
            return
        if call.module.training or not ends or len(ends) == len(written) or _in_library():
            return
        whole = [row for row in range(len(written)) if row not in set(ends)]
        if any(written[row] != greedy[row] for row in whole):
            return  # drawn, or taken from elsewhere
        self._loops += 1
        facts = PromptFacts(kind=type(call.module).__name__, rows=len(written), padded=len(ends), site=site(call.place))
        torch = self._watch.torch
        for row in ends[:_ALONE]:
            prompt = ids[row, : int(lengths[row])][None]
            more = {_MASK: torch.ones_like(prompt)} if masked else {}
            with self._watch.session.paused(), torch.no_grad():
                made = call.module(prompt, **more)
            scores: Any = getattr(made, "logits", made[0] if isinstance(made, tuple) else made)
            facts.alone += 1
            facts.other += int(scores[0, -1].argmax()) != written[row]
        evaluation.prompts = facts


def _are_ids(value: Any) -> bool:
    if not tensors.is_tensor(value) or value.dim() != 2 or value.is_floating_point():
        return False
    return bool(value.shape[1] > 1) and tensors.readable(value)


def _in_library() -> bool:
    """Whether `generate` of transformers does this."""
    frame: Any = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        if frame.f_code.co_name == "generate" and "transformers" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
