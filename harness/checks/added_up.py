"""Gradients that a script of TensorFlow's adds up in variables of its own."""

from __future__ import annotations

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.observation import Observation

_BUFFERED = 3  # steps


def finding(seen: Observation) -> Finding | None:
    """Variables that gradients are added to, and that nothing is ever taken from."""
    found = seen.buffers
    still = seen.model is not None and seen.model.displacement == 0
    if found is not None and len(found.norms) >= _BUFFERED and not any(found.norms) and still and any(
            step.gradient_norm for step in seen.steps):
        return Finding(
            message=f"What was added up in {found.variables} variables is set back to zero before it is applied: in all "
                    f"{len(found.norms)} steps that were looked at nothing was left to step along.",
            remedy="Set them back after the step: first `optimizer.apply_gradients(zip(buffers, weights))`, then "
                   "`buffer.assign(tf.zeros_like(buffer))`.", site=found.site or reading.place(seen, "step", "fit"),
            evidence=["norm of what is added up, at each step: 0; the weights are what they were before the first",
                      *reading.own_losses(seen)])
    if _BUFFERED <= seen.piled.steps == seen.piled.of:
        return Finding(
            message="The gradients that are added up are not set back to zero between steps: what each step applies is what the step "
                    "before applied, with that added to it which has come since.",
            remedy="After `apply_gradients`, begin anew: `total = [tf.zeros_like(weight) for weight in weights]`; or leave the adding up "
                   "to Keras, `Adam(gradient_accumulation_steps=4)`.", site=seen.piled.site or reading.place(seen, "step"),
            evidence=[f"At all {seen.piled.of} steps that were looked at.", *reading.own_losses(seen)])
    if found is None or found.held or len(found.norms) < _BUFFERED or not all(found.norms):
        return None
    return Finding(
        message=f"Gradients are added up in {found.variables} variables, and these are never set back to zero: each step repeats all "
                "that came before it.",
        remedy="After `apply_gradients`, set them back: `for buffer in buffers: buffer.assign(tf.zeros_like(buffer))`; or leave the "
               "adding up to Keras, `Adam(gradient_accumulation_steps=4)`.", site=found.site or reading.place(seen, "step", "fit"),
        evidence=[f"Norm of what is added up: {', '.join(f'{norm:.3g}' for norm in found.norms[:8])}"])
