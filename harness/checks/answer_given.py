"""Inputs in which the target stands already."""

from __future__ import annotations

import math
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import SeriesFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import AheadFacts
from harness.checks.table_facts import OwnMeanFacts
from harness.checks.tensor_facts import Site

_ROWS = 48  # of fewer, a column may give the target by chance
_LOST = 0.15  # of a correlation, that a row's own label adds to the mean of its group
_WRITES = r"LMHead|CausalLM|ConditionalGeneration"
_CHOSEN = r"\bdrop\(|\bpop\(|\biloc\b|\bloc\b|\.columns|\[\s*:\s*,|\[\["


class AnswerGiven(Check):
    """The target stands in the inputs: a column of the table, or a step of the window, gives it exactly.

    A model that is told the answer learns to copy it. Losses and metrics are perfect, in the evaluation too, and worthless wherever the
    answer is not known beforehand.
    Source: Kaufman et al. 2012, "Leakage in Data Mining"; scikit-learn docs, "Common pitfalls" (data leakage).
    """

    code: ClassVar[str] = "D111"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D122",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the columns that give the target of every row in every batch that was read, alone or with the values of a series that
        come before it."""
        if seen.probes.ahead is not None and not reading.several_models(seen):
            return _looks_ahead(seen, seen.probes.ahead)
        if seen.series is not None:
            return _in_the_window(seen, seen.series)
        mean = seen.own_mean
        if mean is not None and mean.told - mean.without > _LOST and _given(seen, mean.columns):
            return _own_mean(mean)
        if unhidden(seen):
            asked = sum(batch.unhidden for batch in seen.batches)
            return Finding(
                message=f"The tokens that the model is to find stand in its inputs: all {asked} that are asked for in {len(seen.batches)} "
                        "batches are there already, each in its own place. It has to copy, and learns nothing else.",
                remedy="Keep the labels before tokens are masked, as a copy: `labels = input_ids.clone()` (`.copy()` in NumPy), then mask "
                       "`input_ids` itself. Without a copy both are one array; and `masked_fill` without `_` gives a new one.",
                site=reading.place(seen, "aliased", "getitem.targets", "getitem", "collator", "loader", "fit"),
                evidence=reading.own_losses(seen))
        read = [batch.leak for batch in seen.batches if batch.leak is not None]
        rows = sum(leak.rows for leak in read)
        if rows < _ROWS:
            raise NotJudged("no inputs of several numbers beside one number or class a row were seen, or too few of them")
        if reading.several_models(seen):
            raise NotJudged("several models are trained, and each may be told what another has to find out")
        shared = set.intersection(*(set(leak.columns) for leak in read))
        first = read[0]
        if not shared or any((leak.part, leak.back) != (first.part, first.back) for leak in read):
            return None
        column = min(shared)
        beside = [f"{given:.4g} beside {wanted:.4g}" for given, wanted in first.example]
        if first.window and first.back:
            return Finding(
                message=f"The target stands in the window that the model is given, {first.back} steps before its end: in all {rows} rows "
                        "that were read, the model has to find what it has been shown.",
                remedy="Let the target begin where the window ends: `y = series[i + width - 1 + ahead]` for `x = series[i : i + width]`. "
                       "`timeseries_dataset_from_array` puts target `i` beside the window that begins at `i`: give it "
                       "`targets=series[width - 1 + ahead:]`.",
                site=reading.place(seen, "getitem.targets") or sourcing.line(seen, "labels", "made") or _chosen(seen, "labels"),
                evidence=[f"that step of the window and target, first rows: {'; '.join(beside)}"])
        if first.window:
            return Finding(
                message=f"The target is the last step of the window that the model is given: in all {rows} rows that were read, the "
                        "model has to find what it has just been shown.",
                remedy="Let the target begin where the window ends: `x = series[i : i + width]`, `y = series[i + width]` (Python leaves "
                       "out the end of a slice, so that `i + width - 1` is still inside).",
                site=reading.place(seen, "getitem.targets") or sourcing.line(seen, "labels", "made") or _chosen(seen, "labels"),
                evidence=[f"last step of the window and target, first rows: {'; '.join(beside)}"])
        return Finding(
            message=f"Column {column} of the inputs (of {first.features}, counted from 0) is the target: in all {rows} rows that were "
                    "read it gives the answer exactly.",
            remedy="Take the column out before the inputs are made: `inputs = table.drop(columns=[\"target\"])`, and with it whatever was "
                   "computed from it.",
            site=_chosen(seen, "inputs"), evidence=[f"column {column} and target, first rows: {'; '.join(beside)}"])


def unhidden(seen: Observation) -> bool:
    """Whether a model that answers each place from all of the others is asked for tokens that stand there."""
    if not seen.batches or not all(batch.unhidden for batch in seen.batches) or sum(batch.unhidden for batch in seen.batches) < _ROWS:
        return False
    kind = seen.model.kind if seen.model is not None else ""
    if "MaskedLM" in kind:
        return True
    # One that writes on is asked for the next token, by a loss that moves the labels, or that is given one place less.
    call = next((call for call in seen.loss_calls if call.target is not None), None)
    labels = next((fact for name, fact in seen.batches[0].columns.items() if name in raised.LABELS), None)
    if re.search(_WRITES, kind) or call is None or call.target is None or labels is None:
        return False
    return math.prod(call.target.shape) == math.prod(labels.shape)


def _in_the_window(seen: Observation, found: SeriesFacts) -> Finding:
    """Steps of a window that lie several rows apart, and a delay that was counted in steps."""
    span = (found.length - 1) * found.rate
    lies = "is one of its steps" if found.offset % found.rate == 0 else "lies between two of its steps"
    return Finding(
        message=f"The target lies inside the window that the model is given: the window covers {span + 1} rows of the series "
                f"({found.length} steps, {found.rate} rows apart), and the target is {found.offset} rows behind its first and {lies}.",
        remedy="Count the delay in rows, from the first of the window to the target behind its last: `delay = sampling_rate * "
               "(sequence_length + ahead - 1)`; then `targets=series[delay:]`.",
        site=reading.place(seen, "delay") or found.site,
        evidence=[f"target i is column {found.column} of row i + {found.offset}; the window that begins at row i ends at row i + {span}"])


def _given(seen: Observation, columns: int) -> bool:
    """Whether the model is given rows of so many numbers."""
    return any(tuple(facts.shape[1:]) == (columns,) for batch in seen.batches for facts in batch.columns.values())


def _own_mean(found: OwnMeanFacts) -> Finding:
    """Target encoding of the very rows that it was made of."""
    return Finding(
        message=f"Column {found.column} of the inputs (of {found.columns}, counted from 0) is the mean of the labels of each row's "
                f"group{f', for {found.rows} of the rows' * found.part}, its own label among them: it correlates with the labels by "
                f"{found.told:.2f}, and by {found.without:.2f} where each row's own is left out.",
        remedy="Take the means of other rows than those that they are for: in folds, as `TargetEncoder(...).fit_transform` of scikit-learn "
               "does, or without the row's own, `(sum - y) / (count - 1)`; the evaluation gets the means of all training rows.",
        site=found.site, evidence=[f"{found.groups} groups of {found.rows} rows, {found.rows / found.groups:.1f} on average"])



def _looks_ahead(seen: Observation, found: AheadFacts) -> Finding:
    """A moving average that reaches as far as the target."""
    where = f"Column {found.column} of the inputs (of {found.features}, counted from 0)"
    if found.window:
        where = f"Feature {found.column} of the window (of {found.features}, counted from 0), {found.back} steps before its end,"
    told = ("once the others are taken away, what is left is the answer, to the last digit" if not found.later else
            f"it comes out of them to the last digit, and reaches {found.later} step{'s' if found.later > 1 else ''} beyond the target")
    return Finding(
        message=f"{where} is a mean over {found.taps} values of the series, and the target is one of these: {told}.",
        remedy="Average what is known beforehand only: `series.rolling(5).mean().shift(1)`; with `np.convolve` the part that ends before "
               "the target (`mode=\"same\"` and `center=True` reach half a width ahead).",
        site=reading.place(seen, "smoothed") or _chosen(seen, "inputs"), evidence=[])


def _chosen(seen: Observation, what: str) -> Site | None:
    """The line on which columns are chosen, else the one on which inputs or labels are made, else where they are handed over."""
    found = sourcing.lines(seen, what)
    return next((site for site in found if re.search(_CHOSEN, site.source)), found[-1] if found else None) or reading.place(
        seen, "loader", "fit")
