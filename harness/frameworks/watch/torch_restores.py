"""Weights that are put back with `load_state_dict`: whether anything is."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import RestoreFacts
from harness.frameworks.watch import references, tensors
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Restores:
    """Wraps `Module.state_dict` and `Module.load_state_dict`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._taken: dict[int, Place | None] = {}
        self._while_training: dict[Place, Any] = {}
        self._inside = False

    def attach(self) -> None:
        module, patches = self._watch.torch.nn.Module, self._watch.session.patches
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
            loaded = original(module, state_dict, *args, **kwargs)
            if own:
                session.safely("weights that are put back", self._nothing, own, state_dict)
            return loaded

        return load_state_dict

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
