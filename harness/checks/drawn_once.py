"""Random numbers that are drawn once where they were meant to be drawn anew."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site
from harness.checks.training_facts import BakedFacts


class DrawnOnce(Check):
    """A random number is drawn once, while TensorFlow traces, or from one seed each time, and is the same ever after.

    A function that `tf.data` maps, or that `tf.function` or `fit` compile, runs as Python only while it is traced. What NumPy or Python's
    `random` draw there becomes a constant of the graph: the same noise on every row, the same crop, the same half of the dropout.
    A dataset that seeds a generator by the row's number draws the same for this row in every epoch; so does one that keeps a generator,
    which every worker of a loader copies with each pass.
    So does a plain number that the step reads, such as a weight of the loss that a callback is to raise.
    And so it is with a function that takes its seed with each call, as `keras.random.normal` and `tf.random.stateless_normal` do.
    Sources: Keras docs, "Random operations" (an integer seed gives the same values at each call); TensorFlow guide, "Better performance
    with tf.function" (Python side effects; "use tf.random"); PyTorch docs, `torch.utils.data` ("Randomness in multi-process data loading").
    """

    code: ClassVar[str] = "D109"
    stage: ClassVar[Stage] = "data"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from generators whose state moved while a function was traced, and from that function's text."""
        places: tuple[tuple[str, str, Stage | None], ...] = (
            ("drawn_in_map", "The function given to `map`", None), ("drawn_in_step", "A compiled step", "forward"))
        for name, where, stage in places:
            site = seen.sites.get(name)
            if site is not None:
                return Finding(
                    message=f"{where} draws from NumPy or Python while it is traced: that happens once, and every "
                            f"{'row' if stage is None else 'step'} gets the same numbers.",
                    remedy="Draw with TensorFlow, which does so whenever the graph runs: `tf.random.normal(tf.shape(x))`, "
                           "`tf.random.uniform(())`; or wrap the drawing in `tf.numpy_function(...)`.",
                    site=site, stage=stage,
                    evidence=["the state of the generator moved while the function was traced"])
        if "seeded_rows" in seen.sites:
            return self._rows(seen, seen.sites["seeded_rows"])
        if "copied_generator" in seen.sites:
            return self._copied(seen.sites["copied_generator"])
        if "seeded" in seen.sites:
            return self._seeded(seen.sites["seeded"])
        return self._baked(seen.baked) if seen.baked is not None else None

    @staticmethod
    def _seeded(site: Site) -> Finding:
        """A draw for the rows of a batch that is given the same seed with each call."""
        return Finding(
            message="What is drawn here for each batch is drawn from one seed every time: all batches get the same numbers.",
            remedy="Give it a generator that moves on, `self.seeds = keras.random.SeedGenerator(2024)` once and `seed=self.seeds` in the "
                   "call; a stateless function of TensorFlow gets another seed at each step, `seed=(2024, step)`.",
            site=site, stage="forward", evidence=["a function that takes its seed with each call gives the same numbers for the same seed"])

    @staticmethod
    def _copied(site: Site) -> Finding:
        """A generator of the dataset's own in a loader with workers."""
        return Finding(
            message="The rows draw from a generator that the dataset keeps, and each worker of the loader gets a copy of it with every "
                    "pass: all workers draw the same numbers, and every epoch the same ones again.",
            remedy="Draw from PyTorch's own generator (`torch.randn`), which each worker seeds anew; or make this one in the worker: "
                   "`def init(_): torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())`, "
                   "`DataLoader(..., worker_init_fn=init)`.",
            site=site, evidence=["reading a row moved the generator on, and the loader has workers that are begun anew for each pass"])

    @staticmethod
    def _rows(seen: Observation, site: Site) -> Finding:
        """A generator that each row seeds anew by its own number, and by nothing else."""
        worker = "" if seen.framework in reading.KERAS else " (each worker has a seed of its own, `torch.initial_seed()`)"
        return Finding(
            message="Each row seeds its generator by its own number: what is drawn for it is the same in every epoch, so that a row that "
                    "is to be changed at random is always the same one.",
            remedy=f"Draw from a generator that goes on, made once in `__init__`{worker}, or let the epoch count for the seed. Rows of "
                   "an evaluation are right to stay as they are.",
            site=site, evidence=["the rows were read in more than one epoch, and the seed depends on nothing but the row's number"])

    @staticmethod
    def _baked(found: BakedFacts) -> Finding:
        """What a callback or a loop sets later, epoch by epoch, the graph does not read again."""
        step = "The step" if found.function is None else f"`{found.function}`"
        return Finding(
            message=f"{step} reads `{found.name}` while it is traced, and that once: the graph goes on with {found.kept:g}, though "
                    f"the script has set it to {found.now:g} since.",
            remedy=f"Make it a variable that the graph reads at every step, `{found.name} = tf.Variable({found.kept:g}, "
                   f"trainable=False)`, and set it with `.assign(...)`.",
            site=found.site, stage="loss",
            evidence=[*([f"It is read on line {found.read.line}: {found.read.source[:100]}"] if found.read is not None else []),
                      ("`run_eagerly=True` reads it anew, and is slow" if found.function is None else
                       "without `tf.function` it is read anew, and the step is slow")])
