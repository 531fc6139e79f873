"""Rows of one batch: whether they influence each other inside a model, and whether padding at their ends drowns them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.checks.probe_facts import PaddingFacts, RowFacts
from harness.frameworks.watch import torch_inside, torch_tape
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_tape import Replay

Outputs = Callable[[Any], list[Any]]

_LARGEST = 1 << 22
_CALLS = 2000
_ALIKE = 1e-3
_PADDED = 0.9
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


@dataclass
class _Seen:
    """One call of torch inside a replay: its result, and where the user's code made it."""

    result: Any
    place: Place | None
    module: str


def influence(torch: Any, replay: Replay, outputs: Outputs) -> RowFacts | None:
    """What one row's output owes to the other rows of its batch, in units of how far rows' outputs lie apart.

    None where the batch cannot be taken apart by rows: inputs or targets of another length, fewer than four rows.
    """
    rows = replay.first_rows()
    target = replay.target
    given = [tensor for tensor in replay.inputs() if tensor.dim()]
    if rows < 4 or target is None or not target.dim() or target.shape[0] != rows or any(tensor.shape[0] != rows for tensor in given):
        return None
    plain = outputs(None)
    if not any(_by_rows(output, rows) for output in plain) or not all(bool(torch.isfinite(output).all()) for output in plain):
        return None
    moved = outputs(lambda tensor: _taken(tensor, rows, roll=True))
    rolled = [output.roll(-1, 0) if _by_rows(output, rows) else output for output in moved]
    found = RowFacts(order=max(_apart(a, b, rows, slice(None)) for a, b in zip(plain, rolled, strict=True)))
    for kept in (0, rows - 1):
        changed = outputs(lambda tensor, kept=kept: _taken(tensor, rows, kept=kept))
        found.influence = max([found.influence, *(_apart(a, b, rows, kept) for a, b in zip(plain, changed, strict=True))])
    return found


def _by_rows(output: Any, rows: int) -> bool:
    """Whether an output has a row for each row; a table of all pairs of rows does not count."""
    return bool(output.shape[0] == rows and (output.dim() == 1 or output.shape[1] != rows) and output.is_floating_point())


def _taken(tensor: Any, rows: int, *, kept: int | None = None, roll: bool = False) -> Any:
    """An input with its rows moved by one; or with copies of one row in the place of all but the `kept` one.

    Copies, since what a model reads of the others as a set, attention for one, does not notice that they have changed places.
    """
    if not tensor.dim() or tensor.shape[0] != rows:
        return tensor
    if roll:
        return tensor.roll(1, 0)
    other = 1 if kept == 0 else 0
    return tensor[[number if number == kept else other for number in range(rows)]]


def _apart(first: Any, second: Any, rows: int, which: Any) -> float:
    if first.shape != second.shape or not _by_rows(first, rows):
        return 0.0
    plain = first.float()
    spread = float(plain.std(0).mean())
    return float((plain[which] - second.float()[which]).abs().mean()) / spread if spread > 1e-6 * float(plain.abs().max()) else 0.0


def mixing(torch: Any, replay: Replay, sites: Sites, found: RowFacts) -> None:
    """Find where rows are mixed: the first call after which a row that was kept is not what it was, and the module that makes it."""
    rows = replay.first_rows()
    for kept in (0, rows - 1):
        # An index here as well, so that both runs are made of the same calls.
        before = _calls(torch, replay, sites, lambda tensor: tensor[:] if tensor.dim() and tensor.shape[0] == rows else tensor)
        after = _calls(torch, replay, sites, lambda tensor, kept=kept: _taken(tensor, rows, kept=kept))
        for first, second in zip(before, after, strict=False):
            if first.result.shape != second.result.shape:
                break
            if _keeps(torch, first.result, second.result, rows, kept) is False:
                found.site, found.module, found.batch_first = site(first.place), first.module, _batch_first(replay, first.module)
                return


def _batch_first(replay: Replay, module: str) -> bool | None:
    """How a recurrent or attention layer, or the layer right around one, wants its axes; None for anything else."""
    name = module.partition(": ")[0]
    layer = next((inner for outer in replay.modules for found, inner in outer.named_modules() if (found or "model") == name), None)
    setting = getattr(layer, "batch_first", getattr(getattr(layer, "self_attn", None), "batch_first", None))
    return None if setting is None else bool(setting)


def _calls(torch: Any, replay: Replay, sites: Sites, change: Any) -> list[_Seen]:
    found: list[_Seen] = []

    def look(_function: Any, _args: Any, _kwargs: Any, result: Any, module: str) -> None:
        result = result[0] if isinstance(result, tuple) and result else result
        if len(found) < _CALLS and torch.is_tensor(result) and result.is_floating_point() and 0 < result.numel() < _LARGEST:
            found.append(_Seen(result.detach().clone(), sites.inside(torch_tape.__file__), module))

    torch.manual_seed(0)
    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run(change)
    return found


def _keeps(torch: Any, first: Any, second: Any, rows: int, kept: int) -> bool | None:
    """Whether a kept row is the same in two results, in whatever axis the rows may lie; None where there is no such axis."""
    axes = [axis for axis in range(first.dim()) if first.shape[axis] and first.shape[axis] % rows == 0]
    for axis in axes:
        width = first.shape[axis] // rows
        for places in (range(kept * width, (kept + 1) * width), range(kept, first.shape[axis], rows)):
            chosen = torch.tensor(list(places), device=first.device)
            a, b = first.index_select(axis, chosen), second.index_select(axis, chosen)
            if torch.allclose(a, b, rtol=_ALIKE, atol=_ALIKE * (float(first.abs().max()) or 1.0)):
                return True
    return False if axes else None


def padding(torch: Any, replay: Replay, sites: Sites, outputs: Outputs) -> PaddingFacts | None:
    """What padding at the end of rows of ids leaves of their differences, where a recurrent layer reads it: None without either."""
    given = [tensor for tensor in replay.inputs() if tensor.dim() == 2 and not tensor.is_floating_point() and tensor.shape[0] > 3]
    if not given or not any(isinstance(inner, torch.nn.RNNBase) for module in replay.modules for inner in module.modules()):
        return None
    ids = given[0]
    pad = int(ids[:, -1].mode().values)
    real = (ids != pad).flip(1).float().argmax(1)  # padding at the end of each row
    lengths = ids.shape[1] - real
    shortest = int(lengths.min())
    if float((ids[:, -1] == pad).float().mean()) < _PADDED or not 0 < shortest < ids.shape[1] or not bool((ids != pad).any(1).all()):
        return None

    def cut(tensor: Any) -> Any:
        return tensor[:, :shortest] if tensor.dim() >= 2 and tensor.shape[:2] == ids.shape else tensor

    plain, short = _spread(outputs(None), ids.shape[0]), _spread(outputs(cut), ids.shape[0])
    if plain is None or short is None:
        return None
    places: list[Place] = []

    def look(function: Any, _args: Any, _kwargs: Any, _result: Any, _module: str) -> None:
        place = sites.inside(torch_tape.__file__) if torch_inside.name_of(function) in _RECURRENT else None
        if place is not None:
            places.append(place)

    with torch_inside.inside(torch, replay.modules, look), torch.no_grad():
        replay.run()
    return PaddingFacts(share=float((ids == pad).float().mean()), longest=int(lengths.max()), width=int(ids.shape[1]), spread=plain,
                        spread_without=short, site=site(places[0]) if places else None)


def _spread(found: list[Any], rows: int) -> float | None:
    """How far the rows of the last output by rows lie apart."""
    chosen = [output.float() for output in found if output.dim() and output.shape[0] == rows]
    return float(chosen[-1].std(0).mean()) if chosen else None
