"""Two baselines side by side: does what the second one knows tell clearly more?"""

from __future__ import annotations

import math

# Of what the first one leaves open, the part that the second leaves; by how much the two differ at least, and by how many standard errors.
_PART, _APART, _ERRORS = 0.75, 0.05, 3.0


def tells_more(told: float, better: float, rows: int, *, numbers: bool) -> bool:
    """Whether `better` is beyond `told`, both over so many `rows` that were not fitted on: shares that are right or, of `numbers`, rank
    correlations, of which the square is the part of the variance that is explained."""
    if numbers:
        told, better = max(told, 0.0) ** 2, max(better, 0.0) ** 2
    noise = _ERRORS * math.sqrt(told * (1 - told) / max(1, rows))
    return better - told >= max(_APART, noise) and 1 - better <= _PART * (1 - told)
