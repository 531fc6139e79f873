"""A tokenizer beside the checkpoint that is trained."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class OtherVocabulary(Check):
    """The ids come from another tokenizer than the one that the checkpoint was trained with.

    A pretrained model knows what each row of its embedding table stands for. Another tokenizer numbers its tokens in another way: all ids
    are valid, nothing is raised, and every text reads as a row of unrelated words.
    Source: Transformers docs, Preprocessing ("it's important to use the associated pretrained tokenizer").
    """

    code: ClassVar[str] = "D110"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101", "F102")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the ids of the tokenizers that were called, and those that stand beside the checkpoint's weights."""
        facts = seen.vocabulary
        if facts is None:
            return None
        evidence = [f"tokens of the tokenizer: {facts.tokens}; known to the checkpoint: {facts.shared}, with the same id: {facts.same}"]
        evidence += [f"`{token}` is {here} here and {there} in the checkpoint" for token, here, there in facts.example]
        return Finding(
            message=f"The ids are those of another tokenizer: of its {facts.tokens} tokens {facts.same} have the id that "
                    f"`{facts.checkpoint}` was trained with.",
            remedy=f"Load both from one place: `AutoTokenizer.from_pretrained(\"{facts.checkpoint}\")`. A vocabulary of your own wants a "
                   "model that is trained with it from the start (`from_config`).",
            site=facts.site or reading.place(seen, "tokenizer", "vocabulary"), evidence=evidence)
