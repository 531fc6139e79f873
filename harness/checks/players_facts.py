"""What is known of two models of which one judges what the other makes."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class PlayersFacts(Facts):
    """A model with one score a row that judges what another one makes. By call, the mean sign of the loss's derivative by the scores: of
    `real` rows, of `made` ones that are cut off from their maker, and of such that lead `through` to it. `real_low`, `real_high`: the
    range of the real rows; `cut`: in how many calls a loss that trains their maker asks for a score of made rows that no gradient leads
    from to it, at `cut_site`; `squashed`: the bounded function that made ones come out of, `below`: the largest share of them under zero.
    `site`: where made rows are judged for their maker.
    """

    real: list[float] = []
    made: list[float] = []
    through: list[float] = []
    real_low: float = float("inf")
    real_high: float = float("-inf")
    squashed: str = ""
    below: float = 0.0
    cut: int = 0
    cut_site: Site | None = None
    site: Site | None = None
