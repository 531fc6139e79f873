"""Answers of a model that an object keeps from before the training, and goes on to use."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation


class StaleMemo(Check):
    """An evaluation uses answers that were kept from before the training: half of what it compares is an older model's.

    Embeddings of a catalogue are expensive, so they are computed on first use and kept. The first use is an evaluation before the training,
    or in its first round; after that the queries are the new model's and the catalogue is the old one's, and the two have nothing to do
    with each other.
    Source: Xiong et al. 2021, "Approximate Nearest Neighbor Negative Contrastive Learning for Dense Text Retrieval", section 4 (an index
    has to be built anew as the encoder changes); Python docs, `functools.cached_property`.
    """

    code: ClassVar[str] = "E536"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E502", "E508")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the text: a class keeps what a model that is trained has given and sets it nowhere else, and its only object is asked
        before the training and after, or in each of its rounds."""
        place = reading.place(seen, "stale_memo")
        if place is None:
            return None
        if not seen.steps:
            raise NotJudged("no training was seen of a model whose answers could grow old")
        return Finding(
            message="What the model gives here is kept at its first use and never computed again, although the model is trained on: later "
                    "evaluations hold answers of the trained model against those of an earlier one.",
            remedy="Compute it anew for each evaluation: make the object there, or let it forget (`self._vectors = None`, "
                   "`del index.recipe_index`) whenever steps were taken.",
            site=place, evidence=["the only object of this class is asked before steps and after, and nothing empties what it keeps"])
