"""Answers that an encoder-decoder of transformers writes, and how long those are that it is trained to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.text_facts import WrittenFacts
from harness.frameworks.watch import tensors, torch_batches
from harness.frameworks.watch.torch_decoding import OwnDecoding
from harness.frameworks.watch.torch_prompts import Prompts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_BATCHES, _CALLS = 32, 64
_LEFT_OUT = -100
_DEFAULT = 20  # tokens, where nothing was said of a length: transformers, GenerationConfig
_LENGTHS = ("max_length", "max_new_tokens", "generation_config", "stopping_criteria", "max_time", "stop_strings")


class Generations:
    """Told of training batches with `labels`; wraps `generate`. Keeps numbers only."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._wanted: list[int] = []
        self._batches = 0
        self._rows: list[tuple[int, bool]] = []
        self._facts: WrittenFacts | None = None
        self._prompts = Prompts(watch)
        self.own = OwnDecoding(watch)

    def attach(self) -> None:
        """Hook transformers' `generate`."""
        session = self._watch.session
        session.when_imported("transformers.generation.utils", lambda module: session.patches.replace(
            module.GenerationMixin, "generate", self._wrap))

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(model, *args, **kwargs)
            if session.active:
                session.safely("answers that are written", self._wrote, model, kwargs, made)
                session.safely("prompts", self._prompts.asked, model, original, args, kwargs, made)
            return made

        return generate

    def trained(self, call: RootCall) -> None:
        """A model was trained to write `labels`, int[rows, tokens]; -100 and padding are no part of them."""
        config = getattr(call.module, "config", None)
        if self._batches >= _BATCHES or not getattr(config, "is_encoder_decoder", False):
            return
        labels: Any = torch_batches.named(call.module, call.args, call.kwargs).get("labels")
        if tensors.is_tensor(labels) and labels.dim() == 2 and tensors.readable(labels):
            self._batches += 1
            kept = (labels != _LEFT_OUT) & (labels != getattr(config, "pad_token_id", None))
            self._wanted += kept.sum(1).tolist()

    def _wrote(self, model: Any, kwargs: Any, made: Any) -> None:
        """Whether rows were ended by the model or by the length. The first token of a row is the one that a decoder starts from."""
        config = getattr(model, "generation_config", None)
        ends = kwargs.get("eos_token_id", getattr(config, "eos_token_id", None))
        rows: Any = made if tensors.is_tensor(made) else getattr(made, "sequences", None)
        encoder_decoder = getattr(getattr(model, "config", None), "is_encoder_decoder", False)
        if len(self._rows) >= _CALLS * _BATCHES or ends is None or not encoder_decoder or not tensors.is_tensor(rows) or rows.dim() != 2:
            return
        written: Any = rows[:, 1:]
        ended = sum((written == end).any(1).int() for end in (ends if isinstance(ends, list) else [ends]))
        self._rows += [(written.shape[1], not bool(end)) for end in ended.tolist()]
        if self._facts is None:
            told = any(kwargs.get(name) is not None for name in _LENGTHS) or getattr(config, "max_new_tokens", None) is not None
            told = told or getattr(config, "max_length", None) not in (None, _DEFAULT)
            self._facts = WrittenFacts(kind=type(model).__name__, told=told, site=self._watch.session.sites.here())

    def finish(self) -> None:
        """Put into the evaluation's facts what was written, and what was wanted."""
        facts = self._facts
        if facts is not None and self._wanted and self._rows:
            cut = [length for length, unended in self._rows if unended]
            facts.answers, facts.cut, facts.limit = len(self._rows), len(cut), max(cut, default=0)
            facts.wanted, facts.longer = len(self._wanted), sum(length > facts.limit for length in self._wanted)
            facts.longest = max(self._wanted)
            self._watch.seen.evaluation.written = facts
