"""Weights that are loaded and put back: whether anything is, and whether it stays."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import RestoreFacts
from harness.frameworks.watch import references, tensors
from harness.frameworks.watch.loaded import Loaded
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_DRAWING = ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_",
            "orthogonal_")


class Restores:
    """Wraps `Module.state_dict` and `Module.load_state_dict`, and what draws weights. Told of models that were loaded in another way, and
    of those that run."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._taken: dict[int, Place | None] = {}
        self._while_training: dict[Place, Any] = {}
        self._inside = False
        self._loaded = Loaded(watch.session, self._first)

    def attach(self) -> None:
        module, patches = self._watch.torch.nn.Module, self._watch.session.patches
        for owner, names in ((self._watch.torch.nn.init, _DRAWING), (self._watch.torch.Tensor, ("normal_", "uniform_"))):
            for name in names:
                patches.replace(owner, name, self._wrap_draw)
        patches.replace(module, "state_dict", self._wrap_take)
        patches.replace(module, "load_state_dict", self._wrap_load)

    def _wrap_take(self, original: Any) -> Any:
        @functools.wraps(original)
        def state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active and not self._inside and not args and not kwargs:  # not of a part, for the whole
                place = self._taken[id(module)] = self._watch.session.sites.place()
                if place is not None and self._watch.steps.steps:
                    self._while_training[place] = module
            return original(module, *args, **kwargs)

        return state_dict

    def _wrap_load(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def load_state_dict(module: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            looking = session.active and not self._inside and self._watch.seen.restored is None
            own = (session.safely("weights that are put back", self._own, module) if looking else None) or {}
            if own and self._watch.steps.steps:
                session.safely("weights that are put back", self._itself, module, own, state_dict)
            with self._drawing():
                loaded = original(module, state_dict, *args, **kwargs)
            if session.active and not self._inside:
                self.loaded(module)
            if own:
                session.safely("weights that are put back", self._nothing, own, state_dict)
            return loaded

        return load_state_dict

    def _wrap_draw(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def draw(*args: Any, **kwargs: Any) -> Any:
            if not self._loaded.waits or self._inside or not session.active:
                return original(*args, **kwargs)
            with self._drawing():
                made = original(*args, **kwargs)
            session.safely("weights that are drawn", self._loaded.drew, made)
            return made

        return draw

    @contextlib.contextmanager
    def _drawing(self) -> Iterator[None]:
        """The functions of `torch.nn.init` call each other; only what the first one makes is a drawing."""
        before, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = before

    def loaded(self, module: Any) -> None:
        """A model's weights were loaded, before any step."""
        if not self._watch.steps.steps:
            self._watch.session.safely("weights that are loaded", self._loaded.loaded, list(module.parameters()))

    def runs(self, module: Any) -> None:
        """A model is about to run."""
        if self._loaded.waits:
            self._loaded.runs(module.parameters())

    def _first(self, tensor: Any, count: int) -> Any:
        with self._watch.session.paused():
            return tensors.array(tensor.detach().flatten()[:count]) if self._watch.torch.is_tensor(tensor) else None

    def finish(self) -> None:
        """A script that was not watched until it puts back what it keeps: its text says what that is."""
        watch = self._watch
        lines = references.kept(watch.session.script) if watch.seen.restored is None and self._while_training else []
        place = next((place for place in self._while_training if place[0] == str(watch.session.script) and place[1] in lines), None)
        if place is not None:
            watch.seen.restored = RestoreFacts(how="itself", weights=len(self._own(self._while_training[place])), site=site(place))

    def _own(self, module: Any) -> dict[str, Any]:
        self._inside = True
        try:
            return dict(module.state_dict())
        finally:
            self._inside = False

    def _itself(self, module: Any, own: dict[str, Any], given: Any) -> None:
        """A dictionary of the very tensors that the model has: they have moved with it."""
        is_tensor = self._watch.torch.is_tensor
        if own and all(is_tensor(given.get(name)) and tensors.address(given[name]) == tensors.address(value) for name, value in own.items()
                       if is_tensor(value) and value.numel()):
            self._watch.seen.restored = RestoreFacts(how="itself", weights=len(own), site=site(self._taken.get(id(module)))
                                                     or self._watch.session.sites.here())

    def _nothing(self, own: dict[str, Any], given: Any) -> None:
        """Not one name of the model's was among those that were given, and nobody asked."""
        if given and not set(given) & set(own):
            self._watch.seen.restored = RestoreFacts(how="nothing", weights=len(own), given=[str(name) for name in list(given)[:4]],
                                                     wanted=list(own)[:4], site=self._watch.session.sites.here())
