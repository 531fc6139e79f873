"""Calls of modules: which models run, from outside the outermost one, where they were built, and where an exception came through."""

from __future__ import annotations

import functools
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import pulls, tensors, torch_pulls, torch_recurrent, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


@dataclass
class RootCall:
    """One call of a model from outside every other model. `stack`: own frames, innermost first, until an evaluation is seen.

    `batch`: the one that its rows came in; `labels`: a whole number for each of them, where there is one. `embedded`: the parts of the
    model that gave float[rows, numbers], of a model that is given several inputs of one shape, with what they gave.
    """

    module: Any
    training: bool
    grad: bool
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    place: Place | None = None
    stack: tuple[Place, ...] = ()
    loader: Any = None
    batch: Any = None
    output: Any = None
    labels: list[Any] | None = field(default=None)
    embedded: list[tuple[Any, Any]] | None = None

_NESTED = 5
_TABLE, _PARTS = 2, 64  # axes of embeddings; parts of a model that give such
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


class Calls:
    """Wraps `nn.Module.__call__` and `nn.Module.__init__`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self.inside = False
        self._evaluates, self._before = False, 0
        self._embedded: list[tuple[Any, Any]] | None = None
        self.evaluated_at = 0  # evaluation forwards there were when `eval()` was called last
        self.put_into_evaluation: Place | None = None  # where that was
        self.ran: set[int] | None = set()
        self.recorded: set[int] = set()  # of these, with gradients on
        self._built: dict[int, tuple[Any, Place | None, int]] = {}
        self._stacks: dict[int, tuple[Place, ...]] = {}
        self.put_into_training: Place | None = None  # where `train()` was called last
        self.built_inside: Place | None = None  # the latest module that was built while a model ran
        self._switching = False
        self.count = 0  # of the modules that were built so far
        self._has_weights: dict[int, tuple[Any, bool]] = {}

    def attach(self) -> None:
        module = self._watch.torch.nn.Module
        self._watch.session.patches.replace(module, "__call__", self._wrap_call)
        self._watch.session.patches.replace(module, "__init__", self._wrap_init)
        self._watch.session.patches.replace(module, "train", self._wrap_train)
        functional = self._watch.torch.nn.functional
        for name in DROPOUTS:
            self._watch.session.patches.replace(functional, name, self._wrap_dropout)

    def _wrap_init(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active:
                session.safely("a module's construction", self._remember, module)
            original(module, *args, **kwargs)

        return __init__

    def _wrap_train(self, original: Any) -> Any:
        session = self._watch.session

        def train(module: Any, mode: bool = True) -> Any:
            if self._switching or not session.active or self.inside:
                return original(module, mode)
            self.put_into_training, self.put_into_evaluation = (session.sites.place(), None) if mode else (None, session.sites.place())
            if not mode:  # `eval()` comes this way, also that of a class that has its own
                self.evaluated_at = self._watch.seen.evaluation.forwards
                if module.training and "eval_mode" not in self._watch.seen.sites:
                    session.safely("eval()", session.site, "eval_mode")
            self._switching = True  # it calls itself for every part of a model
            try:
                return original(module, mode)
            finally:
                self._switching = False

        return train

    def _remember(self, module: Any) -> None:
        if id(module) not in self._built or self._built[id(module)][0]() is not module:
            self.count += 1
            self._built[id(module)] = (weakref.ref(module), self._watch.session.sites.place(skip=module), self.count)
            self._stacks[id(module)] = self._watch.session.sites.stack()[:_NESTED]
            if self.inside:
                self.built_inside = self.place_of(module)

    def place_of(self, module: Any) -> Place | None:
        """Where a module was built."""
        known = self._built.get(id(module))
        return known[1] if known and known[0]() is module else None

    def stack_of(self, module: Any) -> tuple[Place, ...]:
        """The script's own lines on which a module was built, the innermost first."""
        place = self.place_of(module)
        return () if place is None else (place, *self._stacks.get(id(module), ()))

    def chosen(self, module: Any, *, helped: bool = False) -> Place | None:
        """Where a module's sizes were chosen: where it was built, or of a block that a model builds in several places, this one of them.

        `helped`: also of what a helper function builds that is called in several places.
        """
        place, stack = self.place_of(module), self._stacks.get(id(module), ())
        level = stack.index(place) if place in stack else len(stack)
        while level + 1 < len(stack) and (stack[level][2] == stack[level + 1][2] == "__init__"
                                          or (helped and not stack[level][2].startswith("<"))):
            outer = {other[at + 1:at + 2] for other in self._stacks.values() for at in range(len(other)) if other[at] == stack[level]}
            if len(outer) < 2:
                break
            level += 1
            place = stack[level]
        return place

    def built_after(self, module: Any, count: int) -> bool:
        """Whether a module was built when there were so many already."""
        known = self._built.get(id(module))
        return known is not None and known[0]() is module and known[2] > count

    def all_built(self) -> list[Any]:
        """The modules that were built since watching began and still live, oldest first."""
        return [module for ref, *_ in self._built.values() if (module := ref()) is not None]

    def is_model(self, module: Any) -> bool:
        """Whether a module has weights; losses, activations and the like have none and are looked through."""
        known = self._has_weights.get(id(module))
        if known is None or known[0]() is not module:
            has = next(iter(module.parameters()), None) is not None
            # A lazy or still empty container may get weights later, so only a yes is kept.
            known = (weakref.ref(module), has)
            if has:
                self._has_weights[id(module)] = known
        return known[1]

    def _wrap_call(self, original: Any) -> Any:
        session = self._watch.session

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self.inside:
                self._note(module)
                if self._evaluates and module.training and session.active and "Dropout" in type(module).__name__:
                    session.safely("a layer that drops", self._drops, module)
                if type(module).__name__ == "MultiheadAttention" and session.active:
                    session.safely("a mask of an attention layer", self._watch.key_masks.ran, args, kwargs)
                if hasattr(type(module), "base_model_prefix") and session.active:
                    session.safely("a model inside another", self._watch.masks.ran, module, args, kwargs)
                try:
                    made = original(module, *args, **kwargs)
                except BaseException as error:
                    self._at_fault(module, args, kwargs, error)
                    raise
                if self._embedded is not None and getattr(made, "ndim", 0) == _TABLE and len(self._embedded) < _PARTS:
                    self._embedded.append((module, made))
                if type(module).__name__ in torch_recurrent.KINDS and session.active:
                    session.safely("the state of a cell", self._watch.cut_states.ran, module, args, kwargs, made)
                return made
            if not session.active or not self.is_model(module):
                return original(module, *args, **kwargs)
            return self._root(original, module, args, kwargs)

        return __call__

    def _wrap_dropout(self, original: Any) -> Any:
        """A layer hands its mode on, as does who drops on purpose; who leaves it out takes the default, which is to drop."""
        watch = self._watch

        @functools.wraps(original)
        def dropout(*args: Any, **kwargs: Any) -> Any:
            untold = len(args) < 3 and "training" not in kwargs
            if untold and self._evaluates and watch.session.active and watch.seen.evaluation.dropped is None:
                watch.seen.evaluation.dropped = watch.session.sites.here()
            return original(*args, **kwargs)

        return dropout

    def _drops(self, module: Any) -> None:
        """A layer that is built while the model answers is new, and so in training mode, whatever the mode of the model."""
        evaluation = self._watch.seen.evaluation
        if evaluation.dropped is None and getattr(module, "p", 0.0) > 0 and self.built_after(module, self._before):
            evaluation.dropped, evaluation.dropped_anew = site(self.place_of(module)), True

    def _note(self, module: Any) -> None:
        """A module runs, with gradients on or off."""
        if self.ran is not None:
            self.ran.add(id(module))
            if self._watch.torch.is_grad_enabled():
                self.recorded.add(id(module))

    def _root(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        watch = self._watch
        session = watch.session
        call = RootCall(module, bool(module.training), watch.torch.is_grad_enabled(), args, kwargs)
        watch.before_root(call)
        self._note(module)
        if call.grad and pulls.is_due(watch.steps.steps + 1) and session.safely("inputs", torch_pulls.of_one_shape, args, kwargs):
            call.embedded = self._embedded = []
        suspended = watch.tape.suspend()
        self.inside, self._before = True, self.count
        self._evaluates = not call.training and not call.grad and bool(watch.steps.steps)
        try:
            output = original(module, *args, **kwargs)
        except BaseException as error:
            self._at_fault(module, args, kwargs, error, root=module)
            raise
        finally:
            self.inside = self._evaluates = False
            self._embedded = None
            if suspended:
                watch.tape.resume()
        call.output = output
        if call.grad and self.ran is not None and not any(tensor.requires_grad for tensor in trees.leaves(output, tensors.is_tensor)):
            self.recorded -= {id(inner) for inner in module.modules()}  # frozen, and nothing that learns lies before it
        session.safely("a forward pass", watch.after_root, call)
        return output

    def _at_fault(self, module: Any, args: Any, kwargs: Any, error: BaseException, root: Any = None) -> None:
        session = self._watch.session
        if not session.active:
            return
        known = session.module_at_fault
        with session.quiet("a module's exception"):
            if known.get("error") is not error:
                given = [*args, *kwargs.values()]
                known.clear()
                known.update(error=error, target=module, built=self.chosen(module),
                             module=f"{type(module).__name__}({_arguments(module)})",
                             inputs=[fact for value in given if (fact := tensors.facts(value)) is not None])
            if root is not None and self._elsewhere(root, args, kwargs):
                known["called"] = session.sites.place()
            if root is not None and known.get("target") is not None:
                name = next((name for name, found in root.named_modules() if found is known["target"]), "")
                known["module"] = f"{name or 'model'}: {known['module']}"
                known["target"] = None

    def _elsewhere(self, root: Any, args: Any, kwargs: Any) -> bool:
        """Whether a model is handed a tensor on a device where none of its weights lie; a number has no place of its own."""
        devices = {parameter.device for parameter in root.parameters()}
        given = trees.leaves((args, kwargs), tensors.is_tensor)
        return any(tensor.dim() and tensor.device not in devices for tensor in given)


def _arguments(module: Any) -> str:
    return str(module.extra_repr())[:120]
