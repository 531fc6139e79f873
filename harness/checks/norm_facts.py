"""What is known of statistics that a model's normalisation evaluates by."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class HastyFacts(Facts):
    """Batch normalisation whose statistics are for a `part` (0 to 1) those of the newest batch: the loss in evaluation mode with those of
    one batch of `rows` rows alone (`own`), and with their mean over so many `batches` (`averaged`), by the same weights and rows. `each`:
    with those of one batch or another alone. `site`: where the first such layer was made."""

    kind: str
    part: float
    own: float
    averaged: float
    batches: int
    rows: int
    each: list[float] = []
    site: Site | None = None


class SlowFacts(Facts):
    """Batch normalisation of class `kind` of whose statistics each batch makes the `part` (0 to 1), so that at the end of `steps` steps the
    share `left` of them is what they began with. The loss in evaluation mode, by one model's weights and rows: with the statistics that it
    will have then (`own`), and with their mean over so many `batches` (`averaged`). `site`: where the first such layer was made."""

    kind: str
    part: float
    left: float
    steps: int
    own: float
    averaged: float
    batches: int
    site: Site | None = None
