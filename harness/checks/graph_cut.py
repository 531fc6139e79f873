"""Backward: whether the graph between the loss and the weights is whole."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.backward_words import NO_GRAPH, NO_KERAS_GRADIENTS, names
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.model_facts import ParameterFacts
from harness.checks.observation import Observation
from harness.checks.training_facts import CutStateFacts, ExceptionFacts, LaterFacts, RestedFacts

_OFTEN = 3  # steps
_NUMBER = r"'(float|int)' object has no attribute 'backward'"


class GraphCut(Check):
    """The graph between the loss and the weights is cut.

    `.item()`, `.data`, `.detach()`, `no_grad`, `argmax`, a round trip through NumPy: all of them give numbers without a history.
    Source: PyTorch docs, Autograd mechanics.
    """

    code: ClassVar[str] = "G302"
    stage: ClassVar[Stage] = "backward"
    requires: ClassVar[tuple[str, ...]] = ("G301", "G303", "G304")
    messages: ClassVar[tuple[str, ...]] = (NO_GRAPH, _NUMBER, NO_KERAS_GRADIENTS)

    _REMEDY = ("Keep tensors from the output to the loss: no `.item()`, `.data`, `.detach()`, `.numpy()`, `argmax` or "
               "`torch.tensor(...)` on "
               "the way, and no `torch.no_grad()` around the forward pass.")

    _KERAS_REMEDY = ("Keep to operations with a derivative from the weights to the loss: no comparison, `argmax`, `round`, cast to whole "
                     "numbers, `stop_gradient` or `.numpy()` on the way. A hard decision learns by a straight-through estimate: "
                     "`p + stop_gradient(code - p)`.")

    _INSIDE = "Call it inside: everything from the inputs to the loss belongs under `with tf.GradientTape() as tape:`."

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exception of backward, or from weights that were used and trained for, and got no gradient."""
        error = (reading.matching(seen, NO_GRAPH) or reading.matching(seen, _NUMBER)
                 or reading.matching(seen, NO_KERAS_GRADIENTS))
        if error is not None:
            return self._of_error(seen, error)
        idle = seen.idle
        if idle is not None and seen.framework in reading.KERAS:
            return self._idle(idle)
        within = self._within(seen) or self._players(seen)
        if within is not None:
            return within
        learns = [p for p in seen.model.parameters if p.trainable] if seen.model is not None and not reading.several_models(seen) else []
        apart = self._unrecorded(seen, learns)
        if apart is not None:
            return apart
        whole = bool(learns) and all(
            p.gradient_norm is None and p.moved is False and False not in (p.used, p.in_optimizer) for p in learns)
        if idle is not None and not whole:
            return Finding(
                message=f"One of the optimizers steps, and after {idle.step} steps none of its {idle.held} weights has had a gradient, "
                        "although their model takes part: its output is cut off on the way to the loss that should train it.",
                remedy="Cut it off only where another model is trained on it (`fake.detach()` in the discriminator's loss), and keep it "
                       "whole in the loss of its own.", site=idle.site, evidence=[f"Without a gradient: {', '.join(idle.left)}"])
        if {"straight_through", "turned_through"} & set(seen.sites):
            return self._straight_through(seen) if "straight_through" in seen.sites else self._turned_through(seen)
        if reading.several_models(seen):
            raise NotJudged("several models take steps; which weights each loss should reach cannot be told")
        if not seen.model or not any((s.backwards or 0) > 0 for s in seen.steps):
            return None
        part = self._part(seen)
        if part is not None:
            return part
        wanted = [p for p in seen.model.parameters if p.trainable and p.used is not False and p.in_optimizer is not False]
        without = [p for p in wanted if p.gradient_norm is None]
        if not wanted or not without:
            return None
        if len(without) == len(wanted):
            if all(p.moved is None for p in wanted) or any(p.moved for p in wanted):
                raise NotJudged("gradients were not measured")
            return Finding(message=f"backward() runs, but none of {len(wanted)} trainable weights gets a gradient, and none moves.",
                           remedy=self._REMEDY, site=reading.place(seen, "cut", "backward", "loss"), evidence=[names(without)])
        return self._some(seen, [p for p in without if p.used and p.in_optimizer and not p.moved], len(wanted))

    def _idle(self, idle: LaterFacts) -> Finding:
        """A model of Keras whose weights a tape is asked about, and which the tape does not know of or the loss is cut off from."""
        left = [f"Without a gradient: {', '.join(idle.left)}"]
        if not idle.recorded:
            return Finding(
                message=f"A model is called before the tape begins to record, and the tape is asked for the gradients of its {idle.held} "
                        f"weights: in {idle.step} steps none of them has had one.",
                remedy=self._INSIDE, site=idle.site, evidence=left)
        return Finding(
            message=f"A model takes part in every step, and the tape is asked for the gradients of its {idle.held} weights, but in "
                    f"{idle.step} steps none of them has had one: what it gives is cut off on the way to the loss.",
            remedy=self._KERAS_REMEDY + " NumPy's functions, `np.concatenate` for one, give arrays without a history: use `tf.concat`.",
            site=idle.site, evidence=left)

    def _within(self, seen: Observation) -> Finding | None:
        """A part of the model that no gradient passes, or none for longer than a step of time."""
        if seen.rested is not None:
            return self._rested(seen.rested)
        cut = seen.cut_state
        return self._cut_state(cut) if cut is not None and cut.steps >= _OFTEN else None

    @staticmethod
    def _rested(found: RestedFacts) -> Finding:
        """A helper for evaluation, with `no_grad` in it, is called for the training as well."""
        made = [f"It is made on line {found.built.line}: {found.built.source[:100]}"] if found.built is not None else []
        called = [f"It is called on line {found.called.line}: {found.called.source[:100]}"] if found.called is not None else []
        if found.recorded:
            return Finding(
                message=f"A part of the model (`{found.kind}`) runs in each of {found.steps} steps, and what it gives is cut off on the "
                        f"way to the loss: its {found.weights} weights are in the optimizer, and none of them has ever had a gradient.",
                remedy=GraphCut._REMEDY, site=found.called or found.site, evidence=made)
        return Finding(
            message=f"A part of the model (`{found.kind}`) is run without gradients in each of {found.steps} steps: its {found.weights} "
                    "weights are in the optimizer, and no loss has ever reached them.",
            remedy="Leave `no_grad` to the evaluation: call that part with gradients on wherever its answers go into the loss. If it is to "
                   "stay as it was drawn, take its weights out of the optimizer.",
            site=found.site, evidence=[*called, *made])

    @staticmethod
    def _cut_state(found: CutStateFacts) -> Finding:
        """One step of time is all that a gradient goes back."""
        return Finding(
            message=f"The state of a `{found.kind}` loses its history at every step of time: of {found.times} times in a row that it is "
                    "given what it made before, it gets it detached each time. Gradients reach one step back and no further, so nothing "
                    "teaches it what to keep.",
            remedy="Hand the state on as it is within a sequence, `h = cell(x[:, t], h)`, and detach it only where the next backward "
                   "pass begins: between two portions of a long sequence.",
            site=found.site, evidence=[f"In {found.steps} steps of the first ones."])

    def _of_error(self, seen: Observation, error: ExceptionFacts) -> Finding:
        """What backward, or the optimizer, refused."""
        hints = [f"{error.type}: {reading.first_line(error.message)}"]
        if seen.evaluation.forwards and seen.steps:
            hints.append("Training worked before an evaluation: is `torch.set_grad_enabled(False)` still in force?")
        if "object has no attribute" in error.message:
            return Finding(message="The loss is a plain Python number: `.item()` was called before backward().",
                           remedy="Call `loss.backward()` on the tensor, and `.item()` only for "
                                  "printing.", site=error.site, evidence=hints)
        return Finding(message="The loss has no history: nothing connects it with the weights.", remedy=self._REMEDY,
                       site=reading.place(seen, "cut") or error.site, evidence=hints)

    def _some(self, seen: Observation, cut: list[ParameterFacts], wanted: int) -> Finding | None:
        """These of the weights took part and are in the optimizer, and no gradient has come to them."""
        if cut and "recomputed" in seen.sites:
            return self._recomputed(seen, cut, wanted)
        if not cut or (seen.model is not None and seen.model.pretrained and not self._meant(seen, cut)):
            return None  # unused layers have no gradient, and a pretrained part may be meant to stay as it is
        if seen.probes.unreached_matter is False:
            return None  # a branch that nobody reads, such as the pooler of a body whose tokens alone are used
        keras = seen.framework in reading.KERAS
        if seen.probes.unreached_matter is None and (keras or "cut" not in seen.sites):
            raise NotJudged(f"{len(cut)} weights get no gradient, and whether the loss depends on them at all was not probed")
        remedy, freeze = (self._KERAS_REMEDY, "layer.trainable = False") if keras else (self._REMEDY, "requires_grad_(False)")
        return Finding(
            message=f"{len(cut)} of {wanted} weights took part in the forward pass and are in the optimizer, but get no gradient.",
            remedy=f"{remedy} If that part is frozen on purpose, say so: `{freeze}`.",
            site=reading.place(seen, "cut", "asked", "model", "loss"), evidence=[names(cut)])

    def _unrecorded(self, seen: Observation, learns: list[ParameterFacts]) -> Finding | None:
        """The model of a `train_step` is called where its tape does not record, and a penalty alone trains some of its weights."""
        place = reading.place(seen, "unrecorded")
        unreached = [p for p in learns if p.gradient_norm is None]
        if place is None or not unreached or not seen.steps:
            return None
        return Finding(
            message="The model is called before the tape begins to record, so what it answers has no way back to its weights: "
                    f"{len(unreached)} of {len(learns)} get no gradient at all, and the others only that of what is computed under the "
                    "tape (a penalty on weights, say).",
            remedy=self._INSIDE, site=place, evidence=[f"Without a gradient: {names(unreached)}"])

    @staticmethod
    def _straight_through(seen: Observation) -> Finding:
        """Source: Bengio et al. 2013, "Estimating or Propagating Gradients Through Stochastic Neurons"."""
        cut = "tf.stop_gradient(q - z)" if seen.framework in reading.KERAS else "(q - z).detach()"
        return Finding(
            message="A straight-through estimate is cut off whole: the part that was to carry the gradient past the hard decision is cut "
                    "off with the rest, or taken away again, so nothing of the loss behind it reaches the weights in front of it.",
            remedy=f"Cut off the difference alone: `z + {cut}` has the value of `q` and the gradient of `z`.",
            site=seen.sites["straight_through"], evidence=["one and the same part is added and taken away on one side of the cut"])

    @staticmethod
    def _turned_through(seen: Observation) -> Finding:
        cut = "tf.stop_gradient(q - z)" if seen.framework in reading.KERAS else "(q - z).detach()"
        return Finding(
            message="A straight-through estimate is written the wrong way round. Its value is that of before the hard decision, so what "
                    "follows never sees what was decided; its gradient goes to the decision, which lets none through.",
            remedy=f"Exchange the two: `z + {cut}` has the value of `q`, which was decided, and the gradient of `z`.",
            site=seen.sites["turned_through"],
            evidence=["`q + cut(z - q)`, in numbers, is `z`; of the two only `q` is left with a gradient", *reading.own_losses(seen)])

    @staticmethod
    def _players(seen: Observation) -> Finding | None:
        """A score of made rows in the loss of their maker, from which no gradient leads to it; another part of the loss may train it."""
        facts = seen.players
        if facts is None or facts.through or facts.cut < _OFTEN:
            return None
        return Finding(
            message="The generator's loss asks for the discriminator's score of what it makes, and no gradient leads from that score to "
                    "the generator: whatever trains it, it is not the discriminator.",
            remedy="Make the rows under the tape of the generator's own step, `fake = generator(noise)`, and judge them there as they are; "
                   "`stop_gradient` belongs in the discriminator's loss alone.",
            site=facts.cut_site or reading.place(seen, "loss"),
            evidence=[f"calls of the discriminator in a loss of the generator: {facts.cut}; such that reach a weight of it: 0"])


    @staticmethod
    def _part(seen: Observation) -> Finding | None:
        """A part of the loss that has no history, beside others that have one: a derivative, or a draw."""
        if "derivative" in seen.sites:
            return Finding(
                message="A derivative by the inputs enters the loss, and was taken without a graph of its own: its part of the loss "
                        "teaches the model nothing.",
                remedy="`torch.autograd.grad(output, inputs, create_graph=True)`, which keeps the graph as well.",
                site=seen.sites["derivative"], evidence=[])
        if "drawn" in seen.sites:
            return Finding(
                message="A value is drawn with `sample()` from a distribution whose parameters are to be learnt: the draw has no history, "
                        "so what the loss makes of it never reaches them.",
                remedy="Draw with `rsample()`, which the gradient passes through (for a policy, ask `log_prob` of the draw instead).",
                site=seen.sites["drawn"], evidence=["In no training step was the probability of a draw asked for."])
        # A term may also be added later on, which only a script that was seen to its end rules out.
        if seen.stray is not None and (seen.stray.number or seen.stopped == "finished"):
            return Finding(
                message=f"A loss ({seen.stray.name}) is computed in every step and never goes backward: {seen.stray.weights} weights of "
                        "the optimizer learn by it alone, and have stayed as they were drawn.",
                remedy="Add the tensor itself, `total = first + weight * second`, and take `.item()` or `float(...)` of it only to print "
                       "it.",
                site=seen.stray.site or reading.place(seen, "loss"), evidence=reading.own_losses(seen))
        return None

    @staticmethod
    def _recomputed(seen: Observation, cut: list[ParameterFacts], wanted: int) -> Finding:
        """Blocks under reentrant checkpointing whose inputs have no gradient, because what lies before them is frozen."""
        return Finding(
            message=f"{len(cut)} of {wanted} weights get no gradient: their blocks are recomputed in the backward pass (gradient "
                    "checkpointing), and nothing that goes into the first of them has a gradient, so that autograd leaves them out.",
            remedy="Ask for the other kind, `gradient_checkpointing_kwargs={\"use_reentrant\": False}` (in a forward of your own "
                   "`checkpoint(..., use_reentrant=False)`); or, with frozen embeddings, call `model.enable_input_require_grads()`.",
            site=reading.place(seen, "training_arguments.gradient_checkpointing", "recomputed", "model"), evidence=[names(cut)])

    @staticmethod
    def _meant(seen: Observation, cut: list[ParameterFacts]) -> bool:
        """Whether the script gave the weights without a gradient a group of their own in the optimizer, among others that do learn."""
        known = seen.model.parameters if seen.model else []
        groups = {p.group for p in cut if p.group is not None}
        reached = {p.group for p in known if p.gradient_norm is not None}
        return "cut" in seen.sites and bool(reached - groups) and any(sum(p.group == group for p in cut) > 1 for group in groups - reached)
