"""The target of a loss: its dtype and its shape."""

from __future__ import annotations

import math
import re
import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import LossCall, PairedFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import ExceptionFacts

_SPREAD, _CLASSES = 4, 3  # that are judged; of which one number is no pair of them
_IN_LOSS = (r"functional\.py:(cross_entropy|nll_loss|binary_cross_entropy\w*|\w+_loss)$|modules/loss\.py:|transformers/loss/"
            r"|keras/(src/)?(losses|backend)|compile_loss/|modeling_tf_utils\.py:hf_compute_loss")
# What makes labels of a dtype, in a line of a script.
_WRITTEN = {"int": r"int32|\.int\(|IntTensor", "short": r"int16|\.short\(", "byte": r"uint8|\.byte\(", "bool": r"bool|[<>]|[=!]=|isin",
            "float": r"float(?!64)|FloatTensor", "double": r"float64|double"}

_SEVERAL = ("Where a row may have several classes, give floats, `[float(name in tags) for name in NAMES]`: transformers takes whole "
            "numbers for one class. Labels of tokens want a model `...ForTokenClassification`.")
# Of standardised numbers that were cut to whole ones: their mean, standard deviation and ends, over so many batches.
_ABOUT_ZERO, _NARROW, _FAR, _CALLS = 0.35, (0.4, 0.85), 6, 10
_BYTE, _ABOVE = 256, 30  # values of a byte; rows of further classes that should have come

class LabelDtype(Check):
    """The labels' dtype is not the one that the loss wants.

    Class ids are whole numbers (int64 in PyTorch), targets of binary and regression losses are floats of the output's dtype.
    Sources: PyTorch docs, CrossEntropyLoss and BCEWithLogitsLoss; Keras docs, SparseCategoricalCrossentropy.
    """

    code: ClassVar[str] = "L202"
    stage: ClassVar[Stage] = "loss"

    _IDS = (r"expected target dtype to be Long or Byte, but got (?P<got>\w+)", r"expected scalar type Long but found (?P<got>\w+)",
            r"nll_loss\w* not implemented for '(?P<got>\w+)'", r"argument 'target' .* must be Tensor, not (?P<got>\w+)",
            r"Cast (?P<got>string) to \w+ is not supported")
    _TEXT = (r"^Invalid dtype: (?P<got>str\d+)",)
    _FLOATS = (r"result type \w+ can't be cast to the desired output type (?P<got>Long|Int|Bool)",
               r"Found dtype (?P<got>\w+) but expected (?P<want>Float|Half|BFloat16|Double)",
               r"Expected floating point type for target with class probabilities, got (?P<got>\w+)",
               r"with (?:two|a) (?P<got>bool) tensors? is not supported",  # what a loss does with them before it would look at dtypes
               r"\"(mse|l1|smooth_l1|huber)\w*\" not implemented for '(?P<got>Long|Int|Short|Byte|Bool)'")

    _SWAPPED = (r"softmax\w*. not implemented for '(?P<got>Long|Int|Byte)'",)
    messages: ClassVar[tuple[str, ...]] = (*_IDS, *_TEXT, *_FLOATS, *_SWAPPED)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from exceptions that a loss raised, and from fractions that are cut down to class ids; a dtype that a loss merely
        converts does no harm."""
        error = reading.matching(seen, *self._IDS, within=_IN_LOSS, stages=("loss",)) or reading.matching(seen, *self._TEXT)
        if error is not None:
            got = self._got(error, (*self._IDS, *self._TEXT))
            if got in {"list", "tuple", "ndarray"}:
                remedy = "Make the labels a tensor: `labels = torch.tensor(labels)`."
            elif got.lower().startswith("str"):
                remedy = "Turn label names into class ids first: `ids = {name: i for i, name in enumerate(sorted(set(names)))}`."
            else:
                remedy = "Class ids must be whole numbers: `labels = labels.long()` (or build them with `dtype=torch.long`)."
            return self._finding(seen, error, f"The loss wants class ids and got labels of type {got}.", remedy)
        error = reading.matching(seen, *self._SWAPPED, within=_IN_LOSS, stages=("loss",))
        if error is not None:
            got = self._got(error, self._SWAPPED)
            return self._finding(seen, error, f"The loss's first argument holds whole numbers ({got}), of which no softmax can be taken.",
                                 "The model's output goes first, the labels second: `loss(logits, labels)`.")
        error = reading.matching(seen, *self._FLOATS, within=_IN_LOSS, stages=("loss", "backward"))
        if error is None:
            return self._cut_down(seen) or self._wrapped(seen) or self._rounded(seen)
        got = self._got(error, self._FLOATS)
        output = next((call.inputs for call in seen.loss_calls if call.inputs is not None), None)
        if "class probabilities" in error.message and (output is None or len(output.shape) > 1):
            remedy = ("One-hot rows count as probabilities and must be floats: `labels.float()`; "
                      "or pass class ids instead: `labels.argmax(-1)`.")
        elif "class probabilities" in error.message:
            remedy = f"The output has the shape {output.shape if output else ''} without an axis of classes: keep it (batch, classes)."
        else:
            remedy = "This loss compares numbers: `labels = labels.float()`."
        return self._finding(seen, error, f"The loss wants a floating-point target and got {got}.", remedy)

    @staticmethod
    def _wrapped(seen: Observation) -> Finding | None:
        """Class ids that were kept as bytes: of more than 256 classes all those above begin again at 0."""
        place, classes = seen.sites.get("bytes"), max((reading.class_units(seen, call) or 0 for call in seen.loss_calls), default=0)
        labels = [int(label) for step in seen.steps for label in step.labels or [] if isinstance(label, int | float)]
        if place is None or classes <= _BYTE or len(labels) < _BYTE or not set(labels) <= set(range(_BYTE)):
            return None
        expected = len(labels) * (classes - _BYTE) / classes  # rows of the classes above, if all come about as often
        # Of rows that are sorted those above may be still to come.
        if expected < _ABOVE or len(set(labels)) < 0.5 * min(_BYTE, len(labels)) or max(labels) < 0.97 * _BYTE:
            return None
        return Finding(
            message=f"The model tells {classes} classes apart, and none of {len(labels)} labels is above {max(labels)}: kept as bytes "
                    "(uint8), 256 becomes 0, and the classes from there on have the ids of others.",
            remedy="Keep class ids in a type that holds them all, `astype(\"int64\")`.", site=place,
            evidence=[f"different labels among those rows: {len(set(labels))}"])

    @staticmethod
    def _cut_down(seen: Observation) -> Finding | None:
        """Keras turns the targets of a sparse loss into class ids by leaving out what follows the decimal point."""
        call = next((call for call in seen.loss_calls if call.name == "sparse_categorical" and call.target is not None
                     and call.target.integral is False and call.target.minimum is not None and not call.target.bad_rows), None)
        if call is None or call.target is None or call.target.minimum is None or call.target.maximum is None:
            return None
        low, high = call.target.minimum, call.target.maximum
        classes = f"class {int(low)}" if int(low) == int(high) else f"the classes {int(low)} to {int(high)}"
        return Finding(message=f"The loss wants class ids and gets fractions, from {low:.3g} to {high:.3g}: what follows the decimal point "
                               f"is left out, so that it sees {classes}.",
                       remedy="Numbers want a regression: `Dense(1)` without an activation and `loss=\"mse\"`. Classes want ids: cut the "
                              "numbers into ranges yourself, `np.digitize(y, edges)`, with one output unit for each.",
                       site=call.site or reading.place(seen, "loss", "compile", "fit"),
                       evidence=[f"target {call.target.dtype}{list(call.target.shape)}: mean {call.target.mean or 0.0:.3g}"])

    @staticmethod
    def _rounded(seen: Observation) -> Finding | None:
        """Standardised numbers in an integer type: two thirds of them lie between -1 and 1, and become 0."""
        targets = [call.target for call in seen.loss_calls if call.name in ("mse", "l1") and call.target is not None]
        known = [(t.mean, t.std, t.minimum, t.maximum) for t in targets if t.dtype.startswith("int")]
        if len(known) < _CALLS or len(known) < len(targets) or any(None in each for each in known):
            return None
        mean, std = (statistics.fmean(each[part] or 0.0 for each in known) for part in (0, 1))
        low, high = min(each[2] or 0.0 for each in known), max(each[3] or 0.0 for each in known)
        if not (-_FAR <= low <= -2 and 2 <= high <= _FAR and abs(mean) < _ABOUT_ZERO and _NARROW[0] < std < _NARROW[1]):
            return None
        kind = targets[0].dtype
        return Finding(
            message=f"The targets of this regression are whole numbers ({kind}) from {low:g} to {high:g}, most of them 0: what is left of "
                    "standardised numbers whose fractions were cut off.",
            remedy="Keep them as floats: `astype(\"float32\")` after they were scaled.",
            site=next((place for place in _made(seen) if re.search(r"\bint", place.source)), None)
            or reading.place(seen, f"spelt {kind}") or reading.place(seen, "loss", "compile", "fit"),
            evidence=[f"mean {mean:.2f}, standard deviation {std:.2f} over {len(known)} batches", *reading.own_losses(seen)])

    @staticmethod
    def _got(error: ExceptionFacts, patterns: tuple[str, ...]) -> str:
        return next((m["got"] for pattern in patterns if (m := re.search(pattern, error.message))), "another type")

    @staticmethod
    def _finding(seen: Observation, error: ExceptionFacts, message: str, remedy: str) -> Finding:
        inside, made = _in_library(error), _made(seen)
        got = re.search(r"\b(Int|Short|Byte|Bool|Float|Double|bool)\b", message)
        cast = [place for place in made if got is not None and re.search(_WRITTEN[got[1].lower()], place.source)]
        site = next(iter(cast or (made if inside else [])), None)
        if site is not None and cast and got is not None and len(re.findall(_WRITTEN[got[1].lower()], site.source)) == 1:
            site = sourcing.parted(seen, site)  # a whole table that was made of one type
        return Finding(message=message, remedy=remedy, site=site or error.site or reading.place(seen, "loss"),
                       evidence=[f"{error.type}: {_telling(error.message)}", *_shapes(seen), *reading.caveat(seen)])


def _in_library(error: ExceptionFacts) -> bool:
    """Whether a model of transformers computes the loss itself: then the script has no line of it, but one where it makes the labels."""
    return any("/transformers/models/" in path.replace("\\", "/") for path, _, _ in error.frames)


def _made(seen: Observation) -> list[Site]:
    """The lines where the labels are made, the likeliest first."""
    made = [place for name in ("collator.labels", "getitem.labels", "getitem.targets", "getitem.last", "map.labels")
            if (place := reading.place(seen, name)) is not None]
    made += [place for place in [raised.made_by(seen, *raised.LABELS) or raised.built_by(seen, *raised.LABELS)] if place is not None]
    return made + sourcing.lines(seen, "labels")


class TargetShape(Check):
    """The target's shape does not fit the output, or fits only by broadcasting.

    `(N, 1)` against `(N,)` compares every prediction with every target: N x N pairs, and the model learns the mean.
    Sources: NumPy docs, Broadcasting; the warning of torch.nn.functional.mse_loss.
    """

    code: ClassVar[str] = "L203"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L202",)

    _RAISED = (r"[Tt]arget size \(torch\.Size\(.*\)\).* (same as|different to) (the )?input size", r"multi-target not supported",
               r"Expected input batch_size \(\d+\) to match target batch_size", r"Expected target size \[",
               r"The size of tensor a \(\d+\) must match the size of tensor b", r"Incompatible shapes: \[",
               r"Shapes \(.*\) and \(.*\) are incompatible",
               r"`logits` and `labels` must have the same shape", r"logits and labels must have the same first dimension",
               r"`labels\.shape` must equal `logits\.shape`", r"`target` and `output` must have the same (rank|shape)",
               r"`output` must have rank \(ndim\) `target\.ndim - 1`")
    messages: ClassVar[tuple[str, ...]] = _RAISED

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the shapes of loss calls (PyTorch, where broadcasting is silent) and from exceptions of a loss."""
        error = reading.matching(seen, *self._RAISED, within=_IN_LOSS, stages=("loss",))
        if error is not None and "/metrics/" not in error.message and not any("/metrics/" in path for path, _, _ in error.frames):
            made = _made(seen) if _in_library(error) else []
            wide = re.search(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)", error.message)
            several = bool(made) and wide is not None and int(wide[2]) % int(wide[1]) == 0
            return Finding(message="The target's shape does not fit the output"
                                   + (": each row has several whole numbers as labels, and the model wants one class." if several else "."),
                           remedy=_SEVERAL if several else self._remedy(error.message),
                           site=next(iter(made), None) or error.site or reading.place(seen, "loss"),
                           evidence=[f"{error.type}: {_telling(error.message)}", *_shapes(seen), *reading.caveat(seen)])
        if seen.paired is not None:
            return _weighed(seen, seen.paired)
        for call in (*seen.loss_calls, *seen.broadcasts):
            if seen.framework in reading.KERAS and (call.name != "other" or call.lined_up):
                continue  # Keras puts (N, 1) and (N,) in line before it compares
            shape = _grown(call)
            if shape is None or call.inputs is None or call.target is None:
                continue
            pairs, rows = math.prod(shape), max(math.prod(call.inputs.shape), math.prod(call.target.shape))
            short = len(call.inputs.shape) > len(call.target.shape)
            fix = "target.unsqueeze(1)" if short else "output.squeeze(-1)"
            if seen.framework in reading.KERAS:
                fix = "tf.expand_dims(target, -1)" if short else "tf.squeeze(output, -1)"
            return Finding(
                message=f"Output {_text(call.inputs.shape)} and target {_text(call.target.shape)} are broadcast to {_text(shape)}: the "
                        "loss "
                        f"averages {pairs} pairs instead of {rows}, so every prediction is pulled towards every target.",
                remedy=f"Give both the same shape: `{fix}`.", site=call.site or reading.place(seen, "loss"),
                evidence=[*_shapes(seen), *[text for text in seen.warnings if "target size" in text][:1]])
        spread = _spread(seen)
        if spread is not None:
            return spread
        cut = next((call for call in (*seen.loss_calls, *seen.broadcasts) if call.cut_from is not None and call.inputs is not None), None)
        if cut is not None and cut.inputs is not None:
            before, after = _text(tuple(cut.cut_from or ())), _text(cut.inputs.shape)
            swap = "tf.transpose(logits, [0, 2, 1])" if seen.framework in reading.KERAS else "logits.transpose(1, 2)"
            return Finding(
                message=f"The output fits the target only since it was cut into other pieces: {before} became {after} with its axes as "
                        "they were, and the scores of one class are those of several now, at other places.",
                remedy=f"Exchange the axes: `{swap}`. `view` and `reshape` only count through the numbers.",
                site=cut.site or reading.place(seen, "loss"), evidence=_shapes(seen))
        if not any(call.inputs is not None and call.target is not None for call in (*seen.loss_calls, *seen.broadcasts)):
            raise NotJudged("no loss call with its output and target was seen")
        return None

    @staticmethod
    def _remedy(message: str) -> str:
        if "multi-target" in message:
            return "Class ids are one number a row: `labels = labels.squeeze(-1)` (or `labels.argmax(-1)` where rows are one-hot)."
        if "Expected target size" in message:
            return "PyTorch wants the classes on axis 1: `loss(logits.transpose(1, 2), targets)`, or flatten both: `logits.flatten(0, 1)`."
        if "batch_size" in message:
            return "Output and target have a different number of rows: look for a reshape that mixes the batch with another axis."
        if re.search(r"ndim - 1|same first dimension", message):
            return 'The labels are one-hot: use `loss="categorical_crossentropy"`, or pass class ids.'
        if re.search(r"are incompatible|same rank", message):
            return 'The labels are class ids: use a sparse loss (`loss="sparse_categorical_crossentropy"`), or give the model one output.'
        return "Give output and target the same shape: `output.squeeze(-1)`, or `labels.unsqueeze(-1)`."


def _weighed(seen: Observation, found: PairedFacts) -> Finding:
    """The mean over all pairs is the product of both means: what any one row weighs is gone."""
    short = len(found.losses) > len(found.weights)
    fix = ("tf.expand_dims(weights, -1)" if short else "tf.squeeze(weights, -1)") if seen.framework in reading.KERAS else (
        "weights.unsqueeze(1)" if short else "weights.squeeze(-1)")
    rows = math.prod(found.losses)
    if not found.of_losses:
        axis = "tf.squeeze(..., -1)" if seen.framework in reading.KERAS else "squeeze(-1)"
        return Finding(
            message=f"Numbers of {rows} rows, {_text(tuple(found.losses))} and {_text(tuple(found.weights))}, are broadcast to "
                    f"{_text((rows, rows))}: each row's is put together with those of all rows, and in the mean of such a table no row "
                    "has a number of its own.",
            remedy=f"Give both the same shape before they are put together: `{axis}` for the one with an axis of length one.",
            site=found.site or reading.place(seen, "loss"),
            evidence=[f"the loss is a mean or a sum of {rows * rows} numbers, one for every pair of rows, in place of {rows}"])
    return Finding(
        message=f"The losses of {rows} rows {_text(tuple(found.losses))} and their weights {_text(tuple(found.weights))} are broadcast to "
                f"{_text((rows, rows))}: every row is weighed by the weights of all, and in the mean none weighs more than another.",
        remedy=f"Give both the same shape before they are multiplied: `{fix}`.", site=found.site or reading.place(seen, "loss"),
        evidence=[f"the mean of such a table is the mean of the losses times the mean of the weights; it has {rows * rows} numbers"])


def _grown(call: LossCall) -> tuple[int, ...] | None:
    """The shape that broadcasting makes of output and target, where it is larger than both and neither is a single number."""
    if call.takes_class_ids or call.name in {"categorical", "model"} or call.inputs is None or call.target is None:
        return None
    left, right = call.inputs.shape, call.target.shape
    sizes = math.prod(left), math.prod(right)
    if left == right or min(sizes) <= 1 or (call.name == "other" and sizes[0] != sizes[1]):
        return None
    width = max(len(left), len(right))
    axes = list(zip((1,) * (width - len(left)) + left, (1,) * (width - len(right)) + right, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in axes):
        return None
    shape = tuple(max(a, b) for a, b in axes)
    return shape if math.prod(shape) > max(sizes) else None


def _text(shape: tuple[int, ...]) -> str:
    return str(tuple(shape)).replace(" ", "").replace(",", ", ").replace(", )", ",)")


def _shapes(seen: Observation) -> list[str]:
    call = next((c for c in seen.loss_calls if c.inputs is not None and c.target is not None), None)
    if call is None or call.inputs is None or call.target is None:
        return []
    return [f"{call.name}: output {_text(call.inputs.shape)} {call.inputs.dtype}, target {_text(call.target.shape)} {call.target.dtype}"]


def _telling(message: str) -> str:
    """The line of a message that says what went wrong; a graph's error has it after the quoted frames."""
    return reading.telling(message, (*LabelDtype._IDS, *LabelDtype._FLOATS, *TargetShape._RAISED))


def _spread(seen: Observation) -> Finding | None:
    """The number of a class, held against every score: a squared error of both takes the nine of class 9 for what each output should be."""
    calls = [call for call in seen.loss_calls if call.inputs is not None and call.target is not None]
    pairs = [(call.inputs, call.target) for call in calls if call.name in ("mse", "l1")]
    if len(pairs) < _SPREAD or len(pairs) < len(calls):
        return None
    widths = {inputs.shape[-1] if len(inputs.shape) == 2 else 0 for inputs, _ in pairs if inputs is not None}
    width = widths.pop() if len(widths) == 1 else 0
    targets = [target for _, target in pairs if target is not None]
    if width < _CLASSES or not all(target.integral and target.shape[1:] in ((), (1,)) for target in targets):
        return None
    ends = min(target.minimum or 0.0 for target in targets), max(target.maximum or 0.0 for target in targets)
    if ends != (0.0, width - 1.0):
        return None
    keras = seen.framework in reading.KERAS
    fix = "`SparseCategoricalCrossentropy(from_logits=True)`" if keras else "`nn.CrossEntropyLoss()`"
    return Finding(
        message=f"Each row's target is one whole number from 0 to {width - 1}, and is held against all {width} outputs: the loss wants "
                "every output to come to the number of the class.",
        remedy=f"Where they are classes, take a loss that knows numbers of classes: {fix}; where they are amounts, give the model one "
               "output.",
        site=calls[0].site or reading.place(seen, "loss", "compile", "fit"), evidence=_shapes(seen))
