"""The end of watching PyTorch: what is known only once the script is over, or is not watched any longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.watch import foreign, in_order, texts, torch_augmented, torch_kept, torch_overwritten, torch_redrawn, written

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


def finish(watch: TorchWatcher, error: BaseException | None) -> None:
    """Complete the record."""
    if watch.torch is None or watch.seen.framework in ("tf_keras", "keras"):
        return  # transformers imports PyTorch beside TensorFlow
    session = watch.session
    for call in watch.pending.calls:
        if not watch.seen.steps and not watch.seen.loss_calls:
            watch.roots.append(call.module)
    if "a second time" in str(error) and "carried" not in watch.seen.sites:
        kept = session.safely("a kept tensor", torch_kept.assignment, watch.torch, [*watch.roots, *watch.calls.all_built()], session.sites)
        session.noted("kept", kept)
    for name, part in (("losses", watch.losses.finish), ("steps", watch.steps.finish), ("schedules", watch.schedules.finish),
                       ("weights that are kept", watch.restores.finish),
                       ("origins", watch.origins.finish), ("losses that stay behind", watch.strays.finish),
                       ("models", watch.models.finish), ("the vocabulary", lambda: _compare_vocabularies(watch)),
                       ("weights that stay free", lambda: foreign.of_torch(
                           session, {*watch.roots, watch.models.model} - {None}, watch.steps.stepping)),
                       ("data", watch.data.finish), ("rows that are read", lambda: torch_overwritten.measure(watch)),
                       ("rows drawn again", lambda: torch_augmented.measure(watch)),
                       ("rows read twice", lambda: torch_redrawn.measure(watch)), ("rows of an evaluation", watch.drawn.measure),
                       ("evaluations", watch.evaluations.finish), ("memory", watch.memory.finish),
                       ("graphs that are kept", watch.kept.finish), ("models at rest", watch.rested.finish),
                       ("copies", lambda: _behind(watch)), ("averages of weights", watch.averages.finish),
                       ("texts that are written", watch.generations.finish),
                       ("passes", watch.passes.finish), ("relations", lambda: _relate(watch)), ("pictures", lambda: _mirrored(watch)),
                       ("probes", lambda: watch.probes.finish(error)), ("rows in their order", lambda: in_order.of_torch(watch))):
        session.safely(f"finishing {name}", part)
    if session.observation.framework == "none" and (watch.roots or watch.seen.model is not None or watch.trainers.trainer is not None):
        watch.seen.framework = "torch"


def _behind(watch: TorchWatcher) -> None:
    watch.seen.behind = watch.copies.facts({id(weight) for known in watch.steps.stepping for weight in known.weights()})


def _compare_vocabularies(watch: TorchWatcher) -> None:
    if watch.seen.model is not None and watch.seen.model.pretrained:
        watch.seen.vocabulary = watch.vocabularies.measure(watch.roots)


def _mirrored(watch: TorchWatcher) -> None:
    watch.seen.mirrored, watch.seen.resized = watch.mirrored.measure(), watch.mirrored.maps.facts(watch.session.script)
    watch.seen.mixed_rows = watch.mixed_rows.measure()
    if watch.seen.mirrored is not None:
        watch.session.noted("moved", written.moved(watch.session.script, turned="turned" in watch.seen.mirrored.how))


def _relate(watch: TorchWatcher) -> None:
    texts.note(watch.session)
    watch.seen.evaluation.relation, watch.seen.carried = watch.relations.facts(), watch.states.carried.facts
    watch.seen.evaluation.alignment, watch.seen.evaluation.handed = watch.alignment.facts(), watch.handed.facts()
    watch.splits.fill(watch.seen.evaluation, watch.session.script)
    watch.seen.opposed, watch.seen.evaluation.two_scales = watch.opposed.facts(), watch.relations.two_scales
    watch.seen.evaluation.loose_relation = watch.relations.loose()
    watch.seen.evaluation.shared = watch.shared.facts(cut=watch.session.stopping is not None)
    watch.seen.evaluation.encoded, watch.seen.evaluation.numbered = watch.session.encoders.facts(), watch.session.numberings.facts()
    watch.seen.evaluation.chosen, watch.seen.misread = watch.session.choosers.facts(), watch.session.raw_bytes.facts()
