"""Masks of padding that get lost: on the way to pretrained encoders inside models of the script's own, to `generate`, and to a model that
is asked after it has been trained with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import UnmaskedFacts
from harness.frameworks.watch import fills, tensors, torch_batches
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS = 200
_KEPT = 8


class Masks:
    """Told of the calls of transformers' models inside other models; wraps tokenizers and `generate`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._calls = 0
        self._padded: dict[int, tuple[Any, float]] = {}
        self._trained = 0
        self._fillers: set[int] = set()
        self._bare = fills.Bare()

    def attach(self) -> None:
        """Hook transformers' tokenizers and its `generate`."""
        session = self._watch.session
        session.when_imported("transformers.tokenization_utils_base", lambda module: session.patches.replace(
            module.PreTrainedTokenizerBase, "__call__", self._wrap_tokenizing))
        session.when_imported("transformers.generation.utils", lambda module: session.patches.replace(
            module.GenerationMixin, "generate", self._wrap_generate))

    def _wrap_tokenizing(self, original: Any) -> Any:
        session = self._watch.session

        def __call__(tokenizer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = original(tokenizer, *args, **kwargs)
            if session.active:
                session.safely("a tokenizer's rows", self._tokenized, made)
            return made

        return __call__

    def _tokenized(self, made: Any) -> None:
        """Keep token ids of which the mask says that some are padding."""
        ids, mask = made.get("input_ids"), made.get("attention_mask")
        if tensors.is_tensor(ids) and tensors.is_tensor(mask) and not bool(mask.all()):
            self._padded = dict([*self._padded.items()][-_KEPT:]) | {id(ids): (ids, float((mask == 0).float().mean()))}

    def _wrap_generate(self, original: Any) -> Any:
        session = self._watch.session

        def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                session.safely("a generation", self._generates, model, args, kwargs)
            return original(model, *args, **kwargs)

        return generate

    def _generates(self, model: Any, args: Any, kwargs: Any) -> None:
        ids: Any = next((given for given in (*args, kwargs.get("inputs"), kwargs.get("input_ids")) if tensors.is_tensor(given)), None)
        known = self._padded.get(id(ids))
        if known is None or kwargs.get("attention_mask") is not None:
            return
        config = getattr(model, "generation_config", None)
        pad, ends = (kwargs.get(name, getattr(config, name, None)) for name in ("pad_token_id", "eos_token_id"))
        ends = ends if isinstance(ends, list) else [ends]
        if isinstance(pad, int) and pad not in ends and bool((ids == pad).any()):
            return  # transformers makes the mask from the ids
        seen = self._watch.seen
        if seen.generated is None:
            seen.generated = UnmaskedFacts(kind=type(model).__name__, site=self._watch.session.sites.here())
        seen.generated.batches += 1
        seen.generated.padded += 1
        seen.generated.share = max(seen.generated.share, known[1])

    def trained(self, call: RootCall) -> None:
        """A model was trained on a batch: the ids that its mask leaves out are padding."""
        self._trained += 1
        if self._trained > _CALLS:
            return
        given = torch_batches.named(call.module, call.args, call.kwargs)
        ids: Any = given.get("input_ids")
        mask: Any = given.get("attention_mask")
        if tensors.is_tensor(ids) and tensors.is_tensor(mask) and ids.shape == mask.shape and tensors.readable(ids):
            self._fillers.update(ids[mask == 0].unique().tolist())
        elif mask is None:
            self._bare.trained(tensors.array(ids), getattr(call.module, "config", None))

    def _filled(self, ids: Any) -> tuple[Any, float] | None:
        """As a tokenizer's rows: ids that end in what was padding in training, which stands nowhere else."""
        if len(self._fillers) != 1 or not tensors.is_tensor(ids) or ids.dim() != 2 or not tensors.readable(ids):
            return None
        padded: Any = ids == next(iter(self._fillers))
        at_the_end = _run_out(padded)
        return (ids, float(padded.float().mean())) if bool(padded.any()) and bool((padded == at_the_end).all()) else None

    def asked(self, call: RootCall) -> None:
        """A model has answered outside of training: padded ids, without the mask that training came with."""
        given = torch_batches.named(call.module, call.args, call.kwargs)
        ids, config = given.get("input_ids"), getattr(call.module, "config", None)
        trained = any(call.module is root for root in self._watch.roots)
        if given.get("attention_mask") is not None or not trained or config is None or not self._watch.seen.steps:
            return
        seen = self._watch.seen
        masked = any(batch.has_attention_mask and batch.padding_masked is not False for batch in seen.batches)
        known = self._padded.get(id(ids)) or self._filled(ids)
        share = known[1] if masked and known is not None else None if masked else self._bare.filled(tensors.array(ids), config)
        if share is None:
            return
        if seen.asked is None:
            seen.asked = UnmaskedFacts(kind=type(call.module).__name__, site=site(call.place), bare=not masked)
        seen.asked.batches += 1
        seen.asked.padded += 1
        seen.asked.share = max(seen.asked.share, share)

    def ran(self, module: Any, args: Any, kwargs: Any) -> None:
        """One call. Only token ids whose padding id the model's configuration knows can be judged."""
        self._calls += 1
        config = getattr(module, "config", None)
        pad = getattr(config, "pad_token_id", None)
        if self._calls > _CALLS or not isinstance(pad, int):
            return
        given = torch_batches.named(module, args, kwargs)
        ids: Any = given.get("input_ids")
        if not tensors.is_tensor(ids) or ids.dim() != 2 or not tensors.readable(ids):
            return
        seen = self._watch.seen
        if "attention_mask" in given:
            self._covers(module, ids, given["attention_mask"], pad)
            return
        if not getattr(config, "_name_or_path", ""):
            return
        if seen.unmasked is None:
            seen.unmasked = UnmaskedFacts(kind=type(module).__name__, site=self._watch.session.sites.here())
        seen.unmasked.batches += 1
        padded: Any = ids == pad
        if bool(padded[:, -1].any()) or bool(padded[:, 0].any()):
            seen.unmasked.padded += 1
            seen.unmasked.share = max(seen.unmasked.share, float(padded.float().mean()))

    def _covers(self, module: Any, ids: Any, mask: Any, pad: int) -> None:
        """A mask that says of every position that it is text. Padding is an id at the ends of rows only, and not of the longest."""
        padded: Any = ids == pad
        at_the_end = _run_out(padded)
        if not tensors.is_tensor(mask) or mask.shape != ids.shape or not bool(mask.bool().all()) or not bool((padded == at_the_end).all()):
            return
        runs = at_the_end.sum(1)
        if not bool((runs > 1).any()) or not bool((runs == 0).any()):
            return
        seen = self._watch.seen
        if seen.unmasked is None:
            seen.unmasked = UnmaskedFacts(kind=type(module).__name__, site=self._watch.session.sites.here(), covered=True)
        if seen.unmasked.covered:
            seen.unmasked.batches += 1
            seen.unmasked.padded += 1
            seen.unmasked.share = max(seen.unmasked.share, float(at_the_end.float().mean()))


def _run_out(marks: Any) -> Any:
    """Of marks `bool[rows, length]` those with nothing unmarked behind them in their row."""
    return marks.flip(1).cumprod(1).flip(1).bool()
