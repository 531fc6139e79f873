"""Rows of one batch of a PyTorch script: whether they influence each other inside its model, and whether padding drowns them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import PaddingFacts, RowFacts
from harness.frameworks.watch import mask_made, neighbours, shifts, tensors, torch_inside, torch_replay
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay

Outputs = Callable[[Any], list[Any]]

_LARGEST = 1 << 22
_CALLS = 2000
_SOFTMAX = ("softmax", "log_softmax", "_softmax")
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


@dataclass
class _Seen:
    """One call of torch inside a replay: its result, where the user's code made it, in which module, and the function's name."""

    result: Any
    place: Place | None
    module: str
    name: str = ""


def influence(replay: Replay, outputs: Outputs, delivered: int | None) -> RowFacts | None:
    """What one row's output owes to the other rows of its batch. `delivered`: rows in a batch of the loader, where that is known.

    None where the batch cannot be taken apart by rows: inputs or targets of another length, too few rows. A target for each token of a
    row, all in one line, will do where the loader says that the first axis is that of the rows; and an input that holds one number
    everywhere, such as a first hidden state, belongs to no row.
    """
    rows = replay.first_rows()
    target = replay.target
    given = [tensor for tensor in replay.inputs() if tensor.dim() and not _constant(tensor)]
    if rows < neighbours.LEAST or target is None or not target.dim() or any(tensor.shape[0] != rows for tensor in given):
        return None
    if target.shape[0] != rows and (rows != delivered or target.shape[0] % rows):
        return None
    plain, moved, replaced = (_arrays(outputs(change)) for change in (
        None, _taken(rows, neighbours.moved(rows)), _taken(rows, neighbours.replaced(rows))))
    return neighbours.measure(plain, moved, replaced, rows)


def _constant(tensor: Any) -> bool:
    return str(tensor.layout) == "torch.strided" and bool((tensor == tensor.flatten()[:1]).all())


def _arrays(found: list[Any]) -> list[np.ndarray[Any, Any]]:
    return [array for tensor in found if (array := tensors.array(tensor.cpu())) is not None]


def _taken(rows: int, order: list[int]) -> Callable[[Any], Any]:
    return lambda tensor: tensor[order] if tensor.dim() and tensor.shape[0] == rows else tensor


def mixing(torch: Any, replay: Replay, sites: Sites, found: RowFacts, built: Callable[[Any], Place | None]) -> None:
    """Find where rows are mixed: the first call after which the row that was kept is not what it was, and the module that makes it.

    A layer that wants the batch second is mended where it was `built`, or what it is a part of.
    """
    rows = replay.first_rows()
    if neighbours.placed(found):
        _place(torch, replay, sites, found)
        return
    # An index in the first run as well, so that both are made of the same calls.
    before = _calls(torch, replay, sites, _taken(rows, list(range(rows))))
    after = _calls(torch, replay, sites, _taken(rows, neighbours.replaced(rows)))
    for first, second in zip(before, after, strict=False):
        if first.result.shape != second.result.shape:
            break
        pair = _arrays([first.result, second.result])
        if len(pair) == 2 and neighbours.keeps(pair[0], pair[1], rows, rows - 1) is False:
            found.site, found.module, found.batch_first = site(first.place), first.module, _batch_first(replay, first.module)
            found.softmax = first.name in _SOFTMAX
            if found.batch_first is False:
                places = (built(module) for module in _around(replay, first.module))
                found.site = site(next((place for place in places if place is not None), first.place))
            return


def _place(torch: Any, replay: Replay, sites: Sites, found: RowFacts) -> None:
    """Find the first call whose result does not move with the rows: it has something else for each place of a batch."""
    rows = replay.first_rows()
    before, after = (_calls(torch, replay, sites, _taken(rows, order)) for order in (list(range(rows)), neighbours.moved(rows)))
    for first, second in zip(before, after, strict=False):
        pair = _arrays([first.result, second.result])
        if len(pair) == 2 and neighbours.moves(pair[0], pair[1], rows) is False:
            found.placed, found.site, found.module = True, site(first.place), first.module
            return


def _around(replay: Replay, module: str) -> list[Any]:
    """A module and those that it is a part of, but for the model itself."""
    parts = module.partition(": ")[0].split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    known = [dict(outer.named_modules()) for outer in replay.modules]
    return [inner[name] for name in names for inner in known if name in inner]


def lost(torch: Any, replay: Replay, sites: Sites) -> tuple[Place | None, str] | None:
    """Where the rows of a batch become all alike: the call in the user's code after the last one whose rows still differ, and the name
    of the operation that makes them so."""
    rows = replay.first_rows()
    calls = [call for call in _calls(torch, replay, sites, lambda tensor: tensor)
             if call.result.dim() and call.result.shape[0] == rows]
    calls = [call for call in calls if call.module] or calls  # a loss beyond them differs by what is wanted of each row
    differ = [number for number, call in enumerate(calls) if not all(map(neighbours.alike, _arrays([call.result])))]
    after = calls[differ[-1] + 1:] if differ else []
    return (next((call.place for call in after if call.place is not None), None), after[0].name) if after else None


def softmax_of_one(torch: Any, replay: Replay, sites: Sites) -> dict[Place, list[int]]:
    """Where the user's own code takes a softmax along an axis of length one, with the shapes that it is taken of."""
    found: dict[Place, list[int]] = {}

    def look(function: Any, args: Any, kwargs: Any, _result: Any, module: str) -> None:
        if torch_inside.name_of(function) not in _SOFTMAX or not args or not torch.is_tensor(args[0]):
            return
        axis = next((value for value in (*args[1:], kwargs.get("dim")) if type(value) is int), None)
        if axis is None or not neighbours.of_one(args[0].shape, axis):
            return
        # Not within a layer of a library's, which is given what it is given.
        place = sites.inside(torch_replay.__file__) if module.endswith("Softmax") else sites.direct()
        if place is not None:
            found.setdefault(place, list(args[0].shape))

    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run()
    return found


def softmax_twice(torch: Any, replay: Replay, sites: Sites) -> Place | None:
    """Where the first of two softmaxes is taken along one axis, where the user's own code takes the second of what the first gave."""
    given: list[tuple[Any, int, Place | None]] = []
    found: list[Place] = []

    def look(function: Any, args: Any, kwargs: Any, result: Any, module: str) -> None:
        if torch_inside.name_of(function) not in _SOFTMAX or not args or not torch.is_tensor(args[0]):
            return
        axis = next((value for value in (*args[1:], kwargs.get("dim")) if type(value) is int), None)
        if axis is None:
            return
        place = sites.inside(torch_replay.__file__)
        first = next((at for tensor, along, at in given if along == axis % args[0].dim() and tensor.shape == args[0].shape
                      and tensors.address(tensor) == tensors.address(args[0])), None)
        if first is not None and (place is not None or not module):  # outside of all modules a replay takes what the script did
            found.append(first)
        if torch_inside.name_of(function) == "softmax" and result.shape[axis] > 1:
            given.append((result, axis % result.dim(), place or replay.at))

    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run()
    return next(iter(found), None)


def ahead(torch: Any, replay: Replay, sites: Sites, change: Callable[[Any], Any], exchange: shifts.Exchange,
          built: Callable[[Any], Place | None]) -> Place | None:
    """Where later tokens first get into what is made of earlier ones: the call, or the line that `built` a layer which does so by itself.

    `change`: puts some ids of the `exchange` in the place of others.
    """
    before, after = (_calls(torch, replay, sites, one) for one in (lambda tensor: tensor, change))
    for first, second in zip(before, after, strict=False):
        pair = _arrays([first.result, second.result])
        if len(pair) == 2 and shifts.ahead(pair[0], pair[1], exchange):
            places = (built(module) for module in _around(replay, first.module))
            made = next(places, None) if shifts.set_when_made(first.module.partition(": ")[2]) else None
            return made or mask_made.of(first.place)
    return None


def _batch_first(replay: Replay, module: str) -> bool | None:
    """How a recurrent or attention layer, or the layer right around one, wants its axes; None for anything else."""
    name = module.partition(": ")[0]
    layer = next((inner for outer in replay.modules for found, inner in outer.named_modules() if (found or "model") == name), None)
    setting = getattr(layer, "batch_first", getattr(getattr(layer, "self_attn", None), "batch_first", None))
    return None if setting is None else bool(setting)


def _calls(torch: Any, replay: Replay, sites: Sites, change: Any) -> list[_Seen]:
    found: list[_Seen] = []

    def look(function: Any, _args: Any, _kwargs: Any, result: Any, module: str) -> None:
        result = result[0] if isinstance(result, tuple) and result else result
        if len(found) < _CALLS and torch.is_tensor(result) and result.is_floating_point() and 0 < result.numel() < _LARGEST:
            found.append(_Seen(result.detach().clone(), sites.inside(torch_replay.__file__), module,
                               str(getattr(function, "__name__", ""))))

    torch.manual_seed(0)
    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run(change)
    return found


def by_token(torch: Any, replay: Replay, rows: int, length: int, change: Callable[[Any], Any] | None) -> bool:
    """Whether no module makes one vector of a whole row of so many tokens, no recurrent layer reads in one direction only, and no decoder
    is given the targets one place on by the model itself. `change`: exchanges tokens; what does not change with them, a table of
    positions say, is made of no row."""
    modules = [inner for module in replay.modules for inner in module.modules()]
    recurrent = [inner for inner in modules if isinstance(inner, torch.nn.RNNBase | torch.nn.RNNCellBase)]
    if not all(getattr(inner, "bidirectional", False) for inner in recurrent) or any(
            getattr(getattr(inner, "config", None), "is_encoder_decoder", False) for inner in modules):
        return False
    made: list[Any] = []

    def look(_module: Any, _args: Any, output: Any) -> None:
        parts = output if isinstance(output, tuple) else (output,)
        made.extend(part.detach() for part in parts if torch.is_tensor(part) and part.is_floating_point()
                    and shifts.of_a_row(part.shape, rows, length))

    def run(given: Callable[[Any], Any] | None) -> list[Any]:
        made.clear()
        replay.run(given)
        return list(made)

    hooks = [inner.register_forward_hook(look) for inner in modules
             if not any(True for _ in inner.children()) and not any(inner is layer for layer in recurrent)]
    try:
        plain = run(None)
        changed = run(change) if plain and change is not None else []
    finally:
        for hook in hooks:
            hook.remove()
    return not plain or (len(plain) == len(changed) and all(map(torch.equal, plain, changed)))


def padding(torch: Any, replay: Replay, sites: Sites, outputs: Outputs) -> PaddingFacts | None:
    """What padding at the end of rows leaves of their differences, where a recurrent layer reads it: None without either."""
    given = [tensor for tensor in replay.inputs() if neighbours.in_steps(tensor.shape, floats=tensor.is_floating_point())]
    padded = neighbours.padding(given[0].cpu().numpy()) if given else None
    if padded is None or not any(isinstance(inner, torch.nn.RNNBase) for module in replay.modules for inner in module.modules()):
        return None
    rows, width = given[0].shape[:2]

    def in_front(tensor: Any) -> Any:
        fits = tensor.dim() >= 2 and tensor.shape[:2] == (rows, width)
        return tensor[torch.arange(rows)[:, None], torch.from_numpy(padded.order)] if fits else tensor

    plain, other = (neighbours.spread(_arrays(outputs(change)), rows) for change in (None, in_front))
    if plain is None or other is None:
        return None
    places: list[Place] = []

    def look(function: Any, _args: Any, _kwargs: Any, _result: Any, _module: str) -> None:
        place = sites.inside(torch_replay.__file__) if torch_inside.name_of(function) in _RECURRENT else None
        if place is not None:
            places.append(place)

    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run()
    return PaddingFacts(share=padded.share, longest=padded.longest, width=int(width), spread=plain, spread_in_front=other,
                        unit="steps" if given[0].is_floating_point() else "tokens", site=site(places[0]) if places else None)
