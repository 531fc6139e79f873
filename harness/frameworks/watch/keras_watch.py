"""Watching Keras: `fit`, `evaluate` and `predict` of tf_keras, of transformers' TensorFlow models, and of Keras 3 on TensorFlow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

from harness.frameworks.resources import resident_bytes
from harness.frameworks.watch import (
    cut_at_half,
    foreign,
    in_order,
    keras_argmax,
    keras_arithmetic,
    keras_augmented,
    keras_blanks,
    keras_cached,
    keras_clipped,
    keras_galleries,
    keras_metric_callback,
    keras_one_hot,
    keras_overwritten,
    keras_readers,
    keras_self_likeness,
    keras_series,
    keras_straight,
    keras_tracing,
    keras_unadded,
    parsed,
    repeated,
    texts,
    written,
)
from harness.frameworks.watch.copies import Copies
from harness.frameworks.watch.keras_asked import Asked
from harness.frameworks.watch.keras_averages import Averages
from harness.frameworks.watch.keras_births import Births
from harness.frameworks.watch.keras_buffers import Buffers
from harness.frameworks.watch.keras_carried import CarriedStates
from harness.frameworks.watch.keras_compile import Compiles
from harness.frameworks.watch.keras_data import Data
from harness.frameworks.watch.keras_drawn_rows import DrawnRows
from harness.frameworks.watch.keras_draws import Draws
from harness.frameworks.watch.keras_evaluation import Evaluations
from harness.frameworks.watch.keras_fits import FitCalls
from harness.frameworks.watch.keras_fruitless import Fruitless
from harness.frameworks.watch.keras_left_out import LeftOut
from harness.frameworks.watch.keras_loop import Loop
from harness.frameworks.watch.keras_metrics import Metrics
from harness.frameworks.watch.keras_model import Models, flat_layers
from harness.frameworks.watch.keras_modes import Modes
from harness.frameworks.watch.keras_open_tapes import OpenTapes
from harness.frameworks.watch.keras_operations import Operations
from harness.frameworks.watch.keras_origins import Origins
from harness.frameworks.watch.keras_passes import Passes
from harness.frameworks.watch.keras_players import Players
from harness.frameworks.watch.keras_probes import Probes
from harness.frameworks.watch.keras_read_out import ReadOut
from harness.frameworks.watch.keras_resets import Resets
from harness.frameworks.watch.keras_restores import Restores
from harness.frameworks.watch.keras_rounded import Rounding
from harness.frameworks.watch.keras_running import Running
from harness.frameworks.watch.keras_scaled import Scaled
from harness.frameworks.watch.keras_seeds import Seeds
from harness.frameworks.watch.keras_steps import Steps
from harness.frameworks.watch.keras_terms import Terms
from harness.frameworks.watch.keras_thrown import Thrown
from harness.frameworks.watch.keras_unbuilt import Unbuilt
from harness.frameworks.watch.keras_unweighed import Unweighed
from harness.frameworks.watch.memory import Memory
from harness.frameworks.watch.mirrored import Mirrored
from harness.frameworks.watch.mixed_rows import MixedRows
from harness.frameworks.watch.patience import Patience
from harness.frameworks.watch.relations import Relations
from harness.frameworks.watch.scrambled import Scrambled
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.shared_rows import SharedRows
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.splits import Splits
from harness.frameworks.watch.told import of as told_of

if TYPE_CHECKING:
    from harness.catalog.schema import Stage


class KerasWatcher:
    """Fills an observation from Keras. Each part hooks one thing; what one sees and another needs goes through here."""

    def __init__(self, session: WatchSession) -> None:
        self.session = session
        self.seen = session.observation
        self.keras: Any = None
        self.modelled = False  # a model has run outside of `fit`
        self.first_loop: Any = None
        self.terms, self.fits = Terms(self), FitCalls(self)
        self.patience, self.relations = Patience(session), Relations()
        self.told = told_of(session)
        session.comparisons.append(lambda answers, wanted: self.relations.compared(answers, wanted, self.session.sites.here()))
        session.comparisons.append(lambda answers, _wanted: cut_at_half.asked(session, answers))
        self._settled = False
        self._hooked: dict[str, tuple[Any, ...]] = {}
        self._fault: tuple[str, str] | None = None
        self.probes: Probes
        self.data, self.passes, self.buffers, self.fruitless = Data(self), Passes(self), Buffers(self), Fruitless(self)
        self.mirrored, self.left_out, self.states, self.mixed_rows = Mirrored(), LeftOut(self), CarriedStates(self), MixedRows()
        self.copies, self.held, self.averages = Copies(session.sites), set[int](), Averages(self)
        self.draws, self.splits, self.shared, self.operations = Draws(session), Splits(), SharedRows(), Operations(self)
        self.drawn, self.restores, self.rounding = DrawnRows(self), Restores(self), Rounding(self)
        self.scaled, self.modes = Scaled(self), Modes(self)
        self.running = Running(self)
        self.resets, self.read_out, self.memory = Resets(self), ReadOut(self), Memory(self.seen.memory, self._resident, wavers=True)
        self.players, self.thrown = Players(self), Thrown(self)
        self.asked, self.unbuilt, self.unweighed, self.open_tapes = Asked(self), Unbuilt(self), Unweighed(self), OpenTapes(self)

    def attach(self, keras: Any) -> None:
        """Hook `tf_keras`, or `keras` where it runs on TensorFlow."""
        name, backend = keras.__name__, getattr(getattr(keras, "backend", None), "backend", lambda: "tensorflow")
        if name == "keras" and backend() != "tensorflow":
            return
        session = self.session
        if not self._hooked:
            for part in (self.data, self.draws, Seeds(self), self.read_out, self.buffers, self.operations, self.open_tapes, self.restores,
                         self.passes, self.thrown, keras_galleries.Galleries(session)):
                part.attach()
            keras_metric_callback.attach(session, self.seen)
            for hooks in (keras_straight, keras_argmax, keras_arithmetic, keras_one_hot, keras_blanks, keras_self_likeness):
                hooks.attach(session)
        made = Compiles(self, keras), Models(self, keras), Steps(self, keras), Evaluations(self, keras), Births(self), Probes(self)
        self._hooked[name] = (keras, *made)
        if self.keras is None:
            self.use(name)
        for hooked in made[:4]:
            hooked.attach()
        Loop(self, keras).attach()
        for framed in (self.buffers, self.restores, self.fruitless, self.thrown):
            framed.hook(keras)
        for told in (self.states, self.asked, Origins(session), self.unbuilt, self.rounding, self.scaled):
            told.attach(keras)
        keras_clipped.attach(session, keras)
        keras_series.attach(session, keras)
        Scrambled(session).of_keras(keras, made[0].place_of)
        Metrics(self, keras, made[0]).attach()
        self.resets.attach(keras)
        self.running.attach(keras)
        self.fits.attach(keras)

    def use(self, name: str) -> None:
        """Both Keras may be imported; the one that trains is told about."""
        self.keras, self.compiles, self.models, self.steps, self.evaluations, self.births, self.probes = self._hooked[name]

    def repeated(self) -> None:
        """Another fold or try begins: the training that is watched is over. May raise `Enough`."""
        if not self._settled:
            self.session.safely("experiments", self.probes.conclude)
            self._settled = True
            self.session.settle(last=True)
        self.patience.ended()

    def begins(self, model: Any) -> None:
        """A model is about to be trained."""
        self.seen.framework = "tf_keras" if self.keras.__name__ == "tf_keras" else "keras"
        self.session.reach("data")
        self.session.safely("weights that stay free", foreign.of_keras, self.session, [model, *model._flatten_layers()])
        if self.seen.model is None:
            self.models.describe(model)
        self.session.safely("weights on their way", self.averages.trains, model)
        if getattr(model, "jit_compile", False) is True:
            self.seen.device = "xla"
            if self.keras.__name__ == "tf_keras":
                import tensorflow as tf

                keras_tracing.compiled(tf)

    def fault(self, stage: str, error: Exception) -> None:
        """An exception came out of a loss, a forward pass or a metric; told from the inside outwards."""
        if self._fault is None or self._fault[1] != str(error)[:200]:
            self._fault = (stage, str(error)[:200])

    def _complete_exception(self) -> None:
        """The stage, where Keras has stripped the frames that it would be read off."""
        raised = self.seen.exception
        if raised is None or self._fault is None or raised.stage not in ("setup", "forward"):
            return
        if self._fault[1] in raised.message or raised.message[:200] in self._fault[1]:
            raised.stage = cast("Stage", self._fault[0])
            self.session.reach(raised.stage)

    def stepped(self, model: Any) -> None:
        """A training step is over. May raise `Enough`; asks the running `fit` to stop when enough has been seen."""
        self.session.safely("gradients that are added up", self.buffers.fitted, model)
        self.session.safely("weights on their way", self.averages.stepped)
        self.probed()
        if self.session.watched_seconds > 1.5 * self.session.budget.seconds:
            self.session.enough("time")
        if self._settled and self.patience.turned_bad:
            self.session.enough("enough steps")
        if not self.leads_on:
            if self.seen.truncated_at is None:
                self.seen.truncated_at = self.steps.taken
            model.stop_training = True  # the script comes to its evaluation

    def probed(self) -> None:
        """A step is over: experiments, where their time has come. May raise `Enough`."""
        self.session.safely("memory", self.memory.stepped)
        self.session.safely("steps in 16 bits", self.rounding.stepped)
        self.session.safely("a probe", self.probes.stepped)
        self.session.safely("steps in 16 bits", self.rounding.forget)
        if self.probes.over and not self._settled:
            self._settled = True
            self.session.settle()
            self.patience.settled()
        self.patience.concluded()

    @property
    def in_full(self) -> bool:
        """Whether steps are still watched in full; afterwards the script is only led to its evaluation."""
        return self.patience.lasts(self.probes.undecided) and not self.births.echo

    def _resident(self) -> int:
        # What is kept of the script's steps to experiment with is no growth of the script's.
        return resident_bytes() - self.probes.kept_bytes

    def _relate(self) -> None:
        self.session.safely("pictures", self._mirrored)
        texts.note(self.session)
        self.seen.evaluation.relation, self.seen.evaluation.two_scales = self.relations.facts(), self.relations.two_scales
        self.splits.fill(self.seen.evaluation, self.session.script)
        self.seen.evaluation.loose_relation = self.relations.loose()
        self.seen.evaluation.shared = self.shared.facts(cut=self.session.stopping is not None)
        self.seen.evaluation.encoded, self.seen.evaluation.numbered = self.session.encoders.facts(), self.session.numberings.facts()
        self.seen.evaluation.chosen, self.seen.misread = self.session.choosers.facts(), self.session.raw_bytes.facts()

    def _mirrored(self) -> None:
        layers = flat_layers(self.steps.model) if self.steps.model is not None else ()
        flips = [layer for layer in layers if type(layer).__name__ == "RandomFlip"]
        self.mirrored.flips([str(getattr(layer, "mode", "")) for layer in flips])
        self.seen.mirrored, self.seen.mixed_rows = self.mirrored.measure(), self.mixed_rows.measure()
        self.seen.resized = self.mirrored.maps.facts(self.session.script)
        if self.seen.mirrored is not None:
            built = self.compiles.place_of(flips[0]) if flips and self.seen.mirrored.layer else None
            self.session.noted("moved", built or written.moved(self.session.script, turned="turned" in self.seen.mirrored.how))

    @property
    def leads_on(self) -> bool:
        """Whether training goes on as the script has it, watched in full or not."""
        return self.in_full or self.patience.goes_on

    def _only_embedding(self) -> None:
        """The line of the script's only embedding, read off its text: in a loop of its own the model is not known before it runs."""
        calls = [node for node in ast.walk(parsed.tree(str(self.session.script))) if isinstance(node, ast.Call)
                 and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Embedding"]
        place = site((str(self.session.script), calls[0].lineno, "<module>")) if len(calls) == 1 else None
        if place is not None:
            self.seen.sites["embedding"] = place

    def loop_ran(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, recorded: bool) -> None:
        """A loop of the script's own has called a model; `recorded`: under a tape."""
        self.copies.ran(model, lambda: model.weights, [args, kwargs], recorded=recorded)
        self.modes.ran(kwargs.get("training"), recorded=recorded)
        if recorded:
            self.left_out.ran(model, kwargs.get("training"))
            self.session.safely("weights on their way", self.averages.trains, model)
        else:
            self.averages.ran(model)

    def loop_stepped(self, sources: list[Any]) -> None:
        """A loop of the script's own has taken a step. `sources`: the weights that its tape was asked about last."""
        self.held |= set(map(id, sources))
        for part in (self.fruitless, self.open_tapes, self.states.carried, self.copies, self.resets, self.modes, self.running,
                     self.averages):
            part.stepped()

    def _behind(self) -> None:
        self.seen.behind = self.copies.facts(self.held)

    def finish(self, error: BaseException | None) -> None:
        """Complete the record."""
        if self.keras is None or self.seen.framework == "torch":
            return  # many a PyTorch script has Keras imported somewhere
        session = self.session
        for name, part in (("the exception", self._complete_exception), ("gradients", self.fruitless.finish),
                           ("operations", self.operations.finish), ("steps", self.steps.finish), ("data", self.data.finish),
                           ("rows that are read", lambda: keras_overwritten.measure(self)),
                           ("readers", lambda: keras_readers.measure(self)),
                           ("a cache", lambda: keras_cached.measure(self)),
                           ("rows drawn again", lambda: keras_augmented.measure(self)),
                           ("losses of layers", lambda: keras_unadded.measure(self)),
                           ("repeated layers", lambda: repeated.of_keras(session, self.steps.model)),
                           ("weights that are left out", self.left_out.finish), ("memory", self.memory.finish),
                           ("weights that are put back", self.restores.finish),
                           ("recurrent states", self.states.finish), ("copies", self._behind),
                           ("averages of weights", self.averages.finish),
                           ("a batching", lambda: self.data.batched(error)),
                           ("evaluations", self.evaluations.finish), ("passes", self.passes.finish), ("buffers", self.buffers.finish),
                           ("relations", self._relate), ("what a schedule plans", self.compiles.ahead),
                           ("rows of an evaluation", self.drawn.measure),
                           ("the embedding", self._only_embedding), ("probes", lambda: self.probes.finish(error)),
                           ("rows in their order", lambda: in_order.of_keras(self)),
                           ("a schedule", self.fits.finish)):
            session.safely(f"finishing {name}", part)
