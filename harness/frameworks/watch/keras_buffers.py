"""Variables in which a script of TensorFlow's adds up gradients by itself, to step once for several batches; and whether it ever does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.training_facts import BufferFacts
from harness.frameworks.watch import keras_hidden
from harness.frameworks.watch.keras_trace import flat, numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher
    from harness.frameworks.watch.session import WatchSession

_NORMS = 12
_KEPT = 400
_CALLS = 8
_DEEP = 6
_SCALING = ("Identity", "Cast", "Mul", "RealDiv", "Div", "Neg")
_SAME = 1e-4


class Buffers:
    """Wraps `GradientTape.gradient` and the assignments of variables. A buffer is what a multiple of a gradient is added to."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._gradients: dict[int, Any] = {}
        self._calls: list[list[int]] = []  # of the last times that gradients were asked for, the numbers of these
        self._buffers: dict[int, Any] = {}
        self._assigned: dict[int, Any] = {}
        self._norms: list[float] = []
        self._weights: set[int] = set()
        self._inside = 0
        self._taken = 0
        self._applied = False

    def attach(self) -> None:
        """Hook TensorFlow."""
        import tensorflow as tf
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable

        replace = self._watch.session.patches.replace
        replace(tf.GradientTape, "gradient", self._wrap_gradient)
        for kind in (BaseResourceVariable, ResourceVariable):
            for name, wrap in (("assign_add", self._wrap_add), ("assign", self._wrap_assign), ("assign_sub", self._wrap_assign)):
                if name in vars(kind):
                    replace(kind, name, wrap)

    def hook(self, keras: Any) -> None:
        """Hook the optimizers of a Keras: where the script has them step. What they add up themselves is not looked at."""
        hook_steps(keras, self._watch.session, self._wrap_apply)

    def _wrap_apply(self, original: Any) -> Any:
        def apply(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            self._applied = True
            if self._buffers and self._looking:
                self._watch.session.safely("gradients that are added up", self._watch.session.site, "applied")
            self._inside += 1
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                self._inside -= 1

        return apply

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(tape, target, sources, *args, **kwargs)
            if self._looking:
                self._watch.session.safely("gradients that are added up", self._came, sources, found)
            return found

        return gradient

    @property
    def _looking(self) -> bool:
        return not self._inside and len(self._norms) < _NORMS and self._watch.session.active

    def _came(self, sources: Any, found: Any) -> None:
        self._weights |= keras_hidden.ids_of(flat(sources))
        # Not more of them: gradients take as much memory as weights do.
        while len(self._calls) >= _CALLS:
            for number in self._calls.pop(0):
                self._gradients.pop(number, None)
        new = {id(gradient): gradient for gradient in flat(found) if gradient is not None and hasattr(gradient, "shape")}
        self._calls.append(list(new))
        self._gradients |= new

    def _wrap_add(self, original: Any) -> Any:
        def assign_add(variable: Any, delta: Any, *args: Any, **kwargs: Any) -> Any:
            if self._looking and id(variable) not in self._buffers:
                self._watch.session.safely("gradients that are added up", self._added, variable, delta)
            return original(variable, delta, *args, **kwargs)

        return assign_add

    def _wrap_assign(self, original: Any) -> Any:
        import tensorflow as tf

        def assign(variable: Any, *args: Any, **kwargs: Any) -> Any:
            if self._looking and len(self._assigned) < _KEPT and (id(variable) in self._buffers or not tf.executing_eagerly()):
                self._assigned[id(variable)] = variable  # (a graph's operations need not be made in the order in which they run)
            return original(variable, *args, **kwargs)

        return assign

    def _added(self, variable: Any, delta: Any) -> None:
        wide = variable.dtype.is_floating and (variable.shape.num_elements() or 0) > 1
        if wide and id(variable) not in self._weights and self._is_gradient(delta, variable.shape):
            self._buffers[id(variable)] = variable
            self._watch.session.site("accumulated")

    def _is_gradient(self, delta: Any, shape: Any) -> bool:
        """Whether something is a gradient times a number."""
        if id(delta) in self._gradients:
            return True
        if hasattr(delta, "numpy"):
            return self._scaled(np.ravel(numpy_of(delta)), shape)
        for _ in range(_DEEP):
            operation = getattr(delta, "op", None)
            if operation is None or operation.type not in _SCALING:
                return False
            whole = [part for part in operation.inputs if part.shape.rank]
            if len(whole) != 1:
                return False
            delta = whole[0]
            if id(delta) in self._gradients:
                return True
        return False

    def _scaled(self, values: Any, shape: Any) -> bool:
        size = float(np.linalg.norm(values))
        for gradient in self._gradients.values():
            if size and hasattr(gradient, "numpy") and gradient.shape == shape:
                other = np.ravel(numpy_of(gradient))
                product = size * float(np.linalg.norm(other))
                if product and float(np.dot(values, other)) > (1 - _SAME) * product:
                    return True
        return False

    def fitted(self, model: Any) -> None:
        """A step of `fit` is over, in which the optimizer may have taken one or none."""
        optimizer = getattr(model, "optimizer", None)
        taken, facts = int(numpy_of(getattr(optimizer, "iterations", 0))), self._watch.seen.optimizer
        if not taken and hasattr(optimizer, "iterations") and facts is not None:
            facts.unstepped += 1
            facts.uncalled = not self._applied and not getattr(model, "run_eagerly", True)
        if taken > self._taken:
            self.stepped()
        self._taken = taken

    def stepped(self) -> None:
        """An optimizer has taken a step."""
        if self._buffers and len(self._norms) < _NORMS:
            squares = [float(np.square(numpy_of(variable).astype(np.float64)).sum()) for variable in self._buffers.values()]
            self._norms.append(sum(squares) ** 0.5)

    def finish(self) -> None:
        """What was seen of them."""
        if self._buffers:
            seen = self._watch.seen
            seen.buffers = BufferFacts(variables=len(self._buffers), held=len(self._buffers.keys() & self._assigned.keys()),
                                       norms=self._norms, site=seen.sites.get("applied") or seen.sites.get("accumulated"))


def hook_steps(keras: Any, session: WatchSession, wrap: Callable[[Any], Any]) -> None:
    """Wrap what the optimizers of a Keras step by: `apply_gradients`, and `apply` of Keras 3."""
    for name in ("apply_gradients", "apply"):
        if hasattr(keras.optimizers.Optimizer, name):
            session.patches.replace(keras.optimizers.Optimizer, name, wrap)
