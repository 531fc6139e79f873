"""Real rows in a range that what is made of them does not have."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation

_CALLS, _BELOW, _EDGE = 4, 0.2, 1e-3
_BEYOND = 0.25  # of the whole range: noise around a picture's own ends is out of reach as well, and does no harm


class TwoRanges(Check):
    """Real and generated rows come in two ranges, and are told apart by that.

    A generator that ends in `tanh` makes numbers from -1 to 1. Beside pictures from 0 to 1 half of these give it away at once; beside
    pictures from 0 to 255, or a `sigmoid` beside numbers below zero, it cannot make what is real.
    Source: Radford et al. 2016, "Unsupervised Representation Learning with Deep Convolutional GANs", section 4 (images scaled to the range
    of tanh).
    """

    code: ClassVar[str] = "D120"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a discriminator is given as real, and the last function of what it is given as made."""
        facts = seen.players
        if facts is None or not facts.squashed or min(len(facts.real), len(facts.through)) < _CALLS:
            return None
        low, high = (-1, 1) if facts.squashed == "tanh" else (0, 1)
        half = facts.squashed == "tanh" and facts.real_low >= -_EDGE and facts.below >= _BELOW
        beyond = _BEYOND * (high - low)
        if not half and facts.real_low >= low - beyond and facts.real_high <= high + beyond:
            return None
        remedy = ("Bring the real rows to its range where they are made: `images * 2 - 1` from 0..1, `images / 127.5 - 1` from 0..255 "
                  "(`transforms.Normalize([0.5], [0.5])` after `ToTensor()`); and back again before pictures are shown." if low < 0 else
                  "Let the generator end in `tanh`, or bring the real rows to 0..1.")
        loader = raised.train_loader(seen)
        return Finding(
            message=f"The real rows go from {facts.real_low:.3g} to {facts.real_high:.3g}, and the generator ends in `{facts.squashed}`, "
                    f"from {low} to {high}: " + (f"up to {facts.below:.0%} of a batch that it makes is below zero, where no real row is."
                                                if half else "it cannot make what is real."),
            remedy=remedy,
            site=(loader.site if loader is not None else None) or sourcing.line(seen, "inputs", "made") or facts.site
            or reading.place(seen, "fit"),
            evidence=[f"real rows: {facts.real_low:.3g} to {facts.real_high:.3g} in {len(facts.real)} batches"])
