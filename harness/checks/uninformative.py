"""Labels that carry no information about the inputs."""

from __future__ import annotations

import math
import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, pairing, raised, reading, sourcing, unpredictable
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import RedrawnFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts

# Losses of which a guess costs the entropy of the labels; models of transformers compute theirs themselves.
_PRICED = data_labels.CLASS_LOSSES | {"categorical", "model"}
# A schedule of one cycle begins at a 25th of its highest rate by default.
_CYCLE = 30
_TWINS, _INPUTS = 100, 50
# Of the loss of the best answer that does not look at the inputs; rows before the first one that was moved are still beside their labels.
_NEAR_FLOOR, _PARTLY = 0.97, 0.85
_RARE = 0.9  # more of the rows have one of two labels: a loss may stay where it is for long
_PASS = 15  # batches
_LAST, _FASTER = 5, 4  # losses at the end, and passes over the rows to learn them by heart, as a factor
_COVERED = 0.7  # of the distance between two rows
_BESIDE = ("attention_mask", "token_type_ids", "position_ids", "length")


class UninformativeLabels(Check):
    """The labels carry no information about the inputs.

    Labels that were shuffled against their rows, or drawn at random, can be memorised and never learnt. A simple baseline on the same
    rows then does as well with its labels shuffled. Sources: Zhang et al. 2017, "Understanding deep learning requires rethinking
    generalization"; Ojala and Garriga 2010, "Permutation Tests for Studying Classifier Performance".
    """

    code: ClassVar[str] = "D106"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = (
        "D101", "D102", "D103", "D104", "D107", "D108", "D113", "D122", "B102", "F104", "F105", "F106", "F109", "L201", "L203", "L205",
        "L206", "L209", "L210", "L211", "G301", "G302", "G303", "G304", "G307", "S401", "S402", "S403", "S404", "S405", "S406", "E511")

    def check(self, seen: Observation) -> Finding | None:
        """Judges where inputs and targets are seen to come apart; else only where a baseline, one batch and the training curve agree."""
        mispaired = pairing.finding(seen) or pairing.unrelated(seen)
        if mispaired is not None:
            return mispaired
        probes = seen.probes
        if probes.number_baseline is not None and (seen.task == "regression" or probes.number_baseline_columns > 1):
            return unpredictable.finding(seen, probes.number_baseline, simple=_simple(seen))
        return self._of_classes(seen)

    def _of_classes(self, seen: Observation) -> Finding | None:
        probes = seen.probes
        rows, noise = self._noise(seen)
        nothing = nothing_carries(seen)
        # Both accuracies vary. Of a second judge that finds nothing it takes more to disagree.
        told, by_chance = probes.text_baseline, probes.text_baseline_shuffled
        even = probes.even_baseline
        if even is not None:
            told, by_chance, rows = even.told, even.shuffled, even.rows
            noise = math.sqrt(0.25 / rows)
        if told is None or by_chance is None or told - by_chance > (3 if nothing else 2) * math.sqrt(2) * noise:
            return None
        counts = self._balanced(seen, by_chance, noise)
        if nothing is False:
            return None
        if _pairs(seen) and not nothing:
            raise NotJudged("the rows are pairs, of which a bag of words cannot see the relation")
        learns, chance = reading.script_learns(seen), self._at_chance(seen) or bool(nothing and self._others_at_chance(seen))
        apart = sourcing.apart(seen)  # the text says that rows of one of both go another way
        if learns and not chance and apart is None:
            return None
        unpredictable.raise_if_weak(seen)
        fitted, twins = next((curve for curve in self._fits(seen) if reading.learned(curve)), None), _contradicted(seen)
        if fitted is None and not twins:  # which no model fits
            raise NotJudged("one batch cannot be fitted, or that was not tried, so that the labels are not the first suspect")
        if not (learns and chance) and not nothing and not twins and not _simple(seen) and apart is None:
            raise NotJudged("the baseline finds nothing, but it may be too simple for inputs of this kind")
        if not chance and not any(call.name in _PRICED for call in seen.loss_calls):
            raise NotJudged("what a guess costs by this loss is not known")
        # The script's own losses, mostly of rows that are new to it; a probe's repeat their rows, which can be memorised.
        losses, floor = reading.finite(reading.observed_losses(seen)), data_labels.entropy(counts)
        first = _first_pass(seen, losses) if nothing and not chance else []
        losses = first or losses
        end = statistics.fmean(losses[-max(1, len(losses) // 3):]) if losses else math.nan
        if not chance and not first and len(losses) < 40:
            raise NotJudged("the baseline finds nothing, and the run is too short to tell whether the model does")
        if not chance and (end < (_NEAR_FLOOR if apart is None else _PARTLY) * floor or (apart is None and _too_soon(seen, floor))):
            return None
        evidence = [
            (f"baseline accuracy on {rows} rows: {told:.3f}, with the labels shuffled {by_chance:.3f} "
            f"(noise {noise:.3f})"),
            f"loss of the best answer that does not look at the inputs: {floor:.3f}; the script's own over its last steps: {end:.3f}"]
        evidence += [*([twins] if twins else []), *sourcing.orders(seen)]
        evidence += [f"one batch can be memorised: {reading.describe(fitted)}"] if fitted is not None else []
        if nothing and probes.carry is not None:
            carry = probes.carry
            evidence.append(f"{carry.rows} rows fitted in {carry.steps} steps: {100 * (carry.accuracy or 0):.0f} % of them right, and "
                            f"{100 * (carry.held_accuracy or 0):.0f} % of {carry.held_rows} others, of which "
                            f"{100 * carry.held_majority:.0f} % have the commonest label")
        if chance:
            evidence.append("the evaluation is no better than the share of the most frequent label")
        loader = raised.train_loader(seen)
        evidence += ["files whose names have numbers are read in the order of their letters: 10 comes before 2"] * (
            "text_order" in seen.sites)
        return (self._covered(seen.redrawn, evidence) if apart is None else None) or Finding(
            message=f"The labels tell nothing about the inputs: a simple baseline is right on {100 * told:.0f} % of the "
                    "rows, and on "
                    f"{100 * by_chance:.0f} % with the labels shuffled.",
            remedy="Read some rows beside their labels. Look for inputs and labels that were shuffled, sorted or filtered apart from each "
                   "other: "
                   "keep them in one table (`dataset.shuffle()` moves whole rows) until the batch is made.",
            site=seen.sites.get("text_order") or apart
            or reading.place(seen, "getitem.labels" if seen.framework in reading.KERAS else "getitem.computed")
            or raised.made_by(seen, *raised.LABELS)
            or (loader.site if loader else None)
            or reading.place(seen, "forward", "fit"),
            evidence=evidence)

    @staticmethod
    def _covered(redrawn: RedrawnFacts | None, evidence: list[str]) -> Finding | None:
        """What is drawn at random for each reading of a row may leave too little of it to go by."""
        if redrawn is None or redrawn.same < _COVERED * redrawn.other:
            return None
        times = redrawn.same / redrawn.other
        return Finding(
            message="The augmentation leaves nothing of a row that its label could be told by: two readings of one row are "
                    f"{times:.2f} times as far apart as readings of two, and a simple baseline finds nothing in them.",
            remedy="Augment less: fewer and narrower masks, smaller noise, a lower probability; and look at a few rows as they come out.",
            site=redrawn.site, evidence=[f"{redrawn.rows} rows, each read twice.", *evidence])

    @staticmethod
    def _fits(seen: Observation) -> list[CurveFacts]:
        """Fits of one batch, at the rate of the first steps and, where a schedule raises it or many rows were learnt by heart, at higher
        ones."""
        own = seen.probes.overfit
        if own is None:
            return []
        raised = (seen.optimizer is not None and seen.optimizer.scheduled) or nothing_carries(seen) is True
        return [own, *(curve for curve in seen.probes.overfit_scaled if raised and 1 < curve.learning_rate / own.learning_rate <= _CYCLE)]

    @staticmethod
    def _noise(seen: Observation) -> tuple[int, float]:
        """Rows that the baseline saw, and the standard error of its accuracy, by the different inputs among them."""
        probes = seen.probes
        if probes.text_baseline is None or probes.text_baseline_shuffled is None:
            raise NotJudged(probes.skipped.get("baseline", "no baseline was fitted on the rows"))
        rows, share = probes.text_baseline_rows, probes.text_baseline_shuffled
        if rows < 200:
            raise NotJudged(f"the baseline saw {rows} rows, too few to tell a weak signal from none")
        # Rows with one input are told apart by nothing: they are right or wrong together.
        twins = probes.twins
        different = rows if twins is None or not twins.inputs else min(rows, max(rows - twins.rows, 0) + twins.inputs)
        return rows, math.sqrt(max(share * (1 - share), 0.01) / different)

    @staticmethod
    def _balanced(seen: Observation, by_chance: float, noise: float) -> dict[str, int]:
        """The label counts, none of which outweighs the others by much: of rare labels an accuracy says little, memorised or not."""
        counts = data_labels.training_labels(seen)
        if len(counts) < 2:
            raise NotJudged("the labels of the training data were not counted")
        share = max(counts.values()) / sum(counts.values())
        if seen.probes.even_baseline is not None and share <= _RARE:
            return counts
        if share > (0.65 if len(counts) == 2 else 1.5 / len(counts)):
            raise NotJudged(f"one label has {100 * share:.0f} % of the rows, so that a baseline's accuracy says little")
        if by_chance > share + 3 * noise:  # rows that repeat, as of a rare class that was drawn again and again, are judged once
            raise NotJudged(f"of the different rows about {100 * by_chance:.0f} % have one label: a baseline's accuracy says little")
        return counts

    @staticmethod
    def _at_chance(seen: Observation) -> bool:
        """Whether a finished training was no better than the majority share in its evaluation."""
        metric = data_labels.last_metric(seen)
        if metric is None or seen.stopped != "finished" or len(seen.steps) < 30:
            return False
        total = sum(metric.reference_counts.values())
        accuracy = next((value for name, value in metric.values.items() if "accuracy" in name), None)
        if accuracy is None or total < 100:
            return False
        share = max(metric.reference_counts.values()) / total
        return accuracy <= share + 2 * math.sqrt(share * (1 - share) / total)

    @staticmethod
    def _others_at_chance(seen: Observation) -> bool:
        """Whether the script's own model, too, knows nothing of the rows of the last evaluation."""
        relation = seen.evaluation.relation
        if relation is None or not relation.classes or relation.rows < 100 or seen.evaluation.in_training_mode or (
                pairing.knows(relation)):
            return False
        share = relation.majority
        return relation.held <= share + 2 * math.sqrt(share * (1 - share) / relation.rows) and relation.answered <= pairing.ONE_ANSWER


def nothing_carries(seen: Observation) -> bool | None:
    """Whether a model that learns its rows by heart knows nothing of others (True), or something (False); None: not tried, or unclear."""
    carry = seen.probes.carry
    if carry is None or carry.accuracy is None or carry.held_accuracy is None or carry.held_loss is None:
        return None
    share = carry.held_majority
    noise = math.sqrt(share * (1 - share) / carry.held_rows)
    if carry.held_accuracy > share + 3 * noise:
        return False
    least = 0.12 if _simple(seen) else 0.2  # where a plain baseline is a fair judge as well, a smaller part of them will do
    by_heart = carry.accuracy > share + max(least, 4 * noise) and carry.held_loss > (carry.loss or 0.0)
    return True if by_heart and carry.held_accuracy <= share + 2 * noise else None


def _first_pass(seen: Observation, losses: list[float]) -> list[float]:
    """The losses of rows that came for the first time, where these are some and others came after them: what comes again may be known by
    heart."""
    loader = raised.train_loader(seen)
    batches = loader.batches if loader is not None else None
    return losses[:batches] if batches is not None and _PASS <= batches < len(losses) else []


def _too_soon(seen: Observation, floor: float) -> bool:
    """Whether the script's losses have fallen in far fewer passes over its rows than its model needs to learn a part of them by heart: it
    has found what all of them have in common, late."""
    losses, loader, carry = reading.finite(reading.observed_losses(seen)), raised.train_loader(seen), seen.probes.carry
    if carry is None or loader is None or not loader.batches or not loader.batch_size or len(losses) < _PASS:
        return False
    last = statistics.fmean(losses[-max(_LAST, len(losses) // 10):])
    return last < _PARTLY * floor and _FASTER * len(losses) / loader.batches < carry.steps * loader.batch_size / carry.rows


def _simple(seen: Observation) -> bool:
    """Whether a plain baseline is a fair judge: tables of numbers, and text for a model that knows words already."""
    mains = [batch.columns.get(batch.inputs_key or "") for batch in seen.batches]
    tables = all(facts is not None and len(facts.shape) == 2 and "float" in facts.dtype for facts in mains)
    return bool(mains) and (tables or (seen.model is not None and seen.model.pretrained is True))


def _pairs(seen: Observation) -> bool:
    """Whether a row is made of two texts."""
    for batch in seen.batches:
        kinds = batch.columns.get("token_type_ids")
        if kinds is not None and kinds.maximum == 1:
            return True
        if any(text.count("[SEP]") >= 2 or text.count("</s>") >= 3 for text in batch.texts):
            return True
    return False


def _contradicted(seen: Observation) -> str:
    """Rows with the very same input, which is all that the model is given, whose labels agree no more than labels drawn at random do."""
    twins, columns = seen.probes.twins, {name for batch in seen.batches for name in batch.columns} - set(_BESIDE)
    # One column for the labels, whatever they are called, and one for the input.
    if twins is None or len(columns) != 2 or twins.rows < _TWINS:
        return ""
    if 2 * twins.rows < seen.probes.text_baseline_rows and twins.inputs < _INPUTS:  # of which a few may stand for anything: empty texts
        return ""
    noise = math.sqrt(twins.chance * (1 - twins.chance) / twins.rows)
    if twins.agree > twins.chance + 2 * noise:
        return ""
    return (f"{twins.rows} rows have the same input as another one: {100 * twins.agree:.0f} % of such pairs have the same label, and "
            f"{100 * twins.chance:.0f} % of any two rows")
