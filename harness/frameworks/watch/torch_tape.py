"""How a training step makes its loss, recorded so that it can be done again.

What a script does between its models and `backward` can be anything: reshaping, indexing, its own loss. A `TorchFunctionMode` sees these
calls, one by one, without touching them. Calls of models are recorded whole. Cut back to what the loss depends on, the record can be
replayed on the same batch with other weights, which is what the probes do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import clipped, galleries, torch_graph, torch_inside, trees
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_replay import Entry, Replay, Slot
from harness.frameworks.watch.torch_tables import Tables

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SWITCHES = ("__set__", "requires_grad_")  # calls that may set a weight free
_LONGEST = 3000
_MODELS = 64
_DERIVATIVES = 200
_CLONED_BYTES = 256 << 20
_SCALING = frozenset(("mul", "__mul__", "__rmul__", "multiply", "div", "__truediv__"))


def _readings(tensor: Any) -> set[Any]:
    """What only reads a tensor's attributes: of it there are thousands in a step, and none makes or cuts a graph."""
    names = ("grad", "device", "dtype", "layout", "shape", "ndim", "requires_grad", "is_leaf", "grad_fn", "is_sparse", "is_cpu", "is_cuda",
             "is_meta", "is_quantized", "_version")
    calls = {tensor.numel, tensor.dim, tensor.size, tensor.stride, tensor.is_complex, tensor.is_floating_point}
    return calls | {getattr(tensor, name).__get__ for name in names if hasattr(tensor, name)}


class Tape:
    """Records while `on`; see the module. One entry a call; cleared after every backward pass."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._torch = watch.torch
        self.on = True
        self._mode: Any = None
        self._entries: list[Entry] = []
        self._models = 0
        self.overflown = False
        self.autocast: tuple[str, Any] | None = None
        self.cuts: list[Any] = []
        self.decided: Place | None = None  # the last hard decision in this step, or where a number without a history is given one
        self.first_cut: Place | None = None  # of a tensor that goes on as one, in this step
        self.thawed: Place | None = None  # where weights were last set free
        self._scalars: dict[int, Any] = {}
        self.carried = 0
        self._links: tuple[list[Any], list[Any]] = ([], [])  # made of old numbers before and since the last backward pass
        self._linked = False
        self._clipped = clipped.Clipped(watch.session)
        self.tables = Tables(watch.torch, watch.session.sites)
        self._derivatives: dict[int, tuple[Any, Place | None, list[Any]]] = {}  # with what they were taken by

    # The mode on torch's stack

    def attach(self) -> None:
        tape = self
        passed_over = _readings(self._torch.Tensor)
        session, decisions, unlooked = self._watch.session, self._watch.decisions, self._watch.unlooked
        ranked = self._watch.galleries

        class Recorder(self._torch.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = func(*args, **(kwargs or {}))
                if (tape.on or decisions.listening or unlooked.listening) and func not in passed_over and session.active:
                    if decisions.listening:
                        session.safely("an answer made by hand", decisions.saw, func, args, result)
                    if unlooked.listening:
                        session.safely("what becomes of an answer", unlooked.saw, func, args, kwargs, result)
                    if tape.on:
                        session.safely("recording a call", tape._saw, func, args, kwargs or {}, result)
                if getattr(func, "__name__", "") in galleries.RANKS and args and ranked.listening and session.active:
                    session.safely("a table that is ranked", ranked.saw, args[0])
                switches = getattr(func, "__name__", "") in _SWITCHES and session.active
                if switches and torch_inside.thaws(tape._torch, func, args, kwargs or {}):
                    tape.thawed = session.sites.decided(value=True)
                return result

        self._mode = Recorder()
        self._mode.__enter__()
        self._watch.session.patches.calling(self._leave)

    def _on_top(self) -> bool:
        current = self._torch.overrides._get_current_function_mode()
        return self._mode is not None and current is self._mode

    def _leave(self) -> None:
        """Take the mode off the stack, from wherever in it it is."""
        self.on = False
        self._entries, self._scalars = [], {}
        if self._mode is None:
            return
        overrides = self._torch.overrides
        above = []
        while (current := overrides._get_current_function_mode()) is not None:
            overrides._pop_mode()
            if current is self._mode:
                break
            above.append(current)
        for mode in reversed(above):
            overrides._push_mode(mode)
        self._mode = None

    def stop(self) -> None:
        """Record no more; the mode stays for what evaluations do with outputs, until `detach`."""
        self.on = False
        self.clear()
        self._scalars, self._links = {}, ([], [])

    def suspend(self) -> bool:
        """Take the mode off while a model runs, so that nothing in it is slowed; True where it has to be put back."""
        if self._on_top():
            self._torch.overrides._pop_mode()
            return True
        return False

    def resume(self) -> None:
        if self._mode is not None:
            self._torch.overrides._push_mode(self._mode)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Work that is no part of a loss."""
        suspended = self.suspend()
        try:
            yield
        finally:
            if suspended:
                self.resume()

    # Recording

    def _saw(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self._watch.steps.backwards:
            self._watch.births.prepared(function, args, kwargs, result)
        if torch_inside.freezes(self._torch, function, args, kwargs):
            self._watch.session.site("freeze", site(self._watch.session.sites.decided(value=False)))
        self.tables.saw(function, args, kwargs, result)
        if not self._torch.is_grad_enabled():
            return
        if self._derivatives:
            self._enters(function, args, result)
        if self._needs_gradient(args[0] if result is None and args else result, made=True):  # of what is written into there is no result
            if self._scalars:
                self._goes_on(args, result)
            self._add(Entry(function, args, kwargs, result, place=self._watch.session.sites.place()))
            if getattr(function, "__name__", "") in clipped.NAMES:
                self._clips(args, kwargs)
        elif torch_inside.cuts(self._torch, function, args, result):
            self.cuts = [*self.cuts[-7:], self._watch.session.sites.place()]
            if result is not None and self._torch.is_tensor(result) and self.first_cut is None:
                self.first_cut = self.cuts[-1]
        elif torch_inside.decides(self._torch, function, args) or (
                self.decided is None and torch_inside.revives(self._torch, function, args, kwargs)):
            self.decided = self._watch.session.sites.place()

    def _clips(self, args: Any, kwargs: Any) -> None:
        with self._watch.session.paused():
            given = args[0].detach().float().cpu().numpy() if args and self._torch.is_tensor(args[0]) else None
        self._clipped.clips(given, *clipped.bounds(args[1:], kwargs, ("min", "max")))

    def derivative(self, outputs: Any, inputs: Any, found: Any) -> None:
        """Derivatives by what goes into a model were taken without a graph of their own: nothing learns from them. Those of a formula, by
        which targets are made, are to teach nobody."""
        is_tensor, parameter = self._torch.is_tensor, self._torch.nn.Parameter
        by = [inputs] if is_tensor(inputs) else list(inputs)
        if not self.on or len(self._derivatives) >= _DERIVATIVES or any(isinstance(one, parameter) for one in by):
            return
        if any(isinstance(leaf, parameter) for leaf in torch_graph.reached(outputs)[0]):
            place = self._watch.session.sites.place()
            self._derivatives |= {id(one): (one, place, by) for one in found if is_tensor(one)}

    def _enters(self, function: Any, args: Any, result: Any) -> None:
        """Follow derivatives into what is made of them: where that meets what learns, a part of the loss has lost its gradient. What they
        were taken by is merely moved along them: a step by hand, at a rate that may itself be learnt."""
        if len(self._derivatives) >= _DERIVATIVES:
            return  # of some of them it is not known any more what they are made of
        given = [arg for arg in args if self._torch.is_tensor(arg)]
        _, place, by = next((self._derivatives[id(arg)] for arg in given if id(arg) in self._derivatives), (None, None, []))
        if place is None:
            return
        met = [arg for arg in given if arg.grad_fn is not None and id(arg) not in self._derivatives]
        scaled = getattr(function, "__name__", "") in _SCALING
        if not scaled and any(not any(arg is one for one in by) for arg in met):
            self._watch.session.site("derivative", site(place))
        elif (scaled or not met) and self._torch.is_tensor(result):
            self._derivatives[id(result)] = (result, place, by)

    def _goes_on(self, args: Any, result: Any) -> None:
        """The script goes on with a number of before the last backward pass. Where that came out of such a one itself, a chain grows."""
        old = [value for value in args if id(value) in self._scalars]
        if not old or not self._torch.is_tensor(result):
            return
        if any(torch_graph.comes_out_of(value.grad_fn, self._links[0]) for value in old):
            if not self._linked:
                self.carried += 1
                self._watch.session.site("carried")
            self._linked = True
        self._links[1].append(result.grad_fn)

    def _needs_gradient(self, value: Any, *, made: bool = False) -> bool:
        """Whether a gradient can flow to a value or a part of it; `made`: through it, to what it was made of."""
        if self._torch.is_tensor(value):
            return bool(value.requires_grad) and not (made and value.is_leaf)
        return isinstance(value, list | tuple) and any(self._needs_gradient(item, made=made) for item in value)

    def model_called(self, module: Any, args: Any, kwargs: Any, output: Any, place: Place | None) -> None:
        """A model was called from outside every other."""
        if self.on and self._torch.is_grad_enabled():
            self._models += 1
            if self._models > _MODELS:
                self.clear()
            if self._watch.steps.steps and "carried" not in self._watch.seen.sites and self._of_before(args, kwargs):
                self._watch.session.site("carried", site(place))
            self._add(Entry(module, args, kwargs, output, module=True, place=place))
            kind = "cuda" if self._torch.is_autocast_enabled("cuda") else "cpu"
            self.autocast = (kind, self._torch.get_autocast_dtype(kind)) if self._torch.is_autocast_enabled(kind) else None

    def _of_before(self, args: Any, kwargs: Any) -> bool:
        """Whether a model is given a tensor with a graph that was made before the last backward pass: a hidden state, a memory."""
        is_tensor = self._torch.is_tensor
        given = [tensor for tensor in trees.leaves([args, kwargs], is_tensor) if tensor.requires_grad and not tensor.is_leaf]
        made = {id(tensor) for entry in self._entries for tensor in trees.leaves(entry.result, is_tensor)} if given else set()
        return any(id(tensor) not in made for tensor in given)

    def _add(self, entry: Entry) -> None:
        if len(self._entries) >= _LONGEST:
            self.overflown = True
            return
        self._entries.append(entry)

    def clear(self) -> None:
        """Forget what was recorded: a step is over, or something else begins."""
        scalars = [entry.result for entry in self._entries if self._torch.is_tensor(entry.result) and entry.result.dim() == 0]
        self._scalars = {id(result): result for result in scalars[-20:]}
        if self._links[1]:
            self._links = (self._links[1][-8:], [])
        self._linked = False
        self._entries, self._models, self.overflown, self.cuts, self._derivatives = [], 0, False, [], {}
        self.first_cut = self.decided = None
        self.tables.clear()

    def difference(self) -> tuple[Any, Any, Place | None] | None:
        """The last subtraction of tensors of which one has a gradient: prediction, target, and where it is written."""
        for entry in reversed(self._entries):
            if getattr(entry.function, "__name__", "") in ("sub", "__sub__", "rsub", "__rsub__", "subtract"):
                sides = [side for side in entry.args if self._torch.is_tensor(side)]
                if len(sides) == 2 and sides[0].requires_grad != sides[1].requires_grad:
                    return (*(sides if sides[0].requires_grad else sides[::-1]), entry.place)
        return None

    def broadcast(self) -> tuple[Any, Any, Place | None] | None:
        """The first arithmetic in which one number a row, with a gradient, met one number a row without, and made one for every pair:
        the two, and where it is written. An axis that the script has added itself is meant."""
        for entry in self._entries:
            sides = [side for side in entry.args if self._torch.is_tensor(side)]
            if entry.module or len(sides) != 2 or not self._torch.is_tensor(entry.result):
                continue
            if sides[0].requires_grad == sides[1].requires_grad or not sides[0].numel() == sides[1].numel() > 1:
                continue
            ours, other = sides if sides[0].requires_grad else sides[::-1]
            grown = tuple(entry.result.shape) == (ours.numel(), ours.numel()) and {ours.dim(), other.dim()} == {1, 2}
            if grown and not torch_graph.axis_added(ours.grad_fn):
                return ours, other, entry.place
        return None

    @property
    def entries(self) -> list[Entry]:
        """The calls of the step that is under way."""
        return list(self._entries)

    # From a record to a replay

    def replay_of(self, loss: Any, logits: Sequence[Any] = ()) -> Replay | str:
        """The calls that the loss depends on as a replay, or why there can be none. `logits`: candidates for the
        tensor that its classes are read off, best first."""
        if self.overflown:
            return "too many calls between the model and the loss"
        if not loss.requires_grad:
            return "the loss has no gradient"
        is_tensor = self._torch.is_tensor
        needed = {id(loss)}
        chosen: list[Entry] = []
        for entry in reversed(self._entries):
            if any(id(tensor) in needed for tensor in trees.leaves(entry.result, is_tensor)):
                chosen.append(entry)
                needed.update(id(tensor) for tensor in trees.leaves([entry.args, entry.kwargs], is_tensor) if tensor.requires_grad)
        chosen.reverse()
        return self._compact(chosen, loss, logits) if chosen else "the loss was made by none of the calls that could be watched"

    def _compact(self, chosen: list[Entry], loss: Any, logits: Sequence[Any]) -> Replay | str:
        is_tensor = self._torch.is_tensor
        slots: dict[int, Slot] = {}
        constants: dict[int, Any] = {}
        weights: dict[int, Any] = {}
        spent = count = 0
        exact = True

        def keep(value: Any) -> Any:
            nonlocal spent, exact
            if not is_tensor(value):
                return value
            if id(value) in slots:
                return slots[id(value)]
            if value.requires_grad and value.is_leaf:
                weights[id(value)] = value
                return value
            if id(value) not in constants:
                exact = exact and not value.requires_grad
                spent += value.numel() * value.element_size()
                constants[id(value)] = value.detach().clone() if spent <= _CLONED_BYTES else value.detach()
            return constants[id(value)]

        entries: list[tuple[Callable[..., Any], Any, Any, list[int], bool, Place | None]] = []
        modules: list[Any] = []
        for entry in chosen:
            args, kwargs = trees.mapped(entry.args, keep), trees.mapped(entry.kwargs, keep)
            produced = []
            for tensor in trees.leaves(entry.result, is_tensor):
                slots[id(tensor)] = Slot(count)
                produced.append(count)
                count += 1
            entries.append((entry.function, args, kwargs, produced, entry.module, entry.place))
            if entry.module and not any(entry.function is module for module in modules):
                modules.append(entry.function)
        if id(loss) not in slots:
            return "the loss was made by none of the calls that could be watched"
        found = next((slots[id(tensor)] for tensor in logits if id(tensor) in slots), None)
        return Replay(self._torch, entries, slots[id(loss)].number, self.autocast, modules, list(weights.values()), exact, spent,
                      logits_slot=None if found is None else found.number)
