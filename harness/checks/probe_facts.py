"""The record of what was tried on copies of model and optimizer; part of an `Observation`."""

from __future__ import annotations

from typing import Any, Literal

from harness.checks.norm_facts import HastyFacts, SlowFacts
from harness.checks.tensor_facts import Facts, Site


class CurveFacts(Facts):
    """Losses of one probe run: the rate, the losses by step, and accuracy at the end where there are classes.

    `start_loss`, `final_loss`: mean loss over the run's batches in evaluation mode, before its first step and after its last: free of the
    noise of dropout and of single batches.
    """

    learning_rate: float
    losses: list[float] = []
    accuracy: float | None = None
    start_loss: float | None = None
    final_loss: float | None = None


class RowFacts(Facts):
    """What a row's output owes to the other rows of its batch, in evaluation mode, in units of how far rows' outputs lie apart.

    `influence`: change where only the other rows are replaced. `order`: change of all rows, beyond their moving, where the whole batch is
    moved by one. `module`: `name: Kind` of what mixes them, `site` where it is called; `batch_first`: as that module is set; `softmax`: a
    softmax over the rows mixes them; `tied`: a product, or looking up by number, does, as between the nodes of a graph; `placed`: it is by
    its place in the batch that a row's answer differs, whatever the others are.
    """

    influence: float = 0.0
    order: float = 0.0
    module: str = ""
    batch_first: bool | None = None
    softmax: bool = False
    tied: bool = False
    placed: bool = False
    site: Site | None = None


class PaddingFacts(Facts):
    """Rows of ids, or of steps (`unit`), with padding at their end, given to a recurrent layer: `share` of padding in a batch that is
    `width` long, its `longest` row without it; `spread`: median distance of the rows' outputs from their median, `spread_in_front`: the
    same where the padding is brought to the front of each row. `ends`: a layer, `name: Kind`, behind which a mask of the padding is gone
    before it gets there, made at `site`.
    """

    share: float
    longest: int
    width: int
    spread: float
    spread_in_front: float
    ends: str = ""
    unit: Literal["tokens", "steps"] = "tokens"
    site: Site | None = None


class EndsReadFacts(Facts):
    """A batch of `rows`, whose `unit`s end in a `share` of filler up to `width`, the `longest` row without it; asked with the weights of
    now. `same`: the share of rows with the very same answer, all that have at most `upto` steps; `moved`: how far the answers of the
    shorter half move where the filler behind the `narrower` width that they need is gone, by the distance between rows; None where the
    model does not take that.
    """

    rows: int
    share: float
    longest: int
    width: int
    unit: Literal["tokens", "steps"] = "tokens"
    same: float = 0.0
    upto: int = 0
    narrower: int = 0
    moved: float | None = None


class PaddingWordFacts(Facts):
    """A `word` of a `vocabulary` (a name in the script) that has the padding's number, 0, in a model that leaves that out. Of `rows` the
    part that `held` it, and its `share` of all real steps; numbered at `site`."""

    word: str
    vocabulary: str
    rows: int
    share: float
    held: float
    site: Site | None = None


class EvenFacts(Facts):
    """A baseline's accuracy on `rows`, as many of each of two classes, and with their labels `shuffled`."""

    told: float
    shuffled: float
    rows: int


class WeakFacts(Facts):
    """The largest correlation (0 to 1) of any column of so many `rows` with their labels, and what the largest of as many would be by
    `chance`."""

    rows: int
    correlation: float
    chance: float


class CarryFacts(Facts):
    """What fitting `rows` rows from the first weights, in `steps` steps, did for them and for `held_rows` others.

    `loss`, `held_loss`: means in nats at the end; `held_majority`: share of the commonest label among the others.
    """

    rows: int
    held_rows: int
    steps: int
    accuracy: float | None = None
    loss: float | None = None
    held_accuracy: float | None = None
    held_loss: float | None = None
    held_majority: float = 1.0


class ShiftFacts(Facts):
    """A loss over the tokens of sequences: the target of a position is the input token `offset` places on, for this `share` of the
    positions of `rows` sequences of `length` tokens.

    `causal`: the answers to the first half stay as they are when later tokens are exchanged between rows. `lag`: so many places behind a
    token the first answer changes with it; 1 in a model that shifts its input itself. `by_token`: everything inside the
    model is kept token by token, so that no summary of a whole row (as an autoencoder makes it) can be what an answer owes to later ones.
    `site`: the user's line in whose call later tokens first get into what is made of earlier ones, where that was looked for.
    """

    offset: int
    share: float
    rows: int
    length: int
    causal: bool | None = None
    lag: int | None = None
    by_token: bool = False
    site: Site | None = None


class AheadFacts(Facts):
    """A column of the inputs, counted from 0 among `features` (in a `window` of the step that lies `back` before its last one), which is a
    mean over `taps` values of a series, one of them the target; the last of them `later` steps behind it."""

    column: int
    features: int
    window: bool
    taps: int
    back: int = 0
    later: int = 0


class ColumnOrderFacts(Facts):
    """A model's answers, `columns` numbers a row, of which number `above` is never under number `below`, whatever its weights are: of the
    `rows` of targets that were seen, the share `against` has it so. `pairs`: all such (below, above)."""

    below: int
    above: int
    pairs: list[tuple[int, int]]
    columns: int
    rows: int
    against: float


class ContraryFacts(Facts):
    """A loss, step by step, with other answers in the place of the model's: `silent` ones, which say nothing, those a little to the `right`
    side of what is wanted, or to the `wrong` one, and `certain` ones, which are right."""

    silent: list[float]
    certain: list[float]
    right: list[float]
    wrong: list[float]


class IndifferentFacts(Facts):
    """Labels of 0 and 1 in a loss whose derivative by the answer for a row is exactly zero for all `rows` of label 0 in so many `steps`,
    and not for those of label 1; `site`: where the labels come in."""

    rows: int
    steps: int
    site: Site | None = None


class TwinFacts(Facts):
    """Rows with the same main input as another row of the dataset: so many different inputs. `agree`: such pairs with the same label;
    `chance`: any pairs. Both are shares.
    """

    rows: int
    agree: float
    chance: float
    inputs: int = 0


class SumFacts(Facts):
    """A line of the script that adds up a batch of so many `rows`, and whose sum is (most of) the loss."""

    rows: int
    site: Site | None = None


class StraightFacts(Facts):
    """A model of several `layers` that is one straight (affine) map of its inputs. `told`, `bent`: what a baseline of straight lines, and
    one that bends, tell of rows that they were not fitted on, `rows` in number: a share that is right or, of numbers, the rank
    correlation. `site`: where the first layer is made."""

    layers: int
    told: float | None = None
    bent: float | None = None
    rows: int = 0
    site: Site | None = None


class AlikeFacts(Facts):
    """A layer of so many `units` whose weights were the same for each before the steps, and are so after them. `layers`: how many of the
    model's `matrices` are like that; `value`: the first of the weights, and all of them where they are `constant`. `site`: where they are
    filled, or the layer is made."""

    units: int
    layers: int
    matrices: int
    value: float
    constant: bool
    site: Site | None = None


class SameBatchFacts(Facts):
    """So many of the watched `steps` trained on the batch of the step before, of `rows`. `seed`: which the script sets anew before every
    step, at `site`; else its loader, which has `batches`, is begun anew for each, or gives the same for every number."""

    same: int
    steps: int
    rows: int
    batches: int | None = None
    seed: int | None = None
    site: Site | None = None


class OrderlessFacts(Facts):
    """A model whose answers are the same in whatever order the `length` steps of its sequences come. `told`, `ordered`: what a baseline
    without, and one with their order, tell of rows that they were not fitted on, `rows` in number: a share that is right or, of numbers,
    the rank correlation. `site`: where ids are looked up first."""

    length: int
    told: float | None = None
    ordered: float | None = None
    rows: int = 0
    site: Site | None = None


class RestraintFacts(Facts):
    """The script's first steps, as they are (and more of them) and without one thing that holds its model back, at the same rate (but for
    an optimizer) and on the same batches. Recorded where the script's own steps did not learn.

    `amount`: the largest share of numbers that a layer drops; how far the layer `name` that augments moves what it is given, by the
    standard deviation of that; the part of a weight that one step's decay takes off it (or, where decay is a part of the gradient, its
    factor); the part of the first loss that is a penalty on the weights; the part that clipping leaves of a gradient's norm (`name`:
    "scaled" where it clips what is still multiplied for half precision); the rows that a batch normalisation goes by, for which its
    running statistics stood in; the rate of an optimizer of class `name`, for which Adam stood in; the part of a batch that is padding
    which layers read. `own`, `without`: losses at the start and the end of both, in evaluation mode and without any such penalty.
    """

    kind: Literal["dropout", "norm", "augmentation", "decay", "penalty", "clipping", "optimizer", "padding"]
    amount: float
    own: CurveFacts
    without: CurveFacts
    name: str = ""
    coupled: bool = False
    site: Site | None = None


class OrderFacts(Facts):
    """Batches that differ from each other: `between`, the share of the rows' variance beyond chance. `own`, `mixed`: the script's steps in
    their order, and in a random one, from the first weights and at one rate."""

    between: float
    own: CurveFacts | None = None
    mixed: CurveFacts | None = None


class WholeFacts(Facts):
    """Rows of ids beside the texts or sequences that they were made of: `cut` of `rows` are shorter than these, `limit` the longest row
    and `longest` the longest text, in tokens. `kept`, `whole`: cross-validated accuracy of a bag of words on what is left and on all of
    it. `from_front`: most of those that are cut have lost their beginning."""

    rows: int
    cut: int
    limit: int
    longest: int
    kept: float
    whole: float
    from_front: bool = False
    site: Site | None = None


class ProbeFacts(Facts):
    """What was tried on copies, with the state of model, optimizer and generators put back afterwards.

    `initial_loss`: mean training-mode-off loss of the untrained model over a few batches, from its own loss function. `overfit`:
    one batch with every label in it,
    fitted at the script's own rate; `overfit_scaled`: the same with the rate times each factor (a healthy pipeline learns at one of them).
    `train`: the watched steps of the script itself (or, where these are few, a short run over their batches), `train_scaled` the same
    batches in the same order at other rates.
    `evaluation_error`: exception of evaluating before training. `repeat_differs`: the same evaluation batch gave different outputs twice,
    in the mode that the script evaluates in.
    `input_matters`: outputs change when inputs are exchanged between rows; asked of the first weights with a little noise added to each
    (a head that begins at zero is healthy), so that a model that has collapsed in training does not count.
    `lost_in`: the operation after which all rows of a batch are alike, where they do not.
    `unreached_matter`: the loss changes with the weights that took part and got no gradient; those of a branch that nobody reads do not.
    `frozen_head_matters`: the same of a last layer that is frozen.
    `text_baseline`: cross-validated accuracy of a bag of words (or a linear model) on the rows, `text_baseline_shuffled`: the same
    with labels shuffled, `text_baseline_rows`: rows that they were measured on; `twins`: those of them with equal inputs.
    `whole`: the same of what the rows were cut from, where they were; `weak`: of all rows, where a baseline would take too long.
    `number_baseline`: where rows have numbers for targets, the rank correlation of a cross-validated baseline's answers with them, on
    `number_baseline_rows`; of several `number_baseline_columns` that which is told best.
    `ahead`: inputs that hold a mean with the target in it. `contrary`: what the
    loss makes of right answers and of wrong ones. `indifferent`: rows of which it wants nothing.
    `carry`: whether fitting some rows helps with others, where the script's own losses have stayed at a guess.
    `ordered`: what the order of the rows costs, where batches differ from each other.
    `overfit_rows`: rows of the one batch; `evaluation_values`: what evaluating before training gave; `seconds`: all probes took.
    `train_kept`: the same run as `train` at the rate that a schedule began with, where it has left little of that;
    `term_alone`: the same run of the smaller term of the loss without the larger one, where that may drown it; `term_beside`: several
    times as many of the steps as they are, to hold it against;
    `train_standardised`: with every float input standardised by its training mean and deviation.
    `hasty`: batch normalisation that goes by its newest batch; `slow`: that goes by what it began with.
    `even_baseline`: of as many rows of each of two classes. `real`: of the steps of a batch the share that is no padding, where rows
    end in some; `ends_read`: what the answers owe to it; `padding_word`: a word that has its number.
    `restraints`: dropout, weight decay and penalties that may be too strong, and an optimizer that may not do. `summed`: the script
    makes its loss of the rows by adding them up itself. `softmax_of_one`: the shape of what a softmax is taken of along an axis of length
    one, next to a longer one, in every step that was looked at. `undivided`: of so many batches each step adds up the gradients, and none
    of their mean losses was divided by that number; `undivided_rate`: the mean rate of the steps. `fillers_counted`: the loss changes
    with the labels of tokens that the attention mask hides. `straight`: a model that could bend, and does not. `alike`: units that are
    all the same. `same_batch`: one that
    comes at every step, anew. `orderless`: a model that attends, and cannot tell in which order steps come. `half_lost`: how far gradients
    in float16 are from those of a scaled loss, as a part of their norm.
    """

    initial_loss: float | None = None
    fillers_counted: bool | None = None
    initial_rows: int = 0
    overfit: CurveFacts | None = None
    overfit_scaled: list[CurveFacts] = []
    train: CurveFacts | None = None
    train_scaled: list[CurveFacts] = []
    train_kept: CurveFacts | None = None
    evaluation_error: dict[str, Any] | None = None
    repeat_differs: bool | None = None
    input_matters: bool | None = None
    lost_in: str = ""
    unreached_matter: bool | None = None
    frozen_head_matters: bool | None = None
    text_baseline: float | None = None
    text_baseline_shuffled: float | None = None
    text_baseline_rows: int = 0
    number_baseline: float | None = None
    number_baseline_rows: int = 0
    number_baseline_columns: int = 1
    ahead: AheadFacts | None = None
    column_order: ColumnOrderFacts | None = None
    contrary: ContraryFacts | None = None
    indifferent: IndifferentFacts | None = None
    straight: StraightFacts | None = None
    alike: AlikeFacts | None = None
    same_batch: SameBatchFacts | None = None
    orderless: OrderlessFacts | None = None
    half_lost: float | None = None
    twins: TwinFacts | None = None
    whole: WholeFacts | None = None
    train_standardised: CurveFacts | None = None
    term_alone: CurveFacts | None = None
    term_beside: CurveFacts | None = None
    restraints: list[RestraintFacts] = []
    hasty: HastyFacts | None = None
    slow: SlowFacts | None = None
    fits_batch_size: int | None = None
    carry: CarryFacts | None = None
    ordered: OrderFacts | None = None
    rows: RowFacts | None = None
    padding: PaddingFacts | None = None
    real: float | None = None
    ends_read: EndsReadFacts | None = None
    padding_word: PaddingWordFacts | None = None
    even_baseline: EvenFacts | None = None
    weak: WeakFacts | None = None
    shift: ShiftFacts | None = None
    summed: SumFacts | None = None
    softmax_of_one: list[int] | None = None
    undivided: int = 0
    undivided_rate: float | None = None
    skipped: dict[str, str] = {}
    overfit_rows: int = 0
    evaluation_values: dict[str, float] = {}
    seconds: float = 0.0
