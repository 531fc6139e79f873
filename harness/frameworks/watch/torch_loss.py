"""Loss functions: what they are given, what they say, and what a backward pass is the sum of."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import LossCall, PairedFacts
from harness.checks.model_facts import ModelFacts
from harness.frameworks.watch import (
    endings,
    fills,
    masked_mean,
    over_ends,
    tensors,
    torch_bootstrap,
    torch_graph,
    torch_pulls,
    torch_quantiles,
    torch_self_likeness,
    transitions,
    trees,
    whole_best,
)
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.weighing import Weighing

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

LOSSES = {
    "cross_entropy": "cross_entropy", "nll_loss": "nll", "binary_cross_entropy": "bce",
    "binary_cross_entropy_with_logits": "bce_with_logits", "mse_loss": "mse", "l1_loss": "l1", "smooth_l1_loss": "l1",
    "huber_loss": "l1", "kl_div": "kl", "hinge_embedding_loss": "hinge",
    "multi_margin_loss": "hinge", "multilabel_margin_loss": "hinge", "soft_margin_loss": "hinge", "margin_ranking_loss": "hinge",
    "multilabel_soft_margin_loss": "bce_with_logits", "poisson_nll_loss": "other", "gaussian_nll_loss": "other", "ctc_loss": "other",
    "cosine_embedding_loss": "other", "triplet_margin_loss": "other", "triplet_margin_with_distance_loss": "other",
}
_OF_SIGNS = ("hinge_embedding_loss", "soft_margin_loss", "margin_ranking_loss", "cosine_embedding_loss")
_FULL = 4
_READ = 1 << 20
_CALLS = 60
_PENDING = 16
_ROWS = 64
_TERM_GRADIENTS = 3
_LATER, _EACH = 12, 4


@dataclass
class LossRecord:
    """A loss call with the tensors themselves, held until its backward pass is over."""

    facts: LossCall
    function: Any
    arguments: dict[str, Any]
    inputs: Any
    target: Any
    output: Any
    node: Any
    place: Place | None


class Losses:
    """Wraps the loss functions of `torch.nn.functional`; the modules of `torch.nn` call these too."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._inside = False
        self._pending: list[LossRecord] = []
        self._late: list[tuple[LossCall, Any]] = []
        self._recorded = 0
        self._known: dict[Place, int] = {}
        self.unscaled: dict[int, tuple[Any, Any]] = {}
        self._weighing = Weighing(watch.session)

    def attach(self) -> None:
        functional = self._watch.torch.nn.functional
        for name in LOSSES:
            if hasattr(functional, name):
                self._watch.session.patches.replace(functional, name, self._wrap)
        scaler = getattr(self._watch.torch.amp, "GradScaler", None)
        if scaler is not None:
            self._watch.session.patches.replace(scaler, "scale", self._wrap_scale)

    def _wrap_scale(self, original: Any) -> Any:
        def scale(scaler: Any, outputs: Any) -> Any:
            scaled = original(scaler, outputs)
            if self._watch.session.active and tensors.is_tensor(scaled):
                self.unscaled = {id(scaled): (scaled, outputs)}
            return scaled

        return scale

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session
        name = original.__name__

        def loss_function(*args: Any, **kwargs: Any) -> Any:
            # With a function mode on the stack torch comes back through this very wrapper, so only the outer call counts.
            if self._inside or not session.active:
                return original(*args, **kwargs)
            self._inside = True
            try:
                record = session.safely("a loss call", self._begin, name, original, args, kwargs)
                output = original(*args, **kwargs)
            finally:
                self._inside = False
            if record is not None:
                session.safely("a loss value", self._end, record, output)
            return output

        return loss_function

    def _begin(self, name: str, original: Any, args: Any, kwargs: Any) -> LossRecord | None:
        watch = self._watch
        if watch.evaluating:
            return None
        if not watch.in_full:
            self._describe_later(name, original, args, kwargs)
            return None
        watch.session.reach("loss")
        bound = inspect.signature(original).bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        inputs, target = given.get("input", given.get("input1", given.get("anchor"))), given.get("target")
        watch.data.compared(target)
        place = watch.session.sites.place()
        watch.session.safely("a loss's module", watch.origins.loss)
        watch.session.safely("temperatures", watch.tempered.compared, name, given, place)
        # Facts are taken before the call, so that a call that raises has been described.
        full = self._recorded < _FULL or (inputs is not None and tensors.is_tensor(inputs) and inputs.numel() <= _READ)
        self._recorded += 1
        facts = LossCall(
            signs=name in _OF_SIGNS,
            name=LOSSES[name], inputs=tensors.facts(inputs, values=full), target=tensors.facts(target, values=True),
            reduction=_reduction(given), weighted=given.get("weight") is not None or given.get("pos_weight") is not None,
            smoothing=float(given.get("label_smoothing") or 0.0), ignore_index=given.get("ignore_index"),
            log_target=given.get("log_target"), site=site(place), step=len(watch.seen.steps) + 1)
        if inputs is not None and tensors.is_tensor(inputs) and full:
            under = torch_graph.activation_under(inputs)
            facts.softmaxed_in_model = None if inputs.grad_fn is None else under in ("softmax", "sigmoid")
            facts.cut_from = torch_graph.cut_from(inputs)
            if facts.name == "cross_entropy":
                facts.cosines = watch.session.safely("cosines", torch_graph.cosines, inputs)
        if facts.weighted:
            watch.session.safely("the weights of classes", self._weighing.called, facts.name, given, target, facts.ignore_index)
        record = LossRecord(facts, original, given, inputs, target, None, None, place)
        if facts.site is not None:
            watch.seen.sites.setdefault("loss", facts.site)
        self._pending.append(record)
        if len(self._pending) > _PENDING:
            self._pending.pop(0)
        return record

    def _describe_later(self, name: str, original: Any, args: Any, kwargs: Any) -> None:
        """A loss that only a later training asks for: the first calls of it, where it has a gradient."""
        watch = self._watch
        if len(watch.seen.later_calls) >= _LATER or not watch.torch.is_grad_enabled():
            return
        place = watch.session.sites.place()
        if place is None or self._known.get(place, 0) >= _EACH or any(site(place) == call.site for call in watch.seen.loss_calls):
            return
        bound = inspect.signature(original).bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        inputs, target = given.get("input"), given.get("target")
        if inputs is not None and tensors.is_tensor(inputs) and inputs.requires_grad and inputs.numel() <= _READ:
            self._known[place] = self._known.get(place, 0) + 1
            watch.seen.later_calls.append(LossCall(name=LOSSES[name], inputs=tensors.facts(inputs), target=tensors.facts(target),
                                                   log_target=given.get("log_target"), site=site(place), step=watch.steps.steps + 1))

    def _end(self, record: LossRecord, output: Any) -> None:
        record.output, record.node = output, output.grad_fn
        if tensors.readable(output):
            record.facts.value = float(output.detach().mean()) if output.numel() else None
        else:
            self._late.append((record.facts, output.detach().mean()))

    def commit(self, loss: Any, calls: list[RootCall]) -> list[LossRecord]:
        """The loss calls that lead to a backward pass enter the record. Returns them."""
        watch = self._watch
        plain = self.unscaled.get(id(loss), (None, loss))[1]
        used = [record for record in self._pending if record.node is not None]
        if len(watch.seen.loss_calls) < _CALLS:
            watch.seen.loss_calls += [record.facts for record in used]
        if not used and len(watch.seen.loss_calls) < _CALLS:
            self._own_or_other(plain, calls)
        first = len(watch.seen.steps) == 0
        for record in used:
            value = record.facts.value
            if first or (value is not None and not math.isfinite(value)):
                watch.session.safely("row losses", self._rows, record)
                record.facts.filler = watch.session.safely("a filler", self._filler, calls) if first else None
        if len(used) > 1 and len(watch.seen.loss_terms) < 240:
            watch.session.safely("loss terms", self._terms, plain, used)
        watch.session.safely("weights of rows", self._weighed, used)
        watch.session.safely("a mask of a mean", masked_mean.committed, watch.seen, plain, used)
        watch.session.safely("losses that stay behind", watch.strays.committed, plain, used)
        watch.session.safely("the sign of a loss", watch.signs.committed, plain, used, calls)
        watch.session.safely("a policy", watch.policy.committed, plain)
        watch.session.safely("a value", torch_bootstrap.committed, watch, plain, calls)
        watch.session.safely("pairs of embeddings", torch_pulls.committed, watch, plain, calls)
        watch.session.safely("levels of a loss", torch_quantiles.committed, watch, plain, calls)
        watch.session.safely("likenesses", torch_self_likeness.committed, watch)
        entries = watch.tape.entries if watch.own_ratios.looking else []
        with watch.session.paused():
            watch.session.safely("a ratio of a thing to itself", watch.own_ratios.committed, plain, entries)
            watch.session.safely("the end of an episode", endings.note, watch.seen, watch.session.sites, tensors.array)
            watch.session.safely("returns over ends", over_ends.note, watch.seen, watch.session.sites, tensors.array)
            watch.session.safely("transitions", transitions.note, watch.seen, watch.session.sites)
            watch.session.safely("a best value", whole_best.note, watch.seen, watch.session.sites, tensors.array)
        return used

    def _weighed(self, used: list[LossRecord]) -> None:
        """Losses of single rows that met a number a row in another shape."""
        rows = {record.output.numel() for record in used if record.output.dim()}
        pair = self._watch.tape.broadcast() if rows and self._watch.seen.paired is None else None
        if pair is not None and pair[0].numel() in rows:
            self._watch.seen.paired = PairedFacts(losses=list(pair[0].shape), weights=list(pair[1].shape), site=site(pair[2]))
        table = self._watch.tape.tables.found
        if table is not None and self._watch.seen.paired is None and not self._watch.seen.broadcasts:
            sides = [list(side) for side in table.sides]
            self._watch.seen.paired = PairedFacts(losses=sides[0], weights=sides[1], of_losses=False, site=site(table.place))

    def _own_or_other(self, loss: Any, calls: list[RootCall]) -> None:
        """A loss that no function of torch made: the model's own, or arithmetic in the script."""
        own = any(getattr(call.output, "loss", None) is not None for call in calls)
        output, target = self.output_of(calls), None
        name, place = "model" if own else torch_graph.arithmetic(loss), None
        # Whatever is made of a difference: one number a row was subtracted from one number a row.
        sides = None if own else self._watch.tape.broadcast() or self._watch.tape.difference()
        if sides is not None and (name in ("mse", "l1") or sides[0].numel() == sides[1].numel() > 1):
            output, target, place = sides
        facts = LossCall(name=name, inputs=tensors.facts(output) if output is not None else None, target=tensors.facts(target),
                         site=site(place) or self._watch.seen.sites.get("backward"), step=len(self._watch.seen.steps) + 1,
                         reduction="mean" if loss.grad_fn is not None and loss.grad_fn.name().startswith("Mean") else None)
        if tensors.readable(loss) and loss.numel() == 1:
            facts.value = float(loss.detach())
        self._watch.seen.loss_calls.append(facts)

    def output_of(self, calls: list[RootCall]) -> Any:
        """The first floating tensor that the last model gave: its `logits`, else the first part."""
        for call in reversed(calls):
            logits = getattr(call.output, "logits", None)
            if tensors.is_tensor(logits):
                return logits
            found = trees.leaves(call.output, tensors.is_tensor)
            floats = [tensor for tensor in found if tensor.is_floating_point() and tensor.dim() > 0]
            if floats:
                return floats[0]
        return None

    def _rows(self, record: LossRecord) -> None:
        """The losses of single rows, by the same function without its reduction."""
        if "reduction" not in record.arguments or not tensors.readable(record.output) or record.inputs.numel() > 1 << 22:
            return
        given = {**record.arguments, "reduction": "none", "size_average": None, "reduce": None}
        given = {name: value for name, value in given.items() if name in record.arguments}
        with self._watch.session.paused(), self._watch.torch.no_grad():
            rows = record.function(**given)
            rows = rows.reshape(len(rows), -1).mean(1) if rows.dim() > 0 else rows.reshape(1)
        record.facts.row_losses = [float(value) for value in rows[:_ROWS]]
        labels = tensors.whole_labels(record.target) if tensors.is_tensor(record.target) else None
        record.facts.row_labels = (labels or [])[:_ROWS]
        record.facts.asked = tensors.class_counts(record.target) if record.facts.takes_class_ids else {}

    @staticmethod
    def _filler(calls: list[RootCall]) -> int | None:
        """The id at the ends of rows, int[rows, length], that the models of a step were given."""
        for call in calls:
            for value in trees.leaves([call.args, call.kwargs], tensors.is_tensor):
                ids = tensors.array(value) if value.dim() == 2 and not value.is_floating_point() else None
                at_end = fills.ends(ids, ids.shape) if ids is not None and ids.dtype.kind in "iu" else None
                if ids is not None and at_end is not None:
                    return int(ids[at_end][0])
        return None

    def _terms(self, loss: Any, used: list[LossRecord]) -> None:
        """The terms that one backward pass sums, each as it enters the sum; on the first steps also the gradient of each alone."""
        watch = self._watch
        known = {record.node: record for record in used}
        found, _ = torch_graph.terms_of(loss, known)
        if len(found) < 2:
            return
        grad = watch.torch.autograd.grad
        factors = grad(loss, [record.output for record in found], retain_graph=True, allow_unused=True)
        weights = [weight for optimizer in watch.steps.known_optimizers() for weight in optimizer.weights() if weight.requires_grad]
        for record, factor in zip(found, factors, strict=True):
            value = record.facts.value
            weight = float(factor.sum()) if factor is not None and tensors.readable(factor) else None
            if weight is not None and value is not None:
                value *= weight  # of an unreduced loss, whose value is a mean, the factors add up to its weight
            term = {"step": record.facts.step, "name": record.facts.name, "value": value, "factor": weight,
                    "line": record.place[1] if record.place else None}
            if len(watch.seen.steps) < _TERM_GRADIENTS and tensors.readable(loss) and weights and factor is not None:
                gradients = grad(record.output, weights, grad_outputs=factor, retain_graph=True, allow_unused=True)
                squares = [float(gradient.detach().float().pow(2).sum()) for gradient in gradients if gradient is not None]
                term["gradient_norm"] = sum(squares) ** 0.5
            watch.seen.loss_terms.append(term)

    def clear(self) -> None:
        self._pending, self.unscaled = [], {}

    def finish(self) -> None:
        """Read what had to wait for its device; calls that never went backward stand for a training that never began."""
        for facts, value in self._late:
            try:
                facts.value = float(value)
            except RuntimeError:
                break
        if not self._watch.steps.backwards and len(self._watch.seen.loss_calls) < _FULL:
            known = {id(facts) for facts in self._watch.seen.loss_calls}
            self._watch.seen.loss_calls += [record.facts for record in self._pending[:_FULL] if id(record.facts) not in known]
        self.clear()


def _reduction(given: dict[str, Any]) -> str | None:
    """The reduction as torch resolves it; the deprecated pair of flags goes before."""
    if given.get("reduce") is False:
        return "none"
    if given.get("size_average") is False:
        return "sum"
    reduction = given.get("reduction")
    return None if reduction is None else str(reduction)


def task_of(call: LossCall | None, model: ModelFacts, batches: list[Any]) -> tuple[Any, int | None]:
    """The task and its number of classes, from the loss and what it is given."""
    if call is None or call.inputs is None:
        return ("other", None) if call is not None else (None, None)
    shape = call.inputs.shape
    if call.name in ("mse", "l1"):
        return "regression", None
    if call.name in ("bce", "bce_with_logits"):
        many = len(shape) > 1 and shape[-1] > 1
        return ("multilabel" if many else "classification"), (shape[-1] if many else 2)
    if call.name in ("cross_entropy", "nll") and len(shape) >= 2:
        classes = int(shape[1])
        if model.vocabulary is not None and classes == model.vocabulary:
            return "language", classes
        return "classification", classes
    return "other", None
