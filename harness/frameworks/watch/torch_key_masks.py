"""Masks of padding the wrong way round, that attention layers are given or that a script adds to its own scores: what is real is hidden,
and the filler is read."""

from __future__ import annotations

import ast
import contextlib
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import UnmaskedFacts
from harness.frameworks.watch import filler_weights, fills, parsed, tensors, torch_contracted, trees
from harness.frameworks.watch.provenance import Text
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CALLS = 60
_MOSTLY = 0.9
_NODES, _WEIGHED = 4000, 4  # of the graph of a loss that are looked at; losses
_MASKED = "ScaledDotProduct"
_WORDS = ("src_key_padding_mask", "key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")

Array = np.ndarray[Any, Any]


class KeyMasks:
    """Told of the calls of root models and of `torch.nn.MultiheadAttention` inside them."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._given: list[Any] = []
        self._calls = self._weighed = 0

    def begins(self, call: RootCall) -> None:
        """A model is about to run."""
        self._given = trees.leaves([call.args, call.kwargs], tensors.is_tensor) if self._calls < _CALLS else []

    def ran(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An attention layer is about to run: `(query, key, value, key_padding_mask)`."""
        self._calls += 1
        mask = tensors.array(kwargs.get("key_padding_mask", args[3] if len(args) > 3 else None)) if self._calls <= _CALLS else None
        if mask is None or mask.ndim != 2:
            return
        hidden = np.asarray(np.isneginf(mask) if mask.dtype.kind == "f" else mask, dtype=bool)
        padded = next((found for given in self._given if (found := fills.ends(given, hidden.shape)) is not None), None)
        if padded is None or hidden[~padded].mean() < _MOSTLY or hidden[padded].mean() > 1 - _MOSTLY:
            return
        seen = self._watch.seen
        if seen.inverted is None:
            seen.inverted = UnmaskedFacts(kind="MultiheadAttention", site=site(_made(self._watch.session.sites.place())))
        seen.inverted.batches += 1
        seen.inverted.padded += 1
        seen.inverted.share = max(seen.inverted.share, float(padded.mean()))

    def weighs(self, loss: Any) -> None:
        """What becomes of a loss: are there weights, in the graph that it was made by, that are all the filler's?"""
        padded = self._weighed < _WEIGHED and any(fills.ends(given, tuple(given.shape[:2])) is not None for given in self._given)
        if not padded or loss.grad_fn is None:
            return
        self._weighed += 1
        share = None
        with contextlib.suppress(RuntimeError):  # what was saved in a graph is gone once a loss has gone back through it
            share = next((share for weights, axis in _weights(loss.grad_fn)
                          if (share := filler_weights.share(weights, axis, self._given)) is not None), None)
        if share is None:
            return
        seen, session = self._watch.seen, self._watch.session
        if seen.inverted is None:
            seen.inverted = UnmaskedFacts(kind="softmax", weights=True, site=site(filler_weights.hidden(session.script)))
        if seen.inverted.weights:
            seen.inverted.batches += 1
            seen.inverted.padded += 1
            seen.inverted.share = max(seen.inverted.share, share)


def _weights(node: Any) -> Iterator[tuple[Any, int]]:
    """Softmaxes in a graph, with the axis of each; of attention that is taken in one call, its mask stands for one."""
    queue, seen = deque([node]), {node}
    while queue and len(seen) < _NODES:
        node = queue.popleft()
        name = node.name()
        if name.startswith("SoftmaxBackward"):
            weights = node._saved_result
            yield weights, torch_contracted.signed(node._saved_dim, weights.dim())
        elif name.startswith(_MASKED) and (mask := getattr(node, "_saved_attn_mask", None)) is not None and mask.dim() > 1:
            yield mask.float().softmax(-1), mask.dim() - 1
        for inner, _ in node.next_functions:
            if inner is not None and inner not in seen:
                seen.add(inner)
                queue.append(inner)


def _made(place: Place | None) -> Place | None:
    """Where the mask is made that is handed over on a line; the line itself where that cannot be told."""
    if place is None or not place[0].endswith(".py"):
        return place
    text = Text(parsed.tree(place[0]))
    given = [word.value for call in text.calls(place[1]) for word in call.keywords if word.arg in _WORDS]
    steps = text.steps(given[0]) if given and not isinstance(given[0], ast.Constant) else []
    made = next((step for step in steps if step.kind == "made"), None)
    return (place[0], made.line, made.function) if made is not None else place
