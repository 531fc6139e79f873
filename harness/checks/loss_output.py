"""What the output layer hands to the loss: logits, probabilities, or something that no label can be reached from."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import ctc_scores, divergences, out_of_reach, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import ClippedFacts, LossCall
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site, TensorFacts

_SLACK = 1e-3
_CLIPPED, _BEYOND = 0.05, 0.1  # share of what a loss clips, and how far outside 0 to 1 some of it lies
_IN_A_ROW = 4
_MORE_THAN_ONE = 1.05  # labels of a row, on average
_SINGLE_LABEL = {"cross_entropy", "nll", "sparse_categorical", "categorical"}
_REGRESSION = {"mse", "l1"}
# Ranges that an activation cannot leave.
_BOUNDS = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, float("inf")),
           "softplus": (0.0, float("inf")), "lstm": (-1.0, 1.0)}


class OutputFitsLoss(Check):
    """The output layer cannot express what the loss asks for.

    One unit through a softmax is always 1, a cross entropy over one class is always 0, a ReLU before a cross entropy forbids
    negative logits, and a bounded activation cannot reach targets beyond its bounds.
    Sources: Goodfellow, Bengio, Courville, Deep Learning, 6.2.2 (output units); PyTorch docs, CrossEntropyLoss.
    """

    code: ClassVar[str] = "L210"
    stage: ClassVar[Stage] = "loss"
    messages: ClassVar[tuple[str, ...]] = (r"Target 1 is out of bounds", r"outside the valid range of \[0, 1\)")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from loss calls and the model's last layer; both must agree."""
        units = seen.model.final_units if seen.model else None
        activation = (seen.model.final_activation or "").lower() if seen.model else ""
        call = next((c for c in seen.loss_calls if c.inputs is not None), None)
        activation = (call.activation if call is not None else None) or activation  # of several outputs it is that of this one
        found = self._one_class(seen, call, units, activation) or out_of_reach.in_a_step(seen)
        if found is None and call is not None:
            found = self._classes_as_numbers(seen, call)
        if found is None and call is not None:
            found = (self._range(seen, call, activation) or self._several_at_once(seen) or self._kind(seen, call, activation, units)
                     or self._heads(seen) or out_of_reach.cosines(seen) or out_of_reach.alike(seen) or out_of_reach.far(seen)
                     or out_of_reach.ordered(seen))
        if found is None and call is None and units is None:
            raise NotJudged("neither a loss call nor the last layer was seen")
        return found

    def _one_class(self, seen: Observation, call: LossCall | None, units: int | None, activation: str) -> Finding | None:
        site = reading.place(seen, "output", "model", "loss")
        width = reading.class_units(seen, call) if call and call.name in _SINGLE_LABEL else units
        error = reading.matching(seen, *self.messages)
        if width == 1 and (error is not None or (call is not None and call.name in _SINGLE_LABEL)):
            values = [c.value for c in seen.loss_calls if c.value is not None][:3]
            return Finding(
                message="A cross entropy over classes is given an output of one unit: its softmax is always 1, so the loss is 0 for "
                        "label 0 "
                        "and does not exist for label 1.",
                remedy="Use one unit per class (two here), or keep one unit with a binary loss: `BCEWithLogitsLoss` and float labels "
                       '(Keras: `Dense(1)` with `BinaryCrossentropy(from_logits=True)`).',
                site=site or (error.site if error else None),
                evidence=[f"{error.type}: {reading.first_line(error.message)}"] if error else [f"First losses: {values}"])
        constant = call is None or call.inputs is None or _is_one(call.inputs.minimum, call.inputs.maximum)
        if units == 1 and activation == "softmax" and constant:
            return Finding(message="The last layer is one unit with a softmax: its output is 1 for every row, whatever goes in.",
                           remedy='Use a sigmoid for one unit (`Dense(1, activation="sigmoid")`, `torch.sigmoid`), or no activation and '
                                  "a loss that takes logits.", site=site, evidence=_range_text(call))
        return None

    @staticmethod
    def _classes_as_numbers(seen: Observation, call: LossCall) -> Finding | None:
        """Labels that the dataset itself calls classes, against one output unit and a squared error."""
        loader = next((loader for loader in seen.loaders if loader.role == "train"), None)
        names = loader.label_names if loader is not None else []
        if call.name != "mse" or len(names) < 2 or seen.model is None or seen.model.num_labels != 1:
            return None
        return Finding(
            message=f"The dataset's labels are {len(names)} classes ({', '.join(names[:4])}), but the model has one output: a "
                    "regression on the class numbers.",
            remedy=f"Build the model with one output per class: `from_pretrained(..., num_labels={len(names)})`.",
            site=reading.place(seen, "model", "loss"), evidence=_range_text(call))

    def _range(self, seen: Observation, call: LossCall, activation: str) -> Finding | None:
        """A bounded output against targets beyond its bounds (regression)."""
        if call.name not in _REGRESSION or activation not in _BOUNDS or not _within(call, *_BOUNDS[activation]):
            return None
        calls = [c for c in seen.loss_calls if c.name in _REGRESSION]
        return self._beyond(calls, activation, reading.place(seen, "output", "model", "loss"))

    def _heads(self, seen: Observation) -> Finding | None:
        """The same of each of a model's several outputs, where the loss knows what its input came out of."""
        for activation, bounds in _BOUNDS.items():
            calls = [c for c in seen.loss_calls if c.name in _REGRESSION and c.activation == activation]
            if calls and len({c.activation for c in seen.loss_calls}) > 1 and all(_within(c, *bounds) for c in calls):
                found = self._beyond(calls, activation, reading.place(seen, f"activation {activation}", "output", "model", "loss"))
                if found is not None:
                    return found
        return None

    @staticmethod
    def _several_at_once(seen: Observation) -> Finding | None:
        """Rows of several ones each against a softmax, whose probabilities are shared among the classes."""
        for call in seen.loss_calls:
            target, shape = call.target, call.inputs.shape if call.inputs is not None else ()
            if call.name not in {"cross_entropy", "categorical"} or target is None or len(shape) != 2 or target.shape != shape:
                continue
            ones = (target.mean or 0.0) * shape[-1]
            if target.integral and (target.minimum, target.maximum) == (0.0, 1.0) and not target.rows_sum_to_one and ones > _MORE_THAN_ONE:
                keras = seen.framework in reading.KERAS
                return Finding(
                    message=f"Rows carry several labels at once ({ones:.2g} of {shape[-1]} on average), and the loss takes a softmax, "
                            "which shares one unit of probability among the classes.",
                    remedy=('`loss="binary_crossentropy"` with `activation="sigmoid"` in the last layer' if keras else
                            "`BCEWithLogitsLoss` (`F.binary_cross_entropy_with_logits(logits, labels)`)") + ": a yes or no for each class.",
                    site=call.site or reading.place(seen, "loss", "compile"), evidence=_range_text(call))
        return None

    @staticmethod
    def _beyond(calls: list[LossCall], activation: str, site: Site | None) -> Finding | None:
        low, high = _BOUNDS[activation]
        call, targets = calls[0], [c.target for c in calls if c.target is not None]
        bottom = min((t.minimum for t in targets if t.minimum is not None), default=low)
        top = max((t.maximum for t in targets if t.maximum is not None), default=high)
        span = max(top - bottom, _SLACK)
        if bottom >= low - 0.05 * span and top <= high + 0.05 * span:
            return None
        recurrent = activation == "lstm"
        ends = "an LSTM, whose output is a tanh times a gate," if recurrent else activation
        remedy = "Put a linear layer behind the recurrent one" if recurrent else "Drop the last activation (a linear output for regression)"
        return Finding(
            message=f"The output ends in {ends} and stays within [{low:g}, {high:g}], but targets range from {bottom:.4g} to "
                    f"{top:.4g}: "
                    "those beyond can never be reached.",
            remedy=f"{remedy}, or scale the targets into its range.",
            site=site, evidence=_range_text(call))

    @staticmethod
    def _beyond_two(seen: Observation, call: LossCall) -> str | None:
        """Whole-numbered targets of a binary loss that are neither 0 nor 1, as text; None where there are none."""
        targets = [c.target for c in _like(seen, call) if c.target is not None and c.target.minimum is not None]
        if not targets or not all(t.integral for t in targets):
            return None
        low, high = min(t.minimum or 0.0 for t in targets), max(t.maximum or 0.0 for t in targets)
        return f"values from {low:g} to {high:g}" if low < 0 or high > 1 else None

    def _kind(self, seen: Observation, call: LossCall, activation: str, units: int | None) -> Finding | None:
        site = reading.place(seen, "output", "model", "loss")
        if activation == "relu" and (call.name in _SINGLE_LABEL or call.name in {"bce", "bce_with_logits"}) and all(
                c.inputs is not None and (c.inputs.minimum or 0.0) >= 0 for c in _like(seen, call)):
            return Finding(
                message="A ReLU stands between the last layer and the loss: logits below zero are cut to 0, and their units get no "
                        "gradient.",
                remedy="Remove the activation after the last layer; the loss wants the raw numbers.", site=site, evidence=_range_text(call))
        if call.name in {"bce", "bce_with_logits"}:
            beyond = self._beyond_two(seen, call)
            if beyond is not None:
                message, masks = f"A binary loss tells 0 from 1, and the labels hold {beyond}.", _label_a_place(call)
                if masks:
                    made = sourcing.line(seen, "labels", "made", "converted")
                    return Finding(
                        message=message, site=made or reading.place(seen, "compile", "loss"), evidence=_range_text(call),
                        remedy='Bring the masks to 0 and 1 where they are made: `(masks > 0).astype("float32")`, or divide them by their '
                               "largest value.")
                return Finding(
                    message=message,
                    remedy="Several classes take one unit each and a cross entropy over them "
                           '(Keras: `Dense(classes, activation="softmax")` with `loss="sparse_categorical_crossentropy"`; PyTorch: '
                           "`CrossEntropyLoss`); two classes take the labels 0 and 1.",
                    site=site, evidence=_range_text(call))
        several = (units or 0) > 1 or (call.inputs is not None and len(call.inputs.shape) > 1 and call.inputs.shape[-1] > 1)
        apart = call.inputs is None or not call.inputs.rows_sum_to_one
        if activation == "sigmoid" and several and apart and call.name in ("sparse_categorical", "categorical") and (
                call.from_logits is not True):
            return Finding(
                message="Each class has a sigmoid of its own, but the loss expects one distribution over the classes (they need not sum "
                        "to 1 "
                        "here).", remedy='Use `activation="softmax"` in the last layer, or none with `from_logits=True`.',
                site=site, evidence=_range_text(call))
        if activation == "softmax" and several and call.name == "bce" and seen.task == "multilabel" and (
                call.target is not None and not call.target.rows_sum_to_one):
            return Finding(
                message="Rows may carry several labels at once, but a softmax shares one unit of probability among them.",
                remedy='Use `activation="sigmoid"` in the last layer (or logits with a binary loss from logits).', site=site,
                evidence=_range_text(call))
        return None


class ProbabilitiesIntoLogitsLoss(Check):
    """Probabilities go into a loss that applies softmax or sigmoid itself.

    Squashed twice, logits between 0 and 1 can never be far apart: the loss has a floor (0.31 for two classes, near ln k for many)
    and gradients are small.
    Sources: PyTorch docs, CrossEntropyLoss ("unnormalized logits"); Keras docs, from_logits.
    """

    code: ClassVar[str] = "L205"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L210",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from every loss call's input: log-probabilities are harmless, since softmax gives them back unchanged."""
        if "softmax_twice" in seen.sites:
            return Finding(
                message="A softmax is taken of what a softmax has given already: those entries lie between 0 and 1, and the second one "
                        "makes them all alike.",
                remedy="Return the raw logits from the model, and take the softmax (or `log_softmax`) once: in the loss, and where "
                       "probabilities are shown.",
                site=reading.place(seen, "softmax_twice"), evidence=reading.own_losses(seen))
        calls = [c for c in seen.loss_calls if reading.wants_logits(c) and c.inputs is not None]
        if not calls:
            if not seen.loss_calls:
                raise NotJudged("no loss call was seen")
            return None
        if not all(self._squashed(c) for c in calls) and not self._distributions(calls):
            return None
        call = calls[0]
        binary = call.name in {"bce", "bce_with_logits"}
        activation = (seen.model.final_activation or "").lower() if seen.model else ""
        if binary and not (any(c.softmaxed_in_model for c in calls) or activation in {"sigmoid", "softmax"}):
            raise NotJudged("all outputs lie between 0 and 1, but no sigmoid was seen before the loss")
        name, twice = ("sigmoid", "BCEWithLogitsLoss") if binary else ("softmax", "cross entropy")
        if seen.framework in reading.KERAS:
            remedy = f"Keep the {name} and say `from_logits=False`, or drop it (`activation=None`) and keep `from_logits=True`."
        else:
            remedy = f"Return the raw logits from the model; apply {name} only where probabilities are shown" + (
                ", or use `torch.nn.BCELoss` on them." if binary else ", or use `NLLLoss` on `log_softmax`.")
        return Finding(message=f"The loss ({twice}) applies {name} itself, and gets values that went through one already.", remedy=remedy,
                       site=reading.place(seen, "output") or call.site or reading.place(seen, "loss", "compile", "model"),
                       evidence=[*_range_text(call), f"True of all {len(calls)} loss calls that were seen."])

    @staticmethod
    def _distributions(calls: list[LossCall]) -> bool:
        """Whether several cross entropies in a row were given rows that sum to 1, whatever stands between them and a softmax."""
        given = [c.inputs for c in calls if c.name != "bce_with_logits" and c.inputs is not None and len(c.inputs.shape) == 2]
        return len(given) == len(calls) >= _IN_A_ROW and all(
            i.rows_sum_to_one and not i.log_probabilities and i.shape[0] > 1 and i.shape[1] > 1 for i in given)

    @staticmethod
    def _squashed(call: LossCall) -> bool:
        inputs = call.inputs
        if inputs is None or inputs.log_probabilities or call.softmaxed_in_model is False:
            return False
        within = _within(call, 0.0, 1.0)
        if call.name in {"bce", "bce_with_logits"}:
            return within
        # The class axis is the last one only in two dimensions; beyond that the range and the graph have to do.
        if len(inputs.shape) == 2 or call.name in {"sparse_categorical", "categorical"}:
            return (inputs.rows_sum_to_one or inputs.batch_sums_to_one) and inputs.shape[-1] > 1
        return call.softmaxed_in_model is True and within


class LogitsIntoProbabilityLoss(Check):
    """Logits go into a loss that takes their logarithm as if they were probabilities.

    Values outside 0 to 1 are clipped (Keras), or give a loss without a lower bound (NLLLoss on anything but log-probabilities).
    Sources: Keras docs, from_logits (False by default, also for a loss named by a string); PyTorch docs, NLLLoss.
    """

    code: ClassVar[str] = "L206"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("G301", "L210")
    messages: ClassVar[tuple[str, ...]] = (
        r"all elements of input should be between 0 and 1", r"Assertion `input_val >= zero && input_val <= one`")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the range of what the loss was given, over all calls, and from PyTorch's own refusal."""
        error = reading.matching(seen, *self.messages)
        if error is not None:
            return self._finding(seen, None, "BCELoss takes probabilities and got values outside 0 to 1.",
                                 "Use `BCEWithLogitsLoss` on the raw output, or apply `torch.sigmoid` first.",
                                 [f"{error.type}: {reading.first_line(error.message)}", *reading.caveat(seen)])
        calls = [c for c in (*seen.loss_calls, *seen.later_calls) if c.inputs is not None]
        scored = ctc_scores.finding(seen)
        if scored is not None:
            return scored
        if seen.clipped is not None and self._outside(seen.clipped, calls):
            return self._clipping(seen, seen.clipped)
        for call in calls:
            same = _like(seen, call)
            if reading.wants_probabilities(call) and seen.framework in reading.KERAS and any(not _within(c, 0.0, 1.0) for c in same):
                if any(c.inputs is None or c.inputs.minimum is None for c in same):
                    continue
                by = ' (named by a string, it takes its default `from_logits=False`)' if call.by_name else " (`from_logits=False`)"
                loss = {"sparse_categorical": "SparseCategoricalCrossentropy", "categorical": "CategoricalCrossentropy"}.get(
                    call.name, "BinaryCrossentropy")
                return self._finding(seen, call, f"The loss expects probabilities{by} and gets logits: what lies outside 0 to 1 is clipped "
                                     "and has no gradient.", f"`loss=keras.losses.{loss}(from_logits=True)`, or end the model in a "
                                     f"{'sigmoid' if call.name == 'bce' else 'softmax'}.")
            divergence = divergences.told(seen, call, same)
            if divergence is not None:
                return self._finding(seen, call, *divergence)
            if call.name == "nll" and seen.framework == "torch" and all(c.inputs and c.inputs.batch_sums_to_one for c in same):
                return self._finding(seen, call, "NLLLoss gets log-probabilities that sum to 1 over the rows of the batch instead of over "
                                     "the classes: the softmax is taken along the wrong axis, so each row depends on its neighbours.",
                                     "Take it over the classes: `log_softmax(logits, dim=1)` (or `dim=-1`), or hand the logits to "
                                     "`CrossEntropyLoss`.", at_output=True)
            if call.name == "nll" and seen.framework == "torch" and divergences.no_log([c.inputs for c in same if c.inputs is not None]):
                what = "probabilities" if call.inputs and call.inputs.rows_sum_to_one else "raw logits"
                return self._finding(seen, call, f"NLLLoss wants log-probabilities and gets {what}: it merely returns minus the entry of "
                                                 "the "
                                     "right class, and can fall below zero.", "Use `CrossEntropyLoss` on the logits, or "
                                     "`log_softmax(dim=1)` before `NLLLoss`.", built="NLLLoss")
        if not calls:
            raise NotJudged("no loss call with its input was seen")
        return None

    @staticmethod
    def _outside(facts: ClippedFacts, calls: list[LossCall]) -> bool:
        """Whether what is clipped as a probability mostly is none; in a graph, by what went into losses of the script's own."""
        if facts.outside:
            shares = sorted(facts.outside)
            return shares[len(shares) // 2] > _CLIPPED and (facts.lowest < -_BEYOND or facts.highest > 1 + _BEYOND)
        own = [call for call in calls if call.name == "other" and _numbers(call)]
        return facts.unread and len(own) == len(calls) > 0 and all(not _within(call, -_BEYOND, 1 + _BEYOND) for call in own)

    @staticmethod
    def _clipping(seen: Observation, facts: ClippedFacts) -> Finding:
        lines = _range_text(next((call for call in seen.loss_calls if call.name == "other"), None))
        if facts.outside:
            share = sorted(facts.outside)[len(facts.outside) // 2]
            lines = [f"Clipped were {share:.0%} of the values (median); they lay between {facts.lowest:.3g} and {facts.highest:.3g}."]
        return Finding(
            message="The loss clips what it is given to between 0 and 1, as one does with probabilities before their logarithm, and gets "
                    "logits: what lies outside has no gradient.",
            remedy="Give it probabilities, `torch.sigmoid(logits)` or a `softmax` over the classes (`tf.sigmoid`, `tf.nn.softmax`), or "
                   "write the loss with a function that takes logits.",
            site=facts.site or reading.place(seen, "loss"),
            evidence=lines)

    @staticmethod
    def _finding(seen: Observation, call: LossCall | None, message: str, remedy: str, evidence: list[str] | None = None, *,
                 at_output: bool = False, built: str = "") -> Finding:
        site, criterion = reading.place(seen, "output") if at_output else None, reading.place(seen, "criterion")
        if built and criterion is not None and built in criterion.source:
            site = criterion  # the line that chooses the loss, and not the one that calls it
        site = site or (call.site if call else None) or (reading.raised(seen)[0].site if evidence and reading.raised(seen) else None)
        return Finding(message=message, remedy=remedy, site=site or reading.place(seen, "compile", "loss", "model"),
                       evidence=evidence or _range_text(call))


def _like(seen: Observation, call: LossCall) -> list[LossCall]:
    """All calls of the same loss."""
    return [c for c in (*seen.loss_calls, *seen.later_calls) if c.name == call.name and c.site == call.site and c.inputs is not None]


def _numbers(call: LossCall) -> bool:
    return call.inputs is not None and call.inputs.minimum is not None


def _within(call: LossCall, low: float, high: float) -> bool:
    inputs = call.inputs
    if inputs is None or inputs.minimum is None or inputs.maximum is None:
        return False
    return inputs.minimum >= low - _SLACK and inputs.maximum <= high + _SLACK


def _range_text(call: LossCall | None) -> list[str]:
    """One line about what a loss call was given."""
    inputs: TensorFacts | None = call.inputs if call else None
    if call is None or inputs is None or inputs.minimum is None or inputs.maximum is None:
        return []
    sums = ", rows sum to 1" if inputs.rows_sum_to_one else ""
    value = f"; loss {call.value:.4g}" if call.value is not None else ""
    return [f"{call.name} was given {tuple(inputs.shape)} values from {inputs.minimum:.4g} to {inputs.maximum:.4g}{sums}{value}"]


def _is_one(*values: float | None) -> bool:
    """Whether all of these are 1, but for rounding in float32."""
    return all(value is not None and abs(value - 1) < 1e-6 for value in values)


def _label_a_place(call: LossCall) -> bool:
    """Whether every pixel, or every step of time, has a label: those of a mask are no class ids of rows."""
    return call.target is not None and len(call.target.shape) > 2  # rows, and a label or one of a few, otherwise
