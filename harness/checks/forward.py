"""Whether the model's input reaches its output, row by row."""

from __future__ import annotations

import math
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import data_labels, gradient_flow, raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import LoaderFacts
from harness.checks.observation import Observation


class InputMatters(Check):
    """The output does not depend on the input.

    Exchanging the inputs of two rows leaves their outputs as they were: somewhere the input is dropped, overwritten or multiplied
    by zero. Such a model can learn the share of each class, and nothing else. Source: Karpathy, "A Recipe for Training Neural
    Networks" (input-independent baseline).
    """

    code: ClassVar[str] = "F104"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("B102", "D103", "E503", "G307", "L209", "L210")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the probe that exchanges inputs between rows."""
        matters = seen.probes.input_matters
        if matters is None:
            raise NotJudged(seen.probes.skipped.get("input_matters", "the inputs of two rows were not exchanged"))
        if matters:
            return None
        if gradient_flow.fades(seen):
            raise NotJudged("the signal fades from layer to layer, in both directions: see G305")
        output = seen.model.output if seen.model else None
        if reading.script_learns(seen) or reading.several_models(seen):
            raise NotJudged("the probe saw no dependence on the input, yet the loss falls clearly")
        if output is not None and output.bad_rows:
            raise NotJudged("the outputs hold NaN, so that they cannot be compared")
        evidence = ["outputs of a batch before and after its inputs were exchanged between rows: equal"]
        if output is not None and output.std is not None:
            evidence.append(f"outputs {output.dtype}{list(output.shape)}: standard deviation {output.std:.3g} around "
                            f"{output.mean or 0.0:.3g}")
        return Finding(
            message="The model's output is the same whatever its input: exchanging the inputs of a batch between its rows changes nothing.",
            remedy="Follow the input through forward(), printing `x.std(0).max()` after each line: where it becomes 0 the input is lost (a "
                   "variable that is overwritten, a softmax or norm over an axis of size 1, a factor that is 0, the wrong variable "
                   "returned).",
            site=reading.place(seen, "lost", "output", "model"), evidence=evidence)


# Rounding, and the ranges that quantised layers measure over a whole batch, stay far below this share of the rows' distance.
_MIXED, _SLIGHT = 0.1, 0.02
_MANY = 32  # rows; fewer are a sample to try things with


class RowsApart(Check):
    """Rows of one batch influence each other inside the model.

    The other rows of a batch are replaced, and the output of the row that stayed changes; or the batch is moved by one row, and the
    outputs do not just move with it. Axes were taken for one another: `view` where `permute` was meant, or a layer that wants the batch
    second. Source: Karpathy, "A Recipe for Training Neural Networks" (use backprop to chart dependencies).
    """

    code: ClassVar[str] = "F105"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("F104", "L209")

    def check(self, seen: Observation) -> Finding | None:
        """Judges rows that a loader draws at random, so that which rows come together is chance; without a loader, a model at a guess, or
        a layer that takes its batch second and gets inputs whose first axis is that of their labels."""
        rows, model, loader = seen.probes.rows, seen.model, raised.train_loader(seen)
        if rows is None:
            raise NotJudged("rows of a batch were not exchanged")
        batch_second = rows.batch_first is False
        # How such a layer is set says what it does; a fresh model's rows owe each other little yet.
        least = _SLIGHT if batch_second and self._row_by_row(seen) else _MIXED
        if max(rows.influence, rows.order) < least:
            return None
        ordered = loader is not None and loader.shuffled is False
        chance = loader is not None or data_labels.still_guessing(seen) is not None or (batch_second and self._row_by_row(seen))
        if ordered or reading.several_models(seen) or not chance:
            raise NotJudged("the rows of a batch may belong together")
        softmax = rows.softmax and self._row_by_row(seen)
        compared = reading.script_learns(seen) or (model is not None and model.has_batch_norm)
        if rows.order < _MIXED and not batch_second and not softmax and compared:
            raise NotJudged("the model compares the rows of a batch with each other, whatever their order: that may be meant")
        evidence = [f"a row's output moves by {rows.influence:.2f} of the distance between rows when only the other rows are replaced"]
        if rows.order >= _MIXED:
            evidence.append(f"moved by one row, the batch gives outputs that do not just move with it ({rows.order:.2f} of that distance)")
        inside = f" in {rows.module}" if rows.module else ""
        if rows.tied and rows.order >= _MIXED and self._whole(loader):
            return Finding(
                message=f"All rows are one batch and are tied to each other{inside}, each in its place, as the nodes of a graph are; but "
                        "they are shuffled anew in each epoch, while what ties them stays as it was.",
                remedy="Keep their order: `fit(..., shuffle=False)`, or no shuffling of the dataset; or shuffle what ties them, the rows "
                       "and columns of the adjacency, along with them.",
                site=(loader.site if loader else None) or reading.place(seen, "fit", "model"), evidence=evidence)
        if rows.placed:
            return Finding(
                message=f"The answer for a row depends on its place in the batch{inside}: something has another value for each row of a "
                        "batch, whatever the rows are, and the same for all that a row is made of.",
                remedy="What goes by the steps of a sequence must be laid along their axis: positions of shape `[1, length, dim]`, cut by "
                       "`x.size(1)` (in Keras `tf.shape(x)[1]`) where the batch comes first, not by the number of rows.",
                site=rows.site or reading.place(seen, "forward", "model"), evidence=evidence)
        if batch_second:
            remedy = (f"`{rows.module.rpartition(' ')[2]}` takes the batch as its second axis unless it is built with `batch_first=True`: "
                      "build it so, or give it `x.transpose(0, 1)`.")
        elif softmax:
            remedy = ("Take the softmax over the axis that is meant, never over the first, which counts the rows: " +
                      ("`axis=1` or `axis=-1`." if seen.framework in reading.KERAS else "`dim=1` or `dim=-1`."))
        else:
            remedy = ("Exchange axes with `permute` or `transpose`; `view` and `reshape` only cut the same numbers into other pieces, and "
                      "there the batch must stay the first axis: `x.view(x.size(0), ...)`.")
        return Finding(message=f"Rows of one batch are mixed{inside}: the answer for a row depends on which rows happen to come with it.",
                       remedy=remedy, site=rows.site or reading.place(seen, "forward", "model"), evidence=evidence)

    @staticmethod
    def _whole(loader: LoaderFacts | None) -> bool:
        """Whether one batch holds all rows, in random order."""
        return (loader is not None and loader.shuffled is True and loader.rows is not None and loader.rows >= _MANY
                and (loader.batches == 1 or (loader.batch_size or 0) >= loader.rows))

    @staticmethod
    def _row_by_row(seen: Observation) -> bool:
        """Whether each entry of the inputs' first axis, and of no other, has a label of its own."""
        labels = {call.target.shape[0] for call in seen.loss_calls if call.target is not None and math.prod(call.target.shape[1:]) == 1
                  and call.target.shape}
        inputs = [batch.columns[batch.inputs_key].shape for batch in seen.batches if batch.inputs_key in batch.columns]
        return bool(labels and inputs) and all(shape[:1] and shape[0] in labels and shape[0] not in shape[1:] for shape in inputs)
