"""What was seen of texts that a model writes; part of `EvaluationFacts`."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class WrittenFacts(Facts):
    """Texts that an encoder-decoder of class `kind` has written: of `answers` so many that were `cut` off before they ended, at `limit`
    tokens. `wanted`: texts that it is trained to write, `longer` of them than the limit, the `longest` in tokens. `told`: whether the
    script has said where to stop."""

    kind: str
    told: bool
    answers: int = 0
    cut: int = 0
    limit: int = 0
    wanted: int = 0
    longer: int = 0
    longest: int = 0
    site: Site | None = None


class PromptFacts(Facts):
    """Prompts that a decoder of class `kind` goes on from: of `rows` so many that end in padding (`padded`); of these, so many asked once
    more without it (`alone`), and `other` answers than before."""

    kind: str
    rows: int = 0
    padded: int = 0
    alone: int = 0
    other: int = 0
    site: Site | None = None
