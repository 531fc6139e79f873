"""What a script does with gradients by itself, and trainings after the first; part of an `Observation`."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class BufferFacts(Facts):
    """Variables to which a script adds the gradients of its weights: how many, `held` times set to anything else; the L2 norm of all of
    them at the first `norms` optimizer steps, and where the optimizer is asked to step, or else they are added to."""

    variables: int = 0
    held: int = 0
    norms: list[float] = []
    site: Site | None = None


class LaterFacts(Facts):
    """A training after the watched one, from `step` (1-based) of its optimizer on: weights that this `held` of the models that are trained,
    `foreign` ones that get no gradient any more, and those `lacking` from it although they get gradients: how many, and the names of some.
    `thawed`: these were frozen when the optimizer took its first step.
    """

    step: int
    held: int
    foreign: int
    lacking: int
    left: list[str]
    thawed: bool = False
    site: Site | None = None
