"""With which sign the values of loss functions enter what goes backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import NegatedFacts
from harness.frameworks.watch import tensors, usual_losses
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS, _EVEN = 3, 1e-3


class Signs:
    """Told of every loss that goes backward, and of the calls of loss functions that may be part of it."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._looked = 0

    def committed(self, loss: Any, used: list[LossRecord], calls: list[RootCall]) -> None:
        """A loss is about to go backward. Where every call of a loss function enters it with a minus, row for row the same, it is noted."""
        seen, records = self._watch.seen, [record for record in used if record.output.requires_grad]
        if self._looked >= _STEPS:
            return
        self._looked += 1
        if not used and calls:
            self._by_hand(loss, calls[-1])
        if not records:
            return
        parts = self._watch.torch.autograd.grad(loss.sum(), [record.output for record in records], retain_graph=True, allow_unused=True)
        factors = [_factor(part) for part in parts if part is not None]
        lowest = [factor for factor in factors if factor is not None]
        if not factors or len(lowest) < len(factors) or max(lowest) >= 0:
            self._looked, seen.negated = _STEPS, None
            return
        if seen.negated is None:
            seen.negated = NegatedFacts(name=records[-1].facts.name, site=site(records[-1].place))
        seen.negated.factors.append(min(lowest))


    def _by_hand(self, loss: Any, call: RootCall) -> None:
        """A loss that no function of torch made: whether it is one of the usual ones of a model's answers, with a minus."""
        watch, seen = self._watch, self._watch.seen
        answers, value = watch.losses.output_of([call]), tensors.array(loss)
        wanted = None if call.loader is None else watch.data.labels_of(call.batch, call.loader)
        output, target = (tensors.array(side) if tensors.is_tensor(side) else None for side in (answers, wanted))
        single = value is not None and value.size == 1
        found = usual_losses.of_rows(output, target) if single and output is not None and target is not None else None
        factor = float(value.reshape(())) / found[1] if value is not None and found is not None and found[1] else 0.0
        same = seen.negated is None or abs(factor - seen.negated.factors[-1]) < _EVEN * abs(factor)
        if found is None or not factor < 0 or not same:
            self._looked, seen.negated = _STEPS, None
            return
        place = seen.sites.get("loss") or watch.session.sites.here()
        seen.negated = seen.negated or NegatedFacts(name=found[0], site=place, by_hand=True)
        seen.negated.factors.append(factor)


def _factor(part: Any) -> float | None:
    """By what the mean of a loss's rows enters the whole; None where each row does so in a way of its own."""
    found = tensors.array(part)
    if found is None or not found.size or float(found.max() - found.min()) > _EVEN * float(abs(found).max()):
        return None
    return float(found.sum())
