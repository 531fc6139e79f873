"""Reading an observation: what several checks ask of it. No check lives here."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import ExceptionFacts, StepFacts

# A device that works behind Python's back reports an error at whatever line happens to wait for it.
ASYNCHRONOUS = re.compile(r"device-side assert|CUDA error|CUBLAS_STATUS|CUDNN_STATUS|cuDNN error|TorchScript interpreter", re.IGNORECASE)
KERAS = ("tf_keras", "keras")
_CLEARLY = 8  # times the noise of a share
_FAR = 3.0  # norm of a change / norm before: a healthy training may well replace small first weights, but not by several times their size
_LONG = 30  # steps after which a training that still guesses, where a smaller rate has learned, is not merely at its start
_OFF = 100.0  # times the first loss
_STEPS = 3
_ADDED = 0.1  # how far a sum may be from so many times its mean, by a penalty that comes on top
_NOT_BELIEVED = ("The line in the traceback ({line}) is not to be believed: the device runs behind Python, and a later line reports "
                 "what an earlier one did.")


def raised(seen: Observation) -> list[ExceptionFacts]:
    """The exceptions that were seen, the most trustworthy first: the CPU's second opinion, the script's own, a probe's."""
    found: list[ExceptionFacts] = []
    if seen.exception is not None:
        rerun = _exception(seen.exception.cpu_rerun, "script")
        found += [rerun] if rerun else []
        found.append(seen.exception)
    probe = _exception(seen.probes.evaluation_error, "probe")
    return [*found, probe] if probe else found


def _exception(facts: dict[str, Any] | None, during: Literal["script", "probe"]) -> ExceptionFacts | None:
    """An exception that travelled as a dict: `type`, `message`, and where known `bases`, `stage`, `site` or `line`, `frames`, `module`."""
    if not facts or not facts.get("type"):
        return None
    site = facts.get("site")
    if isinstance(site, dict):
        site = Site(file=str(site.get("file", "")), line=int(site.get("line") or 0), source=str(site.get("source", "")))
    elif site is None and facts.get("line"):
        site = Site(file=str(facts.get("file", "")), line=int(facts["line"]), source=str(facts.get("source") or ""))
    return ExceptionFacts(type=str(facts["type"]), message=str(facts.get("message", "")), bases=list(facts.get("bases") or []),
                          stage=facts.get("stage") or "setup", site=site if isinstance(site, Site) else None,
                          frames=[(str(a), int(b), str(c)) for a, b, c in facts.get("frames") or []],
                          module=str(facts.get("module") or ""), during=during)


def matching(seen: Observation, *patterns: str, within: str | None = None, stages: Iterable[str] = ()) -> ExceptionFacts | None:
    """The first exception whose message matches one of `patterns`.

    `within`: one of its frames (`path:function`), or a graph's message, must match this, or its stage be one of `stages`; without either,
    any place will do.
    """
    allowed = tuple(stages)
    for error in raised(seen):
        if not any(re.search(pattern, error.message) for pattern in patterns):
            continue
        if within is None and not allowed:
            return error
        places = [error.message, *[f"{path}:{name}" for path, _, name in error.frames]]
        if error.stage in allowed or (within is not None and any(re.search(within, text) for text in places)):
            return error
    return None


def asynchronous(seen: Observation) -> bool:
    """Whether the script's exception came from a device whose reported line means nothing."""
    return seen.exception is not None and ASYNCHRONOUS.search(seen.exception.message) is not None


def caveat(seen: Observation) -> list[str]:
    """What has to be said about an asynchronous error's line, as evidence lines; empty where lines are true."""
    if not asynchronous(seen) or seen.exception is None:
        return []
    site = seen.exception.site
    lines = [_NOT_BELIEVED.format(line=f"line {site.line}" if site else "a library's")]
    rerun = _exception(seen.exception.cpu_rerun, "script")
    if rerun is not None:
        at = f" at line {rerun.site.line}" if rerun.site else ""
        lines.append(f"The same batch on the CPU{at}: {rerun.type}: {first_line(rerun.message)}")
    return lines


def first_line(text: str, limit: int = 160) -> str:
    """The first line of a text that says something, cut to `limit` characters."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= limit else line[: limit - 3] + "..."


def telling(message: str, marks: Iterable[str]) -> str:
    """The first line of a message that one of these patterns is found in, else its first line."""
    marks, lines = tuple(marks), [line.strip() for line in message.splitlines()]
    return first_line(next((line for line in lines if any(re.search(mark, line) for mark in marks)), message))


def place(seen: Observation, *names: str) -> Site | None:
    """The first known of the user's own lines under these names; `model` and `optimizer` also look at those records."""
    for name in names:
        if name in seen.sites:
            return seen.sites[name]
        record = {"model": seen.model, "optimizer": seen.optimizer, "evaluation": seen.evaluation}.get(name)
        site = getattr(record, "site", None)
        if site is None and name == "loss":
            site = next((call.site for call in seen.loss_calls if call.site), None)
        if isinstance(site, Site):
            return site
    return None


def uncalled(seen: Observation, name: str) -> list[str]:
    """Evidence: a line that names a method and does not call it; empty where there is none."""
    found = seen.sites.get(f"uncalled.{name}")
    return [f"`{found.source}` only names the method; the call has parentheses: `.{name}()`"] if found is not None else []


def class_units(seen: Observation, call: LossCall | None = None) -> int | None:
    """How many classes the output layer has: from the loss call's input (axis 1 in torch, the last in Keras), else from the model."""
    if call is not None and call.inputs is not None and call.inputs.shape:
        shape = call.inputs.shape
        if call.name in {"cross_entropy", "nll"}:
            return shape[1] if len(shape) > 1 else shape[0]
        if call.name in {"sparse_categorical", "categorical"}:
            return shape[-1]
    if seen.model is None:
        return None
    return seen.model.num_labels if seen.model.num_labels is not None else seen.model.final_units


def wants_logits(call: LossCall) -> bool:
    """Whether this loss applies softmax or sigmoid itself."""
    return call.name in {"cross_entropy", "bce_with_logits"} or (
        call.name in {"sparse_categorical", "categorical", "bce"} and call.from_logits is True)


def wants_probabilities(call: LossCall) -> bool:
    """Whether this loss takes the logarithm of what it is given."""
    return call.name in {"bce", "sparse_categorical", "categorical"} and call.from_logits is not True


def several_models(seen: Observation) -> bool:
    """Whether more than one model takes steps (GANs and the like), so that one model's record tells half the story."""
    return seen.models_stepped > 1


def finite(values: Iterable[float | None]) -> list[float]:
    """Those that are numbers."""
    return [value for value in values if value is not None and math.isfinite(value)]


def start_and_end(losses: Sequence[float]) -> tuple[float, float]:
    """Where a curve begins and ends: means over its first and last tenth (at most ten steps); infinite where it is not finite.

    The very first loss, before any step, counts as the beginning where it is higher: some curves are down within the first tenth.
    """
    size = min(10, max(1, len(losses) // 10))
    ends = statistics.fmean(losses[-size:])
    return max(losses[0], statistics.fmean(losses[:size])), ends if all(math.isfinite(loss) for loss in losses[-size:]) else math.inf


def observed_losses(seen: Observation) -> list[float]:
    """The script's own losses, step by step."""
    return [step.loss for step in seen.steps if step.loss is not None]


def own_losses(seen: Observation) -> list[str]:
    """Evidence: some of the script's own losses, in a line; empty where there are none."""
    losses = observed_losses(seen)
    return [f"The script's own losses: {', '.join(f'{loss:.3g}' for loss in losses[:: max(1, len(losses) // 8)])}"] if losses else []


def learned(curve: CurveFacts) -> bool:
    """A curve that clearly fell: to 60 % of where it began, or every row right at the end."""
    if len(curve.losses) < 5:
        return False
    start, end = start_and_end(curve.losses)
    if not math.isfinite(end) or end >= start:
        return False
    if curve.start_loss is not None and curve.final_loss is not None and 0 < curve.final_loss < 0.6 * curve.start_loss:
        return True  # free of the noise of single batches
    # Steps that are far too large throw the loss up first; coming back down from there is no learning.
    if end > 0.8 * (curve.losses[0] if curve.start_loss is None else max(curve.start_loss, curve.losses[0])) > 0:
        return False
    return end < 0.6 * start or (curve.accuracy or 0.0) >= 0.95


def chance(seen: Observation) -> float | None:
    """Loss (nats) of a guess among a classifier's classes, over as many rows as it is a sum of; None where there are none."""
    if seen.task != "classification" or not seen.classes or seen.classes < 2:
        return None
    return math.log(seen.classes) * rows_added_up(seen) * batches_added_up(seen)


def batches_added_up(seen: Observation) -> int:
    """Over how many batches the loss of a step is the sum of their means, by the first steps; 1 where the script divides."""
    found = []
    for step in seen.steps[:_STEPS]:
        values = [call.value for call in seen.loss_calls if call.step == step.step and call.value is not None]
        whole = step.loss is not None and len(values) == step.backwards and math.isclose(step.loss, sum(values), rel_tol=_ADDED)
        found.append((step.backwards or 1) if whole else 1)
    return max(1, min(found, default=1))


def rows_added_up(seen: Observation) -> int:
    """Over how many rows what is differentiated is a sum, by most of the loss calls; 1 where it is a mean."""
    rows = [summed_rows(seen, call) for call in seen.loss_calls]
    return max(rows) if rows and statistics.median_low(rows) > 1 else 1


def summed_rows(seen: Observation, call: LossCall) -> int:
    """Over how many rows what is differentiated is the sum of this loss; 1 where it is a mean, or the script divides by itself."""
    facts = call.target or call.inputs
    if facts is None or not facts.shape or call.reduction not in ("sum", "none"):
        return 1
    per_token = call.name in {"cross_entropy", "nll", "sparse_categorical"} and facts.integral
    rows = math.prod(facts.shape) if per_token else facts.shape[0]
    step = next((s.loss for s in seen.steps if s.loss is not None and s.step >= call.step), None)
    if call.reduction == "sum":
        divided = step is not None and call.value is not None and abs(step) < 0.5 * abs(call.value) and rows > 2
        return 1 if divided else rows
    # A loss that was never reduced: `gradient` and `minimize` of TensorFlow add up what they are given.
    whole = step is not None and call.value is not None and rows > 1 and math.isclose(step, rows * call.value, rel_tol=_ADDED)
    return rows if whole else 1


def failed(curve: CurveFacts, guess: float | None = None) -> bool:
    """A curve that did not fall: no number any more, or still at 90 % or more of where it began, and not right on its rows either.

    `guess`: the loss of a guess. A head that is drawn at random may begin a little above it; coming down to it is no learning.
    """
    if len(curve.losses) < 5:
        return _ran_away(curve)
    start, end = start_and_end(curve.losses)
    start = min(start, curve.losses[0] if curve.start_loss is None else curve.start_loss)
    before = curve.start_loss
    if guess is not None and guess < start < 2 * guess:
        start = guess
        before = None if before is None else min(before, guess)
    falls = before is not None and curve.final_loss is not None and curve.final_loss <= 0.9 * before
    return not math.isfinite(end) or (end > 0.9 * start and not falls and (curve.accuracy is None or curve.accuracy < 0.9))


def _ran_away(curve: CurveFacts) -> bool:
    """A probe run that was over after a few steps, since its loss was no number any more."""
    return len(curve.losses) > 1 and math.isfinite(curve.losses[0]) and not math.isfinite(curve.losses[-1])


def describe(curve: CurveFacts) -> str:
    """`learning rate 0.001: loss 1.10 -> 1.11 in 40 steps, accuracy 0.31`."""
    start, end = start_and_end(curve.losses)
    text = f"learning rate {curve.learning_rate:g}: loss {start:.3g} -> {end:.3g} in {len(curve.losses)} steps"
    return text if curve.accuracy is None else f"{text}, accuracy {curve.accuracy:.2f}"


def probe_pairs(seen: Observation) -> list[tuple[CurveFacts, list[CurveFacts]]]:
    """The probe runs that can be compared: own rate and other rates on the same rows; over several batches first, then on one."""
    probes = seen.probes
    pairs = ((probes.train, probes.train_scaled), (probes.overfit, probes.overfit_scaled))
    return [(own, others) for own, others in pairs if own is not None and (len(own.losses) >= 5 or _ran_away(own)) and others]


def better_smaller_rate(seen: Observation) -> tuple[CurveFacts, CurveFacts] | None:
    """Own curve and the best one at a smaller rate, where own rate fails and that one clearly learns; None otherwise."""
    return _better(seen, smaller=True)


def better_larger_rate(seen: Observation) -> tuple[CurveFacts, CurveFacts] | None:
    """The same for a larger rate."""
    return _better(seen, smaller=False)


def _better(seen: Observation, *, smaller: bool) -> tuple[CurveFacts, CurveFacts] | None:
    pairs = probe_pairs(seen)
    # Back from where a first step threw it to what a guess costs is no learning.
    if any(learned(own) and not failed(own, chance(seen)) for own, _ in pairs) and not (smaller and _beaten(seen)):
        return None  # it learns somewhere at its own rate
    for own, others in pairs:
        if not failed(own, chance(seen)) and not (smaller and _worse(seen, own, others)):
            continue
        rates = [other for other in others if (other.learning_rate < own.learning_rate) == smaller
                 and (learned(other) or (smaller and _far(seen) and _on_its_way(other)))]
        rates = [other for other in rates if ends_below(other, own)]
        if rates:
            return own, min(rates, key=lambda curve: start_and_end(curve.losses)[1])
    return None


def ends_below(other: CurveFacts, own: CurveFacts) -> bool:
    """Whether one run ends clearly under another, by what is free of noise where both have it."""
    if other.final_loss is not None and own.final_loss is not None and math.isfinite(own.final_loss):
        return other.final_loss < 0.7 * own.final_loss
    return start_and_end(other.losses)[1] < 0.7 * start_and_end(own.losses)[1]


def _worse(seen: Observation, own: CurveFacts, others: list[CurveFacts]) -> bool:
    """Whether own rate does so much worse than a smaller one that what it learns does not count."""
    return _outdone(own, others) or _overshot(seen, own, others) or _stuck(seen, own, others)


def _beaten(seen: Observation) -> bool:
    """Whether own rate stays where a guess is over batches that a smaller one takes to 60 % of the loss.

    A rate that ruins a pretrained model may still fit one batch for a few steps before it does, so that says nothing against it.
    """
    own = seen.probes.train
    if own is None or len(own.losses) < _LONG or own.final_loss is None or not failed(own, chance(seen)):
        return False
    return any(other.learning_rate < own.learning_rate and learned(other) and (other.final_loss or math.inf) < 0.6 * own.final_loss
               for other in seen.probes.train_scaled)


def _outdone(own: CurveFacts, others: list[CurveFacts]) -> bool:
    """Whether own rate hardly learns in the steps in which a smaller one is done: its rows right, at a fifth of the loss or less."""
    start, end = start_and_end(own.losses)
    start = min(start, own.losses[0] if own.start_loss is None else own.start_loss)
    if end < 0.8 * start or (own.accuracy or 0.0) >= 0.9:
        return False
    return any(other.learning_rate < own.learning_rate and (other.accuracy or 0.0) >= 0.95 and start_and_end(other.losses)[1] < 0.2 * end
               for other in others)


def _far(seen: Observation) -> bool:
    """Whether the script's steps carried the weights far beyond their own size."""
    return seen.model is not None and (seen.model.displacement or 0.0) > _FAR


def _on_its_way(curve: CurveFacts) -> bool:
    """A run whose loss, free of the noise of batches, has come down to 70 % in a few steps."""
    return curve.start_loss is not None and curve.final_loss is not None and curve.final_loss < 0.7 * curve.start_loss


def _stuck(seen: Observation, own: CurveFacts, others: list[CurveFacts]) -> bool:
    """Whether own rate has stood still since its first third, over batches that a smaller one takes to 60 % of that; and one batch too.

    How often each label occurs is learnt at any rate, so that the loss comes down a little before it stands.
    """
    third = len(own.losses) // 3
    single = [curve for curve in seen.probes.overfit_scaled if curve.learning_rate < own.learning_rate and learned(curve)]
    if own is not seen.probes.train or len(own.losses) < _LONG or own.final_loss is None or not single:
        return False
    before, after = (statistics.fmean(own.losses[start : start + third]) for start in (third, 2 * third))
    return math.isfinite(after) and after > 0.97 * before > 0 and any(
        other.learning_rate < own.learning_rate and (other.final_loss or math.inf) < 0.6 * own.final_loss for other in others)


def _overshot(seen: Observation, own: CurveFacts, others: list[CurveFacts]) -> bool:
    """Whether the steps carried the weights far beyond their own size and the loss hardly fell, where a smaller rate takes it to 60 %."""
    if not _far(seen) or own is not seen.probes.train or own.start_loss is None or own.final_loss is None:
        return False
    return own.final_loss > 0.8 * own.start_loss and any(
        other.learning_rate < own.learning_rate and (other.final_loss or math.inf) < 0.6 * own.final_loss for other in others)


def cannot_learn(seen: Observation) -> bool | None:
    """Whether neither the script's own rate nor any other that was tried learns; None where that was not probed."""
    pairs = probe_pairs(seen)
    if not pairs:
        return None
    return all(failed(own, chance(seen)) and not any(learned(other) for other in others) for own, others in pairs)


def script_learns(seen: Observation) -> bool:
    """Whether the script's own losses fell clearly while it was watched (at least 20 steps)."""
    losses = observed_losses(seen)
    return len(losses) >= 20 and learned(CurveFacts(learning_rate=0.0, losses=losses))


def baseline_tells(seen: Observation) -> bool:
    """Whether a simple baseline reads the labels off the inputs, far beyond its noise."""
    told, shuffled, rows = seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows
    if told is None or shuffled is None or not rows:
        return False
    return told >= shuffled + _CLEARLY * math.sqrt(shuffled * (1 - shuffled) / rows)


def first_bad_gradient(seen: Observation) -> int | None:
    """The first step whose gradients are no numbers."""
    return next((step.step for step in seen.steps if step.gradient_norm is not None and not math.isfinite(step.gradient_norm)), None)


def ran_off(seen: Observation, step: int) -> bool:
    """Whether the losses before a step have grown a hundredfold and more, so that numbers run out of range wherever it happens first."""
    before = [found.loss for found in seen.steps if found.step < step and found.loss is not None and math.isfinite(found.loss)]
    return len(before) > 1 and abs(before[-1]) >= _OFF * abs(before[0]) > 0


def turned_bad(seen: Observation) -> StepFacts | None:
    """The first step whose loss is no number."""
    return next((step for step in seen.steps if step.loss is not None and not math.isfinite(step.loss)), None)
