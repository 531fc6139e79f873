"""What it means that no check found anything: that training works, or that nobody can tell yet."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from harness.checks import reading
from harness.checks.base import Result
from harness.checks.data_labels import still_guessing
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.uninformative import nothing_carries

# What leaves a loss where it began, without a word.
_SILENT = ("S401", "S402", "D106")
_MANY_STEPS, _FEW = 40, 20
_RISEN, _TRIED, _UNMOVED, _FASTER = 1.5, 3, 0.01, 1100.0
# Targets far beyond what an output of fresh weights comes to.
_LARGE = 100.0
# Steps of an experiment beside those that were watched.
_LONG = 2


def unjudged(seen: Observation, results: Sequence[Result]) -> str | None:
    """Why there is no verdict, in one sentence; None where the silence can be trusted."""
    if not seen.steps:
        if reading.learned(CurveFacts(learning_rate=0.0, losses=seen.losses_by_hand)):
            return None
        if seen.backward_without_step and "step" in seen.sites:
            return (f"{seen.backward_without_step} losses went backward within the optimizer's first step, which had not ended "
                    "(--watch 90 gives it more)")
        if seen.backward_without_step:
            return f"{seen.backward_without_step} losses went backward and no optimizer stepped; weights changed by hand are not followed"
        if seen.functional:
            return f"torch.func took gradients {seen.functional} times and no optimizer stepped; weights changed by hand are not followed"
        return None if seen.exception is None else "the script ended before it trained"
    late = any("step takes" in why or "no time" in why for name, why in seen.probes.skipped.items() if name != "carry")
    floor = still_guessing(seen)
    if floor is None:
        return _starved(seen, late) or _rising(seen) or _still(seen)
    hurried = ["its experiments ran out of time (--watch 90 gives them more)"] if late else []
    open_ones = [f"{result.code} ({result.reason})" for result in results
                 if result.code in _SILENT and result.state == "skipped" and not (result.reason or "").startswith("echo of")]
    if not open_ones and not hurried:
        return _learnable(seen, floor) or _fruitless(seen, floor)
    return (f"after {len(seen.steps)} steps the loss is still that of a guess ({floor:.2f}), and what could explain it was not judged: "
            + "; ".join([*hurried, *open_ones]))


def reservation(seen: Observation) -> str | None:
    """What has to be said beside a clean bill, in one sentence; None where the training speaks for itself."""
    floor = still_guessing(seen) if seen.steps else None
    if floor is None:
        return None
    return (f"after {len(seen.steps)} steps the loss is still that of a guess ({floor:.2f}), so that little speaks for this training yet; "
            "--watch 90 watches more of it")


def _starved(seen: Observation, late: bool) -> str | None:
    """That a classifier was hardly watched, where time has run out: of steps, or of the experiments that a loss above a guess asks for."""
    losses = reading.finite(reading.observed_losses(seen))
    if seen.task != "classification" or not losses or reading.several_models(seen) or reading.script_learns(seen) or seen.loss_terms:
        return None
    if seen.stopped == "time" and len(losses) < _FEW:
        return f"only {len(losses)} steps fitted into the time (--watch 90 gives it more)"
    end, guess = statistics.fmean(losses[-max(1, len(losses) // 3):]), reading.chance(seen) or 0.0
    if late and len(losses) >= _FEW and end > guess > 0:
        return (f"after {len(losses)} steps the loss is above that of a guess ({end:.2f}, and {guess:.2f}), and its experiments ran out of "
                "time (--watch 90 gives them more)")
    return None


def _rising(seen: Observation) -> str | None:
    """That the loss goes up, and one batch cannot be fitted at any rate that was tried."""
    train, fits = seen.probes.train, [fit for fit in (seen.probes.overfit, *seen.probes.overfit_scaled) if fit is not None]
    start, end = (train.start_loss, train.final_loss) if train is not None else (None, None)
    if start is None or end is None or not 0 < start < end / _RISEN or len(fits) < _TRIED or any(map(reading.learned, fits)):
        return None
    return (f"the loss rises from {start:.3g} to {end:.3g} over the watched steps, one batch could not be fitted at any of {len(fits)} "
            "rates, and no check explains why")


def _still(seen: Observation) -> str | None:
    """That the loss of a regression stands where it began, and one batch cannot be fitted at any rate up to a thousand times its own."""
    train, own = seen.probes.train, seen.probes.overfit
    most = _FASTER * own.learning_rate if own is not None else 0.0
    fits = [fit for fit in (own, *seen.probes.overfit_scaled) if fit is not None and fit.learning_rate <= most]
    start, end = (train.start_loss, train.final_loss) if train is not None else (None, None)
    if seen.task != "regression" or reading.several_models(seen) or start is None or end is None:
        return None
    if not start > 0 or abs(start - end) > _UNMOVED * start or len(fits) < _TRIED or any(map(reading.learned, fits)):
        return None
    targets = next((call.target for call in seen.loss_calls if call.target is not None), None)
    reach = max((abs(end) for end in (targets.minimum, targets.maximum) if end is not None), default=0.0) if targets is not None else 0.0
    large = f"; the targets go up to {reach:.3g}, and scaled targets may be all it needs" if reach >= _LARGE else ""
    return (f"the loss stands at {start:.3g} over the watched steps, one batch could not be fitted at any of {len(fits)} rates, and no "
            f"check explains why{large}")


def _fruitless(seen: Observation, floor: float) -> str | None:
    """That a copy which was trained on many rows for much longer knows nothing of others: then patience alone is no explanation either."""
    carry = seen.probes.carry
    if carry is None or carry.steps < _LONG * len(seen.steps) or nothing_carries(seen) is False:
        return None
    return (f"after {len(seen.steps)} steps the loss is still that of a guess ({floor:.2f}), after {carry.steps} more on {carry.rows} rows "
            f"a copy of the model is right on {100 * (carry.held_accuracy or 0):.0f} % of {carry.held_rows} others (of which "
            f"{100 * carry.held_majority:.0f} % have the commonest label), and no check explains why")


def _learnable(seen: Observation, floor: float) -> str | None:
    """That something much simpler learns the same rows, where it does: then patience alone is no explanation."""
    told, shuffled = seen.probes.text_baseline, seen.probes.text_baseline_shuffled
    if told is None or shuffled is None or len(seen.steps) < _MANY_STEPS or not reading.baseline_tells(seen):
        return None
    return (f"after {len(seen.steps)} steps the loss is still that of a guess ({floor:.2f}), a simple baseline is right on "
            f"{100 * told:.0f} % of the same rows ({100 * shuffled:.0f} % with the labels shuffled), "
            "and no check explains why the model is not")
