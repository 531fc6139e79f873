"""Numbers that are to be predicted, and about which the inputs say nothing."""

from __future__ import annotations

import math

from harness.checks import constant_answer, data_labels, reading, sourcing
from harness.checks.base import Finding, NotJudged
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation

_LEAST_ROWS, _LEAST_STEPS = 200, 40
_CHANCE = 3.0  # standard errors of a correlation of nothing with nothing
_WEAK = 0.35
_NEAR = 0.95  # of what the mean costs


def finding(seen: Observation, correlation: float, *, simple: bool) -> Finding | None:
    """Judges only where a baseline finds nothing, the script's model answers no better than with the mean, and one batch can be fitted.

    `correlation`: by rank, of a cross-validated baseline's answers with the targets; `simple`: it is a fair judge of such inputs. What
    the text says of rows that go another way stands for the fit of a batch. Raises NotJudged.
    """
    rows, columns = seen.probes.number_baseline_rows, seen.probes.number_baseline_columns
    if seen.adapts:
        raise NotJudged("the model is adapted to a task before it answers, and each task has its own targets")
    if rows < _LEAST_ROWS:
        raise NotJudged(f"the baseline saw {rows} rows, too few to tell a weak signal from none")
    # The largest of several correlations of nothing is larger: by its distribution, sqrt(z^2 + 2 ln k).
    chance, apart = math.sqrt((_CHANCE**2 + 2 * math.log(columns)) / rows), sourcing.apart(seen)
    # Two orders of one table have something in common, the season say.
    if correlation > (chance if apart is None else _WEAK):
        return None
    raise_if_weak(seen)
    if not simple and apart is None:
        raise NotJudged("the baseline finds nothing, but it may be too simple for inputs of this kind")
    share = _of_the_mean(seen)
    if share is None:
        raise NotJudged("what the mean of the targets costs by this loss is not known")
    if len(seen.steps) < _LEAST_STEPS:
        raise NotJudged("the baseline finds nothing, and the run is too short to tell whether the model does")
    if share < _NEAR:
        return None
    fitted = seen.probes.overfit
    if apart is None and (fitted is None or not reading.learned(fitted)):
        raise NotJudged("one batch cannot be fitted, or that was not tried, so that the targets are not the first suspect")
    return Finding(
        message=f"The targets cannot be told from the inputs: a simple baseline's answers correlate with them by {correlation:.2f} on "
                f"{rows} rows (chance: up to {chance:.2f}), and the model gets no further than their mean.",
        remedy="Read some rows beside their targets. Most often one column was sorted, shuffled or filtered and the others were not: apply "
               "the same order to all of them, or keep them in one table until the batch is made.",
        site=apart or reading.place(seen, "getitem.targets", "getitem.labels", "loader", "fit"),
        evidence=[f"loss by that of the mean of each batch, in the last steps that were looked at: {share:.2f}",
                  *([f"one batch can be fitted: {reading.describe(fitted)}"] if fitted is not None and reading.learned(fitted) else []),
                  *sourcing.orders(seen)])


def raise_if_weak(seen: Observation) -> None:
    """Raises NotJudged where more rows than a baseline is fitted on tell something, though too little to be found in fewer. Two orders of
    one table have something in common too."""
    weak = seen.probes.weak
    if weak is not None and weak.correlation > weak.chance and sourcing.apart(seen) is None:
        raise NotJudged(f"the baseline finds nothing in few rows, but of {weak.rows} a column correlates with the labels by "
                        f"{weak.correlation:.2f}, more than by chance ({weak.chance:.2f}): a weak signal is no fault")


def _of_the_mean(seen: Observation) -> float | None:
    """The losses of the last third of the recorded steps by what the mean of their targets would have cost; None of other losses."""
    valued = [call for call in seen.loss_calls if call.value is not None]  # in Keras the same call may come twice, once while it is traced
    pairs = [(call.value, cost) for call in valued if call.value is not None and (cost := _cost(call)) is not None]
    if len(pairs) < _LEAST_STEPS // 2 or len(pairs) < len(valued):
        return None
    last = pairs[-max(1, len(pairs) // 3):]
    return sum(value for value, _ in last) / sum(cost for _, cost in last)


def _cost(call: LossCall) -> float | None:
    """What the mean of a batch's targets, given for all of them, costs; None where the loss or the targets do not tell."""
    target = call.target
    if target is None or not target.std or target.mean is None:
        return None
    if call.name in data_labels.BINARY and target.integral and target.minimum == 0 and target.maximum == 1:
        return data_labels.entropy({"0": 1 - target.mean, "1": target.mean})
    return constant_answer.cost(call)
