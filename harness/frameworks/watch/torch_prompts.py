"""Prompts of different lengths that a decoder of transformers is to go on from: on which side they are padded, and what that changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.checks.text_facts import PromptFacts
from harness.frameworks.watch import tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS, _ALONE = 16, 4
_OWN = ("do_sample", "stopping_criteria", "logits_processor", "generation_config", "assistant_model")
_GIVEN = ("input_ids", "inputs", "attention_mask", "position_ids", "token_type_ids", "streamer", "past_key_values")


class Prompts:
    """Told of calls of `generate`. The first time that prompts end in padding, some of them are asked once more, alone and without it."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._calls = 0

    def asked(self, model: Any, generate: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """`made`: what `generate(model, *args, **kwargs)` has come to."""
        given: Any = kwargs.get("input_ids", kwargs.get("inputs", args[0] if args else None))
        evaluation, config = self._watch.seen.evaluation, getattr(model, "config", None)
        if self._calls >= _CALLS or not tensors.is_tensor(given) or given.dim() != 2 or getattr(config, "is_encoder_decoder", False):
            return
        mask: Any = kwargs.get("attention_mask")
        if mask is None:
            padding = kwargs.get("pad_token_id", getattr(getattr(model, "generation_config", None), "pad_token_id", None))
            mask = given != padding if padding is not None else self._watch.torch.ones_like(given)
        if not tensors.is_tensor(mask) or mask.shape != given.shape or not tensors.readable(given):
            return
        self._calls += 1
        facts = evaluation.prompts
        if facts is None:
            facts = evaluation.prompts = PromptFacts(kind=type(model).__name__, site=self._watch.session.sites.here())
        ends = (mask[:, -1] == 0).nonzero().flatten().tolist()
        facts.rows, facts.padded = facts.rows + len(given), facts.padded + len(ends)
        rows: Any = made if tensors.is_tensor(made) else getattr(made, "sequences", None)
        if not ends or facts.alone or not tensors.is_tensor(rows) or len(rows) != len(given):
            return
        if model.training or any(kwargs.get(name) for name in _OWN):
            return  # what is drawn, or what keeps count, answers otherwise the second time
        rest = {name: value for name, value in kwargs.items() if name not in _GIVEN}
        for row in ends[:_ALONE]:
            prompt = given[row][mask[row] != 0][None]
            with self._watch.session.paused(), self._watch.torch.no_grad():
                again = generate(model, input_ids=prompt, attention_mask=self._watch.torch.ones_like(prompt), **rest)
            again = again if tensors.is_tensor(again) else again.sequences
            new, old = again[0, prompt.shape[1]:].tolist(), rows[row, given.shape[1]:].tolist()
            facts.alone += 1
            facts.other += any(one != other for one, other in zip(new, old, strict=False))
