"""Recurrent cells whose state has no history at any step of time: nothing tells the first steps what the later ones needed."""

from __future__ import annotations

from typing import Any

from harness.checks.training_facts import CutStateFacts
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place, site

_CELLS, _LAYERS = ("RNNCell", "GRUCell", "LSTMCell"), ("RNN", "GRU", "LSTM")
KINDS = frozenset((*_CELLS, *_LAYERS))
_FEWEST, _STEPS = 4, 8  # transitions in a step, and steps that are looked at


class CutStates:
    """Told of every call of such a module, and when a step is over."""

    def __init__(self, torch: Any, session: WatchSession) -> None:
        self._torch, self._session = torch, session
        self._last: dict[int, tuple[Any, bool]] = {}  # the numbers of a state, and whether it had a history
        self._counted: dict[int, tuple[str, int, int, Place | None]] = {}  # kind, transitions, of these without a history, where
        self._looked = 0

    def ran(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """`args`, `kwargs`: what the module was given; of layers that run along time by themselves only calls of one step count."""
        if self._looked >= _STEPS or not self._torch.is_grad_enabled():
            return
        given = args[0] if args else kwargs.get("input")
        state = _hidden(args[1] if len(args) > 1 else kwargs.get("hx"))
        made = _hidden(output if type(module).__name__ in _CELLS else output[1])
        before = self._last.get(id(module))
        if type(module).__name__ in _LAYERS and _length(module, given) != 1:
            return
        if state is not None and before is not None and state.data_ptr() == before[0].data_ptr():
            kind, moves, cut, place = self._counted.get(id(module), (type(module).__name__, 0, 0, None))
            lost = before[1] and not state.requires_grad
            self._counted[id(module)] = kind, moves + 1, cut + lost, place or (self._session.sites.place() if lost else None)
        with self._session.paused():
            self._last[id(module)] = made.detach(), bool(made.requires_grad)

    def stepped(self) -> None:
        """A backward pass has run: what came before it has no history any more, which is as it should be."""
        for kind, moves, cut, place in self._counted.values():
            if cut == moves >= _FEWEST:
                facts = self._session.observation.cut_state or CutStateFacts(kind=kind, times=moves, site=site(place))
                facts.steps += 1
                self._session.observation.cut_state = facts
        self._looked += bool(self._counted)
        self._last, self._counted = {}, {}


def _hidden(state: Any) -> Any:
    return state[0] if isinstance(state, list | tuple) and state else state


def _length(module: Any, given: Any) -> int:
    """Steps of time in one call of a layer."""
    shape = tuple(getattr(given, "shape", ()))
    if len(shape) < 2:
        return 0
    return int(shape[1] if getattr(module, "batch_first", False) and len(shape) > 2 else shape[0])
