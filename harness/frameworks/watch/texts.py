"""Lines that a finding may name, read off a script's text: the same for every framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.raised import LABELS
from harness.frameworks.watch import (
    aliases,
    blends,
    dilution,
    ends_read,
    fills,
    last_kept,
    late_clipping,
    loss_scales,
    modes_written,
    one_scale,
    one_shot,
    one_side,
    other_actions,
    oversampled,
    returns,
    shifts,
    sides_written,
    stale_memos,
    stored,
    tally,
    target_encoding,
    time_limits,
    told_steps,
    tuned_cuts,
    unread_masks,
    written,
)
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_METHODS = ("train", "eval", "zero_grad", "backward", "step")  # that a script may name where it means to call them


def note(session: WatchSession) -> None:
    """Of a script that trains: enters them by the names of their sites."""
    for name, find in (("blended", blends.alone), ("pooled", dilution.written), ("last_read", ends_read.written),
                       ("unread_mask", unread_masks.written),
                       ("labels.of_no_word", fills.of_no_word),
                       ("scaled_whole", one_scale.written),
                       ("shift.written", shifts.written), ("shift.copied", shifts.copied),
                       ("scaled_loss", loss_scales.written), ("aliased", aliases.written),
                       ("time_limit", time_limits.written), ("one_side", one_side.written), ("late_clipping", late_clipping.written),
                       ("target_encoding", target_encoding.written), ("tuned_cut", tuned_cuts.written),
                       ("told_step", told_steps.written), ("stale_memo", stale_memos.written), ("other_action", other_actions.written),
                       ("oversampled", oversampled.written),
                       ("loss.exchanged", sides_written.exchanged), ("forgotten_mode", modes_written.forgotten),
                       ("last_kept", last_kept.written), ("exhausted", one_shot.exhausted)):
        session.noted(name, session.safely("a script's text", find, session.script))


def finish(session: WatchSession) -> None:
    """Of every script, once it is over."""
    seen = session.observation
    for name, place in (session.safely("methods that are only named", written.uncalled, session.script, _METHODS) or {}).items():
        session.site(f"uncalled.{name}", site(place))
    if seen.steps:
        seen.tally = session.safely("how right answers are counted", tally.facts, session.script)
        seen.credit = session.safely("what actions are credited with", returns.facts, session.script)
    session.noted("same_row", session.safely("rows that are kept", stored.same_row, session.script, session.sites))
    session.noted("left_out", session.safely("labels that are left out", written.negative, -100, session.script))
    session.noted("bytes", session.safely("what is kept in bytes", written.named, "uint8", session.script))
    if seen.evaluation.shared is not None and seen.evaluation.shared.own:
        session.noted("held_unused", session.safely("rows set aside", written.unused, session.script))
    session.noted("smoothed", session.safely("moving averages", written.smoothed, session.script) if seen.probes.ahead else None)
    for found, find in (("appended", written.appended), ("multiplied", written.multiplied), ("blotted", written.blotted)):
        session.noted(found, session.safely("a script's text", find, session.script))
    for name in ("decoder_input_ids", *(label for label in LABELS if label != "labels")):
        session.noted(f"keyed.{name}", session.safely("what a model is given", written.keyed, name, session.script))
    for made in ("to_categorical", "one_hot"):
        one_hot = session.safely("where one-hot rows are made", written.built, made, session.script, session.sites)
        if one_hot is not None:
            session.site("one_hot", site(one_hot))
    for made in ("StringLookup", "IntegerLookup"):
        session.noted("lookup", session.safely("where labels are looked up", written.built, made, session.script, session.sites))
    if any(batch.layout is not None for batch in seen.batches):
        reshaped = session.safely("where images are cut", written.reshaped, session.script)
        if reshaped is not None:
            session.site("reshaped", site(reshaped))
