"""What the labels say by themselves: constant or lopsided."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import LoaderFacts
from harness.checks.loss_facts import LossCall
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site, TensorFacts

CLASS_LOSSES = {"cross_entropy", "nll", "sparse_categorical", "bce", "bce_with_logits"}
# One label in a random sample of fewer rows than this may be the luck of a rare class.
_SURE_ROWS = 500
# So many batches, and labels of tokens in them, are no chance.
_BATCHES, _POSITIONS = 3, 150
_EXACT = 1e-5  # one label in a thousand of another class changes the variance by more
# The share of ones that is left of numbers between 0 and 1 when they are cut; how wide and how large such numbers are.
_NEXT_TO_NONE, _SPREAD, _ABOUT_ONE = 0.002, 0.05, 1.5
BINARY, _DISTANCES = ("bce", "bce_with_logits"), ("mse", "l1")
_WHOLE = re.compile(r"\bint\d*\b|uint\d+|\.long\(|zeros_like|//|\bround\(|\bfloor\(")
_LEAST_LOSSES = 20
_LEFT_OUT = -100
# What answers that are no better than chance do not reach: times the share of the rarer labels, and the area under the ROC curve.
_RANKS, _AREA = 3.0, 0.7
_FOUND = 0.2  # of the rows of rarer labels, as many answers that give one


def counts_of(loader: LoaderFacts | None) -> dict[str, int]:
    """How often each label occurs, without those that a loss leaves out."""
    return {label: count for label, count in loader.label_counts.items() if count > 0 and label not in {"-100", "None"}} if loader else {}


def training_labels(seen: Observation) -> dict[str, int]:
    """How often each label occurs in the training data, or came in the watched steps where no loader was seen that could be asked."""
    came = Counter(str(label) for step in seen.steps for label in step.labels or ())
    return counts_of(raised.train_loader(seen)) or {label: count for label, count in came.items() if label not in {"-100", "None"}}


def entropy(counts: Mapping[str, float]) -> float:
    """Cross entropy (nats) of the best answer that does not look at the inputs."""
    rows = sum(counts.values())
    return -sum(count / rows * math.log(count / rows) for count in counts.values() if count) if rows else 0.0


def shares(counts: dict[str, int], limit: int = 8) -> str:
    """`1: 900 (90 %), 0: 100 (10 %)`."""
    rows = max(1, sum(counts.values()))
    most = sorted(counts.items(), key=lambda item: -item[1])
    text = ", ".join(f"{label}: {count} ({100 * count / rows:.0f} %)" for label, count in most[:limit])
    return text + (f" and {len(most) - limit} more" if len(most) > limit else "")


def still_guessing(seen: Observation) -> float | None:
    """Loss (nats) of the best answer that does not look at the inputs, where a classifier's own losses have stayed there."""
    losses = reading.finite(reading.observed_losses(seen))
    if seen.task != "classification" or len(losses) < _LEAST_LOSSES or reading.several_models(seen) or reading.script_learns(seen):
        return None
    if seen.loss_terms:
        return None  # what a guess costs by a sum of several losses is another matter
    binary = [call for call in seen.loss_calls if call.name in BINARY and call.target is not None]
    if any(not call.target.integral and not call.smoothing for call in binary if call.target is not None):
        return None  # shares, and not classes, are wanted: the best answer has a loss of its own
    counts = training_labels(seen)
    classes = seen.classes or 0
    floor = entropy(counts) if len(counts) > 1 else entropy(marks(binary)) or (math.log(classes) if classes > 1 else None)
    floor = floor and floor * reading.rows_added_up(seen) * reading.batches_added_up(seen)
    end = statistics.fmean(losses[-max(1, len(losses) // 3):])
    return floor if floor is not None and 0.95 * floor < end < 1.25 * floor else None


def marks(calls: list[LossCall]) -> dict[str, float]:
    """The shares of 0 and 1 where each row has many of both, as a mask has; nothing where the targets are something else."""
    targets = [call.target for call in calls if call.name in BINARY and call.target is not None]
    if not targets or any(len(part.shape) < 3 or not part.integral or part.minimum != 0 or part.maximum != 1 for part in targets):
        return {}
    share = statistics.fmean(part.mean or 0.0 for part in targets)
    return {"0": 1 - share, "1": share}


def commonest(seen: Observation) -> float | None:
    """Share of the commonest label, or mark; None where there are none."""
    counts: Mapping[str, float] = training_labels(seen) or marks(seen.loss_calls)
    return max(counts.values()) / sum(counts.values()) if len(counts) > 1 else None


def _two_ends(facts: TensorFacts) -> bool:
    """Whether an array holds its smallest and its largest value, and nothing between."""
    low, high, mean, std = facts.minimum, facts.maximum, facts.mean, facts.std
    if low is None or high is None or mean is None or std is None:
        return False
    return math.isclose(std * std, (high - mean) * (mean - low), rel_tol=_EXACT)


def _at_the_top(facts: TensorFacts) -> float:
    """How many values of such an array are its largest."""
    low, high, mean = facts.minimum or 0.0, facts.maximum or 0.0, facts.mean or 0.0
    return math.prod(facts.shape) * (mean - low) / (high - low)


def _naming(seen: Observation, value: int | None) -> Site | None:
    """The latest line on which labels are made that names this value."""
    return next((made for made in sourcing.lines(seen, "labels") if str(value) in made.source), None)


def _looked_up(seen: Observation, ignored: int | None) -> Site | None:
    """Where labels are looked up, or made before some of them are left out."""
    made = [site for site in sourcing.lines(seen, "labels") if str(ignored) not in site.source]
    return next((site for site in made if ".get(" in site.source), None) or next(iter(made), None)


class ConstantLabels(Check):
    """All training labels are the same, or all are left out of the loss.

    There is nothing to tell apart: the loss falls to 0 at once, and the model says the one class to everything.
    Source: Karpathy, "A Recipe for Training Neural Networks" (become one with the data).
    """

    code: ClassVar[str] = "D104"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101", "D102", "D122")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the label counts of the whole dataset, of many rows in random order, or of the tokens of several batches."""
        calls = [call for call in seen.loss_calls if call.name in CLASS_LOSSES and call.target is not None]
        targets = [call.target for call in calls if call.target is not None]
        ignored = [call.ignore_index for call in calls if call.ignore_index is not None]
        enough = len(targets) >= 3 or any(math.prod(facts.shape) >= 256 for facts in targets)
        if enough and ignored and all(facts.minimum == facts.maximum == ignored[0] for facts in targets):
            return self._left_out(seen, ignored[0], f"targets of the first {len(targets)} loss calls", calls[0].site)
        # Models of transformers in Keras put something else in the place of what their loss leaves out.
        columns = [batch.columns[name] for batch in seen.batches for name in (*raised.LABELS, "y") if name in batch.columns]
        # A student that learns from its teacher's answers alone has no use for labels.
        asked = not seen.loss_calls or any(call.target is None or "float" not in call.target.dtype for call in seen.loss_calls)
        if asked and sum(math.prod(facts.shape) for facts in columns) >= 256 and all(f.minimum == f.maximum == _LEFT_OUT for f in columns):
            return self._left_out(seen, _LEFT_OUT, f"labels of the first {len(columns)} batches", reading.place(seen, "fit", "loss"))
        tokens = self._one_token(seen) or self._one_kept(seen, calls)
        if tokens is not None:
            return tokens
        if seen.task == "regression":
            return self._one_number(seen, columns)
        loader = raised.train_loader(seen)
        if loader is None or not loader.label_counts:
            raise NotJudged("the labels of the training data were not seen")
        counts = counts_of(loader)
        if len(counts) != 1:
            return None
        label, rows = next(iter(counts.items()))
        if seen.task in {"regression", "language", "other"} or reading.several_models(seen):
            raise NotJudged("the labels are constant, but it is not clear that they are what is learnt")
        if any(facts.minimum != facts.maximum for facts in targets):
            return None  # the loss gets other targets than the dataset's label column
        if not targets and not any(call.name == "model" for call in seen.loss_calls):
            raise NotJudged("no classification loss was seen that takes these labels")
        whole = loader.rows is not None and rows >= loader.rows
        if not whole and not (loader.shuffled and rows >= _SURE_ROWS):
            raise NotJudged(f"only the first {rows} rows were seen; the others may have other labels")
        if rows < 8:
            raise NotJudged(f"there are only {rows} rows")
        return Finding(
            message=f"All {rows} training labels that were seen are {label}: there is nothing to tell apart.",
            remedy="Look at the line that makes the labels (a comparison that is always true, a join that failed, a filter or split that "
                   "kept one class), and count them: `collections.Counter(dataset[\"label\"])`.",
            site=raised.made_by(seen, loader.label_column, *raised.LABELS) or sourcing.line(seen, "labels", "made") or loader.site,
            evidence=[f"label counts: {shares(counts)}"]
            + ([f"classes of the dataset: {', '.join(loader.label_names)}"] if loader.label_names else []))


    @staticmethod
    def _left_out(seen: Observation, value: int, which: str, place: Site | None) -> Finding:
        """Every label is one that a loss passes over."""
        mapped, written = reading.place(seen, "map.labels"), reading.place(seen, "left_out") if value == _LEFT_OUT else None
        if mapped is not None and ".map(" in mapped.source:
            mapped = written or mapped  # the function that it is given was not read
        return Finding(message=f"Every label of every batch is {value}, which the loss leaves out: there is nothing to learn from.",
                       remedy=f"Look at how the labels are made; {value} is for padding and for tokens that are not to be predicted.",
                       site=_naming(seen, value) or reading.place(seen, "collator.labels", "getitem.labels") or mapped
                       or raised.made_by(seen, *raised.LABELS) or written or place,
                       evidence=[f"{which}: all {value}"])

    @staticmethod
    def _one_kept(seen: Observation, calls: list[LossCall]) -> Finding | None:
        """A loss passes over all but one class. Of an array with nothing but its two ends the variance is the largest that there can be."""
        rows = max((facts.shape[0] for batch in seen.batches for facts in batch.columns.values() if facts.shape), default=0)
        wide = [(call.target, call.ignore_index) for call in calls if call.target is not None
                and (len(call.target.shape) > 1 or call.target.shape[0] > rows > 0)]
        left, kept = {facts.minimum for facts, _ in wide}, {facts.maximum for facts, _ in wide}
        if len(wide) < _BATCHES or left != {ignored for _, ignored in wide} or len(left) != 1 or len(kept) != 1 or left == kept:
            return None
        if not all(_two_ends(facts) for facts, _ in wide) or sum(map(_at_the_top, (facts for facts, _ in wide))) < _POSITIONS:
            return None
        value, label = calls[0].ignore_index, kept.pop()
        mask = (f"{value} belongs to the padding: look at the mask that puts it there, `labels.masked_fill(ids == pad_id, {value})`, and "
                "count what is left.")
        made = ("Look at the line that makes them: a lookup with a default (`.get(symbol, unknown)`) gives it for everything that it does "
                "not know; and count what comes out.")
        return Finding(message=f"All labels that the loss does not leave out are {label:g}: there is nothing to tell apart. {value} is in "
                               "the place of the others.",
                       remedy=made if label else mask,
                       site=(_looked_up(seen, value) if label else None) or _naming(seen, value)
                       or reading.place(seen, "collator.labels", "getitem.labels", "map.labels") or calls[0].site,
                       evidence=[f"targets of the first {len(wide)} loss calls: {value} and {label:g}"])

    @staticmethod
    def _one_number(seen: Observation, columns: list[TensorFacts]) -> Finding | None:
        """Targets of a regression in the batches that are one and the same number: whole numbers cut what lies between 0 and 1 to 0."""
        calls = [call for call in seen.loss_calls if call.name in _DISTANCES and call.target is not None]
        targets = [call.target for call in calls if call.target is not None]
        values = {end for facts in (*columns, *targets) for end in (facts.minimum, facts.maximum)}
        # An equation's residual is held against zeros on purpose: no layer gives it.
        head = seen.model is not None and seen.model.final_units is not None
        positions = sum(math.prod(facts.shape) for facts in targets)
        enough = (bool(columns) or _answers(seen, calls)) and len(targets) >= _BATCHES and positions >= _POSITIONS
        if not enough or not head or reading.several_models(seen):
            raise NotJudged("whether the targets of this regression are constant was not seen")
        few = _cut(seen, targets)
        if (len(values) != 1 or None in values) and not few:
            return None
        number = 0.0 if few else next(iter(values)) or 0.0
        return Finding(
            message=f"All {'but a few ' if few else ''}targets of the first {len(targets)} batches are {number:g}: there is "
                    "nothing to learn but that number.",
            remedy="Look at the line that makes the targets: an array of whole numbers (`np.zeros_like(counts)`, `astype(int)`) cuts every "
                   "share to 0, a join or a column may have failed. `np.zeros(len(rows), dtype=\"float32\")` keeps fractions.",
            site=(next((made for made in sourcing.lines(seen, "labels") if _WHOLE.search(made.source)), None) if number == 0 else None)
            or sourcing.line(seen, "labels", "made", "converted") or reading.place(seen, "getitem.labels", "fit", "loss"),
            evidence=reading.own_losses(seen))

    @staticmethod
    def _one_token(seen: Observation) -> Finding | None:
        """Every token that is to be predicted is the same one, and the loss falls as it does where one answer is right."""
        batches = [batch for batch in seen.batches if batch.label_positions and "input_ids" in batch.columns]
        labels = {batch.one_label for batch in batches}
        positions = sum(batch.label_positions for batch in batches)
        losses = reading.finite(reading.observed_losses(seen))
        if len(batches) < _BATCHES or labels == {None} or len(labels) != 1 or positions < _POSITIONS or len(losses) < 2 * _BATCHES:
            return None
        if not statistics.fmean(losses[-_BATCHES:]) < 0.6 * losses[0]:
            return None
        return Finding(
            message=f"All {positions} labels of the first {len(batches)} batches that are not left out are {labels.pop()}: there is "
                    "nothing to tell apart.",
            remedy="Copy the labels before anything is masked or changed, `labels = input_ids.clone()`, and only then set those to -100 "
                   "that are not to be predicted.",
            site=reading.place(seen, "collator.labels") or raised.made_by(seen, *raised.LABELS) or reading.place(seen, "loader"),
            evidence=[f"loss: {losses[0]:.3g} at first, {statistics.fmean(losses[-_BATCHES:]):.3g} at the end"])


class ImbalancedLabels(Check):
    """One label dominates, and the model predicts it for everything.

    Imbalance alone is no fault. It is one where the finished model has learnt nothing but the majority, which accuracy hides.
    Sources: He and Garcia 2009, "Learning from Imbalanced Data"; Hugging Face course, chapter 8.4.
    """

    code: ClassVar[str] = "D105"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = (
        "D104", "D106", "D107", "D108", "D122", "F104", "F105", "F109", "L205", "L206", "L209", "L210", "G301", "G302", "G303", "G307",
        "S401", "S402", "S405", "S406", "E507")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from label counts and from what the last evaluation of a finished training predicted."""
        loader = raised.train_loader(seen)
        counts = counts_of(loader)
        if len(counts) < 2 or loader is None:
            raise NotJudged("the labels of the training data were not counted")
        majority, most = max(counts.items(), key=lambda item: item[1])
        share = most / sum(counts.values())
        if share < max(0.65, 1.5 / len(counts)):
            return None
        if any(call.weighted for call in seen.loss_calls) or _ranks(seen, 1 - share):
            return None  # the script knows, and has acted, or asks which rows are likelier to be of the rarer label
        metric = last_metric(seen)
        if metric is None:
            raise NotJudged(f"{100 * share:.0f} % of the labels are {majority}, but what the model predicts was not seen")
        total, own = sum(metric.predicted_counts.values()), metric.predicted_counts.get(majority, 0)
        others = sum(metric.reference_counts.values()) - metric.reference_counts.get(majority, 0)
        if own < 0.98 * total or total - own > _FOUND * others:
            return None
        if total < 50 or others < 5:
            raise NotJudged(f"the evaluation has {total} rows, {others} of them of the rarer labels: too few to judge")
        if seen.stopped != "finished" or seen.truncated_at is not None:
            raise NotJudged("training was not watched to its end; a model may begin with the majority and go on to the rest")
        overfit = seen.probes.overfit
        if overfit is None or not reading.learned(overfit):
            raise NotJudged("whether this model can learn the rarer labels from one batch is unknown or doubtful; that comes first")
        accuracy = next((value for name, value in metric.values.items() if "accuracy" in name), None)
        evidence = [f"training labels: {shares(counts)}", f"predicted in the evaluation: {shares(metric.predicted_counts)}",
                    f"true in the evaluation: {shares(metric.reference_counts)}"]
        if accuracy is not None:
            evidence.append(f"accuracy {accuracy:.3f}; always answering {majority} gives "
                            f"{metric.reference_counts.get(majority, 0) / total:.3f}")
        weights = ", ".join(f"{sum(counts.values()) / (len(counts) * count):.2g}" for _, count in sorted(counts.items())[:6])
        return Finding(
            message=f"{100 * share:.0f} % of the training labels are {majority}, and the trained model answers {majority} to {own} of "
                    f"{total} rows.",
            remedy=f"Weight the classes by their rarity, `nn.CrossEntropyLoss(weight=torch.tensor([{weights}]))` (Keras: "
                   "`fit(class_weight=...)`),"
                   " or sample them evenly with `WeightedRandomSampler`; judge by F1 or balanced accuracy.",
            site=loader.site or metric.site, evidence=evidence)


def _ranks(seen: Observation, rarer: float) -> bool:
    """Whether the script judges by how answers are ordered, for which no threshold matters, and the last of these judgements is good.

    `rarer`: share of the rarer labels, which is the average precision of answers drawn at random.
    """
    said = [(f"{metric.name} {name}".lower(), value) for metric in seen.evaluation.metrics for name, value in metric.values.items()]
    precisions = [value for name, value in said if re.search(r"average_precision|pr_?auc|auc_?pr|auprc", name)]
    areas = [value for name, value in said if "auc" in name and not re.search(r"pr_?auc|auc_?pr", name)]
    return bool(precisions and precisions[-1] > _RANKS * rarer) or bool(areas and areas[-1] > _AREA)


def last_metric(seen: Observation) -> MetricFacts | None:
    """The last metric of which the predicted and the wanted classes are known."""
    return next((metric for metric in reversed(seen.evaluation.metrics) if metric.predicted_counts and metric.reference_counts), None)


def _answers(seen: Observation, calls: list[LossCall]) -> bool:
    """Whether all that is held against targets is what the model gives, and nothing that is made of it."""
    output, first = seen.model.output if seen.model is not None else None, calls[0].inputs if calls else None
    if output is None or first is None or len({call.step for call in calls}) < len(seen.loss_calls):
        return False
    return None not in (first.mean, output.mean) and math.isclose(first.mean or 0.0, output.mean or 0.0, rel_tol=_EXACT) and math.isclose(
        first.std or 0.0, output.std or 0.0, rel_tol=_EXACT)


def _cut(seen: Observation, targets: list[TensorFacts]) -> float:
    """The share of ones among the zeros of whole-number targets, next to nothing, which inputs of the same shape lie between; else 0."""
    shares = [facts.mean for facts in targets if "int" in facts.dtype and facts.minimum == 0 and (facts.maximum or 0) <= 1]
    shape = targets[0].shape[1:] if targets else ()
    between = any(facts.shape[1:] == shape and "float" in facts.dtype and (facts.std or 0) > _SPREAD and (facts.maximum or 9) < _ABOUT_ONE
                  for batch in seen.batches for facts in batch.columns.values())
    if len(shares) < len(targets) or None in shares or not between or not math.prod(shape):
        return 0.0
    share = sum(share for share in shares if share is not None) / len(shares)
    return share if share < _NEXT_TO_NONE else 0.0
