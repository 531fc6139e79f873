"""What holds a PyTorch model back, and how to take its steps without it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import torch_replay
from harness.frameworks.watch.restraints import (
    CLIPPED,
    COUPLED,
    DECAYED,
    DROPPED,
    PENALISED,
    USUAL,
    USUAL_RATE,
    Restraint,
    no_other_rate,
)
from harness.frameworks.watch.sites import Place, Sites, site
from harness.frameworks.watch.torch_calls import DROPOUTS
from harness.frameworks.watch.torch_stepper import Stepper

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.torch_backend import Step, TorchBackend
    from harness.frameworks.watch.torch_clipping import Clipping
    from harness.frameworks.watch.torch_replay import Replay

_NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
_SAME = 1e-4
_STEPS = 3


def dropout(torch: Any, replay: Replay, sites: Sites, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """The largest share that a step of the model drops."""
    found: list[tuple[float, Place | None]] = []

    def look(original: Any) -> Any:
        def wrapped(tensor: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            if training:
                found.append((float(p), sites.inside(torch_replay.__file__)))
            return original(tensor, p, training, inplace)

        return wrapped

    with _instead(torch, look), torch.no_grad():
        replay.run()
    if not found:
        return None
    share, place = max(found, key=lambda each: each[0])
    if share < DROPPED:
        return None
    layers = [module for outer in replay.modules for module in outer.modules() if getattr(module, "p", None) == share]
    built = next((made for layer in layers if (made := place_of(layer)) is not None), None)
    return Restraint("dropout", share, lambda _: _instead(torch, lambda _: lambda tensor, *_args, **_kwargs: tensor), site(built or place))


@contextlib.contextmanager
def _instead(torch: Any, make: Callable[[Any], Any]) -> Iterator[None]:
    functional = torch.nn.functional
    originals = {name: getattr(functional, name) for name in DROPOUTS}
    for name, original in originals.items():
        setattr(functional, name, make(original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(functional, name, original)


def norms(torch: Any, replay: Replay, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Batch normalisation that is given one row at a time: its mean and deviation are those of this row alone, which are then gone."""
    layers = [module for outer in replay.modules for module in outer.modules() if type(module).__name__ in _NORMS and module.training]
    if not layers or replay.first_rows() != 1:
        return None

    @contextlib.contextmanager
    def off(_: Any) -> Iterator[None]:
        functional, original = torch.nn.functional, torch.nn.functional.batch_norm

        def by_statistics(given: Any, mean: Any, variance: Any, *args: Any, **kwargs: Any) -> Any:
            if mean is None:
                return original(given, mean, variance, *args, **kwargs)
            more = dict(zip(("weight", "bias", "training", "momentum", "eps"), args, strict=False)) | kwargs
            return original(given, mean, variance, **(more | {"training": False}))

        functional.batch_norm = by_statistics
        try:
            yield
        finally:
            functional.batch_norm = original

    return Restraint("norm", 1.0, off, site(next((made for layer in layers if (made := place_of(layer)) is not None), None)))


def decay(optimizers: list[Any], built: Site | None) -> Restraint | None:
    """Weight decay that is strong. `built`: where the optimizer was."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups if group.get("weight_decay")]
    if not groups:
        return None
    apart = any("AdamW" in type(optimizer).__name__ for optimizer in optimizers) or any(
        group.get("decoupled_weight_decay") for group in groups)
    strongest = max(float(group["weight_decay"]) * (float(group.get("initial_lr", group["lr"])) if apart else 1.0) for group in groups)
    if strongest < (DECAYED if apart else COUPLED):
        return None

    @contextlib.contextmanager
    def off(_: Any) -> Iterator[None]:
        kept = [group["weight_decay"] for group in groups]
        for group in groups:
            group["weight_decay"] = 0.0
        try:
            yield
        finally:
            for group, value in zip(groups, kept, strict=True):
                group["weight_decay"] = value

    return Restraint("decay", strongest, off, built, coupled=not apart, longer=4 if apart else 1)


def clipping(found: Clipping, where: Site | None) -> Restraint | None:
    """Clipping that leaves little of the gradients. Small steps need many of them, so it is tried for longer."""
    share = found.share
    if share is None or share > CLIPPED:
        return None

    @contextlib.contextmanager
    def off(backend: TorchBackend) -> Iterator[None]:
        kept, backend.stepper.clipping = backend.stepper.clipping, None
        try:
            yield
        finally:
            backend.stepper.clipping = kept

    return Restraint("clipping", share, off, where, name="scaled" if found.scale > 1 else "", longer=2)


def optimizer(torch: Any, optimizers: list[Any], where: Site | None) -> Restraint | None:
    """The optimizer, where it is of another family than Adam's."""
    kinds = list(dict.fromkeys(type(each).__name__ for each in optimizers))
    if not kinds or any(USUAL in kind for kind in kinds):
        return None
    groups = [group for each in optimizers for group in each.param_groups]

    @contextlib.contextmanager
    def off(backend: TorchBackend) -> Iterator[None]:
        usual = getattr(torch.optim, USUAL)([weight for group in groups for weight in group["params"]], lr=USUAL_RATE)
        kept, backend.stepper = backend.stepper, Stepper(torch, [usual], backend.stepper.clipping)
        try:
            yield
        finally:
            backend.stepper = kept

    return Restraint("optimizer", max(float(group.get("initial_lr", group["lr"])) for group in groups), off, where, name=kinds[0],
                     longer=2, asked=no_other_rate)


def penalty(backend: TorchBackend, steps: list[Step]) -> Restraint | None:
    """What the script adds to its loss that is the same on every batch, where it is most of the loss of the weights of now."""
    replays = [step[0] for step in steps[:_STEPS]]
    if len(replays) < _STEPS or len({len(replay.entries) for replay in replays}) > 1:
        return None
    with backend.evaluating():
        values = [replay.numbers() | {-1: float(replay.run())} for replay in replays]
    totals = [found[-1] for found in values]
    # A number without its slot in one of them was made by other calls.
    for slot in sorted(set.intersection(*(set(found) for found in values)) - {-1}, reverse=True):
        term = [found[slot] for found in values]
        rest = [total - one for total, one in zip(totals, term, strict=True)]
        if max(term) - min(term) <= 10 * _SAME * max(map(abs, term)) or max(rest) - min(rest) > _SAME * max(map(abs, rest)):
            continue
        if min(rest) > PENALISED * max(totals) > 0:
            return Restraint("penalty", min(rest) / max(totals), functools.partial(_only, slot=slot), site(_added(replays[0])))
    return None


def _only(backend: TorchBackend, slot: int) -> AbstractContextManager[None]:
    return backend.term(lambda _: slot)


def _added(replay: Replay) -> Place | None:
    """Where what is differentiated was added up."""
    return next((place for *_, slots, _, place in replay.entries if replay.loss_slot in slots), None)
