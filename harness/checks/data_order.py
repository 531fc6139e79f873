"""The order of the rows: sorted by label where it matters, in training and when some are set aside."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from typing import Any, ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import LoaderFacts
from harness.checks.observation import Observation

# An evaluation with so many rows, and such a share of them, of classes that so many training rows do not have, is no chance.
_MANY, _FEW, _LARGE = 200, 20, 0.3
_LISTED = 512  # labels of a batch that are kept, the first ones
_WHOLE = 0.9

# Changes of the label for each batch: a sampler that makes batches of one class changes it with almost every one.
_CHANGES = 0.2
# Batches from which on it is seen that they take turns.
_TURNS = 4
_KINDS, _AGAIN = 3, 3  # classes in a batch, and batches with one that was over
_ROUND = 0.9  # of the batches that have the label of the one so many before: they come in turns
# How much more the loss is over all batches in their order than in a random one: times, and of the loss at the start.
_WORSE, _OF_START = 1.3, 0.1
_SHUFFLE = {True: "Shuffle: `DataLoader(dataset, batch_size=..., shuffle=True)`.",
            False: "Shuffle before batching, `dataset.shuffle(len(rows)).batch(...)` with a buffer that holds all rows, and leave "
                   "`fit(shuffle=True)`."}


class SortedRows(Check):
    """The training rows come in an order, by label or in time, and are not shuffled.

    Each batch then holds one class, and the model learns to say whatever came last. Judged against the runs of equal labels that a
    random order of the same labels would have. Source: Bengio 2012, "Practical Recommendations for Gradient-Based Training";
    PyTorch docs, `DataLoader(shuffle=...)`.
    """

    code: ClassVar[str] = "D107"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D104", "D122")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from labels that only the evaluation has, and from the order in which labels came, of a loader that does not shuffle."""
        found = self._split_off(seen)
        if found is not None:
            return found
        try:
            return self._by_label(seen) or self._forgotten(seen)
        except NotJudged:
            found = self._forgotten(seen)
            if found is None:
                raise
            return found

    def _by_label(self, seen: Observation) -> Finding | None:
        """Labels that come in longer runs than chance would give. Raises `NotJudged` where their order was not seen."""
        loader = raised.train_loader(seen) or self._by_hand(seen)
        if loader is None or loader.label_runs is None:
            raise NotJudged("the order of the training labels was not seen")
        if loader.shuffled:
            return None
        counts = data_labels.counts_of(loader)
        total = sum(counts.values())
        if len(counts) < 2:
            raise NotJudged("fewer than two labels were counted, so that no order can be seen")
        if loader.batches == 1 or (loader.batch_size and loader.rows and loader.batch_size >= loader.rows):
            return None  # a batch that holds all rows has no order
        rows = loader.ordered_rows or min(total, (loader.batch_size or 1) * max(1, len(seen.steps)))
        chance = sum(count * (count - 1) for count in counts.values()) / (total * (total - 1))
        noise = math.sqrt(chance * (1 - chance) / max(1, rows - 1))
        excess = (loader.label_runs - chance) / (1 - chance) if chance < 1 else 0.0
        if loader.label_runs - chance < 6 * noise or excess < 0.5:
            return None
        if rows < 64:
            raise NotJudged(f"the order of only {rows} rows was seen")
        if loader.shuffled is None and (1 - loader.label_runs) * rows > _CHANGES * rows / (loader.batch_size or 1):
            raise NotJudged("equal labels come in long runs, but whether the loader shuffles is unknown")
        batches = _batches(seen)
        kinds = [len(set(map(str, labels))) for labels in batches]
        pure = kinds.count(1)
        if batches and pure < 0.5 * len(batches) and statistics.fmean(kinds) > 0.5 * _expected(_with_unseen(counts, loader, seen.classes),
                                                                                                       batches):
            return None  # the runs are shorter than a batch
        evidence = [(f"neighbouring rows with the same label: {100 * loader.label_runs:.0f} %; a random order of these labels gives "
                    f"{100 * chance:.0f} %"), f"label counts: {data_labels.shares(counts)}"]
        evidence += [f"rows in the buffer that shuffles: {loader.buffer}"] if loader.buffer else []
        if batches:
            evidence.append(f"batches that hold a single label: {pure} of {len(batches)}")
        remedy = _SHUFFLE[seen.framework == "torch"]
        streamed = "Iterable" in loader.dataset_kind
        if streamed:
            remedy = ("Shuffle before it is streamed (`dataset.shuffle(seed=0).to_iterable_dataset()`): a loader cannot shuffle a stream; "
                      "or give it a buffer, `stream.shuffle(buffer_size=10_000)`.")
        if loader.kind == "loop":
            remedy = "Take the rows in a new random order in every epoch: `for rows in torch.randperm(len(x)).split(batch_size): ...`."
        return Finding(
            message=f"The training rows are sorted by label and {'not' if not loader.buffer else 'hardly'} shuffled: "
                    f"{100 * loader.label_runs:.0f} % of the rows have the label "
                    "of the "
                    f"row before, where a random order gives {100 * chance:.0f} %.",
            remedy=remedy, evidence=evidence,
            site=(reading.place(seen, "stream") if streamed else None) or loader.site or reading.place(seen, "fit"))

    @staticmethod
    def _forgotten(seen: Observation) -> Finding | None:
        """Batches that differ from each other by far, of which the later ones undo what was learnt of the first: the very same steps in a
        random order get further with all of them."""
        facts, loader = seen.probes.ordered, raised.train_loader(seen)
        if facts is None or facts.own is None or facts.mixed is None or (loader is not None and loader.shuffled):
            return None
        start, own, mixed = facts.own.start_loss, facts.own.final_loss, facts.mixed.final_loss
        if start is None or own is None or mixed is None or reading.several_models(seen) or not math.isfinite(own):
            return None
        # A loss that is not known may be no measure of what is learnt: that of a policy is made of its own draws.
        if min(start, mixed) <= 0 or all(call.name == "other" for call in seen.loss_calls):
            return None
        if own < _WORSE * mixed or own - mixed < _OF_START * start:
            return None
        if seen.model is not None and seen.model.carries:
            raise NotJudged("recurrent layers go on from one batch to the next, so the order is meant")
        every = max(1, len(facts.own.losses) // 8)
        curves = [", ".join(f"{loss:.3g}" for loss in curve.losses[::every]) for curve in (facts.own, facts.mixed)]
        return Finding(
            message="The training rows are in an order and not shuffled: the rows of a batch are alike "
                    f"({100 * facts.between:.0f} % of all that tells rows apart lies between batches), and what the later ones teach "
                    "undoes what the first ones did. The same "
                    f"{len(facts.own.losses)} steps get from {start:.3g} to {own:.3g} as they are, and to {mixed:.3g} in a random order.",
            remedy=_SHUFFLE[seen.framework == "torch"],
            site=(loader.site if loader is not None else None) or reading.place(seen, "loader", "fit", "forward"),
            evidence=[f"losses in their own order: {curves[0]}", f"in a random one: {curves[1]}"])

    @staticmethod
    def _split_off(seen: Observation) -> Finding | None:
        """Rows that were sorted by label when the last of them were set aside: the evaluation has classes that training never sees."""
        loader, classes = raised.train_loader(seen), seen.classes
        counts = data_labels.counts_of(loader)
        if loader is None or not classes or seen.task != "classification" or sum(counts.values()) < max(_MANY, _WHOLE * (loader.rows or 0)):
            return None  # of a part of the rows nothing can be said about all
        if loader.rows is None and any(call.target is not None and call.target.shape[:1] > (_LISTED,) for call in seen.loss_calls):
            return None
        for metric in seen.evaluation.metrics:
            held = metric.reference_counts
            unseen = {label: count for label, count in held.items() if label.isdigit() and int(label) < classes and label not in counts}
            if sum(unseen.values()) >= max(_FEW, _LARGE * sum(held.values())):
                share = sum(unseen.values()) / sum(held.values())
                return Finding(
                    message=f"{share:.0%} of the rows of the evaluation are of classes that the training has no row of: the rows were "
                            "sorted by label when some were set aside.",
                    remedy="Shuffle the rows before they are split, `order = rng.permutation(len(y)); x, y = x[order], y[order]`, or split "
                           "with `train_test_split(..., stratify=y)`. `validation_split` takes the last rows as they stand.",
                    site=loader.site or metric.site,
                    evidence=[f"training labels: {data_labels.shares(counts)}", f"labels of the evaluation: {data_labels.shares(held)}"])
        return None

    @staticmethod
    def _by_hand(seen: Observation) -> LoaderFacts | None:
        """The order of the labels in the steps themselves, where a loop slices its batches without a loader."""
        order = [label for step in seen.steps for label in step.labels or []]
        if seen.framework != "torch" or seen.task != "classification" or reading.several_models(seen):
            return None
        if len(order) < 2 or any(not step.labels for step in seen.steps):
            return None
        same = sum(a == b for a, b in itertools.pairwise(order))
        counts = Counter(str(label) for label in order)
        return LoaderFacts(kind="loop", shuffled=False, label_counts=dict(counts), label_runs=same / (len(order) - 1),
                           ordered_rows=len(order), site=reading.place(seen, "forward", "loss"))


def _batches(seen: Observation) -> list[list[Any]]:
    """The labels of each batch that has several. Raises NotJudged where most are made of one label, in turns."""
    found = [step.labels for step in seen.steps if step.labels and len(step.labels) > 1]
    found = found or [batch.labels for batch in seen.batches if batch.labels and len(batch.labels) > 1]
    if _in_turns(found):
        raise NotJudged("batches of one label each take turns, as those of real and made rows do")
    if _drawn_in_groups(found):
        raise NotJudged("batches hold as many rows of each of some classes, drawn anew, as losses that compare rows want them")
    return found


def _drawn_in_groups(batches: list[list[Any]]) -> bool:
    """Whether each batch has equally many rows of several classes, and classes come again long before all have come: in sorted rows one
    that is over does not."""
    counts = [Counter(map(str, labels)) for labels in batches]
    if not counts or any(len(found) < _KINDS or len(set(found.values())) > 1 or min(found.values()) < 2 for found in counts):
        return False
    kinds, seen, again = len(set().union(*counts)), Counter[str](), 0
    for before, found in itertools.pairwise(counts):
        seen.update(before.keys())
        again += len(seen) < kinds and bool((found.keys() & seen.keys()) - before.keys())
    return again >= _AGAIN


def _in_turns(batches: list[list[Any]]) -> bool:
    """Whether most batches hold a single label, and the labels come round and round: in batches of sorted rows they change only now and
    then, or, where whole batches were shuffled, at random."""
    single = [str(labels[0]) if len(set(map(str, labels))) == 1 else None for labels in batches]
    changes = sum(one is not None and other is not None and one != other for one, other in itertools.pairwise(single))
    if len(single) < _TURNS or changes <= 0.5 * (len(single) - 1):
        return False
    again = max(sum(one == other for one, other in zip(single, single[period:], strict=False)) / (len(single) - period)
                for period in range(2, max(3, len(single) // 2)))
    return again >= _ROUND


def _with_unseen(counts: dict[str, int], loader: LoaderFacts, classes: int | None) -> dict[str, int]:
    """Labels of all rows, where some classes have not come up yet: what the rows to come hold is shared among these."""
    unseen, rest = (classes or 0) - len(counts), (loader.rows or 0) - sum(counts.values())
    if unseen <= 0 or rest < unseen:
        return counts
    return {**counts, **{f"unseen {number}": rest // unseen for number in range(unseen)}}


def _expected(counts: dict[str, int], batches: list[list[Any]]) -> float:
    """How many different labels a batch of so many rows holds on average, where rows are drawn at random."""
    total, size = sum(counts.values()), statistics.fmean(len(labels) for labels in batches)
    return float(sum(1 - (1 - count / total) ** size for count in counts.values()))
