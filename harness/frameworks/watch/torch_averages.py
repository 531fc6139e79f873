"""Averages of a PyTorch model's weights that answer in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import averages, tensors, torch_unmeasured

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ASKED = 6


class Averages(averages.Averages):
    """Told of every model that runs; asks the model itself what an average of it was asked."""

    def __init__(self, watch: TorchWatcher) -> None:
        super().__init__(lambda module: list(module.parameters()), _some)
        self._watch = watch
        self._times = 0

    def ran(self, call: RootCall) -> None:
        """A model has run."""
        met = None if call.grad else self.asked(call.module, lambda: call.place)
        if met is not None and call.module is not met.followed.model and self._times < _ASKED:
            self._times += 1
            self._watch.session.safely("the model itself", self._ask, call, met)

    def _ask(self, call: RootCall, met: averages.Met) -> None:
        model, torch = met.followed.model, self._watch.torch
        if not tensors.is_tensor(call.output) or call.output.ndim < 1:
            return
        with self._watch.session.paused(), torch.no_grad(), torch.random.fork_rng(devices=[]):
            training = [part for part in model.modules() if part.training]
            try:
                model.eval()
                told = model(*call.args, **call.kwargs)
            finally:
                for part in training:
                    part.training = True
            met.rows, _, met.changed = torch_unmeasured.answered_otherwise(call.output, told)

    def finish(self) -> None:
        """The training is over, or is not watched any longer."""
        session, seen = self._watch.session, self._watch.seen
        cut = session.stopping is not None or seen.truncated_at is not None
        planned = (seen.optimizer.training_steps or seen.optimizer.planned_steps) if seen.optimizer is not None else None
        seen.evaluation.average = self.facts(session.script, cut=cut, planned=planned, whole=seen.truncated_at)


def _some(weight: Any, most: int) -> averages.Array | None:
    flat = weight.detach().reshape(-1)
    return tensors.array(flat[::max(1, len(flat) // most)][:most])
