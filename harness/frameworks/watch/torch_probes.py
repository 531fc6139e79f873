"""Probes: what the script's own training step does when it is tried on copies of the first weights.

They run once, after the first few steps, on the batches of these steps, so that no loader is touched, and start from the weights as they
were before the first step. Everything is put back afterwards.
"""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import tensors, torch_baseline, torch_probe_trainer
from harness.frameworks.watch.torch_fit import Fits
from harness.frameworks.watch.torch_state import Frozen, Start, silent

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_tape import Replay
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS = 8
_REPLAYS = 32
_WEIGHTS = 300_000_000
_PATIENCE_S = 5.0


class Probes:
    """Collects the first training steps as replays, then runs every probe on them once."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._facts = watch.seen.probes
        self._open: list[Replay] = []
        self._steps: list[list[Replay]] = []
        self._start: Start | None = None
        self._refused: str | None = None
        self._takes_turns = False
        self._done = False

    def offer(self, loss: Any, records: list[LossRecord], calls: list[RootCall]) -> None:
        """A loss is about to go backward: keep how it was made."""
        if self._done or self._refused is not None or len(self._open) >= _REPLAYS:
            return
        watch = self._watch
        plain = watch.losses.unscaled.get(id(loss), (None, loss))[1]
        kind = plain.device.type
        if kind not in ("cpu", "cuda"):
            self._refused = f"the device {kind} is not one to probe on"
            return
        found = watch.tape.replay_of(plain, logits=records[-1].inputs if records else watch.losses.output_of(calls))
        if isinstance(found, str):
            self._refused = found
            return
        if records:
            found.target = records[-1].target.detach().clone() if tensors.is_tensor(records[-1].target) else None
            found.labels = tensors.whole_labels(found.target) if found.target is not None else None
            found.loss_name = records[-1].facts.name
        if self._start is None:
            self._begin(found)
        self._open.append(found)

    def _begin(self, first: Replay) -> None:
        held = [weight for known in self._watch.steps.known_optimizers() for weight in known.weights()]
        size = sum(weight.numel() for weight in held)
        if size > _WEIGHTS:
            self._refused = f"{size:,} weights are too many to copy"
            return
        self._start = Start(first.modules, [*held, *first.leaf_weights])

    def other_stepped(self, *, alone: bool) -> None:
        """Another optimizer than the main one stepped; `alone`: after a backward pass of its own."""
        self._takes_turns = self._takes_turns or alone

    def stepped(self) -> None:
        """The main optimizer stepped: what went backward since belongs together. Runs the probes when enough was kept."""
        if self._done:
            return
        if self._open:
            self._steps.append(self._open)
            self._open = []
        if len(self._steps) >= _STEPS or (self._steps and self._watch.session.watched_seconds > _PATIENCE_S) or self._refused is not None:
            self._run()

    def finish(self, error: BaseException | None) -> None:
        """The script is over before the probes ran: run them on what there is, unless its device or memory is gone."""
        if not self._done and (error is None or not _fatal(error)):
            self._run()
        self._watch.session.safely("the baseline", torch_baseline.measure, self._watch, self._facts)

    def _run(self) -> None:
        self._done = True
        watch = self._watch
        watch.tape.stop()
        begun = time.monotonic()
        try:
            with watch.session.paused():
                self._run_all(begun + watch.session.budget.probe_seconds)
        except Exception as error:  # noqa: BLE001 - a probe runs the script's own code, which may raise anything
            self._facts.skipped.setdefault("probes", f"{type(error).__name__}: {error}"[:300])
        self._open, self._steps, self._start = [], [], None
        self._facts.seconds = time.monotonic() - begun

    def _run_all(self, until: float) -> None:
        watch = self._watch
        torch_probe_trainer.evaluate_before_training(watch, self._start, until)
        reason = self._refused or (None if self._start is not None and self._steps else "no optimizer step was seen")
        if reason is not None or self._start is None:
            for name in ("initial_loss", "overfit", "train"):
                self._facts.skipped[name] = str(reason)
            return
        modules = list({id(module): module for step in self._steps for replay in step for module in replay.modules}.values())
        optimizers = [known.optimizer for known in watch.steps.stepping]
        frozen = Frozen(watch.torch, modules, optimizers, self._start.weights)
        fits = Fits(watch.torch, self._start, self._steps, optimizers, watch.steps.clipping, self._facts, until)
        with frozen.held(), silent(), watch.torch.enable_grad(), _default_warnings():
            watch.torch.manual_seed(0)
            fits.initial()
            fits.inputs()
            why_not = self._no_fit(optimizers)
            if why_not is not None:
                self._facts.skipped["overfit"] = self._facts.skipped["train"] = why_not
                return
            fits.fit()

    def _no_fit(self, optimizers: list[Any]) -> str | None:
        if self._takes_turns:
            return "several optimizers take turns"
        for optimizer in optimizers:
            closure = inspect.signature(type(optimizer).step).parameters.get("closure")
            if closure is not None and closure.default is inspect.Parameter.empty:
                return f"{type(optimizer).__name__} wants a closure"
        return None


def _fatal(error: BaseException) -> bool:
    text = f"{type(error).__name__} {error}"
    return any(part in text for part in ("CUDA", "CUBLAS", "AcceleratorError", "OutOfMemory", "can't allocate memory", "TorchScript interpreter"))


def _default_warnings() -> Any:
    import warnings

    return warnings.catch_warnings(action="ignore")
