"""What PyTorch really does in a script: batches, losses, steps and evaluations, seen through its own hooks.

Nothing is read from a device that runs asynchronously (`cuda`, `lazy`) until the script is over: reading would wait for the device
and so move the very error that is being watched.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import wrapt

from harness.frameworks.events import Emit

_AHEAD = 64


class TorchObserver:
    """Emits `step` {step, loss, labels} and `evaluation` {rows, correct, labels, predicted} events."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._depth = 0
        self._step = 0
        self._labels: list[int] = []
        self._waiting: deque[list[int] | None] = deque()  # of the loader that was asked last
        self._losses: list[Any] = []
        self._late: list[tuple[int, Any]] = []
        self._evaluated: dict[str, Any] = {}
        self._root: Any = None
        self._logits: Any = None

    def attach(self) -> None:
        """Hook torch. Called once, when the script has imported it."""
        import torch
        from torch.nn.modules import module as hooks
        from torch.optim.optimizer import register_optimizer_step_post_hook
        from torch.utils.data import dataloader

        self._torch = torch
        hooks.register_module_forward_pre_hook(self._enter)
        hooks.register_module_forward_hook(self._leave, with_kwargs=True, always_call=True)
        register_optimizer_step_post_hook(self._stepped)
        wrapt.wrap_function_wrapper(torch.Tensor, "backward", self._backward)
        wrapt.wrap_function_wrapper(dataloader._BaseDataLoaderIter, "__next__", self._next_batch)

    def _next_batch(self, wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        # What one loop has fetched and never used is nothing that another one has to do with.
        self._waiting = vars(instance).setdefault("__waiting__", deque(maxlen=_AHEAD))
        batch = wrapped(*args, **kwargs)
        self._waiting.append(self._labels_of(batch))
        return batch

    def _labels_of(self, batch: Any, devices: tuple[str, ...] = ("cpu",)) -> list[int] | None:
        found = None
        if hasattr(batch, "keys"):
            found = next((batch[key] for key in ("labels", "label") if key in batch), None)
        elif isinstance(batch, list | tuple) and len(batch) > 1:
            found = batch[-1]
        if isinstance(found, self._torch.Tensor) and found.device.type in devices and found.dim() == 1 and not found.is_floating_point():
            return list(found.tolist())
        return None

    def _enter(self, module: Any, _args: Any) -> None:
        if self._depth == 0:
            self._root = module
        self._depth += 1

    def _leave(self, module: Any, _args: Any, kwargs: Any, output: Any) -> None:
        self._depth -= 1
        if self._depth:
            return
        # A loader may be a batch or more ahead of the model (accelerate is), so the model's own arguments go first.
        waiting = self._waiting.popleft() if self._waiting else None
        # An evaluation is waited for anyway, see `_evaluate`.
        devices = ("cpu",) if self._torch.is_grad_enabled() else ("cpu", "cuda")
        labels = self._labels_of(kwargs, devices) or waiting or []
        logits = getattr(output, "logits", None)
        if module.training and self._torch.is_grad_enabled():
            self._logits = logits
            self._labels += labels
        elif logits is not None and labels and not self._torch.is_grad_enabled():
            self._evaluate(logits, labels)

    def _evaluate(self, logits: Any, labels: list[int]) -> None:
        if logits.dim() != 2 or len(logits) != len(labels) or logits.device.type == "lazy":
            return
        if not self._evaluated:
            self._evaluated = {"labels": [], "predicted": []}
        self._evaluated["labels"] += labels
        self._evaluated["predicted"] += logits.detach().argmax(-1).tolist()

    def _backward(self, wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        self._flush_evaluation()
        if instance.numel() == 1:
            loss = instance.detach()
            self._losses.append(loss.item() if loss.device.type == "cpu" else loss)
        return wrapped(*args, **kwargs)

    def _stepped(self, _optimizer: Any, _args: Any, _kwargs: Any) -> None:
        self._step += 1
        known = [loss for loss in self._losses if isinstance(loss, float)]
        late = [loss for loss in self._losses if not isinstance(loss, float)]
        loss = sum(known) if known and not late else None
        if late:
            self._late.append((self._step, late))
        fields: dict[str, Any] = {"step": self._step, "loss": loss, "labels": self._labels}
        if loss is not None and not math.isfinite(loss):
            fields["nan_labels"] = self._nan_labels()
        self._emit("step", **fields)
        self._losses, self._labels = [], []

    def _nan_labels(self) -> list[int] | None:
        logits, labels = self._logits, self._labels
        if logits is None or logits.dim() != 2 or len(logits) != len(labels):
            return None
        bad = ~self._torch.isfinite(logits.detach()).all(-1)
        return [label for label, is_bad in zip(labels, bad.tolist(), strict=True) if is_bad]

    def _flush_evaluation(self) -> None:
        if self._evaluated:
            self._emit("evaluation", source="forward", **self._evaluated)
            self._evaluated = {}

    def finish(self) -> None:
        """The script is over: hand in what had to wait, and the state of the model."""
        self._flush_evaluation()
        for step, losses in self._late:
            try:
                self._emit("late_loss", step=step, loss=sum(float(loss) for loss in losses))
            except RuntimeError:
                break
        root = self._root
        if root is None:
            return
        config = getattr(root, "config", None)
        self._emit("model", num_labels=getattr(config, "num_labels", None), nan=self._has_nan(root))
        if self._torch.cuda.is_available() and self._torch.cuda.is_initialized():
            try:
                self._emit("memory", cuda_peak_bytes=self._torch.cuda.max_memory_allocated())
            except RuntimeError:
                return

    def _has_nan(self, root: Any) -> bool | None:
        try:
            return any(bool(self._torch.isnan(p).any()) for p in root.parameters() if p.device.type != "lazy")
        except RuntimeError:
            return None
