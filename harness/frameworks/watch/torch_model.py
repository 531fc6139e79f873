"""The model that is trained: what it is, its weights at the first step, what its graph reaches, where a NaN is born."""

from __future__ import annotations

import inspect
import itertools
import math
import re
import weakref
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import ModelFacts, ParameterFacts
from harness.frameworks.watch import tensors, torch_graph, written
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_evaluation import acts_by_mode
from harness.frameworks.watch.torch_loss import task_of

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_optimizer import Optimizer
    from harness.frameworks.watch.torch_watch import TorchWatcher

_PARAMETERS = 600
_COPIED_BYTES = 1 << 30
_LOSSES = 200
_HEAD = re.compile(r"(^|\.)(classifier|score|head|lm_head|qa_outputs|out_proj|cls|logits_proj|output|fc|pre_classifier)\b")
_GRAPH_STEPS = frozenset((1, 2, 4, 7, 11, 16, 22, 30))


class Models:
    """No hook of its own beyond `load_state_dict` and `from_pretrained`; it is told what happens by the other parts."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._torch = watch.torch
        self.model: Any = None
        self._parts: list[Any] = []
        self._names: dict[int, str] = {}
        self._loaded: set[int] = set()
        self._before: dict[int, Any] = {}
        self._graph_sizes: dict[int, int] = {}
        self._reached: set[int] | None = None
        self._tables: set[int] = set()
        self.cut_off = False  # whether the first loss reached no weight of the models that ran for it
        self._losses: list[Any] = []
        self._fresh: dict[int, bool] = {}

    def attach(self) -> None:
        session = self._watch.session
        session.patches.replace(self._torch.nn.Module, "load_state_dict", self._wrap_load)
        session.when_imported("transformers.modeling_utils", self._hook_transformers)

    def _wrap_load(self, original: Any) -> Any:
        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active:
                self._loaded.add(id(module))
            return original(module, *args, **kwargs)

        return load_state_dict

    def _hook_transformers(self, module: Any) -> None:
        session = self._watch.session

        def wrap(original: Any) -> Any:
            def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
                asked = bool(kwargs.get("output_loading_info"))
                if session.active:
                    kwargs["output_loading_info"] = True
                made = original(cls, *args, **kwargs)
                if session.active and isinstance(made, tuple):
                    model, info = made
                    self._loaded.add(id(model))
                    missing = {str(key) for key in (info or {}).get("missing_keys", ())}
                    self._fresh[id(model)] = any(_HEAD.search(key) for key in missing)
                    self._watch.restores.loaded(model)
                    return made if asked else model
                return made

            return from_pretrained

        session.patches.replace(module.PreTrainedModel, "from_pretrained", wrap)

    # The first forward and backward

    def about_to_run(self, call: RootCall) -> None:
        """A first description, so that a model which never comes through its forward pass is described too."""
        if self._watch.seen.model is None:
            self._describe([call.module])

    def _describe(self, roots: list[Any]) -> None:
        self.model = model = self._whole(roots)
        # Models that nothing holds together are described as one: the largest gives the name, all give their weights.
        self._parts = [model] if self._covers(model, roots) else roots
        kind = " + ".join(type(part).__name__ for part in self._parts)
        seen = self._watch.seen.model = ModelFacts(kind=kind, training_mode=bool(model.training))
        seen.site = site(self._watch.calls.place_of(model))
        if seen.site is not None:
            self._watch.seen.sites["model"] = seen.site
        seen.accepts = _accepted(model)
        seen.half = str((self._watch.tape.autocast or ("", ""))[1]) == "torch.float16"
        kept = list(model.named_parameters())
        self._names = {id(weight): name for name, weight in kept}
        for root in roots:
            for name, weight in root.named_parameters():
                self._names.setdefault(id(weight), f"{type(root).__name__}.{name}")
        seen.tied = sum(1 for _ in model.named_parameters(remove_duplicate=False)) > len(kept)
        inner = [module for root in self._parts for module in root.modules()]
        seasoned = {id(module) for module in inner if module in self._watch.seasoned}
        seen.pretrained = bool(seasoned) or any(id(module) in self._loaded for module in inner)
        known = [self._fresh[id(module)] for module in inner if id(module) in self._fresh]
        weighted = [module for module in model.modules() if next(module.parameters(recurse=False), None) is not None]
        last = weighted[-1] if weighted else None
        # A head outside everything that was loaded was drawn by the script.
        covered = {id(part) for module in inner if id(module) in self._loaded for part in module.modules()} | seasoned
        seen.fresh_head = any(known) or (last is not None and id(last) not in covered)
        seen.has_batch_norm = any("BatchNorm" in type(module).__name__ for module in inner)
        seen.stochastic = any(acts_by_mode(module) for module in inner)
        self._sizes(seen, model, inner)

    def _whole(self, roots: list[Any]) -> Any:
        """The smallest module that holds all that was called: scripts may call a model's parts one by one."""
        if len(roots) == 1:
            return roots[0]
        holders = [module for module in self._watch.calls.all_built() if self._covers(module, roots)]
        if holders:
            return min(holders, key=lambda module: sum(1 for _ in module.modules()))
        return max(roots, key=lambda root: sum(weight.numel() for weight in root.parameters()))

    @staticmethod
    def _covers(module: Any, roots: list[Any]) -> bool:
        inside = {id(inner) for inner in module.modules()}
        return all(id(root) in inside for root in roots)

    def _sizes(self, seen: ModelFacts, model: Any, inner: list[Any]) -> None:
        config = getattr(model, "config", None)
        if config is not None and hasattr(config, "vocab_size"):
            seen.vocabulary = getattr(config, "vocab_size", None)
            seen.num_labels = getattr(config, "num_labels", None)
            seen.problem_type = getattr(config, "problem_type", None)
            positions = getattr(config, "max_position_embeddings", None)
            if positions and getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert", "longformer"):
                positions -= (getattr(config, "pad_token_id", None) or 0) + 1  # these count positions from behind the padding id
            seen.positions = positions
            return
        tables = [(name, module) for name, module in model.named_modules() if isinstance(module, self._torch.nn.Embedding)]
        for name, table in tables:
            if "pos" in name.lower().rpartition(".")[2]:
                seen.positions = int(table.num_embeddings)
            elif seen.vocabulary is None:
                seen.vocabulary = int(table.num_embeddings)
        if config is not None:
            seen.num_labels = getattr(config, "num_labels", None)

    def backward_begins(self, loss: Any, calls: list[RootCall], records: list[LossRecord]) -> None:
        """Before the first backward passes: the model as its loss sees it; on some steps the size of the graph."""
        watch = self._watch
        step = len(watch.seen.steps) + 1
        if len(self._losses) < _LOSSES:
            self._losses.append(weakref.ref(loss))
        if watch.steps.backwards <= 1:
            self._first(loss, calls, records)
        if loss.requires_grad and step in _GRAPH_STEPS and step not in self._graph_sizes:
            variables, self._graph_sizes[step] = torch_graph.reached(loss)
            if self._reached is None:
                self._reached = {id(variable) for variable in variables}
                self.cut_off = bool(calls) and self._reached.isdisjoint(self._names)
                self._unregistered(variables, calls)

    def _first(self, loss: Any, calls: list[RootCall], records: list[LossRecord]) -> None:
        watch = self._watch
        roots: list[Any] = []
        for call in calls:
            if not any(call.module is root for root in roots):
                roots.append(call.module)
        if roots:
            self._describe(roots)
        elif watch.seen.model is None:
            watch.seen.model = ModelFacts(kind="tensors")
        seen = watch.seen.model
        assert seen is not None
        if calls:
            seen.training_mode = all(call.training for call in calls)
        output = records[-1].inputs if records else watch.losses.output_of(calls)
        if tensors.is_tensor(output):
            seen.output = tensors.facts(output)
            seen.final_activation = torch_graph.activation_under(output)
            seen.final_units = int(output.shape[-1]) if output.dim() > 1 else 1
        watch.seen.device = str(getattr(loss, "device", "cpu")).partition(":")[0]
        made = records[-1].facts if records else watch.seen.loss_calls[-1] if watch.seen.loss_calls else None
        watch.seen.task, watch.seen.classes = task_of(made, seen, watch.seen.batches)

    def _unregistered(self, variables: list[Any], calls: list[RootCall]) -> None:
        """Weights in the graph that are no parameters of the models that ran: modules kept in plain lists, bare tensors."""
        seen = self._watch.seen.model
        if seen is None or not calls:
            return
        held = {id(weight): known for known in self._watch.steps.known_optimizers() for weight in known.weights()}
        parents = {id(child): module for module in self._watch.calls.all_built() for child in module.children()}
        homes = {id(weight): (f"{type(module).__name__}.{name}", module) for module in self._watch.calls.all_built()
                 for name, weight in module.named_parameters(recurse=False)}
        for variable in variables:
            if id(variable) in self._names or id(variable) in held:
                continue
            if id(variable) in homes:
                name, module = homes[id(variable)]
                seen.unregistered.append(f"{name} {tuple(variable.shape)}")
                while id(module) in parents:  # the part of a layer was built with it; where the layer was built it was kept out of sight
                    module = parents[id(module)]
                kept = _keeper(module, calls)
                place = written.attribute(*kept, self._watch.session.sites) if kept is not None else None
                self._watch.session.noted("unregistered", place or self._watch.calls.place_of(module))
                continue
            owner = self._attribute(variable, calls)
            if owner is not None:
                seen.unregistered.append(f"{type(owner[0]).__name__}.{owner[1]} {tuple(variable.shape)}")
                place = written.attribute(type(owner[0]), owner[1], self._watch.session.sites)
                self._watch.session.noted("unregistered", place)
            elif isinstance(variable, self._torch.nn.Parameter):  # of a module that nobody keeps
                seen.unregistered.append(f"tensor {tuple(variable.shape)}")
                self._watch.session.noted("drawn_inside", self._watch.calls.built_inside)
        del seen.unregistered[40:]

    def _remember(self, name: str, module: Any) -> None:
        self._watch.session.noted(name, self._watch.calls.place_of(module))

    def never_ran(self) -> None:
        """No optimizer could be made: the model as it was built, with the layers that it keeps where `parameters()` does not look."""
        built = self._watch.calls.all_built()
        if self._watch.seen.model is not None or not built:
            return
        for module in built:
            kept = [item for key, value in vars(module).items() if key != "_modules" and isinstance(value, list | tuple | dict)
                    for item in (value.values() if isinstance(value, dict) else value)]
            hidden = [item for item in kept if isinstance(item, self._torch.nn.Module) and next(iter(item.parameters()), None) is not None]
            if hidden:
                named = [(type(item).__name__, *found) for item in hidden for found in item.named_parameters()]
                self._watch.seen.model = ModelFacts(kind=type(module).__name__, unregistered=[
                    f"{kind}.{name} {tuple(weight.shape)}" for kind, name, weight in named[:40]])
                self._remember("unregistered", hidden[0])
                self._remember("model", module)
                return
        self._describe([max(built, key=lambda module: sum(weight.numel() for weight in module.parameters()))])
        self._parameters(None)

    @staticmethod
    def _attribute(variable: Any, calls: list[RootCall]) -> tuple[Any, str] | None:
        """The module that keeps a tensor as a plain attribute, or in one, and the attribute's name."""
        return next(((module, name) for call in calls for module in call.module.modules() for name, value in vars(module).items()
                     if value is variable or (isinstance(value, list | tuple) and any(item is variable for item in value))), None)

    def backward_ended(self) -> None:
        """After the first backward pass: which weights got a gradient, in case no step ever comes."""
        seen = self._watch.seen.model
        if seen is not None and not seen.parameters and self._watch.steps.backwards == 1:
            self._parameters(None)

    # The first step

    def before_first_step(self, known: Optimizer) -> None:
        """Gradients as the first step finds them, and the weights to compare with."""
        self._parameters(known)
        weights = {id(weight): weight for weight in [*known.weights(), *self.own_weights()]}
        if sum(weight.numel() * weight.element_size() for weight in weights.values()) <= _COPIED_BYTES:
            self._before = {key: (weight, weight.detach().clone()) for key, weight in weights.items()
                            if weight.device.type in ("cpu", "cuda")}

    def own_weights(self) -> list[Any]:
        """The weights of all parts, each once."""
        return list({id(weight): weight for part in self._parts for weight in part.parameters()}.values())

    def _parameters(self, known: Optimizer | None) -> None:
        seen = self._watch.seen.model
        if seen is None:
            seen = self._watch.seen.model = ModelFacts(kind="tensors")
        weights = self.own_weights() or (known.weights() if known is not None else [])
        if weights and weights[0].device.type not in ("cpu", "cuda"):
            return  # asking anything of a lazy device would run what it holds back
        optimizers = [] if known is None else [known, *self._watch.steps.known_optimizers()]
        groups = [group["params"] for optimizer in optimizers for group in optimizer.optimizer.param_groups]
        held = None if known is None else {id(weight): number for number, group in reversed([*enumerate(groups)]) for weight in group}
        named = [(self._names.get(id(weight), ""), weight) for weight in self.own_weights()]
        own = {id(weight) for _, weight in named}
        if known is not None and self.model is None:
            named = [(f"weight {number}", one) for number, one in enumerate(known.weights())]
        owners = {id(weight): id(module) for part in self._parts for module in part.modules()
                  for weight in module._parameters.values() if weight is not None}
        # What is looked up is added, and so are places of one row for all: of zeros nothing is.
        self._tables = {id(module.weight) for part in self._parts for module in part.modules()
                        if isinstance(module, self._torch.nn.Embedding)}
        came = {facts.name: facts for facts in seen.parameters if facts.gradient_norm is not None}
        seen.parameters = [self._facts_of(name, weight, held, owners.get(id(weight))) for name, weight in named[:_PARAMETERS]]
        for facts in seen.parameters:
            if facts.gradient_norm in (None, 0.0) and facts.name in came:
                # It was zeroed between backward() and step(): the first backward pass did reach this weight.
                facts.gradient_norm, facts.used = came[facts.name].gradient_norm, True
        if known is not None and self._watch.seen.optimizer is not None and self.model is not None:
            trained = own | {id(weight) for root in self._watch.roots for weight in root.parameters()}
            strange, reached = [weight for weight in known.weights() if id(weight) not in trained], self._reached
            self._watch.seen.optimizer.held = len(known.weights()) - len(strange)
            self._watch.seen.optimizer.foreign = sum(reached is None or id(weight) not in reached for weight in strange)
            if len(strange) == len(known.weights()):
                self._watch.session.noted("rebound", self._watch.phases.made_anew(known) or written.rebound(known.place))

    def _facts_of(self, name: str, weight: Any, held: dict[int, int] | None, owner: int | None) -> ParameterFacts:
        calls = self._watch.calls
        ran, recorded = (None, None) if owner is None else (owner in (calls.ran or ()), owner in calls.recorded)
        facts = ParameterFacts(name=name, size=int(weight.numel()), trainable=bool(weight.requires_grad), recorded=recorded,
                               in_optimizer=None if held is None else id(weight) in held, group=(held or {}).get(id(weight)))
        facts.table = id(weight) in self._tables
        if not facts.table and weight.dim() > 1 and weight.shape[0] > 1:
            facts.zeros = not weight.requires_grad and tensors.readable(weight) and not bool(weight.any())
        if weight.grad is not None:
            gradient = weight.grad.coalesce().values() if weight.grad.is_sparse else weight.grad
            norm = gradient.detach().float().norm()
            if tensors.readable(weight):
                facts.gradient_norm = float(norm)
                facts.bad = not math.isfinite(facts.gradient_norm)
            else:
                self._watch.steps.later(facts, "gradient_norm", norm)
        # A module may use a part's weights without calling it; and a step from within the backward pass comes before other gradients do.
        facts.used = True if weight.grad is not None else None if self._watch.steps.going_back and ran else ran
        return facts

    def after_first_step(self, known: Optimizer) -> None:
        """What the first step did to each weight."""
        seen = self._watch.seen.model
        if seen is None:
            return
        weights = self.own_weights() or known.weights()
        for facts, weight in zip(seen.parameters, weights, strict=False):
            before = self._before.get(id(weight))
            if before is None:
                continue
            change, size = (weight.detach().float() - before[1].float()).norm(), before[1].float().norm()
            if not tensors.readable(weight):
                self._watch.steps.later(facts, "moved", change)
                self._watch.steps.later(facts, "update_ratio", change / size)
                continue
            change, size = float(change), float(size)
            facts.moved = change > 0 or not math.isfinite(change)
            facts.update_ratio = change / size if size > 0 else None
            facts.bad = facts.bad or not math.isfinite(change)
        self._before = {}
        self._watch.calls.ran = None

    def about_to_step(self, norm: Any) -> None:
        """A step is about to be taken: its gradients are looked at where they are not finite."""
        if isinstance(norm, float) and not math.isfinite(norm):
            named = [(self._names.get(id(weight), "weight"), weight) for known in self._watch.steps.stepping for weight in known.weights()]
            self._watch.births.gradients(norm, named, self._watch.probes.last_replay)

    def finish(self) -> None:
        """Growing graphs, from the sizes seen; the task, where nothing went backward; what was read late."""
        if self.model is not None and self._watch.seen.model is not None and not self._watch.seen.model.parameters:
            self._parameters(None)  # no backward pass came through
        for facts in self._watch.seen.model.parameters if self._watch.seen.model is not None else ():
            facts.moved = None if facts.moved is None else bool(facts.moved)
        if self._watch.seen.task is None and self._watch.seen.loss_calls:
            model = self._watch.seen.model or ModelFacts()
            self._watch.seen.task, self._watch.seen.classes = task_of(self._watch.seen.loss_calls[-1], model, self._watch.seen.batches)
        sizes = list(self._graph_sizes.values())
        if len(sizes) >= 4:
            growing = all(later > earlier for earlier, later in itertools.pairwise(sizes))
            self._watch.seen.memory.graph_grows = growing and sizes[-1] > 2 * sizes[0]
        kept = [loss for ref in self._losses[:-2] if (loss := ref()) is not None and loss.grad_fn is not None]
        self._watch.seen.memory.losses_kept = max(len(kept), self._watch.tape.carried)


def _accepted(model: Any) -> list[str]:
    try:
        return [name for name in inspect.signature(model.forward).parameters if name not in ("self", "args", "kwargs")]
    except (TypeError, ValueError):
        return []


def _keeper(part: Any, calls: list[RootCall]) -> tuple[type, str] | None:
    """The class of a module that keeps this one in a list, tuple or dict, where `parameters()` does not look, and the attribute's name."""
    for owner in (module for call in calls for module in call.module.modules()):
        for name, value in vars(owner).items():
            items = value.values() if type(value) is dict and not name.startswith("_") else value if isinstance(value, list | tuple) else ()
            if any(item is part for item in items):
                return type(owner), name
    return None
