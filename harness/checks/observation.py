"""What was observed of a training script: the one record between the frameworks' rooms, which fill it, and the checks, which read it.

Every field is optional: an observer writes what it saw, and a check that misses what it needs is skipped with that as its reason.
Shapes are tuples of ints, dtypes the framework's own names without prefix (`float32`, `int64`), losses in nats, sizes in bytes, times in
seconds. Line numbers are the script's own. Non-finite numbers stay floats in memory and travel as strings in JSON.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.catalog.schema import Stage
from harness.checks.data_facts import (
    ApartFacts,
    AugmentationFacts,
    BatchFacts,
    BytesFacts,
    CollationFacts,
    EatenFacts,
    EmptiedFacts,
    FilePairFacts,
    GroupedFacts,
    LoaderFacts,
    MirrorFacts,
    MixedFacts,
    OneHotFacts,
    OneRowFacts,
    OverwrittenFacts,
    RedrawnFacts,
    ResizedFacts,
    SameOrderFacts,
    SeriesFacts,
    SourceFacts,
    TransitionFacts,
    VocabularyFacts,
)
from harness.checks.evaluation_facts import EvaluationFacts
from harness.checks.graph_facts import JoinedFacts
from harness.checks.loss_facts import (
    BlankFacts,
    BootstrapFacts,
    ClippedFacts,
    CosineFacts,
    CreditFacts,
    DivergenceFacts,
    EndingFacts,
    EntropyFacts,
    FlattenedFacts,
    LikenessFacts,
    LossCall,
    MaskedMeanFacts,
    NegatedFacts,
    OverlapFacts,
    OwnRatioFacts,
    PairedFacts,
    PolicyFacts,
    PulledFacts,
    QuantileFacts,
    SpreadFacts,
    StrayFacts,
    TemperedFacts,
    UnaddedFacts,
    UnweighedFacts,
    WeightFacts,
    WholeBestFacts,
)
from harness.checks.model_facts import (
    BadBirth,
    CarriedFacts,
    ContractedFacts,
    ModelFacts,
    OptimizerFacts,
    RepeatedFacts,
    RestoreFacts,
    ScrambledFacts,
    TeacherFacts,
    UnmaskedFacts,
    WideFacts,
)
from harness.checks.players_facts import PlayersFacts
from harness.checks.probe_facts import ProbeFacts
from harness.checks.table_facts import GluedFacts, OwnMeanFacts
from harness.checks.tensor_facts import CutFacts, Facts, Site
from harness.checks.training_facts import (
    BakedFacts,
    BufferFacts,
    CopyFacts,
    CountedFacts,
    CutStateFacts,
    EndFacts,
    ExceptionFacts,
    ForeignFacts,
    FurtherFacts,
    GrowingFacts,
    LaterFacts,
    LeftOutFacts,
    MemoryFacts,
    OpposedFacts,
    OverrideFacts,
    OwnBackwardFacts,
    PiledFacts,
    RestedFacts,
    RoundedFacts,
    RunningFacts,
    StaleFacts,
    StepFacts,
    SwappedFacts,
    TallyFacts,
    ThrownFacts,
    UnaskedFacts,
    UnreadFacts,
    UnzeroedFacts,
)
from harness.checks.value_facts import BoxFacts, MergeFacts, ShareFacts, SuppressionFacts, WrapFacts

FORMAT = 1


class Observation(Facts):
    """Everything that was seen of one script. `reached`: the last stage it came to; `stopped`: why watching ended
    (finished, enough steps, time, exception, exit, never trained). `truncated_at`: the step after which the watching cut training short
    (training loaders ended early, a Trainer asked to stop), so that what follows, an exception too, may owe to that.

    `loss_terms`: the summands of one loss, a dict per term and step: `step`, `name` (as in `LossCall.name`), `value` (weighted, as it
    enters the sum), and where known `gradient_norm` (L2, of this term alone) and `line`.
    `sites`: the user's own lines by what happens there: loss, backward, step, zero_grad, optimizer, model, output (the last layer or
    activation), compile, fit, evaluation. `made`: the function of the script's that made a column with
    `Dataset.map`, or the line that added it, by the column's name; `built`: the line that made the dataset it came with; `hidden`: the
    line that left one out; `sources`: the lines that `labels` and `inputs` went through before they came to the loss, the latest first;
    `cut`: columns that a map
    cut into another number of rows. `never_backward`: forward passes in training mode and with
    gradients that no backward pass followed. `losses_by_hand`: what went backward where no optimizer steps. `frozen_later`: where a second
    model is fitted of which no weight can be trained.
    `unmasked`, `generated`, `asked`: token ids that come without their mask to a model inside another, to `generate`, to a trained model.
    `functional`: how often `torch.func` has taken gradients; `adapts`: gradients by weights are themselves differentiated.
    `tempered`: losses of a distillation. `cosines`: logits of a Keras step.
    `glued`: tables side by side, in two orders. `own_mean`: a column made of the labels. `inverted`: rows whose attention layers are told
    to hide what is real, and to read the filler at its end.
    `mixed`: a function given to `Dataset.map` that makes rows of several others.
    `unasked`: variables that were made too late to be among those that a tape is asked about; `unread`: a rate that no optimizer reads;
    `foreign`: weights that were to be frozen by what the framework does not read;
    `opposed`: weights that two optimizers hold. `rounded`: steps of weights of 16 bits. `emptied`: the most telling column.
    `one_row`: batches of one row. `merges`: values of which others were made. `boxes`: given to functions of overlap; `suppressions`: that
    keep some of them. `wraps`: arithmetic of bytes. `joined`: graphs whose edges all run among the first
    nodes. `transitions`: that hold one array twice.
    `file_pairs`: files of two folders that are read in pairs. `scrambled`: axes that a reshape was to exchange.
    `repeated`: a layer that a list holds several times.
    `uncalled_override`: a method that a library was to call, under a name that it does not.
    `wide`: weights of no model, before the first step.
    `baked`: a number that a graph goes on with, though the script has changed it; `counted`: one that the step itself was to count with.
    `blanks`: of CTC losses. `bootstrap`: values that are learnt from later ones. `pulled`: pairs of embeddings. `likeness`: of rows
    with themselves, in a contrastive loss. `ending`: of episodes. `entropy`: of a policy. `own_ratio`: of it to itself. `whole_best`: a
    target of a value. `spread`: of a draw. `overlap`: of scores. `credit`: for actions. `tally`: of right answers. `quantiles`: that a
    loss pulls to.
    `resized`: label maps. `masked_mean`: numbers that multiply a loss which is one number already.
    `cut_state`: a recurrent cell that is given its state without a history; `clipped`: numbers that are clipped as if they were
    probabilities.
    `rested`: a model that answers without gradients in every step.
    `idle`: an optimizer beside others at whose steps, until `step`, none of its weights had a gradient yet, although their model ran.
    `further`: where a training after the watched one begins that is another. `later`: one whose optimizer holds weights that no model has.
    `stale`: a compiled function that goes on with the model of before. `swapped`: gradients that go to other weights than their own;
    `piled`: those of earlier steps that are applied again.
    `thawed`: a later training of the same model, of which weights can be trained since then that its step was not built for. `buffers`: in
    which a script of TensorFlow's adds up gradients.
    `carried`: recurrent states that go on from one step to the next.
    `behind`: a copy of the model that is never brought up to it.
    `unweighed`: weights of rows that a step of the script's own leaves out.
    `unzeroed`: an optimizer of several whose gradients nobody zeroes. `thrown`: gradients that are zeroed before anybody steps.
    `running`, `resident`: the user's innermost line, and the process's size, when a script was last looked at that did not come to its end.
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
    inverted: UnmaskedFacts | None = None
    glued: GluedFacts | None = None
    own_mean: OwnMeanFacts | None = None
    generated: UnmaskedFacts | None = None
    asked: UnmaskedFacts | None = None
    apart: ApartFacts | None = None
    vocabulary: VocabularyFacts | None = None
    collation: CollationFacts | None = None
    augmentation: AugmentationFacts | None = None
    mirrored: MirrorFacts | None = None
    resized: ResizedFacts | None = None
    mixed_rows: MixedFacts | None = None
    redrawn: RedrawnFacts | None = None
    one_hot: OneHotFacts | None = None
    one_row: OneRowFacts | None = None
    merges: list[MergeFacts] = []
    shares: list[ShareFacts] = []
    boxes: list[BoxFacts] = []
    suppressions: list[SuppressionFacts] = []
    wraps: list[WrapFacts] = []
    joined: JoinedFacts | None = None
    transitions: TransitionFacts | None = None
    divergence: list[DivergenceFacts] = []
    tempered: TemperedFacts | None = None
    cosines: CosineFacts | None = None
    stray: StrayFacts | None = None
    negated: NegatedFacts | None = None
    policy: PolicyFacts | None = None
    entropy: EntropyFacts | None = None
    own_ratio: OwnRatioFacts | None = None
    batches: list[BatchFacts] = []
    eval_batches: list[BatchFacts] = []
    loss_calls: list[LossCall] = []
    later_calls: list[LossCall] = []
    weights: WeightFacts | None = None
    unweighed: UnweighedFacts | None = None
    broadcasts: list[LossCall] = []
    loss_terms: list[dict[str, Any]] = []
    steps: list[StepFacts] = []
    backward_without_step: int = 0
    functional: int = 0
    adapts: bool = False
    forward_without_backward: int = 0
    never_backward: int = 0
    births: list[BadBirth] = []
    evaluation: EvaluationFacts = msgspec.field(default_factory=EvaluationFacts)
    probes: ProbeFacts = msgspec.field(default_factory=ProbeFacts)
    exception: ExceptionFacts | None = None
    memory: MemoryFacts = msgspec.field(default_factory=MemoryFacts)
    sites: dict[str, Site] = {}
    made: dict[str, Site] = {}
    built: dict[str, Site] = {}
    hidden: dict[str, Site] = {}
    sources: dict[str, list[SourceFacts]] = {}
    cut: list[str] = []
    losses_by_hand: list[float] = []
    warnings: list[str] = []
    output_tail: str = ""
    frozen_later: Site | None = None
    later: LaterFacts | None = None
    stale: StaleFacts | None = None
    piled: PiledFacts = msgspec.field(default_factory=PiledFacts)
    swapped: SwappedFacts = msgspec.field(default_factory=SwappedFacts)
    further: FurtherFacts | None = None
    idle: LaterFacts | None = None
    rested: RestedFacts | None = None
    baked: BakedFacts | None = None
    growing: GrowingFacts | None = None
    unadded: UnaddedFacts | None = None
    running_on: RunningFacts | None = None
    tally: TallyFacts | None = None
    flattened: FlattenedFacts | None = None
    contracted: ContractedFacts | None = None
    grouped: GroupedFacts | None = None
    teacher: TeacherFacts | None = None
    own_backwards: list[OwnBackwardFacts] = []
    counted: CountedFacts | None = None
    unasked: UnaskedFacts | None = None
    left_out: LeftOutFacts | None = None
    unread: UnreadFacts | None = None
    foreign: ForeignFacts | None = None
    uncalled_override: OverrideFacts | None = None
    opposed: OpposedFacts | None = None
    rounded: RoundedFacts | None = None
    paired: PairedFacts | None = None
    masked_mean: MaskedMeanFacts | None = None
    players: PlayersFacts | None = None
    same_order: SameOrderFacts | None = None
    series: SeriesFacts | None = None
    eaten: EatenFacts | None = None
    scrambled: ScrambledFacts | None = None
    repeated: RepeatedFacts | None = None
    emptied: EmptiedFacts | None = None
    file_pairs: FilePairFacts | None = None
    clipped: ClippedFacts | None = None
    blanks: BlankFacts | None = None
    bootstrap: BootstrapFacts | None = None
    pulled: PulledFacts | None = None
    likeness: LikenessFacts | None = None
    ending: EndingFacts | None = None
    whole_best: WholeBestFacts | None = None
    spread: SpreadFacts | None = None
    credit: CreditFacts | None = None
    quantiles: QuantileFacts | None = None
    overlap: OverlapFacts | None = None
    cut_state: CutStateFacts | None = None
    wide: WideFacts | None = None
    cut_anew: CutFacts | None = None
    overwritten: OverwrittenFacts | None = None
    misread: BytesFacts | None = None
    thawed: LaterFacts | None = None
    mixed: Site | None = None
    restored: RestoreFacts | None = None
    carried: CarriedFacts | None = None
    behind: CopyFacts | None = None
    buffers: BufferFacts | None = None
    unzeroed: UnzeroedFacts | None = None
    thrown: ThrownFacts | None = None
    seconds: float = 0.0
    imports_seconds: float = 0.0
    truncated_at: int | None = None
    running: Site | None = None
    resident: int | None = None
    ended: EndFacts | None = None

    @property
    def trained(self) -> bool:
        """Whether what was seen is a training, or the beginning of one; by an optimizer, or by hand."""
        return bool(self.steps or self.loss_calls or self.backward_without_step or self.functional or self.losses_by_hand)
