"""The resources' checks."""

from __future__ import annotations

import pytest

from harness.checks.base import walk
from harness.checks.data_facts import BatchFacts, LoaderFacts
from harness.checks.native import NativeCrash
from harness.checks.probe_facts import ProbeFacts
from harness.checks.resources import MemoryGrows, OutOfMemory
from harness.checks.training_facts import EndFacts, ExceptionFacts, MemoryFacts
from tests.checks.facts import HERE, died, found, ids, seen, steps, verdict

LOADERS = [LoaderFacts(batch_size=256)]


def _error(kind: str, message: str) -> ExceptionFacts:
    return ExceptionFacts(type=kind, message=message, site=HERE)


@pytest.mark.parametrize(("name", "size"), [("oom", "64 TiB"), ("np_oom", "512 TiB"), ("oom_limit", "MiB"), ("tf_oom", "64 TiB")])
def test_out_of_memory_raised(name: str, size: str) -> None:
    found(OutOfMemory, died(name, loaders=LOADERS), size, "256 rows", "128")


@pytest.mark.parametrize(("kind", "message"), [
    ("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 15.77 GiB"),
    ("MemoryError", "std::bad_alloc"), ("MemoryError", ""),
    ("ResourceExhaustedError", "Graph execution error:\nOOM when allocating tensor with shape[2048,4,128,128] and type float on /job:x"),
    ("RuntimeError", "CUDA error: out of memory")])
def test_out_of_memory_of_other_allocators(kind: str, message: str) -> None:
    found(OutOfMemory, died(_error(kind, message), loaders=LOADERS))


def test_what_would_fit() -> None:
    error = _error("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.50 GiB.")
    facts = {"loaders": LOADERS, "memory": MemoryFacts(weights=2**28, budget=2**31), "probes": ProbeFacts(fits_batch_size=32)}
    found(OutOfMemory, died(error, trainer="Trainer", **facts), "2.5 GiB", "per_device_train_batch_size=32, gradient_accumulation_steps=8",
          "weights: 256 MiB", "budget: 2 GiB")
    found(OutOfMemory, died(error, framework="keras", **facts), "`batch_size=32`")
    found(OutOfMemory, died(error, loaders=[LoaderFacts(batch_size=1)]), "gradient_checkpointing_enable")
    found(OutOfMemory, died(error), "Halve the batch")
    found(OutOfMemory, died(error, batches=[BatchFacts(columns={"input_ids": ids(64, 128)}, longest=128)]), "batch of 64 rows, up to 128 "
                                                                                                            "tokens")


@pytest.mark.parametrize("name", ["ce_out", "nograd", "sk_logits", "keras_out"])
def test_enough_memory(name: str) -> None:
    assert verdict(OutOfMemory, died(name)) is None
    assert verdict(OutOfMemory, seen(steps=steps(3))) is None


def test_memory_grows() -> None:
    leak = MemoryFacts(growth_per_step=20 * 2**20, peak=2**31)
    found(MemoryGrows, seen(memory=leak, steps=steps(60)), "20 MiB with every step", "1.17 GiB", "60 steps")
    for healthy in (MemoryFacts(growth_per_step=2**19, peak=2**31), MemoryFacts(growth_per_step=2 * 2**20, peak=2**31),
                    MemoryFacts(growth_per_step=-5.0, peak=2**31)):
        assert verdict(MemoryGrows, seen(memory=healthy, steps=steps(60))) is None
    assert isinstance(verdict(MemoryGrows, seen(memory=leak, steps=steps(5))), str)
    assert isinstance(verdict(MemoryGrows, seen(steps=steps(60))), str)


@pytest.mark.parametrize(("kept", "graphs", "evaluations", "wrong"), [
    (24, 24, 24, True), (24, 24, 60, False), (3, 300, 3, False), (10, 10, 10, False)])
def test_losses_of_evaluations_that_are_kept(kept: int, graphs: int, evaluations: int, wrong: bool) -> None:
    memory = MemoryFacts(peak=2**31, growth_per_step=0.0, evaluations_kept=kept, graphs_kept=graphs, evaluations=evaluations)
    observation = seen(memory=memory, steps=steps(60), sites={"kept_graph": HERE})
    if wrong:
        found(MemoryGrows, observation, "24 evaluations", "torch.no_grad()", "loss.item()")
    else:
        assert verdict(MemoryGrows, observation) is None


@pytest.mark.parametrize(("kept", "evaluations", "held", "wrong"), [
    (6, 6, 2**28, True), (6, 6, 2**24, False), (2, 2, 2**30, False), (6, 20, 2**28, False)])
def test_few_evaluations_that_are_large(kept: int, evaluations: int, held: int, wrong: bool) -> None:
    memory = MemoryFacts(peak=2**31, growth_per_step=0.0, evaluations_kept=kept, graphs_kept=kept, evaluations=evaluations,
                         graphs_held=held)
    observation = seen(memory=memory, steps=steps(60), sites={"kept_graph": HERE})
    if wrong:
        found(MemoryGrows, observation, "6 evaluations", "256 MiB")
    else:
        assert verdict(MemoryGrows, observation) is None


@pytest.mark.parametrize(("traces", "calls", "wrong"), [(60, 60, True), (3, 60, False), (10, 60, False)])
def test_a_function_that_is_traced_at_every_call(traces: int, calls: int, wrong: bool) -> None:
    observation = seen(framework="keras", steps=steps(40), memory=MemoryFacts(traces=traces, traced_calls=calls), sites={"traced": HERE})
    if wrong:
        found(MemoryGrows, observation, "60 graphs", "tf.constant")
    else:
        assert not hasattr(verdict(MemoryGrows, observation), "remedy")


@pytest.mark.parametrize(("kept", "peak", "wrong"), [(2**29, 2**31, True), (2**26, 2**31, False), (2**27, 2**33, False), (0, 2**31, False)])
def test_scores_of_a_whole_evaluation(kept: int, peak: int, wrong: bool) -> None:
    observation = seen(trainer="Trainer", memory=MemoryFacts(peak=peak, growth_per_step=0.0, scores_kept=kept, classes=4000),
                       steps=steps(60), sites={"trainer": HERE})
    if wrong:
        found(MemoryGrows, observation, "4000 classes", "512 MiB", "preprocess_logits_for_metrics", "That is 262 KiB")
    else:
        assert verdict(MemoryGrows, observation) is None


def test_an_evaluation_of_a_trainer_that_does_not_fit() -> None:
    error = _error("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.50 GiB.")
    error.frames = [("train.py", 9, "<module>"), ("trainer.py", 4000, "evaluate"), ("trainer.py", 4200, "evaluation_loop")]
    found(OutOfMemory, died(error, trainer="Trainer", loaders=LOADERS), "in the evaluation", "eval_accumulation_steps", "argmax(-1)")
    found(OutOfMemory, died(error, loaders=LOADERS), "256 rows", "128")


OUT = EndFacts(name="SIGKILL", site=HERE, out_of_memory=True, resident=3 * 2**30, machine=4 * 2**30)


def test_the_kernel_ended_it_for_memory() -> None:
    found(OutOfMemory, seen(ended=OUT, reached="step", loaders=LOADERS), "held 3 GiB", "256 rows", "128", "4 GiB")
    found(OutOfMemory, seen(ended=OUT, reached="setup"), "Load the data in parts")
    assert OutOfMemory().check(seen(ended=EndFacts(name="SIGKILL", site=HERE))) is None


def test_memory_that_grew_until_the_kernel_ended_it() -> None:
    few = {"steps": steps(12), "memory": MemoryFacts(growth_per_step=2.0**27)}
    found(MemoryGrows, seen(ended=OUT, **few), "128 MiB", "3 GiB", "kernel ended the script")
    assert MemoryGrows().check(seen(ended=OUT, steps=steps(12), memory=MemoryFacts(growth_per_step=2.0**24))) is None


@pytest.mark.parametrize(("printed", "wanted"), [
    ("W0000 bfc_allocator.cc] Allocator (cpu) ran out of memory trying to allocate 7.63MiB (rounded to 8000256)\nIf the", "7.63 MiB more"),
    ("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", "Memory ran out, and native code")])
def test_native_code_that_did_not_get_its_memory_crashed(printed: str, wanted: str) -> None:
    end = EndFacts(name="SIGABRT" if "terminate" in printed else "SIGSEGV", site=HERE, said=printed)
    found(OutOfMemory, seen(ended=end, reached="step", loaders=LOADERS), wanted, end.name, "256 rows", "printed before")
    assert next(one.code for one in walk(seen(ended=end, reached="step", loaders=LOADERS)) if one.finding) == "R601"
    assert OutOfMemory().check(seen(ended=EndFacts(name=end.name, site=HERE, said="a last word"))) is None


@pytest.mark.parametrize(("end", "said"), [
    (EndFacts(name="SIGSEGV", site=HERE), ("touched memory", "num_workers=0")),
    (EndFacts(name="SIGILL", site=HERE, loading="tensorflow"), ("library of tensorflow", "another processor", "import tensorflow before")),
    (EndFacts(name="SIGSEGV", site=HERE, loading="triton", clash="triton 3.7.1 crashes; try"), ("Triton 3.7.1 crashes; try",))])
def test_native_code_crashed(end: EndFacts, said: tuple[str, ...]) -> None:
    found(NativeCrash, seen(ended=end, reached="forward"), *said)
    assert next(one for one in walk(seen(ended=end, reached="forward")) if one.code == "R603").stage == "forward"


def test_an_end_from_outside_is_no_crash() -> None:
    assert NativeCrash().check(seen()) is None
    assert NativeCrash().check(seen(ended=EndFacts(name="SIGKILL"))) is None
