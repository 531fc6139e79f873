"""A training's steps, its memory and its end; what a script does with gradients by itself, and trainings after the first."""

from __future__ import annotations

from typing import Any, Literal

from harness.catalog.schema import Stage
from harness.checks.tensor_facts import Facts, Site, TensorFacts


class BufferFacts(Facts):
    """Variables to which a script adds the gradients of its weights: how many, `held` times set to anything else; the L2 norm of all of
    them at the first `norms` optimizer steps, and where the optimizer is asked to step, or else they are added to."""

    variables: int = 0
    held: int = 0
    norms: list[float] = []
    site: Site | None = None


class PiledFacts(Facts):
    """At how many of a tape's steps what was applied was what the step before had applied and, added to it, what came since; and where."""

    steps: int = 0
    of: int = 0
    site: Site | None = None


class UnzeroedFacts(Facts):
    """One of several optimizers whose gradients are never set to zero: its class, where it was built, the `zero_grad()` that stands
    where its own was meant (or else its step), and the smallest L2 norm `before` the backward passes of each step but the first."""

    kind: str
    optimizer: Site | None = None
    site: Site | None = None
    before: list[float] = []


class ThrownFacts(Facts):
    """Gradients of whole batches that were set to zero again before any optimizer stepped: how many backward passes each step had, and of
    how many (`thrown`) nothing was left by then. `site`: the step; `now_and_then`: it stands under a condition."""

    backwards: list[int]
    thrown: list[int]
    now_and_then: bool = False
    site: Site | None = None


class LaterFacts(Facts):
    """A training after the watched one, from `step` (1-based) of its optimizer on: weights that this `held` of the models that are trained,
    `foreign` ones that get no gradient any more, and those `lacking` from it although they get gradients: how many, and the names of some.
    `thawed`: these were frozen when the optimizer took its first step. `recorded`: their model was called under a tape, where there is one.
    """

    step: int
    held: int
    foreign: int
    lacking: int
    left: list[str]
    thawed: bool = False
    recorded: bool = True
    site: Site | None = None


class GrowingFacts(Facts):
    """A `function` of the script's own that a model calls more often with every step: `counts` of (step, calls in the step after it).
    `site`: where what adds to them is called, `defined`: the function."""

    function: str
    counts: list[tuple[int, int]]
    site: Site | None = None
    defined: Site | None = None


class OwnBackwardFacts(Facts):
    """A `torch.autograd.Function` of the script's own, `name`, by its `argument` of this number: at `compared` places the derivative of
    what it computes is known and not 0; `ratios` to it of what `backward` gives, where that is another. `site`: of `backward`."""

    name: str
    argument: int
    compared: int
    ratios: list[float] = []
    site: Site | None = None


class RunningFacts(Facts):
    """What an evaluation counts in, by its `names`, runs on from one evaluation to the next. Of a metric object: for how many `passes`,
    what it has `told`, and what it would have told of the last pass `alone`. Of an object of the script's own: the method that
    `resets` it, which nobody calls. `default`: it is a parameter's default value. `site`: where it is asked, told of a batch, or begun."""

    names: list[str]
    passes: int = 0
    told: float | None = None
    alone: float | None = None
    resets: str = ""
    default: bool = False
    site: Site | None = None


class TallyFacts(Facts):
    """Right answers, the name `counted`, over the rows of a `loader`, that are divided `by` the number of its `batches`, by the rows of its
    `own` dataset, or else by those of another loader."""

    counted: str
    loader: str
    by: str
    batches: bool
    own: bool = False
    site: Site | None = None


class BakedFacts(Facts):
    """A number of Python that a step read when it was traced: the graph has `kept` it, though it is another `now`. `name`: as it is written
    there, `self.weight` or `weight`; `function`: the one that `tf.function` compiles (none: a step of `fit`); `site`: the line that gives
    it its first value; `read`: the one that reads it."""

    name: str
    kept: float
    now: float
    function: str | None = None
    read: Site | None = None
    site: Site | None = None


class CountedFacts(Facts):
    """A number of Python, an attribute of the model, that its step adds to and reads: counted while the step was traced, and since then
    `value` in all `steps` steps. `site`: the line that adds to it."""

    name: str
    value: float
    steps: int
    site: Site | None = None


class RestedFacts(Facts):
    """A model of class `kind` that ran before each of `steps` steps, without gradients or (`recorded`) with them, and `weights` of whose
    weights are in the optimizer and had a gradient at none of these. `site`: the line of the training from which it is `called`; `built`:
    where it is made."""

    kind: str
    weights: int
    steps: int
    recorded: bool = False
    site: Site | None = None
    called: Site | None = None
    built: Site | None = None


class CopyFacts(Facts):
    """A model of class `kind` that was equal to the one that learns before the first of `steps` steps, and is what it was then after the
    last, although it answered in every step. `due`: lines that write weights into a model in the training, or the conditions that these are
    under; `every`: after how many steps that is, if all are counted; `site`: where the copy is asked."""

    kind: str
    steps: int
    due: list[Site] = []
    every: int | None = None
    site: Site | None = None


class UnaskedFacts(Facts):
    """Variables that took part in the last of `steps` steps of a tape, were made after all `asked` ones that it was asked about, and were
    never asked about themselves (`left`). `holder`: or the class of the plain objects that hold them. `site`: where the list of those was
    made, or these are kept."""

    asked: int
    left: list[str]
    steps: int
    holder: str = ""
    site: Site | None = None


class LeftOutFacts(Facts):
    """Trainable weights of new models that the tapes of `steps` steps have followed, and that none was asked about: they are what they were
    at first. `told`: all of a model that the script calls with `training=True`. `late`: they came after several steps. `site`: where the
    list of those that are asked about is made."""

    weights: int
    names: list[str]
    steps: int
    told: bool = False
    late: bool = False
    site: Site | None = None


class UnreadFacts(Facts):
    """A learning rate that was written to an attribute which the optimizer does not read: its `rate` stayed what it was."""

    kind: str
    name: str
    value: float
    rate: float
    site: Site | None = None


class ForeignFacts(Facts):
    """An attribute, `name`, that a script sets to False of a module, a layer or one of its weights, a `kind`, which does not read it: so
    many `weights` go on to learn."""

    kind: str
    name: str
    weights: int
    site: Site | None = None


class OpposedFacts(Facts):
    """All `weights` of one optimizer are among those `held` by another: the last cosines between the gradients that both step with, one
    after the other. `site`: where the larger one is made, or takes its gradients. `alone`: it is one optimizer that steps for two losses
    in turn; then `held` is what the wider loss trains, and `site` where it steps."""

    weights: int
    held: int
    cosines: list[float]
    alone: bool = False
    site: Site | None = None


class RoundedFacts(Facts):
    """Weights of 16 bits, and the steps of their optimizer, of class `kind`: `lost`: norm of what is missing in the weights after a step /
    norm of the step that the same optimizer takes in float32 (in Keras: of the step that is asked for); `still`: of the numbers that such a
    step would change, the share that stays as it is. In the middle of the last of so many `steps` that were looked at (Keras: over all).
    `nothing`: the optimizer, which computes in 16 bits as well, has asked for no change at all, although there were gradients."""

    dtype: str
    lost: float
    still: float
    steps: int
    kind: str = ""
    learning_rate: float | None = None
    nothing: bool = False


class OverrideFacts(Facts):
    """A method `name` of a class `kind` of the script's own, made from one of a `library`'s, that neither of the two calls; `closest`: the
    name most like it among the library's."""

    kind: str
    library: str
    name: str
    closest: str
    site: Site | None = None


class FurtherFacts(Facts):
    """A training of the script's that follows the watched one and is another. It begins behind the statement at `line` (1-based) or, where
    `turn` is not 0, with that turn (1-based) of the loop there; `site`: the line of its first step."""

    line: int
    turn: int = 0
    site: Site | None = None


class StaleFacts(Facts):
    """A function that `tf.function` compiles and that is called for another model, made at `model`, than its graph was traced with.
    `site`: where it is compiled."""

    function: str
    model: Site | None = None
    site: Site | None = None


class SwappedFacts(Facts):
    """Steps of a loop with a tape that apply the gradients of some weights to others, which no tape was asked about: how many, of how many,
    and where. `still`: the former weights have not changed at these. `crossed`: steps of those that gave two weights or more the gradient
    that another weight of theirs had; `names`: one such weight, and the one whose gradient it was given."""

    steps: int = 0
    of: int = 0
    still: bool = False
    crossed: int = 0
    names: tuple[str, str] | None = None
    site: Site | None = None


class CutStateFacts(Facts):
    """A recurrent cell (`kind`) that is called `times` + 1 times before a backward pass, each time with its state of before, of which the
    history is gone: in how many `steps`, and where it is called."""

    kind: str
    times: int
    steps: int = 0
    site: Site | None = None


class StepFacts(Facts):
    """One optimizer step (1-based). `backwards`: backward passes since the step before. `gradients_before`: L2 norm of the
    gradients that were there before the
    first of those backward passes (0 after `zero_grad`; None: not measured). `gradient_norm`: before the step, after clipping;
    `backward_norm`: as the last backward pass left it (PyTorch, the first steps only)."""

    step: int
    loss: float | None = None
    backwards: int | None = None
    gradients_before: float | None = None
    gradient_norm: float | None = None
    backward_norm: float | None = None
    update_ratio: float | None = None
    learning_rate: float | None = None
    seconds: float | None = None
    labels: list[Any] | None = None


class ExceptionFacts(Facts):
    """How the script ended, if it raised: class, bases, message, stage, the user's line, all frames outermost first.

    `called_with`: names that a loading call was given, read off its frames (`pretrained_model_name_or_path`, `path`, ...). `accepts`: the
    parameters of the function that refused an argument, where it could be found, and `refuser`: where the script defines it;
    `overrides`: the method of a library that it stands in place of, as that is defined, where a library called it. `owner`:
    the class (with its module) whose object lacks an attribute, unless it makes attributes up as they are asked for; `close_names`: what
    it has that is spelt alike. `shadow`: path of a file of the user's own that was imported in place of a library. `module`: the innermost
    module of the model that it came through, as `name: Kind(arguments)`; `module_inputs`: the tensors that one was given. `called`: where
    the model was called, if with a tensor on a device where none of its weights lie.
    """

    type: str
    bases: list[str] = []
    message: str = ""
    stage: Stage = "setup"
    site: Site | None = None
    frames: list[tuple[str, int, str]] = []
    called_with: dict[str, str] = {}
    accepts: list[str] = []
    refuser: Site | None = None
    overrides: str = ""
    owner: str = ""
    close_names: list[str] = []
    shadow: str = ""
    during: Literal["script", "probe"] = "script"
    cpu_rerun: dict[str, Any] | None = None
    module: str = ""
    module_inputs: list[TensorFacts] = []
    called: Site | None = None


class EndFacts(Facts):
    """How a signal ended the script's process (`SIGSEGV`, `SIGKILL`, ...): the user's innermost line then, or when it was last looked at
    (`resident`: its size in bytes at that time). `loading`: the package whose native library was being loaded; `clash`: what is known of
    that one beside another that is installed. `said`: the last lines of its stderr. `out_of_memory`: the kernel counts one more process
    that it has ended for memory. `machine`: memory of the machine in bytes.
    """

    name: str
    site: Site | None = None
    loading: str = ""
    clash: str = ""
    said: str = ""
    out_of_memory: bool = False
    resident: int | None = None
    machine: int | None = None


class MemoryFacts(Facts):
    """Sizes in bytes. `growth_per_step`: slope of the resident (or CUDA-allocated) size over the last of the `steps` that were measured.
    `losses_kept`: of how many earlier steps the script still holds the loss tensor with its graph (a list of losses without `.item()`).
    `evaluations_kept`: after how many different steps a model answered with a graph that no backward pass goes through, and that is held at
    the end, of `evaluations` such steps; `graphs_kept`: such answers in all, and `graphs_held` by how many bytes the process grew from the
    first of them to the last.
    `graphs_at_once`: the most answers of this kind that lived at the end of one evaluation, which took `held_at_once` bytes. `traces`: how
    many graphs TensorFlow makes of one function in `traced_calls` calls, since numbers of Python that it is given differ. `reentered`: how
    often one persistent tape, which keeps what it has recorded, went on recording. `scores_kept`: bytes of the scores, of `classes` classes
    each, that one evaluation has held until it was over, though its metric reads nothing off them but the largest. `tape_steps`: the most
    steps that an optimizer took while one tape of TensorFlow's was open, and `tape_site` where it was opened."""

    peak: int | None = None
    budget: int | None = None
    requested: int | None = None
    growth_per_step: float | None = None
    steps: int = 0
    graph_grows: bool | None = None
    losses_kept: int | None = None
    evaluations_kept: int = 0
    graphs_kept: int = 0
    graphs_held: int = 0
    graphs_at_once: int = 0
    held_at_once: int = 0
    evaluations: int = 0
    traced_calls: int = 0
    traces: int = 0
    reentered: int = 0
    tape_steps: int = 0
    tape_site: Site | None = None
    scores_kept: int = 0
    classes: int = 0
    weights: int | None = None
