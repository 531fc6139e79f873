"""The derivatives that a `torch.autograd.Function` of the script's own gives, beside those of what it computes."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import OwnBackwardFacts
from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_CLASSES, _NUMBERS, _PLACES, _LARGEST = 8, 1 << 16, 32, 1 << 20
_STEP = 1e-4
# Between two steps of other lengths a quotient may differ by this part, and a derivative from both by the second before it is another.
_STEADY, _APART = 1e-3, 0.02
_NOTHING = 1e-9


class OwnBackward:
    """Hooks `Function.apply`: the first call of each class of the script's own is repeated in 64 bits, and its derivatives compared."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._known: set[type] = set()

    def attach(self) -> None:
        self._watch.session.patches.replace(self._watch.torch.autograd.Function, "apply", self._wrap)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._watch.session

        def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
            if cls not in self._known and len(self._known) < _CLASSES and session.active and self._watch.torch.is_grad_enabled():
                session.safely("a backward pass of the script's own", self._look, original, cls, args, kwargs)
            return original(cls, *args, **kwargs)

        return apply

    def _look(self, original: Callable[..., Any], cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        torch, session = self._watch.torch, self._watch.session
        code = getattr(cls.backward, "__code__", None)
        asked = [number for number, part in enumerate(args) if tensors.is_tensor(part) and part.is_floating_point() and part.requires_grad]
        if code is None or not session.sites.is_own(code.co_filename) or not asked or any(
                part.numel() > _LARGEST for part in args if tensors.is_tensor(part)):
            return
        self._known.add(cls)
        with session.paused(), torch.random.fork_rng(devices=[]), torch.enable_grad():
            plain = [_double(part) for part in args]
            for number in asked:
                found = _compared(torch, lambda given: original(cls, *given, **kwargs), plain, number)
                if found is not None:
                    compared, ratios = found
                    session.observation.own_backwards.append(OwnBackwardFacts(
                        name=cls.__name__, argument=number, compared=compared, ratios=ratios,
                        site=site((code.co_filename, _line(code), code.co_name))))


def _line(code: CodeType) -> int:
    """Of a function's `def`, under its decorators."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return line


def _compared(torch: Any, run: Callable[[list[Any]], Any], plain: list[Any], number: int) -> tuple[int, list[float]] | None:
    """At how many places the quotient of differences of what comes out is steady and not 0, and, where the derivative is another one, its
    ratio to that. None of what draws, what gives back what it is given (it may turn or scale gradients on purpose), and where no place
    will do."""
    given = plain[number]
    first, again = _results(run(plain)), _results(run(plain))
    if not first or not all(map(torch.equal, first, again)) or sum(part.numel() for part in first) > _NUMBERS:
        return None
    if any(part.shape == given.shape and torch.equal(part, given) for part in first):
        return None
    generator = torch.Generator().manual_seed(0)
    pulls = [torch.randn(part.shape, generator=generator, dtype=torch.float64).to(part.device) for part in first]

    def whole(value: Any) -> Any:
        made = _results(run([*plain[:number], value, *plain[number + 1:]]))
        return sum((pull * part).sum() for pull, part in zip(pulls, made, strict=True))

    leaf = given.clone().requires_grad_()
    derivative = torch.autograd.grad(whole(leaf), leaf, allow_unused=True)[0]
    derivative = torch.zeros_like(leaf) if derivative is None else derivative
    compared, ratios = 0, []
    with torch.no_grad():
        for place in range(0, given.numel(), max(1, given.numel() // _PLACES)):
            wide, narrow = (_quotient(whole, given, place, step) for step in (_STEP, _STEP / 2))
            own = float(derivative.reshape(-1)[place])
            if abs(wide) < _NOTHING or abs(wide - narrow) > _STEADY * abs(wide):
                continue
            compared += 1
            if abs(own - wide) > _APART * max(abs(own), abs(wide)):
                ratios.append(own / wide)
    return (compared, ratios) if compared else None


def _quotient(whole: Callable[[Any], Any], given: Any, place: int, step: float) -> float:
    up, down = given.clone(), given.clone()
    up.reshape(-1)[place] += step
    down.reshape(-1)[place] -= step
    return float(whole(up) - whole(down)) / (2 * step)


def _results(made: Any) -> list[Any]:
    return [part for part in trees.leaves(made, tensors.is_tensor) if part.is_floating_point()]


def _double(part: Any) -> Any:
    if tensors.is_tensor(part) and part.is_floating_point():
        return part.detach().double().contiguous()
    return part.detach() if tensors.is_tensor(part) else part
