"""Memory: what does not fit, and what grows."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_BEFORE = ("setup", "data")
_UNROLLED = 12  # steps: more than anybody unrolls under a tape
_TRACES, _TRACES_NOW_AND_THEN = 8, 12
_EVALUATIONS, _GRAPHS, _FEW = 8, 20, 4
_HELD, _HELD_SHARE = 96 << 20, 0.1  # bytes, and part of the peak
_GATHERS = "evaluation_loop"  # of a Trainer
_GATHERED = ("The Trainer keeps what the model gives for every row until the evaluation is over. Keep less of it: "
             "`preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)`; move it off the device: "
             "`eval_accumulation_steps=8`; or take a smaller `per_device_eval_batch_size`.")
_UNITS = {"B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGTRAP")
_WIDTHS = {"float": 4,
           "float32": 4, "half": 2, "float16": 2, "bfloat16": 2, "double": 8, "float64": 8, "int32": 4, "int64": 8, "int8": 1, "bool": 1}


class OutOfMemory(Check):
    """Memory runs out.

    Activations grow with batch size and sequence length (attention with its square), weights and optimizer state do not.
    Sources: PyTorch docs, CUDA memory management; Hugging Face docs, Model training anatomy.
    """

    code: ClassVar[str] = "R601"
    stage: ClassVar[Stage] = "resources"
    requires: ClassVar[tuple[str, ...]] = ("L203", "G308", "R602")

    messages: ClassVar[tuple[str, ...]] = (
        r"DefaultCPUAllocator: can't allocate memory", r"DefaultCPUAllocator: not enough memory", r"CUDA out of memory",
        r"(MPS|XPU|HIP) .*out of memory", r"OOM when allocating tensor", r"std::bad_alloc", r"Unable to allocate .* for an array",
        r"Dst tensor is not initialized", r"failed to allocate memory|[Oo]ut of memory (while|trying to) allocat",
        r"RESOURCE_EXHAUSTED|CUDA error: out of memory", r"^(?:\S+: line \d+:\s+\d+ )?Killed(?:\s+python|$)")
    _CLASSES = ("MemoryError", "OutOfMemoryError", "ResourceExhaustedError", "_ArrayMemoryError")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exceptions of allocators, whatever the stage they came out of, and from what the kernel counts."""
        error = self._error(seen)
        if error is None:
            return self._crashed(seen) or self._killed(seen)
        wanted = seen.memory.requested or requested_bytes(error.message)
        batch = _batch(seen)
        asked = f" when {_size(wanted)} more were asked for" if wanted else ""
        evidence = [f"{error.type}: {reading.first_line(_telling(error.message, self.messages))}"]
        memory = seen.memory
        for name, size in (("weights", memory.weights), ("peak before", memory.peak), ("budget", memory.budget)):
            evidence += [f"{name}: {_size(size)}"] if size else []
        longest = max((b.longest for b in seen.batches if b.longest), default=None)
        if batch:
            evidence.append(f"batch of {batch} rows" + (f", up to {longest} tokens each" if longest else ""))
        gathers = seen.trainer and any(function == _GATHERS for *_, function in error.frames)
        return Finding(message=f"Memory ran out{asked}" + (" in the evaluation." if gathers else f", with {batch} rows in a batch."
                                                           if batch else "."),
                       remedy=_GATHERED if gathers else self._remedy(seen, batch),
                       site=error.site or reading.place(seen, "loss", "fit", "step"), evidence=evidence)

    def _crashed(self, seen: Observation) -> Finding | None:
        """Native code that does not ask whether it got the memory crashes; what its allocator said before is all that is left."""
        ended = seen.ended
        if ended is None or ended.name not in _CRASHES:
            return None
        said = [line for line in ended.said.splitlines() if any(re.search(pattern, line) for pattern in self.messages)]
        if not said:
            return None
        batch, wanted = _batch(seen), requested_bytes(said[-1])
        asked = f" when {_size(wanted)} more were asked for" if wanted else ""
        return Finding(
            message=f"Memory ran out{asked}, and native code that did not get it crashed ({ended.name})"
                    + (f", with {batch} rows in a batch." if batch else "."),
            remedy=self._remedy(seen, batch), site=ended.site, evidence=[f"printed before {ended.name}: {said[-1].strip()}"])

    def _killed(self, seen: Observation) -> Finding | None:
        """The kernel gives no message: it ends the process that holds most, and counts it."""
        ended = seen.ended
        if ended is None or not ended.out_of_memory:
            return None
        batch = _batch(seen)
        held = f" when it held {_size(ended.resident)}" if ended.resident else ""
        return Finding(
            message=f"The machine's memory ran out, and the kernel ended the script{held}"
                    + (f", with {batch} rows in a batch." if batch else "."),
            remedy=self._remedy(seen, batch) if batch and seen.reached not in _BEFORE else
                   "Load the data in parts (`datasets` and memory maps keep it on disk), in a smaller dtype, or take a smaller model.",
            site=ended.site, evidence=[f"{ended.name}, while the kernel counted a process ended for memory",
                                       *([f"memory of the machine: {_size(ended.machine)}"] if ended.machine else [])])

    def _error(self, seen: Observation) -> ExceptionFacts | None:
        for error in reading.raised(seen):
            if error.type in self._CLASSES or set(error.bases) & set(self._CLASSES) or any(
                    re.search(pattern, error.message) for pattern in self.messages):
                return error
        return None

    @staticmethod
    def _remedy(seen: Observation, batch: int | None) -> str:
        fits = seen.probes.fits_batch_size
        if batch == 1:
            return ("One row is too much already: shorten rows (`max_length`), recompute activations "
                    "(`model.gradient_checkpointing_enable()`), "
                    "or take a smaller model.")
        if fits is not None and fits < 1:
            return "Not even one row fits: take a smaller model, shorter rows (`max_length`), or a machine with more memory."
        size = fits if fits is not None else batch // 2 if batch else None
        how = f"a batch of {size} fits by estimate" if fits is not None else "halve the batch until it fits"
        if size is None:
            return "Halve the batch until it fits; is another process (a notebook that is still open) holding memory?"
        times = max(1, round(batch / size)) if batch else 1
        if seen.framework in reading.KERAS:
            return f"Batch size {size} instead of {batch} ({how}): `batch_size={size}`."
        if seen.trainer:
            return (f"`per_device_train_batch_size={size}, gradient_accumulation_steps={times}` keeps the effective batch of {batch} "
                    f"({how}).")
        return f"`DataLoader(..., batch_size={size})`, stepping every {times} batches to keep the effective batch ({how})."


class MemoryGrows(Check):
    """Memory grows with each step.

    Sources: PyTorch docs, FAQ ("my model reports out of memory"); Python docs, tracemalloc; TensorFlow docs, Better performance with
    tf.function (retracing).
    """

    code: ClassVar[str] = "R602"
    stage: ClassVar[Stage] = "resources"
    requires: ClassVar[tuple[str, ...]] = ("G308",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges the slope over the last steps against the peak; caches fill in the first ones."""
        every = seen.memory.traces >= 0.5 * seen.memory.traced_calls
        if seen.memory.traces >= (_TRACES if every else _TRACES_NOW_AND_THEN):
            return self._traced(seen)
        if seen.memory.reentered >= _TRACES:
            return Finding(
                message=f"One persistent tape records all steps: `with` was entered {seen.memory.reentered} times with the same one, which "
                        "keeps every operation and every tensor of all of them.",
                remedy="Make a tape for each step, `with tf.GradientTape(persistent=True) as tape:`, and `del tape` after the last "
                       "gradient; or call `tape.reset()` at the beginning of the block.",
                site=reading.place(seen, "reentered", "backward"), evidence=[])
        if seen.memory.tape_steps >= _UNROLLED:
            return Finding(
                message=f"One tape stays open over {seen.memory.tape_steps} steps: it records all of them, and keeps what they made until "
                        "it is left.",
                remedy="Open a tape inside the loop, for one step: `for x, y in batches:`, then `with tf.GradientTape() as tape:`; take "
                       "the gradient after its block.",
                site=seen.memory.tape_site or reading.place(seen, "backward"), evidence=[])
        kept = seen.memory.evaluations_kept
        large = kept >= _FEW and seen.memory.graphs_held >= max(_HELD, _HELD_SHARE * (seen.memory.peak or 0))
        many = kept >= _EVALUATIONS and seen.memory.graphs_kept >= _GRAPHS
        if (many or large) and kept >= 0.8 * seen.memory.evaluations:
            return self._evaluations(seen)
        if seen.memory.held_at_once >= max(_HELD, _HELD_SHARE * (seen.memory.peak or 0)):
            return self._at_once(seen)
        if seen.memory.scores_kept >= max(_HELD, _HELD_SHARE * (seen.memory.peak or 0)):
            return self._scores(seen)
        killed = seen.ended is not None and seen.ended.out_of_memory
        peak = seen.ended.resident if seen.ended is not None and killed else seen.memory.peak
        growth, steps = seen.memory.growth_per_step, max(seen.memory.steps, len(seen.steps))
        if growth is None or peak is None:
            raise NotJudged("memory was not measured over the steps")
        if growth < 2**20:
            return None
        if steps < 30 and not killed:
            raise NotJudged("too few steps to tell growth from caches that fill")
        if growth * steps < 0.25 * peak:
            return None
        listed = "`history.append(float(loss))`" if seen.framework in reading.KERAS else "`outputs.append(x.detach().cpu())`"
        return Finding(message=f"Memory grows by {_size(growth)} with every step: {_size(growth * steps)} in the {steps} steps that were "
                               "watched, of "
                               f"a peak of {_size(peak)}.",
                       remedy=f"Look for what is kept from step to step: outputs or losses in a list ({listed}), hooks that are added "
                              "again, a cache without a limit.",
                       site=reading.place(seen, "carried", "appended", "loss", "step", "backward", "fit"),
                       evidence=["the machine's memory ran out, and the kernel ended the script"] if killed else [])

    @staticmethod
    def _evaluations(seen: Observation) -> Finding:
        """What a loss or an answer that nothing goes back through was computed from is held as long as that one is."""
        return Finding(
            message=f"What {seen.memory.evaluations_kept} evaluations gave is kept with its graphs: each holds everything that its forward "
                    "pass computed, and memory grows with every evaluation.",
            remedy="Evaluate under `with torch.no_grad():`, and keep numbers: `losses.append(loss.item())`.",
            site=reading.place(seen, "kept_graph", "evaluation", "loss"),
            evidence=[f"evaluations with a graph: {seen.memory.evaluations}; held at the end: {seen.memory.evaluations_kept}",
                      *([f"they took {_size(seen.memory.graphs_held)}"] if seen.memory.graphs_held > 2**20 else [])])

    @staticmethod
    def _at_once(seen: Observation) -> Finding:
        """Losses that are added up with their graphs, which live until the evaluation is over."""
        memory = seen.memory
        return Finding(
            message=f"An evaluation keeps the graphs of all its {memory.graphs_at_once} batches until it is over: they took "
                    f"{_size(memory.held_at_once)}, of a peak of {_size(memory.peak)}, and take more the more rows there are.",
            remedy="Evaluate under `with torch.no_grad():`, and add up numbers: `total += loss.item()`.",
            site=reading.place(seen, "kept_at_once", "evaluation", "loss"),
            evidence=[f"answers with a graph that lived at the end of one evaluation: {memory.graphs_at_once}"])

    @staticmethod
    def _scores(seen: Observation) -> Finding:
        """A Trainer without `preprocess_logits_for_metrics` keeps what the model gives for all rows, and copies it where it joins them."""
        memory = seen.memory
        return Finding(
            message=f"The evaluation keeps the scores of all {memory.classes} classes for all its rows, {_size(memory.scores_kept)}, until "
                    "it is over, and takes them for nothing but which is the largest. More rows take more.",
            remedy="Let the Trainer keep the classes alone: `preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)`, and "
                   f"no `argmax` in `compute_metrics`. That is {_size(2 * memory.scores_kept / memory.classes)}.",
            site=reading.place(seen, "trainer", "evaluation"),
            evidence=[f"peak of the process: {_size(memory.peak)}"] if memory.peak else [])

    @staticmethod
    def _traced(seen: Observation) -> Finding:
        """Every call of a function makes a graph of its own."""
        return Finding(
            message=f"A `tf.function` is given numbers of Python that change: in {seen.memory.traced_calls} calls TensorFlow makes "
                    f"{seen.memory.traces} graphs of it, one for each number: it builds and keeps them all.",
            remedy="Give it tensors, `tf.constant(value, tf.float32)`, or let it read a `tf.Variable` that is assigned to; only what "
                   "is to be built into the graph (a mode, a width) should come as a number of Python.",
            site=reading.place(seen, "traced", "step"), evidence=[])


def _batch(seen: Observation) -> int | None:
    """Rows in a training batch."""
    batch = next((loader.batch_size for loader in seen.loaders if loader.role == "train" and loader.batch_size), None)
    if batch is None and seen.batches:
        batch = max((t.shape[0] for t in seen.batches[-1].columns.values() if t.shape), default=None)
    return batch


def requested_bytes(message: str) -> int | None:
    """How much an allocator was asked for, read from its message.

    >>> requested_bytes("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1073741824 bytes.")
    1073741824
    >>> requested_bytes("CUDA out of memory. Tried to allocate 2.50 GiB."), requested_bytes("std::bad_alloc")
    (2684354560, None)
    >>> requested_bytes("OOM when allocating tensor with shape[2048,4,128,128] and type float on /job:localhost")
    536870912
    >>> requested_bytes("Allocator (cpu) ran out of memory trying to allocate 7.63MiB (rounded to 8000256)")
    8000634
    """
    match = re.search(r"tried to allocate (\d+) bytes", message)
    if match:
        return int(match[1])
    match = re.search(r"(?:[Tt]ried|Unable|[Tt]rying) to allocate ([\d.]+) ?([KMGT]?i?B)", message)
    if match:
        return int(float(match[1]) * _UNITS.get(match[2].upper(), 1))
    match = re.search(r"allocating tensor with shape\[([\d,]+)\] and type (\w+)", message)
    if match:
        size = _WIDTHS.get(match[2], 4)
        for part in match[1].split(","):
            size *= int(part or 1)
        return size
    return None


def _size(number: float | None) -> str:
    value = float(number or 0)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB"


def _telling(message: str, patterns: tuple[str, ...]) -> str:
    return next((line.strip() for line in message.splitlines() if any(re.search(p, line) for p in patterns)), message)
