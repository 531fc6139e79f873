"""Whether a model evaluates in evaluation mode, and trains in training mode."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import HeldNormsFacts
from harness.checks.observation import Observation

_MIXED = 0.1  # of the distance between rows
_TOLD = 4  # steps each way
_UNTOLD = 20


class EvaluationInTrainingMode(Check):
    """Evaluation runs in training mode: dropout and batch normalisation are active.

    The score then depends on chance, and batch normalisation learns from the data it is tested on.
    Source: PyTorch docs, Module.eval.
    """

    code: ClassVar[str] = "E502"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges evaluation forwards of a model with active dropout or batch normalisation; generators' samples are none."""
        facts, model = seen.evaluation, seen.model
        if facts.dropped is not None and facts.dropped_anew and not reading.several_models(seen):
            return Finding(message="Dropout is on in evaluation mode as well: its layer is built inside `forward`, and so is a new one in "
                                   "each call, which `model.eval()` has not reached and which is in training mode.",
                           remedy="Build it once, `self.drop = nn.Dropout(p)` in `__init__`, or call `F.dropout(x, p, "
                                  "training=self.training)`.",
                           site=facts.dropped, evidence=[])
        if facts.dropped is not None and not reading.several_models(seen):
            return Finding(message="Dropout is on in evaluation mode as well: `F.dropout` drops unless it is told not to, and here it is "
                                   "not told of the mode.",
                           remedy="`F.dropout(x, p, training=self.training)`, or a layer, `nn.Dropout(p)`, which knows.",
                           site=facts.dropped, evidence=[])
        rows = seen.probes.rows
        if facts.normalised is not None and rows is not None and rows.influence >= _MIXED and not reading.several_models(seen):
            return Finding(
                message="Batch normalisation is told to train whatever the model is asked for: an answer depends on the rows that come "
                        "with it, and a row by itself is answered like any other.",
                remedy="Hand on what the layer is told: `def call(self, x, training=None): ... self.norm(x, training=training)`.",
                site=facts.normalised,
                evidence=["Only the other rows of a batch were replaced, in inference mode.",
                          f"That moves a row's output by {rows.influence:.2f} of the distance between rows."])
        if not facts.forwards or not facts.in_training_mode:
            return None
        if model is None or not model.stochastic:
            return None
        if reading.several_models(seen):
            raise NotJudged("several models are trained; forwards without gradients may be samples of one for another")
        if seen.probes.repeat_differs is False and not model.has_batch_norm:
            return None
        if facts.in_training_mode < 0.5 * facts.forwards:
            raise NotJudged("only some forwards without gradients ran in training mode: they may be meant")
        if 2 * facts.sampled > facts.in_training_mode and not model.has_batch_norm:
            raise NotJudged("the same rows were asked for again and again with dropout on: that draws samples of the model's answers")
        effect = ("batch normalisation uses and updates its running statistics" if model.has_batch_norm else "dropout removes units at "
                  "random")
        repeat = ["The same batch, evaluated twice, gave different outputs."] if seen.probes.repeat_differs else []
        return Finding(message=f"{facts.in_training_mode} of {facts.forwards} evaluation batches ran in training mode: {effect}.",
                       remedy="Call the model with `training=False` (or without the argument)." if seen.framework in reading.KERAS else
                              "Call `model.eval()` before the evaluation and `model.train()` after it.",
                       site=reading.place(seen, "uncalled.eval", "forgotten_mode", "train_mode", "evaluation"),
                       evidence=[*reading.uncalled(seen, "eval"), *repeat])


class TrainingInEvaluationMode(Check):
    """Training goes on in evaluation mode: dropout is off and batch normalisation frozen.

    After `model.eval()` nothing turns training mode on again by itself.
    Source: PyTorch docs, Module.train.
    """

    code: ClassVar[str] = "E503"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges training forwards of a model with dropout or batch normalisation, after an evaluation switched it."""
        facts, model = seen.evaluation, seen.model
        count = facts.training_in_eval_mode
        if seen.framework in reading.KERAS:
            return self._told_off(seen) or self._untold(seen)
        if facts.held_norms is not None:
            return self._held(seen, facts.held_norms)
        if not count or model is None or not model.stochastic:
            return None
        from_the_start = count >= facts.training_forwards
        if from_the_start and not facts.forwards and model.pretrained is not False:
            return None  # loaded models start in evaluation mode, and nothing switched this one
        frozen = [p for p in model.parameters if not p.trainable]
        if from_the_start and model.parameters and len(frozen) > 0.5 * len(model.parameters):
            raise NotJudged("most weights are frozen, and a frozen body may be kept in evaluation mode on purpose")
        when = "from the start" if from_the_start else "after an evaluation"
        what = "batch normalisation keeps its statistics and dropout is off" if model.has_batch_norm else "dropout is off"
        return Finding(message=f"{count} of {facts.training_forwards} training batches ran in evaluation mode, {when}: {what}.",
                       remedy="Call `model.train()` at the beginning of every epoch (or right after each evaluation).",
                       site=reading.place(seen, "uncalled.train", "eval_mode", "evaluation", "loss"),
                       evidence=[*reading.uncalled(seen, "train"), f"Evaluation batches before and between: {facts.forwards}"])

    @staticmethod
    def _held(seen: Observation, found: HeldNormsFacts) -> Finding:
        """Layers that go by statistics which nobody has measured."""
        return Finding(message=f"{found.layers} of {found.of} batch normalisations are kept in evaluation mode while the model trains, and "
                               "their statistics are those of new layers, mean 0 and variance 1: they normalise nothing.",
                       remedy="Leave them in training mode. To hold them pays for a pretrained model only, whose statistics were measured.",
                       site=found.site or reading.place(seen, "model", "forward"), evidence=reading.own_losses(seen))

    @staticmethod
    def _told_off(seen: Observation) -> Finding | None:
        """A flag of the script's own that its evaluation takes down, and that the next steps go by."""
        facts, model = seen.evaluation, seen.model
        if min(facts.told_on, facts.told_off) < _TOLD or model is None or not model.stochastic:
            return None
        what = "batch normalisation keeps its statistics and dropout is off" if model.has_batch_norm else "dropout is off"
        return Finding(message=f"The model was told in {facts.told_on} steps that it trains, and in the {facts.told_off} after an "
                               f"evaluation that it does not: {what}.",
                       remedy="Set the flag that the call goes by when an epoch begins, or right after each evaluation; or leave it out: "
                              "`model(x, training=True)` where you train, `training=False` where you evaluate.",
                       site=reading.place(seen, "told_off", "forward", "model"),
                       evidence=["the same line calls the model for training and for the evaluation", *reading.own_losses(seen)])

    @staticmethod
    def _untold(seen: Observation) -> Finding | None:
        """A step of one's own whose model is not told that it trains, so that no batch has changed what it is normalised by."""
        facts, model = seen.evaluation, seen.model
        count = facts.training_in_eval_mode
        if count < _UNTOLD or count < facts.training_forwards or model is None or not model.has_batch_norm:
            return None
        if model.pretrained or reading.several_models(seen):
            return None  # a loaded body may be kept in evaluation mode on purpose
        return Finding(message=f"The model ran {count} times under a tape without `training=True`: batch normalisation goes by statistics "
                               "that no batch has changed, and dropout is off.",
                       remedy="Say it where you train, `model(x, training=True)`; only the `train_step` that Keras brings says it by "
                              "itself.",
                       site=reading.place(seen, "untold", "forward", "model"), evidence=["No moving variance has changed since the start."])
