"""Padding that a recurrent layer reads last: without a mask from the start, or with one that ends on the way."""

from __future__ import annotations

from harness.checks import reading, regularization
from harness.checks.base import Finding
from harness.checks.observation import Observation
from harness.checks.probe_facts import PaddingFacts

_DROWNED = 0.05
_FILLED = 0.3  # of the ids
_REAL = 0.75  # of the steps, where padding is judged by the text of a layer
# Rows with one answer; by how much answers move with the width of the batch, of the distance between rows; filler, of a batch's steps.
_ONE_ANSWER, _MOVED, _FILLER, _NARROW = 0.25, 0.3, 0.25, 0.9
_OPEN, _HALF, _BETTER = 0.03, 0.5, 0.85  # of the variance; of what is left of it; and of what the contrary leaves


def read_last(seen: Observation) -> Finding | None:
    """Judges from where the mask ends, and from what rows come to with their padding in front; only where the script does not learn."""
    padding = seen.probes.padding
    if padding is None or reading.script_learns(seen):
        return None
    if padding.ends and padding.share > _FILLED:
        return _ended(padding)
    return _drowned(seen, padding) if padding.spread < _DROWNED * padding.spread_in_front else None


def _ended(padding: PaddingFacts) -> Finding:
    return Finding(
        message=f"The mask of the padding ends at {padding.ends}: the recurrent layer behind it gets none, and reads rows of at most "
                f"{padding.longest} tokens together with the padding up to {padding.width}.",
        remedy="Let the layer hand the mask on: `self.supports_masking = True` in its `__init__` where it keeps rows and tokens as they "
               "are, or a `compute_mask(self, inputs, mask=None)` that returns it.",
        site=padding.site,
        evidence=[f"{padding.share:.0%} of the ids in a batch are padding, and the recurrent layer reads them last"])


def _drowned(seen: Observation, padding: PaddingFacts) -> Finding:
    remedy = ("Pack the rows, `pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)`, or read each row's output at "
              "its last real token; and pad to the longest row of a batch, not to a fixed length.")
    if seen.framework in reading.KERAS:
        skips = "`Embedding(..., mask_zero=True)` where the padding id is 0" if padding.unit == "tokens" else \
            "a `layers.Masking(0.0)` before it, or a gather of each row's last real step"
        remedy = f"Let the layer skip it, {skips}, or pad in front: `pad_sequences(rows, padding=\"pre\")`."
    return Finding(
        message=f"A recurrent layer reads the padding as {'text' if padding.unit == 'tokens' else 'data'}: rows of at most "
                f"{padding.longest} {padding.unit} are filled up to {padding.width}, and after all that filler every row ends in the same "
                "state.",
        remedy=remedy,
        site=padding.site or reading.place(seen, "forward", "embedding", "model", "fit"),
        evidence=[f"{padding.share:.0%} of the {padding.unit} in a batch are padding",
                  f"deviation between rows' outputs: {padding.spread:.2g}; with the padding in front {padding.spread_in_front:.2g}"])


def of_filler(seen: Observation) -> Finding | None:
    """Judges from rows that all get one answer, those with the most filler; and, where batches have several widths, from answers that
    move with the width of the batch."""
    facts = seen.probes.ends_read
    if facts is None:
        return None
    keras = seen.framework in reading.KERAS
    filled = f"{facts.share:.0%} of the {facts.unit} of a batch are filler, behind rows of up to {facts.longest} {facts.unit}"
    if facts.same >= _ONE_ANSWER:
        last = "`tf.gather(states, lengths - 1, batch_dims=1)`" if keras else "`states[torch.arange(len(states)), lengths - 1]`"
        return Finding(
            message=f"Filler is read in the place of the rows' ends: {facts.same:.0%} of the rows of a batch, all that have at most "
                    f"{facts.upto} of {facts.width} {facts.unit}, get the very same answer.",
            remedy=f"Read each row at its own last step, {last}, or fill up in front of the rows, or pool over what is real.",
            site=reading.place(seen, "last_read", "forward", "model", "fit"), evidence=[filled, *reading.own_losses(seen)])
    if facts.moved is None or facts.moved < _MOVED or facts.share < _FILLER or not _of_several_widths(seen):
        return None
    pooled = "`ops.sum(h * mask, 1) / ops.sum(mask, 1)`" if keras else "`(h * mask).sum(1) / mask.sum(1)`"
    return Finding(
        message="The answer for a row depends on how long the longest row of its batch is: with the filler behind "
                f"{facts.narrower} {facts.unit} gone, the answers for rows that are no longer than that move by {facts.moved:.2f} of the "
                "distance between rows.",
        remedy=f"Leave the filler out: a mean over the real steps, {pooled}, a mask for attention, each row's own last step, packed rows "
               "for a recurrent layer.",
        site=reading.place(seen, "pooled", "last_read", "forward", "model", "fit"), evidence=[filled, *reading.own_losses(seen)])


def _of_several_widths(seen: Observation) -> bool:
    """Whether the batches of the training are as wide as their longest row."""
    mains = [batch.columns.get(batch.inputs_key or "") for batch in seen.batches]
    widths = {facts.shape[1] for facts in mains if facts is not None and len(facts.shape) > 1}
    return len(widths) > 1 and min(widths) < _NARROW * max(widths)


def unread(seen: Observation) -> Finding | None:
    """Judges from the text of a layer of the script's own, and from how much of a batch is padding."""
    real, place = seen.probes.real, seen.sites.get("unread_mask")
    if place is None or real is None or real > _REAL:
        return None
    keras = seen.framework in reading.KERAS
    return Finding(
        message=f"The padding is pooled together with what is real: on average {1 - real:.0%} of a row's steps are filler, and the line "
                "counts them all, although a mask or the lengths are at hand.",
        remedy="Divide by the number of real steps, `(h * mask).sum(1) / mask.sum(1)`, and take the last state at `lengths - 1`, not at "
               "-1." if not keras else
               "Divide by the number of real steps, `ops.sum(h * mask, 1) / ops.sum(mask, 1)`, and take the last state at `lengths - 1`, "
               "not at -1: `tf.gather(states, lengths - 1, batch_dims=1)`.",
        site=place,
        evidence=[f"of the steps of a batch no padding: {real:.0%}", *reading.own_losses(seen)])


def held_back(seen: Observation) -> Finding | None:
    """Judges from the script's own steps, taken again with the padding left out."""
    found = regularization.padding(seen)
    if found is None:
        return None
    keras = seen.framework in reading.KERAS
    remedy = ("Let it skip the padding: `Embedding(..., mask_zero=True)` or a `layers.Masking(0.0)` before it; in a layer of your own, "
              "divide by the number of real steps." if keras else
              "Divide by the number of real steps, `(h * mask).sum(1) / mask.sum(1)`; pack the rows of a recurrent layer, or take its "
              "output at `lengths - 1`; give attention its `src_key_padding_mask`.")
    return Finding(
        message=f"{found.amount:.0%} of the steps of a batch are padding, and `{found.name}` reads them like the rest: the loss is at "
                f"{found.own.final_loss:.3g} in {len(found.own.losses)} steps; with the padding left out it falls to "
                f"{found.without.final_loss:.3g} in {len(found.without.losses)}.",
        remedy=remedy, site=found.site or reading.place(seen, "pooled", "forward", "model", "fit"),
        evidence=[f"Probe, without the padding: {reading.describe(found.without)}",
                  f"Both begin at a loss of {found.own.start_loss or 0:.3g}.", *reading.own_losses(seen)])


def diluted(seen: Observation) -> Finding | None:
    """Judges from what is left of the errors once the answers are divided by the share of each row that is no padding."""
    relation = seen.evaluation.relation
    facts = relation.diluted if relation is not None else None
    if facts is None or "pooled" not in seen.sites or not facts.positive or facts.left < _OPEN:
        return None
    if facts.undone > min(_HALF * facts.left, _BETTER * facts.other):
        return None
    steps = "tf.reduce_sum(mask, 1)" if seen.framework in reading.KERAS else "mask.sum(1)"
    return Finding(
        message=f"A mean over the steps of a row counts its padding: the answers are the smaller the more of it a row has, and "
                f"{1 - facts.undone / facts.left:.0%} of what they leave open is that.",
        remedy=f"Divide by the number of real steps: the sum of `h * mask` over the steps, by `{steps}`, and not by their number with the "
               "padding.",
        site=reading.place(seen, "pooled"),
        evidence=[(f"{facts.rows} rows, of which on average {facts.share:.0%} is no padding; open of the variance of what is wanted: "
                  f"{facts.left:.3g} with the answers as they are, {facts.undone:.3g} with each divided by its row's share")])
