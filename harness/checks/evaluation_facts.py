"""The record of the evaluations that were seen; part of an `Observation`."""

from __future__ import annotations

from harness.checks.average_facts import AverageFacts
from harness.checks.gallery_facts import GalleryFacts
from harness.checks.graph_facts import HeldEdgesFacts
from harness.checks.metric_facts import BatchScoreFacts, DecisionFacts, MetricFacts, RankFacts
from harness.checks.tensor_facts import Facts, Site
from harness.checks.text_facts import PromptFacts, WrittenFacts


class SharedFacts(Facts):
    """Evaluations of one model beside the training steps before them: of `rows` rows so many are `shared` with the `trained` different
    ones. `alike`: no column has nearly as many values as there are rows, so that two may be equal by chance. `own`: the different rows of
    all evaluations, where every one of them is trained on. Of so many `windows` over a series those that are `overlapping`: by half and
    more with one that is trained on; of so many that were `compared` those that lie `between` two of the training."""

    own: int = 0
    compared: int = 0
    between: int = 0
    windows: int = 0
    overlapping: int = 0
    rows: int = 0
    shared: int = 0
    trained: int = 0
    alike: bool = False


class FoldFacts(Facts):
    """A model of class `kind` that begins a `fold` (from 1) with the weights that the fold before has left it, though `again` of the rows
    that this fold holds out were trained on in folds before. `site`: where the model is made."""

    fold: int
    kind: str
    again: float
    site: Site | None = None


class EncodedFacts(Facts):
    """`rows` rows of an evaluation were encoded by an object of this kind that had learnt something else than the one (or the same one, at
    another time) that encoded the `trained` rows. `site`, `trained_site`: where both were encoded."""

    kind: str
    trained: int
    rows: int
    site: Site | None = None
    trained_site: Site | None = None


class NumberedFacts(Facts):
    """A column of an evaluation, of `rows` rows, whose values were numbered by themselves: of the `shared` values that the training's
    column has as well, so many have `moved` to another number. `site`, `trained_site`: where both were numbered, by functions of this
    `kind`."""

    kind: str
    rows: int
    shared: int
    moved: int
    site: Site | None = None
    trained_site: Site | None = None


class DrawnFacts(Facts):
    """Rows of an evaluation that are others with each reading: of `rows` rows the share that is told rightly as they come (`own`), and with
    the script's own `what` left out (`plain`), which makes them the same each time, or with the script's `instead` in its place. `shared`:
    the training reads the same dataset."""

    rows: int
    own: float
    plain: float
    what: str
    instead: str | None = None
    shared: bool = False
    site: Site | None = None


class StrangeFacts(Facts):
    """The id that an evaluation of `rows` rows has most beyond its share in training: its `share` of the `tokens` there, padding left out,
    and of those that were trained on."""

    token: int
    share: float
    trained_share: float
    tokens: int
    trained_tokens: int
    rows: int


class LastBatchFacts(Facts):
    """A figure that owes to the last of the `batches` of an evaluation alone, `last` rows of `rows`: `reset`, a metric object forgets the
    others; else nothing was made of the answers to them."""

    batches: int
    rows: int
    last: int
    reset: bool
    site: Site | None = None


class IndicatorFacts(Facts):
    """The columns that `pandas.get_dummies` made of `rows` rows: one for each category that it found there."""

    columns: list[str]
    rows: int
    site: Site | None = None


class ChosenFacts(Facts):
    """`chosen` of `columns` columns were chosen by the labels of `rows` rows, `judging` of which then judge a model that was trained on
    others of them. What a plain model says of rows that it was not fitted on, accuracy or R²: with the columns chosen `before`, and chosen
    anew `within` the rows that it is fitted on (None where making the choice anew would take too long). `site`: the choice."""

    kind: str
    rows: int
    judging: int
    columns: int
    chosen: int
    before: float | None = None
    within: float | None = None
    site: Site | None = None


class PassesFacts(Facts):
    """Answers of a model (from a pass begun at `answers`) that were compared with labels in another order (taken at `labels`).

    `rows`: how many; `same`: places at which the order of the pass (or in Keras, where `predict` keeps no labels, that of one more pass)
    has the label that is compared (that of yet another); `chance`: the share of places at which two random orders of these labels would.
    `loader`: where what was evaluated was made; `shuffled`: the line that says that it is shuffled, where it is another.
    """

    rows: int
    same: int
    chance: float
    answers: Site | None = None
    labels: Site | None = None
    loader: Site | None = None
    shuffled: Site | None = None


class HeldNormsFacts(Facts):
    """So many batch normalisations (`layers`, `of` all) of a model in training mode that are in evaluation mode, whose statistics are still
    those that they were made with; put there at `site`, where the script's text says so."""

    layers: int
    of: int
    site: Site | None = None


class HandedFacts(Facts):
    """The same parts of a batch that a model gets as other arguments where it is `trained` (batches are taken apart at `site`) than where
    it is evaluated (`held`): the name of the part, or its number, by the argument's."""

    trained: dict[str, str]
    held: dict[str, str]
    site: Site | None = None


class DilutedFacts(Facts):
    """Of `rows` of which a `share` is no padding, the part of the variance of what is wanted that a straight line leaves open: by the
    answers and each row's share (`left`), with the answers divided by the share as well (`undone`; where they are `positive` these go with
    what is wanted), and with them multiplied by it (`other`)."""

    rows: int
    left: float
    undone: float
    other: float
    positive: bool
    share: float


class RelationFacts(Facts):
    """How answers go with what is wanted, on the last `trained_rows` rows that were trained on, and on the `rows` others of the last
    evaluation: their correlation where one number a row is wanted, else the share of classes that are right, of which the commonest has
    the share `trained_majority` and `majority`. `compared`: the same, of what the script itself held against each other at `place`, where
    it has as many rows. `answered`: the share of the others that get the commonest answer. `by_chance`: the share that would be right if
    the same answers were given to any of the others, where they are classes. `loader`: of the others. `diluted`: where rows are padded."""

    trained: float
    trained_rows: int
    held: float
    rows: int
    classes: bool = False
    errors: tuple[float, float] | None = None
    compared: float | None = None
    loader: Site | None = None
    place: Site | None = None
    trained_majority: float = 0.0
    majority: float = 0.0
    answered: float = 0.0
    by_chance: float | None = None
    diluted: DilutedFacts | None = None


class TwoScalesFacts(Facts):
    """Answers in the scale of what was wanted in training, held against `rows` references in another: mean and standard deviation of all
    three. `how`: what the training's targets are of the references: "moved and stretched", "the logarithm", "the exponential". `mapped`:
    the script does map answers back, here or elsewhere."""

    how: str
    rows: int
    trained: tuple[float, float]
    answers: tuple[float, float]
    references: tuple[float, float]
    mapped: bool = False
    site: Site | None = None


class AlignmentFacts(Facts):
    """Answers and references that an evaluation holds against each other, an id for each of `tokens` tokens: the share that agrees at the
    same place, and with the reference that follows. `values`: what the script's own function says of both, by name."""

    tokens: int
    same: float
    following: float
    values: dict[str, tuple[float, float]] = {}
    place: Site | None = None


class PredictedFacts(Facts):
    """A call of `Trainer.predict` whose rows came in another order than the dataset has, by length where `grouped`.

    `answers`, `labels`: whether the script has looked at the predictions, and at the labels that stand in their order. `loader`: where the
    script makes its loader itself.
    """

    rows: int
    grouped: bool = False
    answers: bool = False
    labels: bool = False
    site: Site | None = None
    loader: Site | None = None


class UnmeasuredFacts(Facts):
    """A copy of the model, of class `kind`, asked in evaluation with `layers` whose running statistics were never measured: of so many
    `rows`, those answered otherwise by more than a tenth with the statistics of the model (`apart`), and with another largest number
    (`changed`). `asked`: where it was; `site`: where the copy is brought up to the model."""

    kind: str
    layers: int
    rows: int
    apart: int
    changed: int
    asked: Site | None = None
    site: Site | None = None


class MonitorFacts(Facts):
    """Something that follows a measure, `kind` by its class: to keep the best model, to stop early, to lower the rate. `greater`: a larger
    one is taken for the better one. Of Keras: the `first` value and the `best` so far, and the `least` change that counts as better; its
    `values` and the `losses` beside them, epoch by epoch; whether it has `ended` the training. `leaves`: it stops early, puts the best
    weights back by no setting of its own, and nothing else in the script keeps weights."""

    kind: str
    measure: str
    greater: bool
    first: float | None = None
    best: float | None = None
    least: float = 0.0
    ended: bool = False
    leaves: bool = False
    values: list[float] = []
    losses: list[float] = []
    site: Site | None = None


class ScaleFacts(Facts):
    """Mean and standard deviation of the batches of one model: of the training, and of the evaluation (`held`), medians over some batches.
    `held_stds`: the least and the largest; `shape`: of a row. `zeros`, `held_zeros`: the share of numbers that are exactly 0; `below`,
    `held_below`: that are less (of the evaluation the largest of some batches). `beside`: an evaluation of this scale came beside one
    that has the training's."""

    mean: float
    std: float
    held_mean: float
    held_std: float
    held_stds: tuple[float, float]
    shape: list[int]
    zeros: float = 0.0
    held_zeros: float = 0.0
    below: float = 0.0
    held_below: float = 0.0
    beside: bool = False


class ConditionFacts(Facts):
    """A number for each row that a model is given beside the rows, the time of a diffusion say: its least and largest value in training and
    in an evaluation of so many `calls`, of whose numbers a share lies `beyond` the training's. `steps`: in training they are whole;
    `fractions`: in the evaluation most are not."""

    trained: tuple[float, float]
    held: tuple[float, float]
    beyond: float
    calls: int
    steps: bool = False
    fractions: bool = False


class StandardisedFacts(Facts):
    """An evaluation of so many `rows`, each of whose `columns` has, over these rows, a mean of 0 and a deviation of 1; and the `site` where
    the script takes both from the table that it is given, one of several. `unread`: it is not known of what it takes them there.
    `whole`: these are all that do not stand still."""

    rows: int
    columns: int
    whole: bool = True
    unread: bool = False
    site: Site | None = None


class ArgmaxFacts(Facts):
    """The largest of float[rows, classes] that TensorFlow was asked for without an axis: along the rows. `rows`: None in a graph."""

    classes: int
    rows: int | None = None
    site: Site | None = None


class EvaluationFacts(Facts):
    """Evaluations that were seen. `in_training_mode`: forwards of an evaluation (no gradients, held-out data) with dropout or batch
    normalisation active; `sampled`: those of them that ask for the same rows three times in a row or more. `training_in_eval_mode`:
    training forwards with the model in evaluation mode, after the first evaluation or from the start. `held_norms`: layers that are alone
    in it. `updates`: what metric objects of
    Keras were given, once for each pair of shapes (a length left open is 0). `scores`: raw outputs of a loss that applies the sigmoid
    itself, over all evaluation steps of Keras.
    `compared`: classes that the script itself held against references, by the line.
    `passes`: answers and labels that come out of two passes in different orders. `relation`: of answers to what is wanted.
    `loose_relation`: the same by what the script compares, where no evaluation of batches was heard.
    `alignment`: of answers to a language's tokens. `predicted`: answers of a Trainer in another order than its dataset.
    `dropped`: where units are dropped in evaluation mode, by a function not told of it, or a layer built `dropped_anew`. `unlabelled`: a
    Trainer's evaluation found no labels for its `compute_metrics`: columns that the model takes if they are there, and no labels of it.
    `normalised`: where a layer of Keras has batch normalisation train in inference mode too. `indicators`: in the order of the calls.
    `argmax`: the largest of some scores, taken along the rows. `written`: of an encoder-decoder's `generate`. `two_scales`: of answers and
    references. `average`: of weights. `gallery`: rows that find themselves. `batch_scores`: of batches by themselves. `held_edges`: in the
    graph of the training. `standardised`: of inputs. `told_on`, `told_off`: steps of a loop of Keras whose call said `training=True`, and
    such after an evaluation that said the opposite on the same line, as the evaluation did."""

    forwards: int = 0
    in_training_mode: int = 0
    sampled: int = 0
    with_gradients: int = 0
    training_in_eval_mode: int = 0
    held_norms: HeldNormsFacts | None = None
    training_forwards: int = 0
    told_on: int = 0
    told_off: int = 0
    metrics: list[MetricFacts] = []
    compared: list[MetricFacts] = []
    ranked: list[RankFacts] = []
    decisions: list[DecisionFacts] = []
    updates: list[MetricFacts] = []
    scores: DecisionFacts | None = None
    passes: PassesFacts | None = None
    relation: RelationFacts | None = None
    loose_relation: RelationFacts | None = None
    dropped: Site | None = None
    dropped_anew: bool = False
    unlabelled: list[str] | None = None
    normalised: Site | None = None
    alignment: AlignmentFacts | None = None
    predicted: list[PredictedFacts] = []
    monitors: list[MonitorFacts] = []
    scale: ScaleFacts | None = None
    condition: ConditionFacts | None = None
    shared: SharedFacts | None = None
    encoded: EncodedFacts | None = None
    numbered: NumberedFacts | None = None
    standardised: StandardisedFacts | None = None
    indicators: list[IndicatorFacts] = []
    chosen: ChosenFacts | None = None
    folds: FoldFacts | None = None
    last_batch: LastBatchFacts | None = None
    strange: StrangeFacts | None = None
    drawn: DrawnFacts | None = None
    handed: HandedFacts | None = None
    argmax: ArgmaxFacts | None = None
    written: WrittenFacts | None = None
    prompts: PromptFacts | None = None
    unmeasured: UnmeasuredFacts | None = None
    average: AverageFacts | None = None
    gallery: GalleryFacts | None = None
    batch_scores: BatchScoreFacts | None = None
    held_edges: HeldEdgesFacts | None = None
    two_scales: TwoScalesFacts | None = None
    site: Site | None = None
