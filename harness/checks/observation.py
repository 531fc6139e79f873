"""What was observed of a training script: the one record between the frameworks' rooms, which fill it, and the checks, which read it.

Every field is optional: an observer writes what it saw, and a check that misses what it needs is skipped with that as its reason.
Shapes are tuples of ints, dtypes the framework's own names without prefix (`float32`, `int64`), losses in nats, sizes in bytes, times in
seconds. Line numbers are the script's own. Non-finite numbers stay floats in memory and travel as strings in JSON.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.catalog.schema import Stage
from harness.checks.evaluation_facts import EvaluationFacts
from harness.checks.probe_facts import ProbeFacts
from harness.checks.tensor_facts import CutFacts, Facts, Site, TensorFacts
from harness.checks.training_facts import BufferFacts, LaterFacts

FORMAT = 1


class BatchFacts(Facts):
    """One batch as the model (or the loop) got it. `labels` are the rows' label values where they are whole numbers, one a row.

    `texts`: rows decoded by the tokenizer that was found in the script (at most 4). `padding_masked`: every padding token is masked
    out, None where that cannot be told. `unknown_share`: share of unknown tokens among the non-special ones. Where a row has several
    labels, `label_positions` are not left out (-100), and `one_label` is the one that all of these are.
    """

    columns: dict[str, TensorFacts] = {}
    labels: list[Any] | None = None
    texts: list[str] = []
    has_padding: bool | None = None
    has_attention_mask: bool | None = None
    padding_masked: bool | None = None
    unknown_share: float | None = None
    longest: int | None = None
    inputs_key: str | None = None
    label_positions: int = 0
    one_label: int | None = None


class DivergenceFacts(Facts):
    """A step of a variational autoencoder.

    `weight`: how much a latent number weighs beside a reconstructed one, 1 in the evidence lower bound; `value` of the divergence as it
    enters the loss; `reconstruction`: the loss of that term, `constant`: of the best answer that is the same for every row; `rows` of the
    batch, `numbers` a row.
    """

    step: int
    weight: float
    value: float
    reconstruction: float
    constant: float
    rows: int = 0
    numbers: int = 0


class ApartFacts(Facts):
    """Inputs and targets that come from two sources: in `same` of `steps` steps these delivered the same rows.

    `answered`: the targets are answers that a model gave before; of `rows` of them, `same_rows` stand beside the input they were given for.
    `example`: numbers of the first rows of a step, in each source; `inputs`, `targets`: where the sources are made.
    """

    steps: int = 0
    same: int = 0
    answered: bool = False
    rows: int = 0
    same_rows: int = 0
    example: tuple[list[int], list[int]] | None = None
    inputs: Site | None = None
    targets: Site | None = None


class CollationFacts(Facts):
    """Rows before and after a collator, compared by their numbers. Of `rows`, so many stand beside a label that is not theirs (`astray`);
    of these so many hold what belongs to several rows (`scattered`).
    """

    rows: int = 0
    astray: int = 0
    scattered: int = 0


class LoaderFacts(Facts):
    """A loader or dataset that was iterated. `role` is train or eval. `shuffled`: whether its order is random, None where unknown.

    `label_counts` over what was seen or the whole dataset when that is cheap; `label_runs`: share of neighbouring rows, in the order they
    came, that have the same label, measured over `ordered_rows` rows. `columns`: of the dataset underneath;
    `dropped_columns`: those that the framework removes.
    """

    role: Literal["train", "eval"] = "train"
    kind: str = ""
    dataset_kind: str = ""
    batch_size: int | None = None
    batches: int | None = None
    rows: int | None = None
    shuffled: bool | None = None
    collator: str | None = None
    columns: list[str] = []
    dropped_columns: list[str] = []
    label_column: str | None = None
    label_names: list[str] = []
    label_counts: dict[str, int] = {}
    label_runs: float | None = None
    ordered_rows: int | None = None
    site: Site | None = None
    same_as_train: bool | None = None


class LossCall(Facts):
    """One call of a loss function during training.

    `name` is normalised: cross_entropy, nll, bce, bce_with_logits, mse, l1, hinge, kl, sparse_categorical, categorical, model (the
    model's own) or other.
    `from_logits` as given or by default (Keras). `by_name`: it was named by a string. `softmaxed_in_model`: the input is itself the
    output of a softmax/sigmoid.
    `weighted`: class weights; `smoothing`: label smoothing. `row_losses`: of single rows, where they could be had. `lined_up`: Keras brings
    output and target to as many axes before it calls a function that was given as a loss.
    """

    name: str
    inputs: TensorFacts | None = None
    target: TensorFacts | None = None
    value: float | None = None
    reduction: str | None = None
    from_logits: bool | None = None
    by_name: bool = False
    softmaxed_in_model: bool | None = None
    weighted: bool = False
    lined_up: bool = False
    smoothing: float = 0.0
    ignore_index: int | None = None
    row_losses: list[float] = []
    row_labels: list[Any] = []
    site: Site | None = None
    step: int = 0


class RestoreFacts(Facts):
    """A `load_state_dict` that put nothing back: of the `weights` of a model none was among the names that were `given` (`nothing`), or
    what was given are the model's own tensors, which have moved since they were taken at `site` (`itself`)."""

    how: Literal["nothing", "itself"]
    weights: int = 0
    given: list[str] = []
    wanted: list[str] = []
    site: Site | None = None


class ParameterFacts(Facts):
    """One weight tensor. `gradient_norm`: L2, after the first backward (None: no gradient arrived). `moved`: it changed in a step.

    `group`: number of its parameter group in the optimizer. `update_ratio`: norm of the first step's change / norm of the weight before.
    `used`: its module's forward ran in the training forward; `recorded`: with gradients on.
    """

    name: str
    size: int
    trainable: bool = True
    in_optimizer: bool | None = None
    group: int | None = None
    gradient_norm: float | None = None
    update_ratio: float | None = None
    moved: bool | None = None
    used: bool | None = None
    recorded: bool | None = None
    bad: bool = False


class UnitFacts(Facts):
    """Activation of one nonlinearity over a batch: share of units that are zero (or saturated) for every row."""

    module: str
    kind: str
    dead_share: float


class UnmaskedFacts(Facts):
    """A model of class `kind` which is given token ids and no attention mask (a pretrained one inside the script's own, or one that
    generates): in how many `batches`, how many of these `padded`, and the largest `share` of padding in one of them.
    `covered`: a mask is given, and is 1 at every position, the padding too."""

    kind: str
    batches: int = 0
    padded: int = 0
    share: float = 0.0
    covered: bool = False
    site: Site | None = None


class BadBirth(Facts):
    """Where the first NaN or infinity came into being: finite in, not finite out."""

    step: int
    what: Literal["input", "activation", "loss", "gradient", "weight"]
    name: str
    rows: list[int] = []
    row_labels: list[Any] = []
    finite_row_labels: list[Any] = []
    site: Site | None = None


class ModelFacts(Facts):
    """The model that is trained. `pretrained`: weights were loaded rather than drawn. `fresh_head`: its output layer was drawn anew.

    `unregistered`: tensors that require a gradient, took part in the forward pass, and are no parameters of the model.
    `output`: what the training forward gave (logits where it could be told); `training_mode`: at training steps,
    `evaluation_mode_training`: share of evaluation
    forwards that ran in training mode; `displacement`: how far the watched steps moved the weights: norm of the change / norm before, the
    median over the weight matrices; `stochastic`: it has active dropout or batch normalisation.
    """

    kind: str = ""
    num_labels: int | None = None
    problem_type: str | None = None
    vocabulary: int | None = None
    positions: int | None = None
    parameters: list[ParameterFacts] = []
    unregistered: list[str] = []
    pretrained: bool | None = None
    fresh_head: bool | None = None
    accepts: list[str] = []
    output: TensorFacts | None = None
    final_activation: str | None = None
    final_units: int | None = None
    stochastic: bool = False
    has_batch_norm: bool = False
    tied: bool = False
    displacement: float | None = None
    training_mode: bool | None = None
    units: list[UnitFacts] = []
    site: Site | None = None


class OptimizerFacts(Facts):
    """The optimizer that steps. `by_name`: given as a string, so that every default was taken. `held`/`foreign`: weights it holds
    that are the
    model's, and that are not (an old model's, a copy's). `learning_rate` of its first group at the first step; `scheduled`: a
    schedule was seen to change it; `planned_steps`: of the whole training, as the schedule was told, and `planned_peak`: the largest factor
    that it gives in that time. Where all steps have been taken at a small part of `asked_rate`: in the `taken` steps the schedule made
    `schedule_steps` of its own, and needs `climb` more to give half of that rate (at most 2000 were followed, at `climb_peak` at most).
    """

    kind: str = ""
    learning_rate: float | None = None
    learning_rates: list[float] = []
    momentum: float | None = None
    weight_decay: float | None = None
    by_name: bool = False
    rate_given: bool | None = None
    held: int | None = None
    foreign: int | None = None
    scheduled: bool | None = None
    planned_steps: int | None = None
    planned_peak: float | None = None
    asked_rate: float | None = None
    taken: int | None = None
    schedule_steps: int | None = None
    climb: int | None = None
    climb_peak: float | None = None
    clipping: float | None = None
    site: Site | None = None


class StepFacts(Facts):
    """One optimizer step (1-based). `backwards`: backward passes since the step before. `gradients_before`: L2 norm of the
    gradients that were there before the
    first of those backward passes (0 after `zero_grad`; None: not measured). `gradient_norm`: before the step, after clipping."""

    step: int
    loss: float | None = None
    backwards: int | None = None
    gradients_before: float | None = None
    gradient_norm: float | None = None
    update_ratio: float | None = None
    learning_rate: float | None = None
    seconds: float | None = None
    labels: list[Any] | None = None


class ExceptionFacts(Facts):
    """How the script ended, if it raised: class, bases, message, stage, the user's line, all frames outermost first.

    `called_with`: names that a loading call was given, read off its frames (`pretrained_model_name_or_path`, `path`, ...). `accepts`: the
    parameters of the function that refused an argument, where it could be found, and `refuser`: where the script defines it. `owner`:
    the class (with its module) whose object lacks an attribute, unless it makes attributes up as they are asked for; `close_names`: what
    it has that is spelt alike. `shadow`: path of a file of the user's own that was imported in place of a library. `module`: the innermost
    module of the model that it came through, as `name: Kind(arguments)`; `module_inputs`: the tensors that one was given.
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
    owner: str = ""
    close_names: list[str] = []
    shadow: str = ""
    during: Literal["script", "probe"] = "script"
    cpu_rerun: dict[str, Any] | None = None
    module: str = ""
    module_inputs: list[TensorFacts] = []


class MemoryFacts(Facts):
    """Sizes in bytes. `growth_per_step`: slope of the resident (or CUDA-allocated) size over the last steps. `losses_kept`: of how many
    earlier steps the script still holds the loss tensor with its graph (a list of losses without `.item()`). `evaluations_kept`: after how
    many different steps a loss was computed with a graph, followed by no backward pass, and is held at the end; of `evaluations` such
    steps whose losses outlived the next backward pass. `traces`: how many graphs
    TensorFlow makes of one function in `traced_calls` calls, since numbers of Python that it is given differ."""

    peak: int | None = None
    budget: int | None = None
    requested: int | None = None
    growth_per_step: float | None = None
    graph_grows: bool | None = None
    losses_kept: int | None = None
    evaluations_kept: int = 0
    evaluations: int = 0
    traced_calls: int = 0
    traces: int = 0
    weights: int | None = None


class Observation(Facts):
    """Everything that was seen of one script. `reached`: the last stage it came to; `stopped`: why watching ended
    (finished, enough steps, time, exception, exit, never trained). `truncated_at`: the step after which the watching cut training short
    (training loaders ended early, a Trainer asked to stop), so that what follows, an exception too, may owe to that.

    `loss_terms`: the summands of one loss, a dict per term and step: `step`, `name` (as in `LossCall.name`), `value` (weighted, as it
    enters the sum), and where known `gradient_norm` (L2, of this term alone) and `line`.
    `sites`: the user's own lines by what happens there: loss, backward, step, zero_grad, optimizer, model, output (the last layer or
    activation), compile, fit, evaluation. `made`: the function of the script's that made a column with
    `Dataset.map`, by the column's name. `never_backward`: forward passes in training mode and with
    gradients that no backward pass followed. `losses_by_hand`: what went backward where no optimizer steps. `frozen_later`: where a second
    model is fitted of which no weight can be trained.
    `mixed`: a function given to `Dataset.map` that makes rows of several others.
    `idle`: an optimizer beside others at whose steps, until `step`, none of its weights had a gradient yet, although their model ran.
    `later`: a training after the watched one whose optimizer holds weights that no model has. `thawed`: one of the same model, of which
    weights can be trained since then that its step was not built for. `buffers`: in which a script of TensorFlow's adds up gradients.
    """

    format: int = FORMAT
    framework: Literal["torch", "tf_keras", "keras", "none"] = "none"
    trainer: str = ""
    script: str = ""
    versions: dict[str, str] = {}
    device: str = "cpu"
    reached: Stage = "setup"
    stopped: str = ""
    task: Literal["classification", "regression", "multilabel", "language", "other"] | None = None
    classes: int | None = None
    model: ModelFacts | None = None
    models_stepped: int = 0
    optimizer: OptimizerFacts | None = None
    loaders: list[LoaderFacts] = []
    unmasked: UnmaskedFacts | None = None
    generated: UnmaskedFacts | None = None
    apart: ApartFacts | None = None
    collation: CollationFacts | None = None
    divergence: list[DivergenceFacts] = []
    batches: list[BatchFacts] = []
    eval_batches: list[BatchFacts] = []
    loss_calls: list[LossCall] = []
    later_calls: list[LossCall] = []
    loss_terms: list[dict[str, Any]] = []
    steps: list[StepFacts] = []
    backward_without_step: int = 0
    forward_without_backward: int = 0
    never_backward: int = 0
    births: list[BadBirth] = []
    evaluation: EvaluationFacts = msgspec.field(default_factory=EvaluationFacts)
    probes: ProbeFacts = msgspec.field(default_factory=ProbeFacts)
    exception: ExceptionFacts | None = None
    memory: MemoryFacts = msgspec.field(default_factory=MemoryFacts)
    sites: dict[str, Site] = {}
    made: dict[str, Site] = {}
    losses_by_hand: list[float] = []
    warnings: list[str] = []
    output_tail: str = ""
    frozen_later: Site | None = None
    later: LaterFacts | None = None
    idle: LaterFacts | None = None
    cut_anew: CutFacts | None = None
    thawed: LaterFacts | None = None
    mixed: Site | None = None
    restored: RestoreFacts | None = None
    buffers: BufferFacts | None = None
    seconds: float = 0.0
    imports_seconds: float = 0.0
    truncated_at: int | None = None
