"""What a schedule does to the learning rate: a warm-up without an end, or a rate that is used up."""

from __future__ import annotations

import itertools
import re
import statistics

from harness.checks import raised, reading
from harness.checks.base import Finding
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import Site

_TINY = 0.015  # of the highest rate: nothing is learnt with it any more; many a schedule ends at a hundredth
# A warm-up of so many steps of its own is no warm-up of epochs; and stepped so seldom, the schedule is not stepped with the optimizer.
_ENDLESS_CLIMB, _SELDOM = 50, 10
_AT_ZERO, _AT_NOTHING, _STAYS = 30, 10, 5  # steps at a rate next to nothing, at exactly 0, at a Trainer's 0
_FOLLOWED = 2000  # steps of a schedule that are looked at in advance
_LOWER = 0.7  # of the loss: so much less it is where a rate that a schedule has used up is kept
_FAR = 0.1  # of the targets' variance, from which on there is much to learn still
_LEFT = 3.0  # times the least change that counts, under which a loss has little left to lose
_WORTH, _LONG, _SMALL = 0.05, 400, 0.1  # of a training's steps, those it has, and of the first rate, when nothing was learnt
_MORE, _NEXT_TO_NOTHING = 0.9, 0.02  # of the loss of the same steps, and of a training's steps
_TURNS, _LOST = 6, 0.01  # of a schedule that is judged; what is left of a rate that is lost
_LOW_PEAK, _NEVER_UP = 0.3, 0.7  # of what a schedule rises to
_FEWEST = 40  # steps by which the rest of a training is judged
_OUTPACED = 0.3  # of what the other rate gains
_AS_LONG = 1.25  # times, that a cycle may be longer or shorter than the training
_OFTEN = 1.5  # steps of a schedule to one of the optimizer's
_LONGER = 2  # times the steps of an experiment
_NOWHERE, _UNMOVED = 0.05, 0.01  # of the loss at the start, of the weights' own size, over the whole training
_STILL = 0.01  # change of the weights by their own size, over the whole training that was watched
_DOWN, _FEW_EPOCHS = 0.1, 3  # of the highest rate; of a training
_FAR_BELOW = 100.0  # times a rate: no schedule is meant to begin so far under what it rises to


def finding(seen: Observation) -> Finding | None:
    """What a schedule keeps from being learnt; None where there is no such schedule."""
    if reading.several_models(seen):
        return None
    looks = (_compounded, _swinging, _never_better, _short_of_batches, _stepped_seldom, _still_warming, _held_down, _nothing, _used_up,
             _starved, _spent, _cut_short)
    return next((found for look in looks if (found := look(seen)) is not None), None)


def _compounded(seen: Observation) -> Finding | None:
    """A function that lowers the rate of now as if it were the first, until next to nothing is left of it before the end."""
    found = seen.optimizer.compounded if seen.optimizer is not None else None
    if found is None or len(found.rates) < _TURNS:
        return None
    late, last = 2 * len(found.rates) // 3, len(found.rates) - 1
    if found.rates[late] > _LOST * found.first or found.rates[last] > _LOST * found.first * found.factors[last]:
        return None
    return Finding(
        message=f"A schedule multiplies the learning rate of now by a factor that is meant for the first one, {found.first:g}: after "
                f"{late + 1} turns it is {found.rates[late]:.1g}, where {found.first:g} times that factor is "
                f"{found.first * found.factors[late]:.1g}.",
        remedy="Multiply the rate that training began with, `first_rate * decay ** epoch` (PyTorch: `LambdaLR`), or the rate of now by the "
               "same factor each time, `rate * decay`.",
        site=found.site or reading.place(seen, "schedule_made", "schedule", "fit", "optimizer"),
        evidence=[f"Rates: {', '.join(f'{rate:.1g}' for rate in found.rates[:8])}",
                  f"Factors: {', '.join(f'{factor:.3g}' for factor in found.factors[:8])}", *reading.own_losses(seen)])


def _swinging(seen: Observation) -> Finding | None:
    """A rate that goes down and up again within each epoch, in as many steps as there are epochs."""
    loader, optimizer = raised.train_loader(seen), seen.optimizer
    batches, rates = loader.batches if loader is not None else None, [step.learning_rate for step in seen.steps]
    total = (optimizer.training_steps or optimizer.planned_steps) if optimizer is not None else None
    if not batches or not total or total % batches or None in rates:
        return None
    epochs, known = total // batches, reading.finite(rates)
    low = _DOWN * max(known, default=0.0)
    troughs = [number for number in range(1, len(known) - 1) if known[number] <= low
               and known[number - 1] > known[number] and known[number + 1] > known[number]]
    apart = {later - earlier for earlier, later in itertools.pairwise(troughs)}
    if len(apart) != 1 or epochs < _FEW_EPOCHS:
        return None
    period = apart.pop()
    if period not in (epochs, 2 * epochs) or period > batches:
        return None
    return Finding(
        message=f"The learning rate swings: it is down at {min(known):.1g} and up again at {max(known):g} every {period} steps, "
                f"{batches / period:.3g} times an epoch. Its schedule was made for {epochs} turns, one for each epoch, and turns with "
                "every batch.",
        remedy=f"Make it for all {total} steps, `T_max=epochs * len(loader)` (Keras: `decay_steps=epochs * steps_per_epoch`), or step it "
               "once an epoch.",
        site=reading.place(seen, "schedule_made", "schedule", "optimizer", "compile"),
        evidence=[f"Rates: {', '.join(f'{rate:.1g}' for rate in known[: 2 * period + 1: max(1, period // 8)])}", *reading.own_losses(seen)])


def _short_of_batches(seen: Observation) -> Finding | None:
    """A cycle that is counted without the shorter batch at the end of each epoch, and raises when it is stepped beyond."""
    cycle = seen.optimizer.cycle if seen.optimizer is not None else None
    if cycle is None:
        return None
    whole = cycle.rows // cycle.batch_size
    return Finding(
        message=f"`OneCycleLR` was made for {cycle.total} steps, {cycle.total // whole} epochs of {whole} whole batches; the loader gives "
                f"{cycle.batches}, the last one shorter. Step {cycle.total + 1} comes before {cycle.total // whole} epochs are over, and "
                "raises a `ValueError`.",
        remedy="Take the number from the loader, `OneCycleLR(..., epochs=epochs, steps_per_epoch=len(loader))`, or let it leave the short "
               "batch out, `DataLoader(..., drop_last=True)`.",
        site=cycle.site or reading.place(seen, "schedule", "optimizer"), evidence=[f"{cycle.rows} rows in batches of {cycle.batch_size}"])


def _never_better(seen: Observation) -> Finding | None:
    """A rate that is lowered whenever a loss does not get better by more than there is left of it."""
    spreads = [call.target.std ** (2 if call.name == "mse" else 1) for call in seen.loss_calls
               if call.name in ("mse", "l1") and call.target is not None and call.target.std]
    if not spreads:
        return None  # other losses may go below zero
    found = next((facts for facts in seen.evaluation.monitors if facts.kind == "ReduceLROnPlateau" and facts.best is not None
                  and "loss" in facts.measure and not facts.greater
                  and _FAR * statistics.median(spreads) < facts.best <= _LEFT * facts.least), None)
    if found is None or found.best is None:
        return None
    return Finding(
        message=f"`ReduceLROnPlateau` takes only a change of {found.least:g} and more for an improvement, and `{found.measure}` has come "
                f"to {found.best:.2g}: hardly any step down is that large any more, and the rate is cut while the loss still falls.",
        remedy=f"Set `min_delta` to a small part of the loss, `min_delta={0.01 * found.best:.0e}`, or bring the targets to a scale of 1.",
        site=found.site or reading.place(seen, "fit", "optimizer"), evidence=reading.own_losses(seen))


def _stepped_seldom(seen: Observation) -> Finding | None:
    """A cycle that is as long as the training has steps, and is stepped once in many of them: it never gets beyond its warm-up."""
    optimizer = seen.optimizer
    cycle = optimizer.seldom if optimizer is not None else None
    if optimizer is None or cycle is None or optimizer.training_steps is None or cycle.every < _SELDOM:
        return None
    alike = 1 / _AS_LONG < cycle.total / optimizer.training_steps < _AS_LONG
    if not alike or cycle.reached > _LOW_PEAK:
        return None
    return Finding(
        message=f"`OneCycleLR` was made for {cycle.total} steps, about as many as the optimizer takes, and is stepped once in "
                f"{cycle.every} of them: the learning rate never gets beyond {cycle.reached:.2g} of the {cycle.top:g} that it rises to.",
        remedy="Step the schedule after every `optimizer.step()`, in the inner loop.",
        site=reading.place(seen, "schedule", "schedule_made", "optimizer", "step"),
        evidence=[f"stepped {_times(cycle.made)} so far; the optimizer takes {optimizer.training_steps} steps", *reading.own_losses(seen)])


def _still_warming(seen: Observation) -> Finding | None:
    """A warm-up that is longer than the training that the schedule was told of."""
    optimizer = seen.optimizer
    if optimizer is None or optimizer.planned_peak is None:
        return None
    # What a schedule of transformers is told of the training is known to the step; a rate may rise for other reasons.
    told = seen.framework == "torch" and optimizer.planned_peak <= _NEVER_UP
    if not told and (optimizer.planned_peak > _LOW_PEAK or reading.script_learns(seen)):
        return None
    return Finding(
        message=f"The warm-up is longer than the whole training: within its {optimizer.planned_steps} steps the learning rate never "
                f"gets beyond {optimizer.planned_peak:.2g} of what the schedule rises to.",
        remedy=f"Warm up for a small part of the training, at most {max(1, (optimizer.planned_steps or 0) // 10)} steps here.",
        site=_schedule_site(seen, "warmup_steps", "warmup_ratio"), evidence=reading.own_losses(seen))


def _held_down(seen: Observation) -> Finding | None:
    """A warm-up counted in steps whose schedule is stepped once an epoch, where one batch is learnt at the rate that was asked for."""
    optimizer, fitted = seen.optimizer, seen.probes.overfit
    if optimizer is None or optimizer.climb is None or optimizer.taken is None or optimizer.asked_rate is None:
        return None
    if fitted is None or not reading.learned(fitted):
        return None
    known = reading.finite(step.learning_rate for step in seen.steps)
    if optimizer.climb >= _FOLLOWED and (optimizer.climb_peak or 0.0) < _TINY * optimizer.asked_rate and not reading.script_learns(seen):
        return Finding(
            message=f"A schedule holds the learning rate at {known[0]:.1g}, {optimizer.asked_rate / known[0]:.0f} times less than the "
                    f"{optimizer.asked_rate:g} that was asked for, and would do so for {optimizer.climb} steps more.",
            remedy="`LambdaLR` multiplies: its function gives a factor, 1.0 for the rate that the optimizer was made with, and no rate.",
            site=reading.place(seen, "schedule_shape", "schedule_made", "schedule", "optimizer", "step"),
            evidence=[f"One batch at the rate that was asked for, {reading.describe(fitted)}", *reading.own_losses(seen)])
    often = optimizer.taken / max(1, optimizer.schedule_steps or 0)
    moved = seen.model.displacement if seen.model else None
    # So seldom stepped, it does not come to half of the rate before the training is over.
    beyond = optimizer.training_steps is not None and optimizer.climb * often >= optimizer.training_steps
    if not (beyond or optimizer.climb >= _ENDLESS_CLIMB) or often < _SELDOM or moved is None or moved > _STILL:
        return None
    less = f"at {known[0]:.1g}, {optimizer.asked_rate / known[0]:.0f} times less than the" if known[0] else "at 0, far from the"
    return Finding(
        message=f"A warm-up holds the learning rate {less} {optimizer.asked_rate:g} that was asked for: its schedule was stepped "
                f"{_times(optimizer.schedule_steps or 0)} in {optimizer.taken} steps, and needs {optimizer.climb} of its own steps to give "
                "half of it.",
        remedy="Step the schedule after every `optimizer.step()`, in the inner loop; or count its warm-up in epochs.",
        site=reading.place(seen, "schedule_made", "schedule", "optimizer", "step"),
        evidence=[f"One batch at the rate that was asked for, {reading.describe(fitted)}", *reading.own_losses(seen)])


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _nothing(seen: Observation) -> Finding | None:
    """A rate of zero at every step, and no weight that moves."""
    rates = [step.learning_rate for step in seen.steps]
    moved = seen.model.displacement if seen.model else None
    if len(rates) < 20 or any(rate != 0 for rate in rates) or moved is None or moved > 0:
        return None
    return Finding(
        message=f"The learning rate is 0 at each of the {len(rates)} steps that were watched, and no weight has moved.",
        remedy="Look at what the schedule gives, `scheduler.get_last_lr()`: an initial rate or a factor that is left out may be 0.",
        site=reading.place(seen, "schedule_made", "schedule", "optimizer", "step"), evidence=reading.own_losses(seen))


def ends_early(seen: Observation) -> tuple[int, int] | None:
    """The step from which on a schedule is known to give no rate for the rest of a training, a third and more of it, and that one's
    steps."""
    ahead = seen.optimizer.used_up if seen.optimizer is not None else None
    return ahead if ahead is not None and ahead[1] - ahead[0] >= max(_AT_ZERO, ahead[1] // 3) else None


def _used_up(seen: Observation) -> Finding | None:
    """A rate of zero, soon and to stay: nothing can be learnt with it."""
    rates = [step.learning_rate for step in seen.steps]
    known = reading.finite(rates)
    ahead = ends_early(seen)
    if ahead is not None:
        return _zero_from(seen, ahead[0], f" of {ahead[1]}", known)
    if len(known) < 20 or len(known) < len(rates):
        return None
    highest = max(known)
    zero = next((number for number in range(len(known)) if max(known[number:]) <= 1e-6 * highest), len(known))
    # What goes on for so long at a rate of zero was meant to learn, whatever it has learnt before.
    planned = seen.optimizer.training_steps if seen.optimizer and len(known) - zero >= _STAYS else None
    total = max(len(known), planned or 0)
    long = total - zero >= max(_AT_ZERO if any(known[zero:]) else _AT_NOTHING, total // 3)
    if zero == 0 or not (long or (zero <= len(known) // 4 and not reading.script_learns(seen))):
        return None
    return _zero_from(seen, zero + 1, f" of {total}" if planned else "", known)


def _zero_from(seen: Observation, step: int, of: str, known: list[float]) -> Finding:
    turned, often = _turned_for_epochs(seen), _stepped_often(seen)
    several = f" It takes {seen.optimizer.often:.3g} steps to each of the optimizer's." if often and seen.optimizer else ""
    return Finding(
        message=f"The learning rate is 0 from step {step}{of} on: its schedule has used it up, and nothing is learnt any more.{several}",
        remedy="Step the schedule beside the optimizer, `optimizer.step(); scheduler.step()`, and not with every batch." if often else
               "Step the schedule once per epoch, after the inner loop: its factor is one for epochs." if turned is not None else
               "Give the schedule a length in optimizer steps: `len(loader) * epochs`, not a number of epochs.",
        site=often or turned or _schedule_site(seen, "max_steps", "lr_scheduler_type"),
        evidence=[f"Rates: {', '.join(f'{rate:.1g}' for rate in known[:8])}", *reading.own_losses(seen)])


def _starved(seen: Observation) -> Finding | None:
    """A schedule that has used up the rate before anything was learnt, where the rate that it began with learns when it is kept."""
    rates = reading.finite(step.learning_rate for step in seen.steps)
    kept, own = seen.probes.overfit, seen.probes.train
    if len(rates) < 20 or kept is None or own is None or not reading.learned(kept) or reading.learned(own):
        return None
    highest = max(rates)
    tiny = sum(rate < _TINY * highest for rate in rates)
    if rates.index(highest) > len(rates) // 4 or rates[-1] >= _TINY * highest or tiny < len(rates) // 5:
        return None
    return Finding(
        message=f"A schedule takes the learning rate from {highest:g} to {rates[-1]:.1g} within {len(rates)} steps, before the model "
                "has learnt anything.",
        remedy="Step the schedule once per epoch (after the inner loop), or give it a length in steps that is the training's own.",
        site=_stepped_often(seen) or _made_for_steps(seen) or reading.place(seen, "schedule", "optimizer", "step"),
        evidence=[f"Rates: {', '.join(f'{rate:.1g}' for rate in rates[:: max(1, len(rates) // 8)])}",
                  f"One batch at the rate it began with, {reading.describe(kept)}", *reading.own_losses(seen)])


def _spent(seen: Observation) -> Finding | None:
    """A schedule that is stepped with every batch, and leaves all the training no more than some steps at the rate that was asked for."""
    optimizer, kept = seen.optimizer, seen.probes.overfit
    rates = reading.finite(step.learning_rate for step in seen.steps)
    planned = (optimizer.training_steps or optimizer.planned_steps or 0) if optimizer is not None else 0
    if optimizer is None or optimizer.worth is None or planned < _LONG or kept is None or not reading.learned(kept) or not rates:
        return None
    if optimizer.worth >= _WORTH * planned or rates[-1] >= _SMALL * max(rates):
        return None
    # One that has learnt something all the same has more to learn at a rate that is kept, and no time for it.
    own, longer = seen.probes.train, seen.probes.train_kept
    more = own is not None and longer is not None and own.final_loss is not None and longer.final_loss is not None and (
        len(longer.losses) >= len(own.losses) and 0 < longer.final_loss < _MORE * own.final_loss)
    if reading.script_learns(seen) and not (more and optimizer.worth < _NEXT_TO_NOTHING * planned):
        return None
    return Finding(
        message=f"A schedule takes the learning rate from {max(rates):g} to {rates[-1]:.1g} within {len(rates)} steps, and goes on: all "
                f"{planned} steps together are worth no more than {optimizer.worth:.0f} at the first rate.",
        remedy="A schedule of Keras counts steps: `decay_steps=epochs * steps_per_epoch`." if seen.framework in reading.KERAS else
               "Step the schedule once per epoch (after the inner loop), or give it a length in steps that is the training's own.",
        site=_stepped_often(seen) or _made_for_steps(seen) or reading.place(seen, "schedule", "schedule_made", "optimizer", "step"),
        evidence=[f"Rates: {', '.join(f'{rate:.1g}' for rate in rates[:: max(1, len(rates) // 8)])}",
                  f"One batch at the rate it began with, {reading.describe(kept)}", *reading.own_losses(seen)])


def _stepped_often(seen: Observation) -> Site | None:
    """Where a schedule is stepped with every batch, while the optimizer takes its steps on several of them together."""
    often = seen.optimizer.often if seen.optimizer is not None else None
    return seen.sites.get("schedule") if often is not None and often >= _OFTEN else None


def _made_for_steps(seen: Observation) -> Site | None:
    """Where a schedule of transformers was made, which counts steps: its length is what is wrong then, and not where it is stepped."""
    made = seen.sites.get("schedule_made")
    return made if made is not None and re.search(r"get_\w*schedule\w*\(", made.source) else None


def _turned_for_epochs(seen: Observation) -> Site | None:
    """Where a schedule is stepped that knows a factor and no length: not its making is what is wrong then."""
    made = seen.sites.get("schedule_made")
    known = made is not None and re.search(r"\b(Exponential|Step|MultiStep|Multiplicative)LR\(", made.source)
    return seen.sites.get("schedule") if known else None


def _cut_short(seen: Observation) -> Finding | None:
    """A schedule that uses up the rate within steps of which a rate that is kept would have made much more."""
    rates = reading.finite(step.learning_rate for step in seen.steps)
    own, kept = seen.probes.train, seen.probes.train_kept
    if own is None or kept is None or own.final_loss is None or kept.final_loss is None or len(kept.losses) < len(own.losses):
        return None
    # Where much was learnt all the same, the schedule may have ended with the training, as it should.
    begun = own.start_loss or 0.0
    if not 0 < kept.final_loss < _LOWER * own.final_loss or own.final_loss < 0.5 * begun or own.final_loss - kept.final_loss < 0.15 * begun:
        return None
    return Finding(
        message=f"A schedule takes the learning rate from {max(rates):g} to {rates[-1]:.1g} within {len(rates)} steps, and what is left of "
                "it teaches the model little more.",
        remedy="A schedule counts optimizer steps: give it its length in these (`len(loader)` steps to an epoch), or step it once per "
               "epoch.",
        site=_stepped_often(seen) or _schedule_site(seen, "lr_scheduler_type"),
        evidence=[f"The same {len(own.losses)} steps at the rate that it began with: loss {kept.final_loss:.3g}",
                  f"As they were: {own.final_loss:.3g}",
                  f"Rates: {', '.join(f'{rate:.1g}' for rate in rates[:: max(1, len(rates) // 8)])}"])


def _schedule_site(seen: Observation, *arguments: str) -> Site | None:
    """Where a schedule gets its length: a Trainer that makes it takes it from these of its arguments."""
    made = reading.place(seen, "schedule_made", "schedule")
    if seen.trainer and (made is None or ".train(" in made.source):
        return reading.place(seen, *(f"training_arguments.{name}" for name in arguments), "training_arguments") or made
    return made or reading.place(seen, "optimizer", "compile", "step")


def far_below(seen: Observation, own: CurveFacts, other: CurveFacts) -> bool:
    """Whether even the rate that a warm-up rises to, which an experiment took from its first step on, is a hundredth of one that learns."""
    fit = seen.probes.overfit
    highest = max([own.learning_rate, *reading.finite(step.learning_rate for step in seen.steps)])
    return fit is not None and fit.learning_rate >= highest and not reading.learned(fit) and other.learning_rate >= _FAR_BELOW * highest


def hopeless(seen: Observation, own: CurveFacts) -> bool:
    """Whether the steps that are planned in all, going on as those that were watched, take neither loss nor weights anywhere."""
    optimizer, moved = seen.optimizer, seen.model.displacement if seen.model else None
    planned = (optimizer.planned_steps or optimizer.training_steps) if optimizer is not None else None
    if not planned or moved is None or own.start_loss is None or own.final_loss is None or len(own.losses) < _FEWEST:
        return False
    times = max(1.0, planned / len(own.losses))
    return times * (own.start_loss - own.final_loss) < _NOWHERE * abs(own.start_loss) and times * moved < _UNMOVED


def outpaced(seen: Observation, own: CurveFacts, other: CurveFacts) -> bool:
    """Whether the whole training that is planned gets nowhere near what a far larger rate reaches in a few of its steps: going on as in
    the steps that it was compared in, or as in all that were watched."""
    optimizer, losses = seen.optimizer, reading.finite(reading.observed_losses(seen))
    planned = (optimizer.planned_steps or optimizer.training_steps) if optimizer is not None else None
    if not planned or own is not seen.probes.train or own.start_loss is None or own.final_loss is None or other.final_loss is None:
        return False
    if len(own.losses) < _FEWEST or len(other.losses) > len(own.losses) or other.learning_rate < 0.99 * _FAR_BELOW * own.learning_rate:
        return False
    paces = [(own.start_loss - own.final_loss) / len(own.losses)]
    if len(losses) > _LONGER * len(own.losses):  # the noise of single batches tells little in less
        tenth = len(losses) // 10
        paces.append((statistics.fmean(losses[:tenth]) - statistics.fmean(losses[-tenth:])) / (len(losses) - tenth))
    return planned * max(0.0, *paces) < _OUTPACED * (own.start_loss - other.final_loss)
