"""Columns that were chosen with the labels of the rows which judge the model."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_FLATTERY = 0.05  # accuracy or R² that a plain model gains by it


class ChosenBefore(Check):
    """Columns are chosen by the labels of all rows, those that judge the model among them.

    A mean of the labels for each group (target encoding) is such a choice too: with few rows a group it is little but the row's own label.
    Of many columns some agree with any labels by chance. Chosen on all rows, they agree in the held-out ones too, and the figure is that of
    the choice.
    Source: Ambroise and McLachlan, Selection bias in gene extraction (2002); scikit-learn docs, "Common pitfalls" (data leakage).
    """

    code: ClassVar[str] = "E514"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the rows, and from an experiment: a plain model is cross-validated with the columns as they were chosen, and with a
        choice made anew in each fold. Where both come to the same, nothing is said."""
        chosen, made = seen.evaluation.chosen, seen.sites.get("target_encoding")
        if made is not None:
            return Finding(
                message="A column is made of the labels of all rows, a mean for each group, before the rows are parted: each row's own "
                        "label stands in its inputs, and those of the rows that judge the model are in them.",
                remedy="Part the rows first, take the means of the training's rows alone and map them to all others; for the training's "
                       "own rows, of other folds than each is in, as `TargetEncoder` of scikit-learn does.",
                site=made, evidence=["the table is split after that line, and the column of the labels is what is wanted"])
        if chosen is None:
            raise NotJudged("no rows were seen by which columns were chosen and which judge the model afterwards")
        if chosen.before is None or chosen.within is None:
            raise NotJudged(f"what {chosen.kind} does to the figure was not measured: it takes too long to make its choice again")
        if chosen.before - chosen.within < _FLATTERY:
            return None
        return Finding(
            message=f"{chosen.kind[0].upper()}{chosen.kind[1:]} chose {chosen.chosen} of {chosen.columns} columns by the labels of "
                    f"{chosen.rows} rows, and "
                    f"{chosen.judging} of these judge the model: what they say of it is too good.",
            remedy="Choose within the rows of the training alone, anew in each fold: `chooser.fit(x[train], y[train])`, then "
                   "`chooser.transform(x[test])`; or put the choice and the model into one `Pipeline`.",
            site=chosen.site,
            evidence=[f"a plain model, on rows that it was not fitted on, with these columns: {chosen.before:.3f}",
                      f"with columns that are chosen anew in each fold: {chosen.within:.3f}"])
