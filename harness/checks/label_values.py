"""The values of a loss's target: labels that lie outside the classes."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from typing import Any, ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import ExceptionFacts

# What tokenizers' collators and PyTorch's losses agree on for a label that is not to be learnt.
_LEFT_OUT = -100
# Interpolated and smoothed masks may stick out a little.
_ROUNDED = 0.05
_FIRST = 3
_BLANK = 0.1  # of the targets
_MANY, _SOME = 60, 0.01  # labels of which one-hot rows are made, and the part of them that has no place
_OUT_OF_RANGE = (r"Target (?P<value>-?\d+) is out of bounds",
                 r"label value of (?P<value>-?\d+) which is outside the valid range of \[0, (?P<classes>\d+)\)",
                 r"Assertion `t >= 0 && t < n_classes` failed", r"^target out of range$")
_ONE_HOT = (r"Class values must be (smaller than num_classes|non-negative)",)
_INDEXED = (r"index (?P<value>-?\d+) is out of bounds for dimension (1|-1) with size (?P<classes>\d+)",)


class LabelOutsideClasses(Check):
    """Label values lie outside the classes of the output layer.

    A cross entropy picks one logit per row by the label. Where that logit does not exist, a CPU raises, a GPU stops with an
    assertion that is reported somewhere else, and TensorFlow's GPU kernel (and XLA) silently gives NaN for that row.
    Sources: PyTorch docs, CrossEntropyLoss; TensorFlow docs, sparse_softmax_cross_entropy_with_logits.
    """

    code: ClassVar[str] = "L201"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("L210",)
    messages: ClassVar[tuple[str, ...]] = (*_OUT_OF_RANGE, *_ONE_HOT, *_INDEXED)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from an exception of the loss, or from labels against the width of the output."""
        classes, labels, ignored = self._labels(seen)
        error = reading.matching(seen, *_OUT_OF_RANGE, *_ONE_HOT) or self._indexed(seen, labels)
        outside = [label for label in labels if _outside(label, classes, ignored)]
        if error is not None:
            return self._raised(seen, error, classes, labels)
        if reading.asynchronous(seen):
            if outside:
                return self._finding(seen, classes, labels, outside, [])
            raise NotJudged("the device failed behind Python's back, and the labels that were seen fit the classes")
        if outside:
            return self._finding(seen, classes, labels, outside, self._nan_rows(seen, classes))
        beyond = (self._blanks(seen) or self._beyond_shares(seen) or self._nothing_hot(seen) or self._one_too_high(seen)
                  or self._no_signs(seen) or self._indifferent(seen))
        if beyond is not None:
            return beyond
        if classes is None and not seen.loss_calls:
            raise NotJudged("no loss call was seen")
        return None

    @staticmethod
    def _blanks(seen: Observation) -> Finding | None:
        """A CTC loss puts its blank between what is said; a target that holds it asks for nothing to be said."""
        facts = seen.blanks
        if facts is None or facts.calls < _FIRST or facts.held < _BLANK * facts.rows:
            return None
        free = facts.unused or []
        name = "blank" if seen.framework == "torch" else "blank_index"
        instead = f"`{name}={free[0]}`, which no target holds" if len(free) == 1 else "the number that no target holds"
        return Finding(
            message=f"The CTC loss takes class {facts.blank} for its blank, and {facts.held} of {facts.rows} targets hold that number: it "
                    "stands for a symbol of theirs.",
            remedy=f"Name the blank that the vocabulary and the decoder know: {instead}. The default is 0.",
            site=facts.named or reading.place(seen, "criterion") or facts.site, evidence=reading.own_losses(seen))

    @staticmethod
    def _beyond_shares(seen: Observation) -> Finding | None:
        """Targets of a binary cross entropy that are no shares between 0 and 1: where they lie beyond, it has no lower end."""
        calls = [c for c in seen.loss_calls if c.name in {"bce", "bce_with_logits"} and c.target is not None and not c.target.integral]
        ends = [(c.target.minimum, c.target.maximum) for c in calls if c.target is not None]
        low = min((end for end, _ in ends if end is not None), default=0.0)
        high = max((end for _, end in ends if end is not None), default=1.0)
        if low >= -_ROUNDED and high <= 1 + _ROUNDED:
            return None
        values = [c.value for c in calls if c.value is not None]
        below = [f"The loss fell below zero, to {min(values):.3g}."] if values and min(values) < 0 else []
        return Finding(message=f"A binary cross entropy takes targets from 0 to 1, and these lie between {low:.3g} and {high:.3g}: beyond, "
                               "the loss has no lower end.",
                       remedy="Leave labels and masks as 0 and 1 when you scale the inputs; for numbers that are no shares take a squared "
                              "error.",
                       site=calls[0].site or reading.place(seen, "loss", "compile", "fit"), evidence=below)

    @staticmethod
    def _no_signs(seen: Observation) -> Finding | None:
        """Targets of 0 and 1 for a loss of pairs or margins, to which -1 and 1 mean something."""
        targets = [c.target for c in seen.loss_calls if c.signs and c.target is not None]
        zeros = [target for target in targets if target.integral and target.minimum == 0 and target.maximum in (0, 1)]
        if len(zeros) < _FIRST or len(zeros) < len(targets) or not any(target.maximum == 1 for target in zeros):
            return None
        site = next((c.site for c in seen.loss_calls if c.signs), None)
        return Finding(
            message="This loss knows the targets 1 and -1, and gets 1 and 0: rows with a 0 are neither drawn together nor pushed apart.",
            remedy="Turn 0 and 1 into -1 and 1: `target = 2 * target - 1`.",
            site=sourcing.line(seen, "labels", "made", "converted") or site or reading.place(seen, "loss"),
            evidence=[f"targets of the first {len(targets)} calls: 0 and 1; mean of the first {targets[0].mean or 0.0:.2f}",
                      *reading.own_losses(seen)])

    @staticmethod
    def _indifferent(seen: Observation) -> Finding | None:
        """A loss that is written out for -1 and 1: a factor of 0 takes the answer out of it."""
        facts = seen.probes.indifferent
        if facts is None or reading.several_models(seen):
            return None
        return Finding(
            message="The loss wants nothing of rows with the label 0: whatever the model answers for them, its derivative there is zero. A "
                    "margin, `y * score`, means something with labels of -1 and 1.",
            remedy="Turn 0 and 1 into -1 and 1, `y = 2 * y - 1`; or take `binary_cross_entropy_with_logits`, which knows 0 and 1.",
            site=facts.site or reading.place(seen, "loss", "backward"),
            evidence=[f"all {facts.rows} rows with the label 0 in {facts.steps} steps, and not those with a 1", *reading.own_losses(seen)])

    @staticmethod
    def _nothing_hot(seen: Observation) -> Finding | None:
        """One-hot rows that are zero throughout: their label has no place within the depth that they were made with."""
        calls = [c for c in seen.loss_calls if c.name in {"categorical", "cross_entropy"} and c.target is not None]
        targets = [c.target for c in calls if c.target is not None]
        if len(targets) < _FIRST or reading.script_learns(seen) or any(
                len(t.shape) != 2 or t.shape[1] < 2 or not t.integral or t.minimum != 0 or t.maximum != 1 or t.mean is None
                or t.mean * t.shape[1] > 1 - _ROUNDED for t in targets):
            return None
        width, share = targets[0].shape[1], 1 - statistics.fmean((t.mean or 0.0) * t.shape[1] for t in targets)
        return Finding(
            message=f"{100 * share:.0f} % of the one-hot targets are zero throughout: their label is outside the classes, of which there "
                    f"are {width} (0 to {width - 1}).",
            remedy=f"Labels that count from 1 are one too high: `tf.one_hot(labels - 1, {width})`. Otherwise give the one-hot rows and the "
                   "output layer one place for each label value.",
            site=reading.place(seen, "one_hot", "map.labels", "getitem.labels", "collator.labels") or calls[0].site
            or reading.place(seen, "loss", "compile", "fit"),
            evidence=[f"mean of the targets: {targets[0].mean or 0.0:.3g}, and {1 / width:.3g} if every row had its 1",
                      *reading.own_losses(seen)])

    @staticmethod
    def _one_too_high(seen: Observation) -> Finding | None:
        """Labels that count from 1: the last class has no place, and the first one no row."""
        made = seen.one_hot
        if made is None or made.ids < _MANY or made.lowest != 1 or made.highest != made.depth or made.beyond < _SOME * made.ids:
            return None
        if not any(call.target is not None and call.target.shape[-1:] == (made.depth,) for call in seen.loss_calls):
            return None
        return Finding(
            message=f"{made.beyond} of {made.ids} labels are {made.depth}, and one-hot rows of {made.depth} places are for 0 to "
                    f"{made.depth - 1}: theirs are zero throughout, and that class is never learnt.",
            remedy=f"These labels count from 1: `tf.one_hot(labels - 1, {made.depth})`, and compare with `labels - 1` later on.",
            site=made.site or reading.place(seen, "one_hot", "loss"), evidence=["No label is 0.", *reading.own_losses(seen)])

    @staticmethod
    def _indexed(seen: Observation, labels: list[int]) -> ExceptionFacts | None:
        """A cross entropy written by hand picks logits by an index; one that is a label, and beyond the classes, is this fault."""
        error = reading.matching(seen, *_INDEXED)
        match = re.search(_INDEXED[0], error.message) if error else None
        known = labels or [int(label) for batch in seen.batches for label in batch.labels or [] if _whole(label)]
        classes = seen.model.num_labels or seen.model.final_units if seen.model else None
        return error if match and int(match["value"]) in known and classes in {None, int(match["classes"])} else None

    def _labels(self, seen: Observation) -> tuple[int | None, list[int], set[int]]:
        """Width of the output, labels of the rows that were seen, and values that a loss leaves out."""
        ignored = {c.ignore_index for c in seen.loss_calls if c.ignore_index is not None}
        if seen.framework == "torch" or any(c.name == "model" for c in seen.loss_calls):
            ignored.add(_LEFT_OUT)
        calls = [call for call in seen.loss_calls if call.takes_class_ids]
        # Each head has classes and labels of its own: the first whose labels do not fit it, if there is one.
        beyond = (c for c in calls for label in c.row_labels
                  if _whole(label) and _outside(int(label), reading.class_units(seen, c), ignored))
        call = next(beyond, calls[0] if calls else None)
        known = [call] if call else [c for c in seen.loss_calls if c.name == "model"]
        classes = reading.class_units(seen, call)
        by_class = bool(calls) or (seen.task == "classification" and _problem(seen) == "classes" and (bool(known) or not seen.loss_calls))
        if not by_class or classes is None or classes < 2:
            return None, [], ignored
        widths = {reading.class_units(seen, c) for c in calls}
        labels = [label for c in calls if reading.class_units(seen, c) == classes for label in c.row_labels]
        if len(widths) < 2:
            labels = labels or [label for step in seen.steps for label in step.labels or []]
            labels = labels or [label for batch in seen.batches for label in batch.labels or []]
        for birth in seen.births:
            labels += [*birth.row_labels, *birth.finite_row_labels] if not labels else []
        whole = [int(label) for label in labels if _whole(label)]
        if not whole and call is not None and call.target is not None and call.target.integral:
            whole = [int(v) for v in (call.target.minimum, call.target.maximum) if v is not None]
        return classes, whole, ignored

    def _raised(self, seen: Observation, error: ExceptionFacts, classes: int | None, labels: list[int]) -> Finding:
        match = next((m for p in (*_OUT_OF_RANGE, *_INDEXED) if (m := re.search(p, error.message))), None)
        groups = match.groupdict() if match else {}
        value = int(groups["value"]) if groups.get("value") else None
        if groups.get("classes"):
            classes = int(groups["classes"])
        if classes is None:
            classes = seen.model.num_labels or seen.model.final_units if seen.model else None
        ignored = {_LEFT_OUT}
        told = re.search(r"Label values: ([-\d ]+)", error.message)
        labels = labels or ([int(number) for number in told[1].split()] if told else [])
        outside = [label for label in labels if _outside(label, classes, ignored)] or ([value] if value is not None else [])
        return self._finding(seen, classes, labels, outside, [f"{error.type}: {_telling(error.message)}"], error)

    def _nan_rows(self, seen: Observation, classes: int | None) -> list[str]:
        for call in seen.loss_calls:
            if len(call.row_losses) != len(call.row_labels) or not call.row_losses:
                continue
            bad = Counter(label for label, loss in zip(call.row_labels, call.row_losses, strict=True) if not math.isfinite(loss))
            good = Counter(label for label, loss in zip(call.row_labels, call.row_losses, strict=True) if math.isfinite(loss))
            if bad and all(_outside(label, classes, set()) for label in bad):
                return [f"Rows whose own loss is NaN carry the labels {_counts(bad)}; finite rows carry {_counts(good)}."]
        for birth in seen.births:
            if birth.what == "loss" and birth.row_labels:
                bad, good = Counter(birth.row_labels), Counter(birth.finite_row_labels)
                return [f"First NaN at step {birth.step}, in rows with the labels {_counts(bad)}; finite rows carry {_counts(good)}."]
        return []

    def _finding(self, seen: Observation, classes: int | None, labels: list[int], outside: list[int], evidence: list[str],
                 error: ExceptionFacts | None = None) -> Finding:
        values = sorted(set(outside))
        shown = ", ".join(map(str, values[:5])) or "of some rows"
        width = f"the output layer has {classes} classes (0 to {classes - 1})" if classes else "the output layer has fewer classes"
        rows = f" ({len(outside)} of the {len(labels)} rows that were seen)" if len(labels) >= len(outside) > 0 and len(labels) > 2 else ""
        message = f"Label {shown}{rows} is outside the classes: {width}."
        kept = [label for label in labels if label >= 0]
        if len(kept) <= 2 * (classes or 2):  # a graph's error tells of one label; the dataset may be known
            counts = data_labels.training_labels(seen)
            kept = [int(label) for label, count in counts.items() for _ in range(count) if label.isdigit()] or kept
        site = reading.place(seen, "model")
        if values and values[0] == _LEFT_OUT:
            keras = seen.framework in reading.KERAS
            remedy = (f"Label {_LEFT_OUT} marks what is to be left out, which this loss does not know: "
                      + ("`SparseCategoricalCrossentropy(..., ignore_class=-100)`; a TensorFlow model of transformers that is compiled "
                         "without `loss=` leaves it out itself." if keras else "give it `ignore_index=-100`."))
            site = reading.place(seen, "loss", "compile") or _of(error)
        elif values and values[0] < 0:
            remedy = (f"Label {values[0]} marks rows without a label: leave them out (`dataset.filter(lambda row: row[\"label\"] >= 0)`), "
                      "or tell the loss to skip them (`ignore_index`).")
            written = rf"(?<![\w.]){values[0]}(?![\w.])"
            site = next((place for place in sourcing.lines(seen, "labels") if re.search(written, place.source)), None) \
                or reading.place(seen, "collator.labels", "map.labels") or sourcing.line(seen, "labels", "made") or _of(error) \
                or reading.place(seen, "loss")
        elif classes and kept and min(kept) == 1 and max(kept) == classes and 0 not in kept and len(kept) > 2 * classes:
            remedy = "The labels count from 1, classes count from 0: pass `labels - 1` to the loss."
            lookup = reading.place(seen, "lookup")
            if lookup is not None:
                remedy = f"A `{_looked_up(lookup)}` keeps 0 for what it does not know: make the one of the labels with `num_oov_indices=0`."
            site = lookup or sourcing.line(seen, "labels", "converted", "made") or reading.place(seen, "loss") or _of(error)
        elif seen.model is not None and seen.model.num_labels is not None:
            wanted = max(values) + 1 if values else (classes or 2) + 1
            remedy = f"Build the model with one output per label value: `from_pretrained(..., num_labels={wanted})`."
        else:
            wanted = max(values) + 1 if values else (classes or 2) + 1
            remedy = f"Give the last layer one unit per label value (at least {wanted} instead of {classes or 'fewer'})."
        counted = [f"Labels seen: {_counts(Counter(labels))}."] if len(labels) > 2 else []
        return Finding(message=message, remedy=remedy, site=site or _of(error) or reading.place(seen, "loss", "compile", "fit"),
                       evidence=[*evidence, *counted, *reading.caveat(seen)])


def _problem(seen: Observation) -> str:
    named = seen.model.problem_type if seen.model else None
    return "classes" if named in {None, "single_label_classification"} else str(named)


def _outside(label: Any, classes: int | None, ignored: set[int]) -> bool:
    return _whole(label) and classes is not None and label not in ignored and not 0 <= label < classes


def _whole(label: Any) -> bool:
    return isinstance(label, int | float) and math.isfinite(label) and float(label).is_integer()


def _looked_up(place: Site) -> str:
    return "IntegerLookup" if "IntegerLookup" in place.source else "StringLookup"


def _counts(labels: Counter[Any]) -> str:
    return ", ".join(f"{label} x {count}" for label, count in sorted(labels.items(), key=lambda item: str(item[0]))[:8]) or "none"


def _of(error: ExceptionFacts | None) -> Site | None:
    return error.site if error else None


def _telling(message: str) -> str:
    """The line of a message that says what went wrong; a graph's error has it after the quoted frames."""
    return reading.telling(message, (*_OUT_OF_RANGE, *_ONE_HOT, *_INDEXED))
