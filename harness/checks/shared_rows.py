"""Rows that are trained on and evaluated as well."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import FoldFacts, SharedFacts
from harness.checks.graph_facts import HeldEdgesFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

_ROWS, _SHARE, _MOSTLY = 20, 0.1, 0.5


class SharedRowsFound(Check):
    """Rows of the evaluation are among those that the model is trained on.

    Rows were repeated before they were split (oversampling), or they are split anew for each pass (a `shuffle` before `take` and
    `skip`). The evaluation then asks for what was learnt by heart.
    Source: scikit-learn docs, "Common pitfalls" (data leakage); imbalanced-learn docs, "Common pitfalls" (resampling before the split);
    TensorFlow docs, `Dataset.shuffle` (`reshuffle_each_iteration`).
    """

    code: ClassVar[str] = "E510"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the rows, number by number, that one model is given in training and in the evaluation that follows."""
        if seen.evaluation.folds is not None:
            return self._folds(seen, seen.evaluation.folds)
        if seen.evaluation.held_edges is not None:
            return self._edges(seen.evaluation.held_edges)
        shared = seen.evaluation.shared
        unused = reading.place(seen, "held_unused")
        if shared is not None and shared.own and unused is not None:
            return self._own(seen, shared.own, unused)
        if seen.policy is not None:
            raise NotJudged("an agent comes to the same states in training and in the evaluation")
        if shared is None or not shared.rows:
            raise NotJudged("no evaluation of rows of numbers was seen, apart from one of all rows")
        if shared.overlapping >= max(_ROWS, _MOSTLY * shared.windows):
            return self._windows(seen, shared)
        if shared.between >= max(_ROWS, _SHARE * shared.compared):
            return self._between(seen, shared)
        if shared.shared < _ROWS or shared.shared < _SHARE * shared.rows:
            return None
        if shared.alike:
            raise NotJudged("rows are shared, but have so few different values that they may be alike by chance")
        return Finding(
            message=f"{shared.shared} of {shared.rows} rows of the evaluation are rows that the model has just been trained on.",
            remedy="Split first, and once. What repeats or makes rows (`resample`, oversampling, augmentation) comes after the split and "
                   "for the training part alone; in tf.data give `shuffle(..., reshuffle_each_iteration=False)` to what `take` and `skip` "
                   "part afterwards.",
            site=(sourcing.reshuffled(seen) if seen.framework in reading.KERAS else None) or seen.sites.get("oversampled")
            or sourcing.common(seen) or reading.place(seen, "evaluation", "fit"),
            evidence=[f"rows compared: {shared.rows}, with {shared.trained} different ones of the training, number by number",
                      f"shared: {100 * shared.shared / shared.rows:.0f} %"])

    @staticmethod
    def _edges(held: HeldEdgesFacts) -> Finding:
        """Pairs that are to be foretold, in the graph that messages are passed along."""
        names = ", ".join(f"`{name}`" for name in held.names)
        return Finding(
            message=f"The pairs that are held back for the evaluation stand in the graph that the model is given: all {held.pairs} of "
                    f"{names} are edges of it. It is asked for what it has been told.",
            remedy=f"Make the graph of the pairs of the training alone (`{held.trained}`), and give the model the same one in the "
                   "evaluation.",
            site=held.site, evidence=[f"edges of that graph, both ways counted: {held.edges}"])

    @staticmethod
    def _windows(seen: Observation, shared: SharedFacts) -> Finding:
        """Windows that were cut first and split at random afterwards."""
        return Finding(
            message=f"{shared.overlapping} of {shared.windows} windows of the evaluation overlap by half and more with windows that the "
                    "model has been trained on: they are asked for what was seen, one step on.",
            remedy="Split the series by time first, and cut the windows of each part afterwards: `train, test = series[:cut], "
                   "series[cut:]`. A random split of windows that overlap puts the neighbours of every test window into the training.",
            site=sourcing.line(seen, "parted", "made") or sourcing.common(seen) or reading.place(seen, "evaluation", "fit"),
            evidence=["each of them holds the first half of a training window, number by number, further on"])

    @staticmethod
    def _between(seen: Observation, shared: SharedFacts) -> Finding:
        """Rows that were made of two others, and split afterwards."""
        return Finding(
            message=f"{shared.between} of {shared.compared} rows of the evaluation lie exactly between two rows that the model is trained "
                    "on: they were made of these (SMOTE, say), before the rows were split.",
            remedy="Split first, and make new rows of the training part alone: `x_train, y_train = smote(x_train, y_train)`; an evaluation "
                   "asks for rows as they are met, in the shares in which they are met.",
            site=sourcing.common(seen) or reading.place(seen, "evaluation", "fit"),
            evidence=[f"rows compared: {shared.compared}, each with the {shared.trained} of the training that were seen"])

    @staticmethod
    def _own(seen: Observation, rows: int, unused: Site) -> Finding:
        """Rows that are set aside, and an evaluation that asks for others."""
        held = next((step.site for step in seen.sources.get("held", [])), None)
        trained = {(step.site.file, step.site.line) for step in seen.sources.get("inputs", [])}
        if held is None or (held.file, held.line) in trained:  # it is handed over for both, and that is where it is to be mended
            held = reading.place(seen, "trainer") or reading.place(seen, "evaluation") or held
        return Finding(
            message=f"All {rows} rows of the evaluation are rows that are trained on. Those that are set aside on line {unused.line} are "
                    "never used.",
            remedy="Give the evaluation the rows that were set aside for it.",
            site=held or unused, evidence=[f"set aside: `{unused.source}`"])

    @staticmethod
    def _folds(seen: Observation, found: FoldFacts) -> Finding:
        """A model is made before the loop over the folds, and goes through all of them."""
        return Finding(
            message=f"The same model goes through all folds: it begins fold {found.fold} with the weights of the fold before, which was "
                    f"trained on {100 * found.again:.0f} % of the rows that this one holds out.",
            remedy="Make the model and its optimizer anew inside the loop over the folds, or put the first weights back there: "
                   "`model.load_state_dict(start)`, `model.set_weights(start)`.",
            site=found.site or reading.place(seen, "model", "fit", "evaluation"),
            evidence=[f"Class of the model: {found.kind}. Rows that are trained on in one fold are held out in another."])
