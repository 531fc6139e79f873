"""Class weights beside how often the classes come."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.loss_facts import UnweighedFacts, WeightFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

# How near to a formula weights have to be, in logarithms; how far apart the commonest and the rarest class at least.
_NEAR, _APART = 0.1, math.log(1.5)
_BENT = 0.05  # of the distance between the smallest and the largest, by which a formula may differ from a power
# The powers that are in use: of the frequency itself, and of its root.
_POWERS = (1.0, 0.5)
_ROWS, _RARE, _DOUBT, _SHOWN, _MANY = 200, 20, 1.5, 6, 3
# Of two classes that a script weighs by itself: the share of the rare one, and how many times as much the other counts.
_SCARCE, _HEAVIER = 0.35, 2.0


class ClassWeights(Check):
    """The class weights make the common classes count more, or belong to other classes.

    Weights are to be in inverse proportion to how often a class comes (or to the root of that). Where they are in proportion to it, the
    rare classes count even less than without any; where they are in an order of their own, each class gets another one's. Judged only
    where the weights follow such a formula closely: weights that were chosen by hand may have their reasons. Of two classes that a loss
    weighs by itself, as a focal loss does, it is enough that the common one counts twice as much as the rare one.
    Sources: King and Zeng 2001, "Logistic Regression in Rare Events Data"; PyTorch docs, `BCEWithLogitsLoss` (`pos_weight` is negatives
    over positives); scikit-learn docs, `compute_class_weight`.
    """

    code: ClassVar[str] = "L212"
    stage: ClassVar[Stage] = "loss"
    requires: ClassVar[tuple[str, ...]] = ("D104", "L201", "L202", "L203")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the weights that a loss is given and the labels that come with them."""
        if seen.unweighed is not None:
            return self._left_out(seen, seen.unweighed)
        facts = seen.weights
        if facts is None:
            return None
        shares, noise = _shares(seen, facts)
        tolerance = [_NEAR + part for part in noise]
        if any(not 0 < share < 1 for share in shares) or any(weight <= 0 for weight in facts.weights):
            raise NotJudged("a class never came, or has no weight")
        odds = [math.log(share / (1 - share)) for share in shares]
        logs = [odds] if facts.kind == "positive" else [_centred([math.log(share) for share in shares]), _centred(odds)]
        weights = [math.log(weight) for weight in facts.weights]
        weights = weights if facts.kind == "positive" else _centred(weights)
        if not any(max(map(abs, log)) > max(_APART, 3 * max(tolerance)) for log in logs):
            return None  # all come about as often
        rare = min(range(len(shares)), key=shares.__getitem__)
        heavier = len(shares) == 2 and facts.weights[1 - rare] > _HEAVIER * facts.weights[rare]
        by_hand = facts.measured and heavier and shares[rare] < _SCARCE
        if by_hand or any(_follow(weights, [power * part for part in log], tolerance) for log in logs for power in _POWERS):
            return self._inverted(seen, facts, shares)
        turned = [[-power * part for part in log] for log in logs for power in _POWERS]
        widest = [max(tolerance)] * len(weights)
        if len(weights) > _MANY:  # of which another formula is told as well, such as that of the effective number
            slope = _slope(sorted(weights), sorted(-part for part in logs[0]))
            turned += [[-slope * part for part in logs[0]]] if _POWERS[1] <= slope <= _POWERS[0] else []
            widest = [max(widest[0], _BENT * (max(weights) - min(weights)))] * len(weights)
        if len(weights) > 2 and any(_follow(sorted(weights), sorted(log), widest) and not _follow(weights, log, [3 * widest[0]] * len(log))
                                    for log in turned):
            return self._moved(seen, facts, shares)
        return None

    @staticmethod
    def _left_out(seen: Observation, found: UnweighedFacts) -> Finding:
        """`fit` hands weights on as a third part of each batch, and the step does nothing with them."""
        name = "class_weight" if found.by_class else "sample_weight"
        return Finding(
            message=f"`fit` was given `{name}`, and the `train_step` of this script leaves the weights out: what goes backward is the "
                    "plain mean, in which all rows count alike.",
            remedy="Hand them on: `x, y, weight = keras.utils.unpack_x_y_sample_weight(data)`, then `self.compute_loss(x, y, y_pred, "
                   "sample_weight=weight)` or `loss(y, y_pred, sample_weight=weight)`.",
            site=found.site,
            evidence=[f"weights in the batches: from {found.smallest:.3g} to {found.largest:.3g}", *reading.own_losses(seen)])

    @staticmethod
    def _inverted(seen: Observation, facts: WeightFacts, shares: list[float]) -> Finding:
        what = "positives" if facts.kind == "positive" else "a class"
        if facts.kind == "positive":
            remedy = "Negatives over positives, not the reverse: `pos_weight = (len(labels) - positives) / positives`."
        elif seen.framework in reading.KERAS:
            remedy = "Divide by how often a class comes: `class_weight = {c: rows / (classes * count) for c, count in enumerate(counts)}`."
        else:
            remedy = "Divide by how often a class comes: `weight = counts.sum() / (len(counts) * counts)`."
        return Finding(
            message=f"The weights are the wrong way round: they grow with how often {what} come{'s' if what == 'a class' else ''}, so that "
                    "what is rare counts even less than without any weights.",
            remedy=remedy, site=_place(seen), evidence=_table(facts, shares))

    @staticmethod
    def _moved(seen: Observation, facts: WeightFacts, shares: list[float]) -> Finding:
        return Finding(
            message="The weights are those of other classes: put into another order, they would be in inverse proportion to how often each "
                    "class comes; as they stand, they are not.",
            remedy="Make them in the order of the class ids: `counts = np.bincount(labels, minlength=classes)`, not in the order in which "
                   "labels come or in that of their names or frequencies (`Counter`, `value_counts()`).",
            site=_place(seen), evidence=_table(facts, shares))


def _place(seen: Observation) -> Site | None:
    return reading.place(seen, "weights", "loss", "fit")


def _shares(seen: Observation, facts: WeightFacts) -> tuple[list[float], list[float]]:
    """How often each class comes (of each output, how often it is wanted), and the noise of the logarithm of that: none where the whole
    dataset was counted."""
    whole = data_labels.counts_of(raised.train_loader(seen))
    names = [str(label) for label in range(len(facts.weights))]
    known = facts.kind == "class" and set(whole) == set(names)
    counts, rows = ([whole[name] for name in names], sum(whole.values())) if known else (facts.counts, facts.rows)
    if rows < _ROWS or min(counts, default=0) < _RARE:
        raise NotJudged(f"of {rows} rows that came with these weights, too few are of the rarest class")
    return [count / rows for count in counts], [0.0 if known else _DOUBT / math.sqrt(count) for count in counts]


def _centred(values: list[float]) -> list[float]:
    middle = sum(values) / len(values)
    return [value - middle for value in values]


def _slope(values: list[float], wanted: list[float]) -> float:
    """Of the straight line through `values` over `wanted`, both of mean 0."""
    return sum(one * other for one, other in zip(values, wanted, strict=True)) / sum(other * other for other in wanted)


def _follow(values: list[float], wanted: list[float], tolerance: list[float]) -> bool:
    return all(abs(one - other) <= most for one, other, most in zip(values, wanted, tolerance, strict=True))


def _table(facts: WeightFacts, shares: list[float]) -> list[str]:
    what = "output" if facts.kind == "positive" else "class"
    chosen = sorted(range(len(shares)), key=lambda number: -shares[number])
    chosen = chosen if len(chosen) <= _SHOWN else [*chosen[:_SHOWN // 2], *chosen[-_SHOWN // 2:]]
    return [f"{what} {number}: {100 * shares[number]:.1f} % of the rows, weight {facts.weights[number]:.3g}" for number in chosen]
