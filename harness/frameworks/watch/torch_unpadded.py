"""A PyTorch model's steps with the padding left out: recurrent layers, means over the steps and attention go by where a row ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import torch_replay
from harness.frameworks.watch.restraints import FILLED, LEARNT_UNPADDED, Restraint
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_replay import Replay

_RECURRENT = ("LSTM", "GRU", "RNN")
_ATTENDING = {"TransformerEncoder": "src_key_padding_mask", "MultiheadAttention": "key_padding_mask"}

Read = Callable[[str, Place | None], None]


def padding(torch: Any, replay: Replay, sites: Sites, real: float | None, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Padding that is read. `real`: the share of a batch that is none."""
    if real is None or real > 1 - FILLED:
        return None
    read: list[tuple[str, Place | None]] = []
    with _left_out(torch, lambda layer: read.append((_name(torch, layer), _place(torch, layer, sites, place_of)))), torch.no_grad():
        replay.run()
    if not read:
        return None
    name, place = read[-1]  # what is made of the steps in the end
    return Restraint("padding", 1 - real, lambda _: _left_out(torch, lambda _: None), site(place), name=name, part=True,
                     learnt=LEARNT_UNPADDED)


def _name(torch: Any, layer: Any) -> str:
    return type(layer).__name__ if isinstance(layer, torch.nn.Module) else str(layer)


def _place(torch: Any, layer: Any, sites: Sites, place_of: Callable[[Any], Place | None]) -> Place | None:
    called = sites.inside(torch_replay.__file__)
    return called or (place_of(layer) if isinstance(layer, torch.nn.Module) else None)


@contextlib.contextmanager
def _left_out(torch: Any, read: Callable[[Any], None]) -> Iterator[None]:
    """While inside, padding at the ends of rows of ids, or of rows of steps that are zeros, is not read. `read`: told of each layer, or
    function, that would have."""
    kept: list[Any] = []  # of the newest rows, how long each is, and how long they are with padding
    depth = [0]

    def enters(_module: Any, args: Any) -> None:
        given = next((part for part in args if torch.is_tensor(part)), None)
        lengths = _lengths(given, floats=not depth[0]) if given is not None else None
        if given is not None and lengths is not None and int(lengths.min()) < given.shape[1]:  # and no positions
            kept[:] = [lengths, int(given.shape[1])]
        depth[0] += 1

    def leaves(_module: Any, _args: Any, _output: Any) -> None:
        depth[0] -= 1

    def in_steps(states: Any) -> bool:
        return bool(kept) and torch.is_tensor(states) and states.dim() == 3 and tuple(states.shape[:2]) == (len(kept[0]), kept[1])

    def recurrent(original: Any) -> Any:
        def forward(layer: Any, given: Any, *args: Any) -> Any:
            if not in_steps(given) or not layer.batch_first:
                return original(layer, given, *args)
            read(layer)
            utils = torch.nn.utils.rnn
            packed = utils.pack_padded_sequence(given, kept[0].cpu(), batch_first=True, enforce_sorted=False)
            made, last = original(layer, packed, *args)
            states, _ = utils.pad_packed_sequence(made, batch_first=True, total_length=kept[1])
            steps = torch.arange(kept[1], device=states.device)[None].minimum(kept[0][:, None] - 1)
            return states.gather(1, steps[..., None].expand(-1, -1, states.shape[2])), last  # as if it stood still from there on

        return forward

    def attending(original: Any, name: str) -> Any:
        def forward(layer: Any, *args: Any, **kwargs: Any) -> Any:
            masked = kwargs.get(name) is not None or len(args) > 2 + (name == "key_padding_mask")
            if masked or not args or not in_steps(args[0]) or not getattr(layer, "batch_first", True):
                return original(layer, *args, **kwargs)
            read(layer)
            filler = torch.arange(kept[1], device=args[0].device)[None] >= kept[0][:, None]
            return original(layer, *args, **(kwargs | {name: filler}))

        return forward

    class Means(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            axis = args[1] if len(args) > 1 else kwargs.get("dim")
            if getattr(func, "__name__", "") != "mean" or axis not in (1, -2) or not args or not in_steps(args[0]):
                return func(*args, **kwargs)
            read("mean")
            real = torch.arange(kept[1], device=args[0].device)[None] < kept[0][:, None]
            share = kept[0] / kept[1]
            made = func(args[0] * real[..., None], *args[1:], **kwargs)
            return made / share.reshape(-1, *[1] * (made.dim() - 1))

    hooks = torch.nn.modules.module
    changes = [(getattr(torch.nn, name), recurrent(getattr(torch.nn, name).forward)) for name in _RECURRENT]
    changes += [(getattr(torch.nn, name), attending(getattr(torch.nn, name).forward, mask)) for name, mask in _ATTENDING.items()]
    with contextlib.ExitStack() as stack:
        for kind, forward in changes:
            stack.callback(setattr, kind, "forward", kind.forward)
            kind.forward = forward
        stack.callback(hooks.register_module_forward_pre_hook(enters).remove)
        stack.callback(hooks.register_module_forward_hook(leaves, always_call=True).remove)
        stack.enter_context(Means())
        yield


def _lengths(given: Any, *, floats: bool) -> Any:
    """How long each row is, `int64[rows]`, of rows of ids (or of `floats`, step by step) that end in zeros; None of anything else."""
    if given.dim() != (3 if given.is_floating_point() else 2) or (given.is_floating_point() and not floats):
        return None
    filled = (given != 0).any(2) if given.is_floating_point() else given != 0
    return (filled.flip(1).cumsum(1) > 0).sum(1).clamp(min=1)
