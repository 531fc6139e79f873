"""Evaluation: what the metric is given, in which mode the model is, and what the number can show."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, metric_arrays, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import TensorFacts

_METRIC_FRAMES = r"/(evaluate|sklearn/metrics|torchmetrics)/|/metrics/|:compute_metrics$|trainer\.py:(evaluat|evaluation_loop)"


_ENCODINGS = {"CategoricalAccuracy": "one-hot rows", "TopKCategoricalAccuracy": "one-hot rows", "BinaryAccuracy": "answers of yes and no",
              "Accuracy": "class ids on both sides"}


_WORKS = {"first": "given the first array alone, it does not raise",
          "classes": "given the classes of the largest scores, it does not raise",
          "first classes": "given the first array's classes of the largest scores, it does not raise"}
_SAME, _LOST = 1e-6, 0.1
_COUNTING = ("IoU", "MeanIoU")
# Epochs of an accuracy that stands still, how far it may be from a share, and what is left of the loss meanwhile.
_EPOCHS, _STILL, _ABOUT, _FALLEN = 3, 5e-4, 0.01, 0.8
_COUNTS = 0.05  # share of scores that a metric reads wrongly


def _open(shape: tuple[int, ...]) -> str:
    """A shape in which a length that is left open has no number."""
    return f"({', '.join(str(size) if size else 'rows' for size in shape)}{',' if len(shape) == 1 else ''})"


def _may_be(given: TensorFacts, target: TensorFacts) -> bool:
    """Whether a metric may have been given what a loss was: real numbers, and as many in each row."""
    return "float" in given.dtype and (0 in given.shape[1:] or math.prod(given.shape[1:]) == math.prod(target.shape[1:]))


class MetricInput(Check):
    """Logits, or values of the wrong shape, go into the metric.

    A metric over classes wants one class id per row; logits have one number per class and row.
    Sources: evaluate docs, accuracy; scikit-learn docs, accuracy_score.
    """

    code: ClassVar[str] = "E501"
    stage: ClassVar[Stage] = "evaluation"

    _FORMAT = r"Predictions and/or references don't match the expected format"
    _MIX = r"Classification metrics can't handle a mix of (?P<left>[\w-]+) and (?P<right>[\w-]+) targets"
    _SCALAR = r"only (size-1|length-1|0-dimensional) arrays can be converted to Python scalars|only one element tensors can be converted"
    _COUNT = r"Mismatch in the number of predictions \((\d+)\) and references \((\d+)\)|inconsistent numbers of samples: \[(\d+), (\d+)\]"
    _TUPLE = r"'tuple' object has no attribute 'argmax'|inhomogeneous shape after"
    _KERAS = r"Shapes \(.*\) and \(.*\) are incompatible|Incompatible shapes: \["
    _UNDECODABLE = r"out of range integral type conversion attempted|number too small to fit in target type|can't convert negative int"
    messages: ClassVar[tuple[str, ...]] = (_FORMAT, _MIX, _SCALAR, _COUNT, _TUPLE, _KERAS, _UNDECODABLE)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exceptions of metrics, in the script's own evaluation or in one that was tried before training."""
        undecodable = reading.matching(seen, self._UNDECODABLE)
        if undecodable is not None and any(function in ("decode", "batch_decode", "_decode") for *_, function in undecodable.frames):
            return Finding(
                message="The ids that are to be decoded hold -100, which marks what the loss leaves out and is no id.",
                remedy="Put the padding's id there first: `labels = np.where(labels != -100, labels, tokenizer.pad_token_id)` (the answers "
                       "of `generate` that a Trainer has padded may hold -100 as well).",
                site=undecodable.site or reading.place(seen, "evaluation"), evidence=[f"{undecodable.type}: {undecodable.message}"],
                stage="evaluation")
        sure = reading.matching(seen, self._FORMAT, self._MIX)
        unsure = reading.matching(seen, self._SCALAR, self._COUNT, self._TUPLE, self._KERAS, within=_METRIC_FRAMES, stages=("evaluation",))
        if unsure is not None and re.search(self._KERAS, unsure.message) and not any(
                re.search(r"/metrics/", path) for path, _, _ in unsure.frames) and "/metrics/" not in unsure.message:
            unsure = None
        given = next((m for m in reversed(seen.evaluation.metrics) if m.predictions is not None or m.works), None)
        works = given.works if given is not None else None
        error = sure or unsure
        if error is None and works:
            error = next((raised for raised in reading.raised(seen) if any("evaluat" in frame[2] for frame in raised.frames)), None)
        if error is None:
            by_hand = (self._wrong_axis(seen) or self._largest_of_one(seen) or self._scores_as_ids(seen)
                       or self._scores_as_probabilities(seen) or self._every_pair(seen))
            return by_hand or metric_arrays.finding(seen) or self._other_encoding(seen) or self._cut_scores(seen) or self._of_numbers(seen)
        shapes = self._shapes(given)
        counts = re.search(self._COUNT, error.message)
        mix = re.search(self._MIX, error.message)
        if counts is not None:
            numbers = [part for part in counts.groups() if part]
            message = (f"The metric gets {numbers[0]} of one and {numbers[1]} of the other: predictions and references are not of the "
                       "same rows.")
            remedy = ("Pass one class id and one label per row; where the model returns a tuple, the logits are its first entry "
                      "(`logits[0]`).")
        elif re.search(self._TUPLE, error.message) or works in ("first", "first classes"):
            message = "The model returns several arrays, and the metric gets them all."
            remedy = "Take the logits first: `logits = predictions[0] if isinstance(predictions, tuple) else predictions`."
            if "Seq2Seq" in (seen.trainer or ""):
                remedy = ("Let the model write its answers: `predict_with_generate=True` in `Seq2SeqTrainingArguments`; else the metric "
                          "gets logits, and has to take the largest of the first array: `predictions[0].argmax(-1)`.")
        elif mix is not None and "continuous" not in mix["left"] + mix["right"]:
            message = f"The metric gets {mix['left']} on one side and {mix['right']} on the other."
            remedy = "Turn one-hot rows into class ids: `labels.argmax(axis=-1)`."
        elif mix is not None and "multioutput" not in mix["left"] + mix["right"]:
            message = "The metric wants class ids and gets one raw score per row."
            remedy = "Cut scores into classes first: `predictions = (logits > 0).astype(int)`."
        else:
            message = "The metric wants one class id per row and gets one number per class and row (logits)."
            remedy = "Take the largest: `predictions = logits.argmax(axis=-1)` before `metric.compute(...)`."
        when = " It would have come up only after the training." if error.during == "probe" and seen.exception is None else ""
        return Finding(message=message + when, remedy=remedy, site=error.site or reading.place(seen, "evaluation"),
                       evidence=[f"{error.type}: {reading.first_line(error.message)}", *shapes, *([_WORKS[works]] if works else [])])

    @staticmethod
    def _wrong_axis(seen: Observation) -> Finding | None:
        """One prediction per class is compared with one label per row, in a line of the script's own outside every model and loss."""
        largest = seen.evaluation.argmax
        if largest is not None and largest.classes == reading.class_units(seen, next(iter(seen.loss_calls), None)):
            return Finding(
                message=f"`tf.argmax` without an axis goes along the first one, the rows of the batch: it gives {largest.classes} row "
                        "numbers, one for each class, and no class for a row.",
                remedy="Take the largest along the classes: `tf.argmax(logits, axis=-1)`, of one-hot labels as well.", site=largest.site,
                evidence=[f"what it was given: ({'rows' if largest.rows is None else largest.rows}, {largest.classes})"])
        error = seen.exception
        match = re.search(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", error.message) if error else None
        if error is None or match is None or error.site is None or error.module or error.stage in {"forward", "loss", "backward", "step"}:
            return None
        sizes = [int(match[1]), int(match[2])]
        classes = reading.class_units(seen, next(iter(seen.loss_calls), None))
        direct = bool(error.frames) and error.frames[-1][0] == error.site.file and re.search(r"==|!=|\.(eq|ne)\(", error.site.source)
        if not direct or not classes or classes < 2 or classes not in sizes or seen.task != "classification":
            return None
        return Finding(
            message=f"{classes} predictions, one per class, are compared with {max(sizes)} labels, one per row: the largest score was "
                    "taken along the rows of the batch.",
            remedy="Take it along the classes: `predictions = logits.argmax(dim=-1)`.", site=error.site,
            evidence=[f"{error.type}: {reading.first_line(error.message)}"])

    @staticmethod
    def _largest_of_one(seen: Observation) -> Finding | None:
        """Answers of one number a row, of which the class of the largest is taken: that is 0 for every row."""
        for call in sorted(seen.evaluation.metrics, key=lambda call: -(call.cut or 0.0)):
            total = sum(call.reference_counts.values())
            if call.cut is None or not total or set(call.reference_counts) != {"0", "1"}:
                continue
            zeros = call.reference_counts["0"] / total
            whole = call.predictions is not None and len(call.predictions.shape) == 1 and call.predicted_counts == {"0": total}
            raw = call.predictions is not None and call.predictions.shape == (total, 1) and any(
                abs(value - zeros) < _SAME for value in call.values.values())
            if (whole or raw) and call.cut - zeros >= _LOST:
                return Finding(
                    message="The model answers with one number a row, and the class of the largest is taken: of one number that is always "
                            f"0. Cut at a threshold, {100 * call.cut:.0f} % of the answers are right, and not {100 * zeros:.0f} %.",
                    remedy="Cut the number, `predictions = (scores[:, 0] > 0.5)` (raw scores of a sigmoid at 0), or let the model answer "
                           "with a score for each class (`num_labels=2`, `Linear(..., 2)`) and take `argmax`.",
                    site=call.function or call.site or reading.place(seen, "metric", "evaluation"),
                    evidence=[f"rows: {total}; share with the label 0, and of answers that are right: {zeros:.3f}"])
        return None

    @staticmethod
    def _scores_as_ids(seen: Observation) -> Finding | None:
        """Scores of a classifier, and not the classes that they are of, are asked to be equal to the labels."""
        for made in seen.evaluation.decisions:
            if made.how == "equal" and made.broken > 0.5 * made.values and made.values > 1 and seen.task == "classification":
                return Finding(
                    message="The model's scores are compared with class ids, which they are never equal to.",
                    remedy="Take the class of the largest score, `predictions = outputs.argmax(dim=1)`; `torch.max(outputs, 1)` gives the "
                           "scores first and the classes second.",
                    site=made.site or reading.place(seen, "evaluation"),
                    evidence=[f"{made.broken} of {made.values} values are no whole numbers; from {made.minimum:.3g} to {made.maximum:.3g}"])
        return None

    @staticmethod
    def _scores_as_probabilities(seen: Observation) -> Finding | None:
        """Raw scores of a loss that applies the sigmoid itself are rounded, or compared with one half, as if they were probabilities."""
        if not any(call.name == "bce_with_logits" or (call.name == "bce" and call.from_logits) for call in seen.loss_calls):
            return None
        for made in seen.evaluation.decisions:
            half = made.threshold is not None and abs(made.threshold - 0.5) < 1e-6
            if not (made.minimum < 0 or made.maximum > 1) or not (half or (made.how == "round" and made.odd)):
                continue
            done = "rounded" if made.how == "round" else "compared with 0.5"
            wrong = [f"{made.lost} of {made.values} lie between 0 and 0.5: a yes by their sigmoid, and taken as a no"]
            wrong += [f"{made.odd} of {made.values} would be rounded to neither 0 nor 1"] if made.how == "round" else []
            return Finding(
                message=f"Raw scores (logits) from {made.minimum:.3g} to {made.maximum:.3g} are {done} as if they were probabilities.",
                remedy="Cut them at zero, `predictions = (logits > 0)`, or make them probabilities first: "
                       f"`{'tf' if seen.framework in reading.KERAS else 'torch'}.sigmoid(logits) > 0.5`.",
                site=made.site or reading.place(seen, "evaluation"), evidence=wrong)
        return None

    @staticmethod
    def _every_pair(seen: Observation) -> Finding | None:
        """One axis of length one more on one side: NumPy and PyTorch then pair every prediction with every reference."""
        for made in seen.evaluation.decisions:
            if made.how == "pairs":
                return Finding(
                    message=f"Predictions and references differ by an axis of length one, so that each of {made.values} predictions is "
                            f"compared with all {made.values} references.",
                    remedy="Bring them to one shape first: `predictions = predictions.squeeze(-1)` (or `.view_as(references)`).",
                    site=made.site or reading.place(seen, "evaluation"), evidence=[f"{made.values} x {made.values} numbers came out of it"])
        for call in seen.evaluation.metrics:
            differ = {name: (value, call.reshaped[name]) for name, value in call.values.items()
                      if name in call.reshaped and abs(value - call.reshaped[name]) > 1e-4 * max(abs(value), abs(call.reshaped[name]))}
            if differ and call.predictions is not None and call.references is not None:
                return Finding(
                    message=f"The metric gets predictions of shape {call.predictions.shape} and references of shape "
                            f"{call.references.shape}: arithmetic with both pairs every prediction with every reference.",
                    remedy="Bring them to one shape first: `predictions = predictions.squeeze(-1)`.",
                    site=call.function or call.site or reading.place(seen, "metric", "evaluation"),
                    evidence=[f"{name}: {value:.4g} as it is, {other:.4g} with predictions of the references' shape"
                              for name, (value, other) in differ.items()])
        return None

    @staticmethod
    def _other_encoding(seen: Observation) -> Finding | None:
        """A metric object for one-hot rows, for yes and no, or for ids on both sides gets class ids and one score per class."""
        for update in seen.evaluation.updates:
            given, wanted = update.predictions, update.references
            if given is None or wanted is None:
                continue
            if update.name in _COUNTING and "float" in given.dtype and update.fractions:
                return Finding(
                    message=f"{update.name} counts class ids, and gets the model's {given.dtype} numbers: each is cut to a whole number, "
                            "so that every probability below 1 counts as class 0.",
                    remedy="Use a metric that cuts at a threshold, `BinaryIoU(target_class_ids=[0, 1], threshold=0.5)`, or for several "
                           "classes have it take the largest score: `MeanIoU(num_classes=..., sparse_y_pred=False)`.",
                    site=update.site or reading.place(seen, "metric", "compile", "evaluation"),
                    evidence=[f"predictions {_open(given.shape)} {given.dtype}, references {_open(wanted.shape)} {wanted.dtype}"])
            if update.name not in _ENCODINGS or len(given.shape) < 2 or given.shape[-1] < 2:
                continue
            if wanted.shape in {given.shape[:-1], (*given.shape[:-1], 1)}:
                return Finding(
                    message=f"{update.name} compares {_ENCODINGS[update.name]}, and gets one class id per row with {given.shape[-1]} "
                            "scores: what it says is not the accuracy.",
                    remedy="Use `SparseCategoricalAccuracy()` (in `compile`, `metrics=[\"accuracy\"]` finds the right one by the shapes).",
                    site=update.site or reading.place(seen, "metric", "compile", "evaluation"),
                    evidence=[f"predictions {_open(given.shape)} {given.dtype}, references {_open(wanted.shape)} {wanted.dtype}"])
        return None

    @staticmethod
    def _of_numbers(seen: Observation) -> Finding | None:
        """An accuracy is asked of a regression: how many answers are equal to a real number, or lie on the same side of one half."""
        target = next((call.target for call in seen.loss_calls if call.target is not None), None)
        if seen.task != "regression" or target is None or target.integral is not False:
            return None
        wrong = next((update for update in seen.evaluation.updates if update.name.endswith("Accuracy")), None)
        # Of another training of the script it may ask for classes.
        if wrong is None or (wrong.references is not None and not _may_be(wrong.references, target)):
            return None
        return Finding(
            message=f"{wrong.name} counts answers that are equal to their target as classes are, and the targets are real numbers: the "
                    "figure stays near zero, whatever the model learns.",
            remedy="Ask a regression for its error: `metrics=[\"mae\"]`, or `keras.metrics.R2Score()`.",
            site=wrong.site or reading.place(seen, "metric", "compile", "evaluation"),
            evidence=[f"targets from {target.minimum:.4g} to {target.maximum:.4g}, not whole"])

    @staticmethod
    def _cut_scores(seen: Observation) -> Finding | None:
        """A metric object of Keras cuts raw scores at thresholds for probabilities, and loses a part of them that counts."""
        scores = seen.evaluation.scores
        if scores is None or not scores.values:
            return None
        for update in seen.evaluation.updates:
            if update.cuts is None or not update.raw or update.cuts[1] <= 0 or update.cuts[0] >= 1:
                continue
            single = update.cuts[0] == update.cuts[1]
            wrong = scores.lost if single else scores.odd
            if wrong < _COUNTS * scores.values:
                continue
            at = f"at {update.cuts[0]:g}" if single else "at thresholds from 0 to 1"
            lost = "lie between 0 and 0.5: a yes by their sigmoid, and taken as a no" if single else "lie beyond all of them"
            return Finding(
                message=f"{update.name} cuts probabilities {at}, and gets raw scores (logits) from {scores.minimum:.3g} to "
                        f"{scores.maximum:.3g}.",
                remedy="Tell the metric: `AUC(from_logits=True)`, `BinaryAccuracy(threshold=0.0)`, `Precision(thresholds=0.0)`; or let the "
                       "model end with a sigmoid, and the loss take probabilities.",
                site=update.site or reading.place(seen, "metric", "compile", "evaluation"),
                evidence=[f"{wrong} of {scores.values} scores {lost}"])
        return None

    @staticmethod
    def _shapes(given: MetricFacts | None) -> list[str]:
        if given is None or given.predictions is None:
            return []
        references = f", references {given.references.shape} {given.references.dtype}" if given.references else ""
        return [f"predictions {given.predictions.shape} {given.predictions.dtype}{references}"]


class ConstantPrediction(Check):
    """The metric cannot see that the model always predicts the same class.

    Its accuracy is then the share of the largest class, which looks like success where labels are imbalanced.
    Source: scikit-learn docs, DummyClassifier and balanced_accuracy_score.
    """

    code: ClassVar[str] = "E504"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("D103", "D104", "D105", "D106", "F109", "L201", "L203", "L205", "L206", "L207", "L208", "L209",
                                           "L210", "L211", "G301", "G302", "G303", "G304", "G305", "G306", "G307", "S401", "S402", "S403",
                                           "S404", "S405", "S406", "E501")

    def check(self, seen: Observation) -> Finding | None:
        """Judges the last metric call, after at least 30 steps, and only where accuracy alone was asked for and is high; and an accuracy
        by which training was ended, where it never moved from what a constant answer gets while the loss fell."""
        blind = self._ended(seen)
        if blind is not None:
            return blind
        calls = [m for m in seen.evaluation.metrics if m.predicted_counts and m.reference_counts]
        if not calls:
            raise NotJudged("no metric was seen with its predictions and references")
        if len(seen.steps) < 30:
            raise NotJudged("a model that has hardly been trained may well predict one class")
        last = calls[-1]
        predicted = [name for name, count in last.predicted_counts.items() if count]
        rows = sum(last.reference_counts.values())
        share = max(last.reference_counts.values()) / max(rows, 1)
        present = sum(1 for count in last.reference_counts.values() if count)
        if len(predicted) != 1 or present < 2 or rows < 20 or share < 0.6:
            return None
        accuracy = next((value for name, value in last.values.items() if "acc" in name.lower() and "balanced" not in name.lower()), None)
        telling = re.compile(r"f1|balanced|recall|precision|mcc|matthews|kappa|auc")
        others = [name for m in calls for name in m.values if telling.search(name.lower())]
        if others or accuracy is None or abs(accuracy - share) > 0.01:
            return None
        return Finding(
            message=f"The model predicts class {predicted[0]} for all {rows} rows, and accuracy still says {accuracy:.3f}: that is the "
                    "share of the largest class, which a constant answer gets.",
            remedy='Report a metric that sees it: `f1` with `average="macro"`, balanced accuracy, or the confusion matrix; compare with '
                   "the majority share.", site=last.site or reading.place(seen, "evaluation"),
            evidence=["References: " + ", ".join(f"{name} x {count}" for name, count in sorted(last.reference_counts.items()))])

    @staticmethod
    def _ended(seen: Observation) -> Finding | None:
        """Early stopping by a measure that stands still at the share of the commonest label."""
        share = data_labels.commonest(seen)
        for facts in seen.evaluation.monitors:
            values, losses = facts.values, facts.losses
            if share is None or not facts.ended or not facts.greater or len(values) < _EPOCHS or len(values) != len(losses):
                continue
            flat = max(values) - min(values) < _STILL and abs(values[0] - share) < _ABOUT
            if not flat or "acc" not in facts.measure or losses[-1] >= _FALLEN * losses[0]:
                continue
            loss = "val_loss" if facts.measure.startswith("val_") else "loss"
            return Finding(
                message=f"`{facts.kind}` follows `{facts.measure}`, which stood at {values[0]:.3f} for all {len(values)} epochs: that is "
                        "what one answer for everything gets, and it cannot see that the loss fell. It has ended the training.",
                remedy=f'Follow the loss, `{facts.kind}(monitor="{loss}", ...)`, or a measure that tells (balanced accuracy, F1, the Dice '
                       "coefficient of a mask).",
                site=facts.site or reading.place(seen, "fit"),
                evidence=[f"share of the commonest label: {share:.3f}", "the loss beside it: " + ", ".join(f"{x:.3g}" for x in losses)])
        return None
