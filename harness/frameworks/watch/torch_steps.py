"""Backward passes and optimizer steps: losses, gradients, rates, what a step does to the weights."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import OptimizerFacts
from harness.checks.training_facts import StepFacts
from harness.frameworks.watch import tensors, torch_graph, torch_inplace, trees
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_asked import AskedAbout
from harness.frameworks.watch.torch_clipping import Clipping
from harness.frameworks.watch.torch_optimizer import Optimizer
from harness.frameworks.watch.torch_zeroing import Zeroing

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_MEASURED = 30
_SAMPLE = 4096
_SAMPLED = 8
_LABELS = 256
_UNSTEPPED = 400
_SOME = 10  # steps that a training has at least


class Steps:
    """Hooks `Tensor.backward`, `torch.autograd.backward`, `Optimizer.step`, `zero_grad`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._torch = watch.torch
        self._inside = False
        self._optimizers: dict[int, Optimizer] = {}
        self.main: Optimizer | None = None
        self.stepping: list[Optimizer] = []
        self.clipping = Clipping(watch)
        self.steps = 0
        self.backwards, self._asked_about = 0, AskedAbout()
        self._since = 0
        self._late: list[tuple[Any, str, Any]] = []
        self._last: float | None = None
        self._aside = False
        self._within: list[int] = []
        self._shared = 0
        self.zeroing = Zeroing(watch)

    def attach(self) -> None:
        torch, session = self._torch, self._watch.session
        from torch.optim import optimizer

        session.patches.replace(torch.Tensor, "backward", self._wrap_backward)
        session.patches.replace(torch.autograd, "backward", self._wrap_backward)
        session.patches.replace(torch.autograd, "grad", self._wrap_grad)
        session.patches.replace(optimizer.Optimizer, "__init__", self._wrap_init)
        session.patches.replace(optimizer.Optimizer, "zero_grad", self._wrap_zero)
        session.patches.replace(torch.nn.Module, "zero_grad", self._wrap_zero)
        self.clipping.attach()
        for hook in (optimizer.register_optimizer_step_pre_hook(self._before_step),
                     optimizer.register_optimizer_step_post_hook(self._after_step)):
            session.patches.calling(hook.remove)

    # Construction, zeroing

    def _wrap_init(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            try:
                original(optimizer, *args, **kwargs)
            except ValueError:
                if session.active:
                    session.safely("an optimizer without weights", self._watch.models.never_ran)
                raise
            if session.active:
                session.safely("an optimizer's construction", self._built, optimizer)

        return __init__

    def _built(self, optimizer: Any) -> None:
        place = self._watch.session.sites.place(skip=optimizer)
        self._optimizers[id(optimizer)] = Optimizer(optimizer, place, modules=self._watch.calls.count)
        self._watch.session.site("optimizer", site(place))

    def _wrap_zero(self, original: Any) -> Any:
        session = self._watch.session

        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and "zero_grad" not in self._watch.seen.sites:
                session.safely("zero_grad", session.site, "zero_grad")
            if session.active:
                session.safely("zero_grad", self.zeroing.called)
            with self._watch.tape.aside():
                return original(owner, *args, **kwargs)

        return zero_grad

    # Backward

    def _wrap_backward(self, original: Any) -> Any:
        session = self._watch.session

        def backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside or not session.active:
                return original(loss, *args, **kwargs)
            single = self._torch.is_tensor(loss)
            if single and session.safely("a backward pass", self._by_inputs, loss):
                self._inside = True
                try:
                    return original(loss, *args, **kwargs)
                finally:
                    self._inside = False
            self._inside = True
            try:
                if single:
                    session.safely("a backward pass", self._before_backward, loss)
                result = original(loss, *args, **kwargs)
            except RuntimeError as error:
                session.safely("what was changed in place", torch_inplace.find, self._watch, error, self._watch.tape.entries)
                raise
            finally:
                self._inside = False
            session.safely("a backward pass", self._after_backward, loss if single else None)
            return result

        return backward

    def _wrap_grad(self, original: Any) -> Any:
        session = self._watch.session

        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(outputs, inputs, *args, **kwargs)
            if session.active and not self._inside and not kwargs.get("create_graph") and self._torch.is_tensor(outputs):
                session.safely("gradients by hand", self._by_hand, outputs, inputs)
                session.safely("a derivative", self._watch.tape.derivative, outputs, inputs, found)
            return found

        return grad

    def _by_hand(self, loss: Any, inputs: Any) -> None:
        """Gradients of weights, asked for without `backward()`: where there is no optimizer, the script will change these itself."""
        if self._optimizers:
            return
        self._unstepped(loss)
        if self._asked_about.weights(self._torch, inputs):
            self._watch.session.training_begins()
            self._watch.session.reach("backward")
            self.backwards += 1
            self._watch.pending.calls.clear()
            self._watch.tape.clear()

    def _by_inputs(self, loss: Any) -> bool:
        """Whether a loss goes backward to inputs only, since for the time being no weight of a model or an optimizer takes part: what is
        drawn from an energy, or a picture that is to fool a model."""
        pending = self._watch.pending
        if not self._optimizers or not loss.requires_grad or not pending.calls:
            return False
        if any(weight.requires_grad for weight in pending.calls[-1].module.parameters()):
            return False
        reached = {id(leaf) for leaf in torch_graph.reached(loss)[0]}
        given = trees.leaves([(call.args, call.kwargs) for call in pending.calls], self._torch.is_tensor)
        if not any(id(tensor) in reached for tensor in given) or any(
                id(weight) in reached for known in self._optimizers.values() for weight in known.weights()):
            return False
        # What was called before, for the loss that is to train, is still to come.
        led = pending.leading_to(loss)
        pending.calls = [call for call in pending.calls if not any(call is other for other in led)]
        if not pending.calls:
            self._watch.after_backward()
        return True

    def _before_backward(self, loss: Any) -> None:
        self._back()
        self._within = []
        self.zeroing.going_back()
        self.backwards += 1
        if self.steps < _MEASURED:
            for known in self._optimizers.values():
                # Gradients that were zero at the start of any backward pass since the last step have been zeroed; the smallest tells.
                # Elsewhere than on the CPU the smallest is kept on the device and read at the end.
                if not isinstance(known.zeroed, float) or known.zeroed > 0:
                    norm = self.norm_of_gradients(known.weights())
                    if self._torch.is_tensor(norm):
                        known.zeroed = norm if not self._torch.is_tensor(known.zeroed) else self._torch.minimum(known.zeroed, norm)
                    elif isinstance(norm, float):
                        known.zeroed = norm if not isinstance(known.zeroed, float) else min(known.zeroed, norm)
                        if norm == 0:  # what went backward before is another optimizer's, or was thrown away
                            known.losses = []
        self._watch.before_backward(loss)

    def _unstepped(self, loss: Any) -> None:
        """A loss where no optimizer has stepped yet: perhaps the script changes its weights itself."""
        losses = self._watch.seen.losses_by_hand
        if not self.steps and loss.numel() == 1 and tensors.readable(loss) and len(losses) < _UNSTEPPED:
            losses.append(float(loss.detach()))

    def _after_backward(self, loss: Any) -> None:
        self._since += 1
        if loss is not None:
            self._unstepped(loss)
        plain = None if loss is None else self._watch.losses.unscaled.get(id(loss), (None, loss))[1]
        for known in self._optimizers.values():
            known.backwards += 1
            if plain is not None and plain.numel() == 1 and len(known.losses) < 256:
                known.losses.append(float(plain.detach()) if tensors.readable(plain) else plain.detach())
        self._watch.after_backward()

    @property
    def going_back(self) -> bool:
        """Whether a backward pass is under way: hooks of its own may take steps, each with the gradients that have come so far."""
        return self._inside

    def norm_of_gradients(self, weights: list[Any]) -> Any:
        """L2 norm over the gradients of weights: a float on the CPU, a tensor elsewhere, 0.0 where there is none."""
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        gradients = [gradient.coalesce().values() if gradient.is_sparse else gradient for gradient in gradients]
        if not gradients:
            return 0.0
        if gradients[0].device.type not in ("cpu", "cuda"):
            return None
        with self._torch.no_grad(), self._watch.session.paused():
            norms = self._torch._foreach_norm(gradients)
            total = self._torch.linalg.vector_norm(self._torch.stack([norm.float().to(norms[0].device) for norm in norms]))
        return float(total) if tensors.readable(total) else total

    # Steps

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._watch.session.active:
            self._within.append(id(optimizer))
            if self._within.count(id(optimizer)) > 1:
                return  # a subclass whose step calls its parent's: one step, not two
            # `args` begins with the optimizer itself; a closure is the script's own way from model to loss (accelerate passes None).
            if all(given is None for given in [*args[1:2], kwargs.get("closure")]):
                self._aside = self._watch.tape.suspend() or self._aside
            if self._watch.session.safely("another training", self._repeats, optimizer):
                self._watch.repeated()
            self._watch.session.safely("a step", self._prepare, optimizer)

    def _repeats(self, optimizer: Any) -> bool:
        """Whether a model like the one that was trained for some steps, and not that one itself, begins its training."""
        main, known = self.main, self._known(optimizer)
        if main is None or main.steps < _SOME or not self._watch.session.trainings.repeats(optimizer, lambda: _shapes(known.weights())):
            return False
        return {*map(id, main.weights())}.isdisjoint(map(id, known.weights()))

    def _back(self) -> None:
        """The tape goes on after a step, also after one that raised."""
        if self._aside:
            self._aside = False
            self._watch.tape.resume()

    def _known(self, optimizer: Any) -> Optimizer:
        if id(optimizer) not in self._optimizers:
            self._optimizers[id(optimizer)] = Optimizer(optimizer, None)
        return self._optimizers[id(optimizer)]

    def _prepare(self, optimizer: Any) -> None:
        watch = self._watch
        watch.session.reach("step")
        if "step" not in watch.seen.sites:
            watch.session.site("step")
        known = self._known(optimizer)
        watch.session.trainings.stepped(optimizer, lambda: _shapes(known.weights()))
        if watch.in_full and not any(known is other for other in self.stepping):
            self.stepping.append(known)
        if self.main is None:
            self.main = known
            self._describe(known)
        if known is self.main and self.steps == 0:
            watch.models.before_first_step(known)
        if known is self.main and self.steps < _MEASURED:
            known.before = self._samples(known)
        watch.phases.about_to_step(known)
        if known is self.main and watch.in_full:
            known.norm = self.norm_of_gradients(known.weights())
            watch.models.about_to_step(known.norm)
        self.zeroing.about_to_step(known)

    def _describe(self, known: Optimizer) -> None:
        group = known.optimizer.param_groups[0]
        betas, rates = group.get("betas") or (None, None), [_number(group["lr"]) for group in known.optimizer.param_groups]
        self._watch.seen.optimizer = OptimizerFacts(
            kind=type(known.optimizer).__name__, learning_rate=rates[0], learning_rates=[rate for rate in rates if rate is not None],
            momentum=_number(group.get("momentum", betas[0])), second_momentum=_number(betas[1]),
            weight_decay=_number(group.get("weight_decay")), site=site(known.place),
            clipping=self.clipping.limit[1] if self.clipping.limit else None)

    def _samples(self, known: Optimizer) -> list[tuple[Any, Any]]:
        weights = sorted((weight for weight in known.weights() if weight.grad is not None), key=lambda weight: -weight.numel())[:_SAMPLED]
        return [(weight, self._sample(weight)) for weight in weights if tensors.readable(weight)]

    def _sample(self, weight: Any) -> Any:
        flat = weight.detach().reshape(-1)
        return flat[:: max(1, flat.numel() // _SAMPLE)][:_SAMPLE].clone()

    def _after_step(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        session = self._watch.session
        if id(optimizer) in self._within:
            self._within.remove(id(optimizer))
        if id(optimizer) in self._within:
            return
        self._back()
        if not session.active:
            return
        known = self._known(optimizer)
        known.steps += 1
        self._watch.evaluations.stepped(known.weights())
        if known is self.main:
            session.safely("a step", self._record, known)
        elif self.main is not None:
            self._watch.probes.other_stepped(alone=self._since > 0)
            if self._watch.seen.later is not None:
                session.enough("enough steps")  # the first training is over, and this one goes nowhere
        known.losses, known.backwards, known.zeroed = [], 0, None
        # Optimizers that step one after the other, after a single loss, share it.
        self._shared = self._since or self._shared
        known.own_loss = known.own_loss or self._since > 0 or self._shared > 1
        self._since = 0
        self._watch.tape.first_cut = None  # the step's own
        if known is self.main:
            self._watch.stepped()

    def _record(self, known: Optimizer) -> None:
        watch = self._watch
        self.steps += 1
        if self.steps == 1:
            watch.models.after_first_step(known)
        bad = any(isinstance(loss, float) and not math.isfinite(loss) for loss in known.losses)
        if not watch.in_full and not (bad and watch.patience.goes_on):
            return
        now = time.perf_counter()
        before = known.zeroed if isinstance(known.zeroed, float) else None
        rate, rows = _number(known.optimizer.param_groups[0]["lr"]), tensors.spread(watch.data.trained_rows, _LABELS)
        facts = StepFacts(step=self.steps, backwards=known.backwards, gradients_before=before, labels=rows or None, learning_rate=rate,
                          seconds=None if self._last is None else now - self._last)
        self._last = now
        if self._torch.is_tensor(known.zeroed):
            self.later(facts, "gradients_before", known.zeroed)
        if all(isinstance(loss, float) for loss in known.losses):
            facts.loss = sum(known.losses) if known.losses else None
        else:
            self.later(facts, "loss", sum(known.losses))
        if known.norm is None or isinstance(known.norm, float):
            facts.gradient_norm = known.norm
        else:
            self.later(facts, "gradient_norm", known.norm)
        if known.before:
            change = sum(float(self._torch.sum((self._sample(weight).float() - before.float()) ** 2)) for weight, before in known.before)
            size = sum(float(self._torch.sum(before.float() ** 2)) for _, before in known.before)
            facts.update_ratio = (change / size) ** 0.5 if size > 0 else None
        known.before = []
        if facts.learning_rate is not None:
            known.rates.append(facts.learning_rate)
        watch.seen.steps.append(facts)
        watch.data.trained_rows = []

    def later(self, facts: Any, name: str, value: Any) -> None:
        """Have a number on a device that runs behind Python read when the script is over."""
        self._late.append((facts, name, value))

    def finish(self) -> None:
        """Read what had to wait for its device, and complete the optimizer's facts."""
        for facts, name, value in self._late:
            try:
                setattr(facts, name, float(value))
            except RuntimeError:
                break
        self.zeroing.finish()
        seen = self._watch.seen
        seen.models_stepped = sum(known.own_loss for known in self.stepping)
        seen.backward_without_step = self.backwards if not self.steps else max(0, self.since_last)
        if seen.optimizer is None and self._optimizers:
            only = next(iter(self._optimizers.values()))
            self._describe(only)
        if seen.optimizer is not None:
            self.clipping.finish(seen.optimizer)
        if seen.optimizer is not None and self.main is not None:
            seen.optimizer.scheduled = len(set(self.main.rates)) > 1 if self.main.rates else None
            if self.clipping.limit is not None:
                seen.optimizer.clipping = self.clipping.limit[1]

    @property
    def since_last(self) -> int:
        """Backward passes since the last step."""
        return self.main.backwards if self.main is not None else self._since

    def known_optimizers(self) -> list[Optimizer]:
        return list(self._optimizers.values())


def _shapes(weights: Iterable[Any]) -> list[Any]:
    return [weight.shape for weight in weights if weight.requires_grad]


def _number(value: Any) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)
