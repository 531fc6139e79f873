"""Where a script says how wide the weights of Keras layers are drawn, if that is far too wide for what comes in."""

from __future__ import annotations

import functools
import math
import weakref
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_WIDE = 2.5  # times as large as what comes in
_SPREAD = {"RandomNormal": ("stddev", 1.0), "TruncatedNormal": ("stddev", 0.88), "RandomUniform": ("maxval", 3 ** -0.5)}


class Origins:
    """Hooks the initializers of one Keras: where each was made, and for what shape it draws."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._made: dict[int, tuple[weakref.ref[Any], Place | None]] = {}

    def attach(self, keras: Any) -> None:
        for name, (argument, spread) in _SPREAD.items():
            kind = getattr(keras.initializers, name)
            self._session.patches.replace(kind, "__init__", self._wrap_init)
            self._session.patches.replace(kind, "__call__", functools.partial(self._wrap_call, argument=argument, spread=spread))

    def _wrap_init(self, original: Any) -> Any:
        session = self._session

        @functools.wraps(original)
        def __init__(initializer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(initializer, *args, **kwargs)
            if session.active:
                self._made[id(initializer)] = weakref.ref(initializer), session.safely("an initializer", session.sites.place)

        return __init__

    def _wrap_call(self, original: Any, argument: str, spread: float) -> Any:
        session = self._session

        @functools.wraps(original)
        def __call__(initializer: Any, shape: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if session.active and len(shape) > 1:
                session.safely("an initializer", self._draws, initializer, shape, argument, spread)
            return original(initializer, shape, *args, **kwargs)

        return __call__

    def _draws(self, initializer: Any, shape: Any, argument: str, spread: float) -> None:
        made, place = self._made.get(id(initializer), (None, None))
        width = getattr(initializer, argument, None)
        if made is None or made() is not initializer or place is None or not isinstance(width, int | float):
            return
        if width * spread * math.sqrt(math.prod(shape[:-1])) >= _WIDE:
            self._session.noted("weights_drawn", place)
