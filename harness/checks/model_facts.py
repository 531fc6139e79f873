"""The model that is trained, its weights, its units, its optimizer, and where its first bad number was born."""

from __future__ import annotations

from typing import Any, Literal

from harness.checks.tensor_facts import Facts, Site, TensorFacts


class RestoreFacts(Facts):
    """A `load_state_dict` that put nothing back: of the `weights` of a model none was among the names that were `given` (`nothing`), or
    what was given are the model's own tensors, which have moved since they were taken at `site` (`itself`), or all were drawn anew at
    `site`, before the model ran, after they were `loaded` (`redrawn`). `by`: the call, in Keras."""

    how: Literal["nothing", "itself", "redrawn"]
    by: str = ""
    weights: int = 0
    given: list[str] = []
    wanted: list[str] = []
    loaded: Site | None = None
    site: Site | None = None


class ParameterFacts(Facts):
    """One weight tensor. `gradient_norm`: L2, after the first backward (None: no gradient arrived). `moved`: it changed in a step.

    `group`: number of its parameter group in the optimizer. `update_ratio`: norm of the first step's change / norm of the weight before.
    `used`: its module's forward ran in the training forward; `recorded`: with gradients on. `zeros`: a frozen matrix of nothing else.
    `table`: rows of it are looked up.
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
    zeros: bool = False
    table: bool = False


class TeacherFacts(Facts):
    """A model of class `kind` that answers beside the steps of another, and is in training mode: of the `rows` of one batch, how many of
    its answers are `apart` from those in evaluation mode by more than a tenth of their size, and how many have a `changed` largest number.
    `layers`: the kinds of layers that do otherwise in training mode; `site`: the call."""

    kind: str
    rows: int
    apart: int
    changed: int
    layers: list[str] = []
    site: Site | None = None


class ContractedFacts(Facts):
    """A softmax of scores, of this `shape`, that is taken `along` one axis and then multiplied with a matrix so that another is `summed`
    over: the `least` and the `most` that the weights of such a sum come to. `site`: the softmax, where it is written once."""

    shape: list[int]
    along: int
    summed: int
    least: float | None = None
    most: float | None = None
    site: Site | None = None


class UnitFacts(Facts):
    """Activation of one nonlinearity over a batch: share of units that are zero (or saturated) for every row."""

    module: str
    kind: str
    dead_share: float


class UnmaskedFacts(Facts):
    """A model of class `kind` which is given token ids and no attention mask (a pretrained one inside the script's own, or one that
    generates): in how many `batches`, how many of these `padded`, and the largest `share` of padding in one of them.
    `ones`: of a mask in which 1 stands for what is real. `covered`: a mask is given, and is 1 at every position, the padding too. `bare`:
    it was trained without masks as well. `weights`: of a softmax of scores all lies on the filler."""

    kind: str
    batches: int = 0
    padded: int = 0
    share: float = 0.0
    covered: bool = False
    ones: bool = False
    weights: bool = False
    bare: bool = False
    site: Site | None = None


class CarriedFacts(Facts):
    """A recurrent layer of class `kind` that begins from what it left in the step before: in `carried` of `steps` steps; `drawn`: of these,
    from one batch to another of a loader that shuffles, of `turned` steps that came to another one, or (`stateful`) of a `fit` that does.
    Rows that came `again`, and how many of them were followed by the `same` row as before. `site`: where the state is handed over, or
    where the layer is made."""

    kind: str
    steps: int = 0
    carried: int = 0
    drawn: int = 0
    turned: int = 0
    again: int = 0
    same: int = 0
    stateful: bool = False
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


class WideFacts(Facts):
    """Of the weights of a loop with a tape that are no model's: the matrix which multiplies what it is given most, by its deviation times
    the root of what comes in (1 keeps the size), before the first step. `shape`: of it; `site`: where they are drawn, if in one line."""

    gain: float
    name: str
    shape: list[int]
    site: Site | None = None


class CycleFacts(Facts):
    """A schedule of `total` steps, for whole batches of so many rows; the loader gives `batches` of them, the last one shorter."""

    total: int
    batches: int
    rows: int
    batch_size: int
    site: Site | None = None


class SeldomFacts(Facts):
    """A cycle that was made for `total` steps, and was stepped `made` times, first after `every` steps of the optimizer: the highest rate
    so far, as a part of the `top` that it rises to."""

    total: int
    made: int
    every: int
    top: float
    reached: float


class ScrambledFacts(Facts):
    """A reshape that was to exchange axes, to split or merge the heads of an attention, or to put parts of rows side by side: the lengths
    of the axes `before` and `after` it, 0 where one is left open."""

    how: Literal["exchange", "rows", "split", "merge"]
    before: list[int]
    after: list[int]
    site: Site | None = None


class RepeatedFacts(Facts):
    """A list of a model's layers that holds one layer, of class `kind`, so many `times`."""

    kind: str
    times: int
    site: Site | None = None


class TurnFacts(Facts):
    """A layer that turns images at random, by up to `factor` turns either way."""

    factor: float
    site: Site | None = None


class ModelFacts(Facts):
    """The model that is trained. `pretrained`: weights were loaded rather than drawn. `fresh_head`: its output layer was drawn anew.

    `unregistered`: tensors that require a gradient, took part in the forward pass, and are no parameters of the model.
    `output`: what the training forward gave (logits where it could be told); `training_mode`: at training steps,
    `evaluation_mode_training`: share of evaluation
    forwards that ran in training mode; `displacement`: how far the watched steps moved the weights: norm of the change / norm before, the
    median over the weight matrices; `turned`: a layer of Keras that turns images by more
    than halfway round; `rescaling`: scale and offset that its own layer brings inputs to;
    `stochastic`: it has active dropout or batch normalisation; `carries`: recurrent layers that go on from one batch to the next.
    `half`: its forward pass runs under `autocast` in float16.
    `unlabelled`: the names of the targets, where a TF model of transformers trains by its own loss and gets no labels.
    """

    kind: str = ""
    half: bool = False
    unlabelled: list[str] | None = None
    turned: TurnFacts | None = None
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
    carries: bool = False
    tied: bool = False
    displacement: float | None = None
    rescaling: tuple[float, float] | None = None
    training_mode: bool | None = None
    units: list[UnitFacts] = []
    site: Site | None = None


class CompoundFacts(Facts):
    """A schedule that multiplies the rate of now by a falling factor, so that the factors pile up: the `first` rate, the `rates` that come
    out turn by turn (epochs in Keras, steps of the schedule in PyTorch), and the `factors` themselves."""

    first: float
    rates: list[float]
    factors: list[float]
    site: Site | None = None


class OptimizerFacts(Facts):
    """The optimizer that steps. `momentum`: the part that it keeps of its gradients, beta_1 of Adam and its kin, and `second_momentum` of
    their squares, beta_2. `by_name`: given as a string, so that every default was taken. `held`/`foreign`: weights it holds that are
    the model's, and that are not (an old model's, a copy's). `learning_rate` of its first group at the first step; `scheduled`: a schedule
    was seen to change it; `planned_steps`: of the whole training, and `planned_peak`: the largest rate that the schedule gives in that
    time, as a part of the one that it rises to; `training_steps`: how many a Trainer, or a script's own loops, are
    going to take at most. Where all steps have been taken at
    a small part of `asked_rate`: in the `taken` steps the schedule made `schedule_steps` of its own, and needs `climb` more to give half
    of that rate (at most 2000 were followed, at `climb_peak` at most). `worth`: the rates of all `training_steps` together, as a number of
    steps at the one asked for (of those to come, 2000 were followed, and the others go on as these do on average). `ignored`: arguments of
    older versions that it was given and passed
    over without an error, by their names. `compounded`, `cycle`, `seldom`: of its schedule. `tried`: the rate is one of several that the
    script tries. `clips_nothing`: gradients are clipped at every step, where there are none, and `clips_late`: after it; `clip_share`: the
    part that clipping leaves of a gradient's norm, and `clips_scaled`: of one that is still multiplied for half precision. `unstepped`: how
    many steps of Keras' `fit` went by, by its own counter, before it took its first; `uncalled`: the graph of such a step was made, and has
    no call of it. `used_up`: the step from which on a schedule gives no rate any more, and the steps that are planned. `remade`: of so
    many steps each was taken by an optimizer of its own. `often`: how many steps its schedule takes to one of the optimizer's.
    `divided_by`: gradients are divided by this scale, and no loss was multiplied by it.
    """

    kind: str = ""
    learning_rate: float | None = None
    learning_rates: list[float] = []
    momentum: float | None = None
    second_momentum: float | None = None
    weight_decay: float | None = None
    by_name: bool = False
    rate_given: bool | None = None
    held: int | None = None
    foreign: int | None = None
    scheduled: bool | None = None
    planned_steps: int | None = None
    planned_peak: float | None = None
    training_steps: int | None = None
    asked_rate: float | None = None
    tried: bool = False
    taken: int | None = None
    schedule_steps: int | None = None
    climb: int | None = None
    climb_peak: float | None = None
    worth: float | None = None
    clipping: float | None = None
    clips_nothing: bool = False
    clips_late: bool = False
    clip_share: float | None = None
    clips_scaled: bool = False
    unstepped: int = 0
    uncalled: bool = False
    ignored: dict[str, float] = {}
    compounded: CompoundFacts | None = None
    cycle: CycleFacts | None = None
    seldom: SeldomFacts | None = None
    used_up: tuple[int, int] | None = None
    remade: int = 0
    often: float | None = None
    divided_by: float | None = None
    site: Site | None = None
