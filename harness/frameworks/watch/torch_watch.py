"""Watching PyTorch: plain loops and whatever drives them. The parts, and what passes between them."""

from __future__ import annotations

from typing import Any

from harness.checks.tensor_facts import Site
from harness.frameworks.watch import (
    torch_batches,
    torch_blanks,
    torch_contracted,
    torch_divergence,
    torch_endings,
    torch_held_norms,
    torch_kept,
    torch_loss_graph,
    torch_mixed,
    torch_parallel,
    torch_recurrent,
    torch_relations,
    trees,
)
from harness.frameworks.watch.alignment import Alignment
from harness.frameworks.watch.copies import Copies
from harness.frameworks.watch.galleries import Galleries
from harness.frameworks.watch.mirrored import Mirrored
from harness.frameworks.watch.mixed_rows import MixedRows
from harness.frameworks.watch.patience import Patience
from harness.frameworks.watch.relations import Relations
from harness.frameworks.watch.scrambled import Scrambled
from harness.frameworks.watch.seasoned import Seasoned
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.shared_rows import SharedRows
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.splits import Splits
from harness.frameworks.watch.told import of as told_of
from harness.frameworks.watch.torch_averages import Averages
from harness.frameworks.watch.torch_births import Births
from harness.frameworks.watch.torch_cached import Cached
from harness.frameworks.watch.torch_calls import Calls, RootCall
from harness.frameworks.watch.torch_carried import CarriedStates
from harness.frameworks.watch.torch_checkpointing import Checkpointing
from harness.frameworks.watch.torch_collation import Collation
from harness.frameworks.watch.torch_data import Data
from harness.frameworks.watch.torch_decisions import Decisions
from harness.frameworks.watch.torch_drawn_rows import DrawnRows
from harness.frameworks.watch.torch_draws import Draws
from harness.frameworks.watch.torch_evaluation import Evaluations
from harness.frameworks.watch.torch_files import Files
from harness.frameworks.watch.torch_flattened import Flattened
from harness.frameworks.watch.torch_functional import Functional
from harness.frameworks.watch.torch_generation import Generations
from harness.frameworks.watch.torch_handed import Handed
from harness.frameworks.watch.torch_key_masks import KeyMasks
from harness.frameworks.watch.torch_loss import Losses
from harness.frameworks.watch.torch_masks import Masks
from harness.frameworks.watch.torch_memory import Memory
from harness.frameworks.watch.torch_model import Models
from harness.frameworks.watch.torch_opposed import Opposed
from harness.frameworks.watch.torch_orders import Orders
from harness.frameworks.watch.torch_origins import Origins
from harness.frameworks.watch.torch_own_backward import OwnBackward
from harness.frameworks.watch.torch_own_ratio import OwnRatios
from harness.frameworks.watch.torch_pairs import Pairs
from harness.frameworks.watch.torch_passes import Passes
from harness.frameworks.watch.torch_pending import Pending
from harness.frameworks.watch.torch_phases import Phases
from harness.frameworks.watch.torch_players import Players
from harness.frameworks.watch.torch_policy import Policy
from harness.frameworks.watch.torch_probes import Probes
from harness.frameworks.watch.torch_recurrent import CutStates
from harness.frameworks.watch.torch_rested import Rested
from harness.frameworks.watch.torch_restores import Restores
from harness.frameworks.watch.torch_rounded import Rounding
from harness.frameworks.watch.torch_schedules import Schedules
from harness.frameworks.watch.torch_signs import Signs
from harness.frameworks.watch.torch_steps import Steps
from harness.frameworks.watch.torch_stray import Strays
from harness.frameworks.watch.torch_tape import Tape
from harness.frameworks.watch.torch_teachers import Teachers
from harness.frameworks.watch.torch_tempered import Tempered
from harness.frameworks.watch.torch_trainer import Trainers
from harness.frameworks.watch.torch_unlooked import Unlooked
from harness.frameworks.watch.torch_unmeasured import Unmeasured
from harness.frameworks.watch.vocabularies import Vocabularies

_WANTED = "labels"  # of rows that no loader brought
_PATIENCE = 4
_SCALED = 8  # steps whose inputs are measured
_FIRST = 3  # steps of which is known what became of their gradients


class TorchWatcher:
    """Fills an observation from PyTorch. Each part hooks one thing; what one sees and another needs goes through here."""

    def __init__(self, session: WatchSession) -> None:
        self.session = session
        self.seen = session.observation
        self.torch: Any = None
        self.evaluating = 0
        self.pending = Pending(self)
        self.roots: list[Any] = []
        self.patience = Patience(session)
        self._attended = False
        self._settled = False
        self._tried = False
        self._behind_norm: Any = None
        self.quantiles_told = False

    def attach(self, torch: Any) -> None:
        """Hook torch now, transformers, evaluate and scikit-learn when they are imported."""
        self.torch = torch
        self.seasoned = Seasoned(torch.nn.Module, late=self.session.late)
        self.decisions, self.unlooked, self.drawn = Decisions(self), Unlooked(self), DrawnRows(self)
        self.galleries = Galleries(self.session)
        self.tape = Tape(self)
        self.calls, self.data, self.losses = Calls(self), Data(self), Losses(self)
        self.steps, self.models, self.evaluations = Steps(self), Models(self), Evaluations(self)
        self.relations, self.alignment, self.splits, self.shared = Relations(), Alignment(), Splits(), SharedRows()
        self.memory, self.probes, self.trainers, self.births = Memory(self), Probes(self), Trainers(self), Births(self)
        self.kept, self.rested = torch_kept.Unfollowed(self), Rested(self)
        self.phases, self.passes, self.cached = Phases(self), Passes(self), Cached(self)
        self.handed, self.opposed, self.players = Handed(), Opposed(self), Players(self)
        self.opposed.attach()
        self.told = told_of(self.session)
        self.session.comparisons += [lambda answers, wanted: self.relations.compared(answers, wanted, self.session.sites.here()),
                                     lambda answers, wanted: self.alignment.compared(answers, wanted, self.session.sites.here())]
        self.mirrored, self.copies, self.mixed_rows = Mirrored(), Copies(self.session.sites), MixedRows()
        self.files, self.draws, self.masks, self.pairs = Files(self), Draws(self), Masks(self), Pairs(self)
        self.key_masks, self.tempered, self.strays, self.signs = KeyMasks(self), Tempered(self), Strays(self), Signs(self)
        self.teachers, self.flattened = Teachers(self), Flattened(self)
        self.policy, self.own_ratios, self.cut_states = Policy(self), OwnRatios(self.seen), CutStates(torch, self.session)
        self.restores, self.generations, self.unmeasured = Restores(self), Generations(self), Unmeasured(self)
        self.averages = Averages(self)
        self.schedules, self.origins, self.states = Schedules(self), Origins(self), CarriedStates(self)
        self.vocabularies = Vocabularies(self.session, self.data.tokenizers)
        for part in (self.passes, self.draws, self.schedules, self.restores, Functional(self), Collation(self), Checkpointing(self),
                     self.files, self.pairs, self.masks, self.generations, self.origins, self.vocabularies,
                     self.calls, self.data, self.losses, self.steps, self.evaluations, self.trainers, self.models, self.tape,
                     self.states, Rounding(self), Orders(self), OwnBackward(self), self.galleries):
            part.attach()
        torch_blanks.attach(self)
        torch_parallel.attach(self.session)
        self.scrambled = Scrambled(self.session)
        self.scrambled.of_torch(torch)

    # What happens in a script, in the order in which it does

    def before_root(self, call: RootCall) -> None:
        """A model is about to run. May raise `Enough`."""
        if call.grad:
            self.session.training_begins()
        if self.session.out_of_time:
            self.session.enough("time")
        fruitless = max(self.steps.backwards, self.seen.forward_without_backward) if not self.steps.steps else 0
        # Of a loop that takes no steps; for some seconds it may be filling a memory to learn from.
        if fruitless > _PATIENCE * self.session.budget.steps and self.session.watched_seconds > self.session.budget.onward_seconds:
            self.session.enough("enough steps")
        self.session.safely("a forward pass", self._prepare, call)

    def _prepare(self, call: RootCall) -> None:
        self.session.reach("forward")
        call.place = self.session.sites.place()
        call.stack = self.session.sites.stack() if self.seen.evaluation.site is None else ()
        call.loader = self.data.source_of(call)
        self.restores.runs(call.module)
        if "forward" not in self.seen.sites:
            self._remember("forward", site(call.place))
        self.seen.framework = "torch" if self.seen.framework == "none" else self.seen.framework
        self.key_masks.begins(call)
        # An input that broke the model is wanted most, so the batch is described before it is used.
        self.data.given_to_model(call)
        self.models.about_to_run(call)
        self.session.safely("a state", self.states.begins, call)

    def _remember(self, name: str, place: Site | None) -> None:
        if place is not None:
            self.seen.sites.setdefault(name, place)

    def after_root(self, call: RootCall) -> None:
        """A model has run."""
        self.tape.model_called(call.module, call.args, call.kwargs, call.output, call.place)
        self.session.safely("an answer", self.passes.answered, call)
        self.session.safely("an answer", self.cached.answered, call)
        self.session.safely("an answer", self.tempered.answered, call)
        self.session.safely("an answer", self.teachers.ran, call)
        self.session.safely("a copy", self._copied, call)
        self.players.answered(call)
        if not call.grad or self.evaluating:
            self.session.safely("a mask", self.masks.asked, call)
            self.session.safely("an answer", self.rested.answered, call)
            self.session.safely("a token that is written", self.generations.own.ran, call)
            self.evaluations.forward(call)
            return
        self.session.safely("an answer", self.kept.answered, call.output)
        self.session.safely("an answer", self.rested.answered, call)
        if type(call.module).__name__ in torch_recurrent.KINDS:
            self.session.safely("the state of a cell", self.cut_states.ran, call.module, call.args, call.kwargs, call.output)
        self.session.safely("an answer", self.states.ended, call)
        self.pending.add(call)

    def before_backward(self, loss: Any) -> None:
        """A loss goes backward: the forwards before it were training."""
        cut = self.tape.cuts[-1] if self.tape.cuts else self.tape.decided  # what follows looks at the loss, and cuts it off for that
        self.session.training_begins()
        self.session.reach("backward")
        self.seen.framework = "torch"
        if "backward" not in self.seen.sites:
            self._remember("backward", self.session.sites.here())
        calls = self.pending.take(loss)
        self.data.trained_on(calls)
        self.passes.trained()
        self.evaluations.training_resumes()
        self.phases.trained([call.module for call in calls])
        related = self.session.safely("outputs and targets", torch_relations.trained, self, calls)
        self.evaluations.trained(calls)
        self.session.safely("a judge and a maker", self._judged, loss, calls)
        for call in calls:
            given = trees.leaves([call.args, call.kwargs], self.torch.is_tensor)
            self.session.safely("parts of a batch", self.handed.trained, call)
            self.session.safely("rows that are trained on", self.shared.trained, call.module, given)
            self.session.rows_trained(given, whole=True)
            self.session.safely("a mask", self.masks.trained, call)
            self.session.safely("texts that are wanted", self.generations.trained, call)
            self.session.safely("a fold", self._folded, call.module)
            self.session.safely("weights on their way", self.averages.trains, call.module)
            if self.steps.steps < _SCALED and not self.pending.overflowed:  # the last calls of many are not like the first ones
                self.session.safely("a scale", self.splits.trained, call.module, given)
        for call in calls:
            if not any(call.module is root for root in self.roots):
                self.roots.append(call.module)
        self.session.safely("graphs that are kept", self.kept.backward)
        self.pending.overflowed = False
        records = self.losses.commit(loss, calls)
        for call in calls:
            wanted = {_WANTED: records[-1].target} if records and call.batch is None else torch_batches.columns_of(call.batch)
            self.session.safely("pictures that are trained on", self.mirrored.trained, trees.leaves(
                [call.args, call.kwargs], self.torch.is_tensor), wanted)
        if records and self.in_full:
            self.session.safely("a divergence", torch_divergence.measure, self, loss, calls, records)
        if records and len(calls) == 1:
            self.session.safely("mixed rows", self._mixed, loss, calls[0], records)
            self.session.safely("answers in one row", self.flattened.trained, calls[0], records)
        if records and not related:
            self.session.safely("outputs and targets", torch_relations.by_loss, self, calls, records[-1].target)
        if records:
            self.session.safely("pairs", self.pairs.trained, calls, records[-1].target)
        if self.data.current is None and records and calls:
            self.session.safely("rows", self.data.keep_given, calls[0], records[-1].target)
        plain = self.losses.unscaled.get(id(loss), (None, loss))[1]
        self.session.safely("a loss", self.births.loss, plain, calls, records)
        self.models.backward_begins(plain, calls, records)
        if (plain.grad_fn is None or self.models.cut_off) and cut is not None:
            self._remember("cut", site(cut))
        self.session.safely("keeping a step", self.probes.offer, loss, records, calls)

    def compared_by_hand(self, given: list[Any], wanted: Any) -> None:
        """In an evaluation without a loader, what a model has made of these inputs is held against these references."""
        self.session.safely("pictures of an evaluation", self.mirrored.held, given, {_WANTED: wanted})

    def _copied(self, call: RootCall) -> None:
        with self.session.paused():  # who looks for where a loss is cut off is not to see this
            self.copies.ran(call.module, lambda: list(call.module.parameters()), [call.args, call.kwargs], recorded=call.grad)
        self.unmeasured.ran(call)
        self.averages.ran(call)

    def _judged(self, loss: Any, calls: list[RootCall]) -> None:
        with self.session.paused():
            if not self._attended and calls and loss.grad_fn is not None:
                self._attended = True
                self.session.safely("weights of attention", torch_contracted.measure, self, loss)
                self.session.safely("a loss's graph", torch_loss_graph.measure, self, loss)
            self.session.safely("weights of the filler", self.key_masks.weighs, loss)
            self.players.trained(loss, calls)
        self.seen.players = self.players.facts()

    def _folded(self, module: Any) -> None:
        self.session.folds.trains(module, lambda: [weight.detach().float().cpu().numpy() for weight in module.parameters()],
                                  lambda: self.calls.stack_of(module))

    def after_backward(self) -> None:
        self.models.backward_ended()
        self.tape.clear()
        self.losses.clear()
        self.cut_states.stepped()
        self.session.safely("gradients of models", self.rested.went_back)
        if self.steps.steps < _FIRST:
            held = [weight for known in self.steps.known_optimizers() for weight in known.weights()]
            self._behind_norm = self.session.safely("gradients as they come", self.steps.norm_of_gradients, held)

    def stepped(self) -> None:
        """An optimizer step is over. May raise `Enough`."""
        if self.seen.steps and isinstance(self._behind_norm, float):
            self.seen.steps[-1].backward_norm, self._behind_norm = self._behind_norm, None
        if not self.steps.backwards:
            self.tape.clear()  # gradients come another way, and what is recorded for a backward pass would keep their graphs
        self.session.safely("memory", self.memory.stepped)
        self.session.safely("draws", self.draws.stepped)
        self.policy.stepped()
        self.session.safely("gradients of models", self.rested.went_back)
        self.states.carried.stepped()
        self.copies.stepped()
        self.session.safely("weights on their way", self.averages.stepped)
        self.session.safely("layers that are held", torch_held_norms.stepped, self)
        self.session.safely("a probe", self.probes.stepped)
        if self.seen.probes.evaluation_error is not None and not self._tried:
            self._tried = True
            self.session.settle(evaluated=True)  # the script would come to the same error later
        if self.session.out_of_time:
            self.session.enough("time")
        if self.probes.over and not self._settled:
            self._settled = True
            self.session.safely("the steps", self.steps.finish)
            self.session.settle()
            self.patience.settled()
        self.patience.concluded()
        if self._settled and self.patience.turned_bad:
            self.session.enough("enough steps")
        if self._settled and not self.leads_on:
            if self.tape.on:
                self.tape.stop()
            if self.data.training_loader is None and not self.trainers.training:
                self.evaluations.may_end()  # a loop that makes its batches itself cannot be led to its evaluation, but may have come by it

    def repeated(self) -> None:
        """Another fold or try begins: the training that is watched is over. May raise `Enough`."""
        if not self._settled:
            self.session.safely("experiments", self.probes.conclude)
            self._settled = True
            self.session.safely("the steps", self.steps.finish)
            self.session.settle(last=True)
        elif self.session.open:
            self.session.settle(last=True)
        self.patience.ended()

    @property
    def in_full(self) -> bool:
        """Whether steps are still watched in full; afterwards the script is only led to its evaluation."""
        return self.patience.lasts(self.probes.undecided)

    def _mixed(self, loss: Any, call: RootCall, records: list[Any]) -> None:
        with self.session.paused():
            shares = torch_mixed.shares(self.torch, loss, records)
        given = trees.leaves([call.args, call.kwargs], self.torch.is_tensor)
        if shares is not None and given:
            self.mixed_rows.trained(given[0], shares)

    @property
    def leads_on(self) -> bool:
        """Whether training goes on as the script has it, watched in full or not."""
        return self.in_full or self.patience.goes_on

    def finish(self, error: BaseException | None) -> None:
        """Complete the record."""
        torch_endings.finish(self, error)
