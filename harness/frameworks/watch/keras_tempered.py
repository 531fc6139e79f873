"""The temperatures at which a Keras step holds the answers of one model against those of another: read off the graph of the step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import TemperedFacts
from harness.frameworks.watch import keras_divergence
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_trace import Recording

_MOST, _DEEP = 400, 12
_SOFT = ("Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits")
_MOVING = ("Identity", "Cast", "Reshape", "StopGradient", "Squeeze", "Transpose")


def read(record: Recording, is_own: Callable[[str], bool]) -> TemperedFacts | None:
    """Of a step that was traced, with one loss and two models of which one is trained; None where the softmaxes under its loss are not of
    the answers of both, or the two have one temperature in common."""
    import tensorflow as tf

    target = record.targets[0] if len(record.targets) == 1 else None
    if target is None or tf.executing_eagerly() or not tf.is_tensor(target) or len(record.outputs) != len(record.models):
        return None
    trained = {id(source) for sources in record.sources for source in sources}
    sides: dict[bool, set[float]] = {False: set(), True: set()}
    places: dict[bool, Place | None] = {}
    for made, logits in softened(target, _SOFT):
        found = _made_of(logits, record.outputs)
        if found is not None:
            number, temperature = found
            weights = record.models[number].trainable_variables
            own = any(id(weight) in trained or id(getattr(weight, "value", None)) in trained for weight in weights)
            sides[own].add(temperature)
            places.setdefault(own, keras_divergence.place(made, is_own))
    if not sides[True] or len(sides[False]) != 1 or any(abs(one - next(iter(sides[False]))) < 1e-3 * one for one in sides[True]):
        return None
    return TemperedFacts(temperatures=[(max(sides[True]), next(iter(sides[False])))], read=True,
                         site=site(places.get(True) or places.get(False)))


def softened(target: Any, kinds: Collection[str]) -> list[tuple[Any, Any]]:
    """Each softmax, by these `kinds` of operation, that a loss is made of, and what it is given."""
    found: list[tuple[Any, Any]] = []
    known: set[str] = set()
    queue = deque([target.op])
    while queue and len(known) < _MOST:
        operation = queue.popleft()
        if operation.name in known:
            continue
        known.add(operation.name)
        if operation.type in kinds:
            found.append((operation.outputs[0], operation.inputs[0]))
            queue.extend(part.op for part in list(operation.inputs)[1:])
        else:
            queue.extend(part.op for part in operation.inputs)
    return found


def multiplied(tensor: Any) -> tuple[float, Any] | None:
    """The number, not 0, by which something was multiplied to make a tensor, and what; None where its operation is another one."""
    import tensorflow as tf

    kind, given = tensor.op.type, list(tensor.op.inputs)
    if kind not in ("Mul", "RealDiv", "Div"):
        return None
    numbers = [tf.get_static_value(part) for part in given]
    fixed = next((place for place, value in enumerate(numbers) if value is not None and value.size == 1), None)
    if fixed is None or (kind != "Mul" and fixed == 0) or not float(numbers[fixed]):
        return None
    number = float(numbers[fixed])
    return number if kind == "Mul" else 1 / number, given[1 - fixed]


def _made_of(logits: Any, outputs: list[Any]) -> tuple[int, float] | None:
    """Of which model's answers these are a multiple, and by what they were divided."""
    import tensorflow as tf

    made = {id(part): number for number, output in enumerate(outputs) for part in tf.nest.flatten(output)}
    temperature = 1.0
    for _ in range(_DEEP):
        if id(logits) in made:
            return made[id(logits)], temperature
        if logits.op.type in _MOVING:
            logits = logits.op.inputs[0]
            continue
        found = multiplied(logits)
        if found is None:
            return None
        temperature, logits = temperature / found[0], found[1]
    return None
