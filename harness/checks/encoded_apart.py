"""Rows of an evaluation that are encoded by what was learnt from other rows than those of the training."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_ROWS = 20


class EncodedApart(Check):
    """A scaler or tokenizer is fitted anew for the evaluation.

    The same number then no longer means the same: a value at the mean of the test rows becomes 0, whatever 0 was in training, and a word
    gets the id that another word had.
    Source: scikit-learn docs, "Common pitfalls" (inconsistent preprocessing; `fit` on the training data alone); Keras docs, text
    preprocessing.
    """

    code: ClassVar[str] = "E512"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the encoder of each row had learnt when it encoded it, row by row, in training and evaluation. Where parts of
        the training have encoders of their own (one for each person, for each fold), none is expected to be the same."""
        encoded = seen.evaluation.encoded
        if encoded is None:
            raise NotJudged("no rows were seen that one object encoded for the training and another one for the evaluation")
        if encoded.rows < _ROWS:
            return None
        words = encoded.kind == "Tokenizer"
        means = "the same word has another id" if words else "the same value is another number"
        return Finding(
            message=f"{encoded.rows} rows of the evaluation are encoded by a {encoded.kind} that was fitted anew, and not by what was "
                    f"learnt from the rows of the training: {means} there.",
            remedy="Fit once, on the rows of the training, and only apply it to all others: "
                   + ("`tokenizer.fit_on_texts(train_texts)`, then `tokenizer.texts_to_sequences(test_texts)`." if words else
                      "`x_train = scaler.fit_transform(x_train)`, then `x_test = scaler.transform(x_test)`."),
            site=encoded.site,
            evidence=[f"rows of the training by the first state: {encoded.trained}"
                      + (f", encoded at line {encoded.trained_site.line}" if encoded.trained_site is not None else ""),
                      f"rows of the evaluation by the second: {encoded.rows}"])
