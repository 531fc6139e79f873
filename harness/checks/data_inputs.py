"""What the inputs hold: text that can be read, numbers of a sane size."""

from __future__ import annotations

import math
import statistics
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import constant_answer, data_labels, raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import BatchFacts, BytesFacts, EatenFacts, OverwrittenFacts, TransitionFacts
from harness.checks.data_labels import counts_of, entropy
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import TensorFacts

_MANY_UNKNOWN = 0.3  # of the tokens: enough to hide what the labels depend on
_SHRUNK = 0.05  # the range of inputs that a network has next to nothing of
_FLAT = 0.02  # of the size of its values: an image of so small a range shows nothing
_MOST_OF = 0.7
_ALIKE, _MANY_ROWS, _STEPS = 6, 16, 4  # rows of one batch and of all that were looked at, and steps, that hold one row
_UNEVEN = 100  # between the deviations of features
_AT_A_GUESS, _AWAY = 0.97, 0.92  # of what a guess costs
_NO_INPUTS = ("label", "target", "mask", "idx", "token_type", "position", "length", "weight")


def inputs_of(batch: BatchFacts) -> tuple[str, TensorFacts] | None:
    """Name and facts of a batch's main input."""
    if batch.inputs_key and batch.inputs_key in batch.columns:
        return batch.inputs_key, batch.columns[batch.inputs_key]
    for name in raised.INPUTS:
        if name in batch.columns:
            return name, batch.columns[name]
    left = [name for name in batch.columns if not any(part in name for part in _NO_INPUTS) and name != "y"]
    return (left[0], batch.columns[left[0]]) if len(left) == 1 else None


class UnreadableInputs(Check):
    """The inputs are corrupted: unknown tokens, one value everywhere, or the same row again and again.

    What the model sees is not what was in the file: a vocabulary that does not fit, a map that returns its first row for all, ids that
    were overwritten, rows that are changed in place whenever they are read. Decode a row and read it.
    Source: Hugging Face course, chapter 8.4, "Check your data".
    """

    code: ClassVar[str] = "D103"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from unknown tokens, constant inputs, and rows that are all the same, or decode to one text, while their labels differ."""
        if (changed := self._changed(seen)) is not None:
            return changed
        if not seen.batches:
            raise NotJudged("no batch was seen")
        loader = raised.train_loader(seen)
        # A dataset of the script's own makes its rows where they are asked for.
        site = (reading.place(seen, "getitem") or raised.made_by(seen, seen.batches[0].inputs_key, "input_ids")
                or (loader.site if loader and loader.site else reading.place(seen, "fit", "model")))
        labels = {str(label) for batch in seen.batches for label in batch.labels or []}
        texts = [text for batch in seen.batches for text in batch.texts]
        rows = [f"row: {text[:140]}" for text in texts[:3]]
        unknown = [batch.unknown_share for batch in seen.batches if batch.unknown_share is not None]
        share = statistics.fmean(unknown) if unknown else 0.0
        many = share >= 0.5 or (share >= _MANY_UNKNOWN and data_labels.still_guessing(seen) is not None)
        if unknown and many and min(unknown) > 0.8 * share and not reading.script_learns(seen):
            if share < 0.8 and not self._nothing_learnt(seen):
                raise NotJudged(f"{100 * share:.0f} % of the tokens are unknown, but the probes do not show that it matters")
            return Finding(message=f"{100 * share:.0f} % of the input's tokens are the unknown token: the vocabulary does not know this "
                                   "text.",
                           remedy="Load the tokenizer of the checkpoint that is trained, `AutoTokenizer.from_pretrained(checkpoint)`, in "
                                  "the case "
                                  "(cased or uncased) and language of the text; a vocabulary of your own has to be built from this text, "
                                  "cut and normalised as the tokenizer does it.",
                           site=reading.place(seen, "getitem", "vocabulary") or site,
                           evidence=rows or [f"unknown tokens by batch: {', '.join(f'{value:.2f}' for value in unknown[:5])}"])
        cut = seen.cut_anew
        if cut is not None and data_labels.still_guessing(seen) is not None:
            return Finding(message=f"An array of shape {tuple(cut.before)} was cut into {tuple(cut.after)}, the same axes in another "
                                   "order: "
                                   "`view` and `reshape` only count through the numbers, so that each row is made of pieces of others.",
                           remedy="Exchange axes with `permute` or `transpose`: `x.transpose(0, 1)`, `images.permute(0, 3, 1, 2)`.",
                           site=cut.site or site, evidence=reading.own_losses(seen))
        layout = seen.batches[0].layout
        if layout is not None and all(batch.layout is not None for batch in seen.batches):
            image = len(layout.after) == 3
            kind, like = ("images", "pixels") if image else ("series", "moments")
            return Finding(message=f"Rows of shape {tuple(layout.after)} were cut out of {kind} that lie as {tuple(layout.before)}: `view` "
                                   f"and `reshape` only count through the numbers, and {like} that were neighbours are none any more.",
                           remedy="Exchange axes with `permute` or `transpose`: "
                                  + ("`images.permute(0, 3, 1, 2)`, for NumPy `images.transpose(0, 3, 1, 2)`." if image else
                                     "`x.permute(0, 2, 1)`, for NumPy `x.transpose(0, 2, 1)`."),
                           site=(cut.site if cut else None) or reading.place(seen, "reshaped") or site,
                           evidence=[f"read as {tuple(layout.before)}, neighbouring {like} differ {layout.rougher:.2g} times less"])
        found = [inputs_of(batch) for batch in seen.batches]
        mains = [item for item in found if item is not None]
        constant = [facts for _, facts in mains if facts.minimum is not None and facts.minimum == facts.maximum and not facts.bad_rows]
        size = sum(facts.shape[0] for facts in constant if facts.shape)
        one_value = len(constant) == len(seen.batches) and len({facts.minimum for facts in constant}) == 1
        if one_value and len(labels) > 1 and size >= 8:
            name, facts = mains[0]
            return Finding(message=f"Every value of the input `{name}` is {facts.minimum:g}, in all {size} rows that were seen, whose "
                                   "labels differ.",
                           remedy=f"Print `{name}` right after it is read and after each transformation, and mend the line after which it "
                                  "is constant "
                                  "(an empty column, a scaling by zero, an array that was never filled).",
                           site=site, evidence=[(f"`{name}`: {facts.dtype}{list(facts.shape)}, from {facts.minimum:g} to "
                                                f"{facts.maximum:g}"), *rows])
        alone = all(facts.rows_alike or math.prod(facts.shape[1:]) < 2 or any(part in name for part in (*_NO_INPUTS, "y"))
                    for batch in seen.batches for name, facts in batch.columns.items())
        if (again := self._again(seen, [facts for _, facts in mains if facts.rows_alike], len(labels), alone=alone)) is not None:
            return again
        ranges = [(facts.minimum, facts.maximum) for _, facts in mains
                  if len(facts.shape) == 4 and facts.minimum is not None and facts.maximum is not None]
        flat = [(low, high) for low, high in ranges if high - low < _FLAT * max(abs(low), abs(high))]
        if len(flat) == len(seen.batches) and len(labels) > 1 and data_labels.still_guessing(seen) is not None:
            low, high = min(low for low, _ in flat), max(high for _, high in flat)
            return Finding(message=f"All pixels of all images lie between {low:.4g} and {high:.4g}: next to nothing is left of what they "
                                   "show.",
                           remedy="Look at one image after each step of its preparation. A cast to whole numbers (`astype(np.uint8)`) cuts "
                                  "fractions off: multiply by 255 first; and a division by 255 is done once.",
                           site=site, evidence=[f"images: {mains[0][1].dtype}{list(mains[0][1].shape)}", *reading.own_losses(seen)])
        if len(texts) >= 6 and len(set(texts)) == 1 and len(labels) > 1:
            return Finding(message=f"All {len(texts)} rows that were decoded are the same text, while their labels differ.",
                           remedy="Look at the function that is mapped over the dataset: with `batched=True` it gets lists and must "
                                  "return one entry "
                                  "a row, for example `tokenizer(rows[\"text\"])`, never the first row's.",
                           site=site, evidence=rows[:1])
        letters = "".join(texts)
        broken = letters.count("\ufffd")
        if len(letters) >= 100 and broken > 0.2 * len(letters):
            return Finding(message=f"{100 * broken / len(letters):.0f} % of the decoded characters are the replacement character: the "
                                   "file was read in "
                                   "the wrong encoding.",
                           remedy="Read it in the encoding it was written in: `open(path, encoding=\"utf-8\")` or `pandas.read_csv(path, "
                                  "encoding=...)`.",
                           site=site, evidence=rows)
        if not unknown and not mains and not texts:
            raise NotJudged("which column is the model's input is unknown")
        return None

    @staticmethod
    def _again(seen: Observation, alike: list[TensorFacts] | None = None, labels: int = 0, *, alone: bool = True) -> Finding | None:
        """`alike`: inputs of those batches whose rows are all the same, `alone` if nothing else comes with them. In steps, the row has to
        be another one each time."""
        steps = seen.one_row
        if alike:
            rows, size, count = alike[0].shape[0], sum(facts.shape[0] for facts in alike), len(alike)
            sure = alone and count == len(seen.batches) and size >= _MANY_ROWS and rows >= _ALIKE and labels > 1
        elif steps is not None:
            rows, count = steps.rows, steps.steps
            sure = count >= _STEPS and steps.kinds > count / 2
        else:
            return None
        if not sure:
            return None
        return Finding(
            message=f"All {rows} rows of a batch are one and the same, in each of {count} that were looked at"
                    + (", while their labels differ." if alike else ", and in each another one."),
            remedy="A list that is given one array again and again holds that array, and with each entry the numbers of the last writing: "
                   "make a new one for each row, or append `row.copy()` (for tensors `row.clone()`).",
            site=reading.place(seen, "same_row", "getitem", "loader", "fit"), evidence=reading.own_losses(seen))

    def _changed(self, seen: Observation) -> Finding | None:
        """Rows that were kept, or read, as something else than they were."""
        if seen.overwritten is not None:
            return self._overwritten(seen, seen.overwritten)
        if seen.misread is not None and seen.eaten is None:
            return self._misread(seen.misread)
        return self._eaten(seen, seen.eaten) or self._transitions(seen.transitions) or self._again(seen)

    @staticmethod
    def _transitions(found: TransitionFacts | None) -> Finding | None:
        if found is None:
            return None
        return Finding(
            message=f"One array stands for the state and for the next one, in {found.same} of {found.rows} transitions that are kept: the "
                    "environment writes into the array that it hands out, and what was kept changes with it.",
            remedy="Keep copies: `memory.append((state.copy(), action, reward, next_state.copy(), done))`, or let the environment return "
                   "`self.state.copy()`.",
            site=found.site)

    @staticmethod
    def _misread(found: BytesFacts) -> Finding:
        """Bytes in the wrong order, or put together to numbers of the wrong width."""
        return Finding(
            message=f"Bytes are read as `{found.read_as}`, and that makes noise of them: as `{found.written_as}`, neighbouring numbers "
                    f"differ {found.rougher:.2g} times less.",
            remedy=f"Read them as they were written, `dtype=\"{found.written_as}\"`: WAV files and raw recordings are little-endian (`<`), "
                   "as a rule, and 16 bits wide; `scipy.io.wavfile.read` finds that out by itself.",
            site=found.site, evidence=[f"reads that say so: {found.reads}"])

    @staticmethod
    def _eaten(seen: Observation, found: EatenFacts | None) -> Finding | None:
        if found is None:
            return None
        return Finding(
            message=f"The script writes into the table that its rows come from: {found.rows} of the {found.of} rows of `{found.name}` have "
                    f"changed since the training began, and {100 * found.share:.1f} % of its numbers are {found.value} now, where it was "
                    f"{100 * found.before:.1f} %. Each epoch adds to it.",
            remedy="Mask a copy: `inputs = ids.copy()`, for tensors `.clone()`. A slice is a view of the table.",
            site=reading.place(seen, "aliased", "getitem", "collator"), evidence=reading.own_losses(seen))

    @staticmethod
    def _overwritten(seen: Observation, found: OverwrittenFacts) -> Finding:
        name = found.attribute
        return Finding(message=f"Reading a row changes what the dataset stores: after {found.readings} readings "
                               f"{100 * found.share:.0f} % of the values of `{name}` are others, in {found.rows} rows that were tried, and "
                               "each epoch adds to it.",
                       remedy=f"Work on a copy of the row: `self.{name}[i].clone()` for tensors, `.copy()` for arrays.",
                       site=reading.place(seen, "overwritten", "getitem"),
                       evidence=["A row of a tensor or array is a view: what is written into it in place stays there."])

    @staticmethod
    def _nothing_learnt(seen: Observation) -> bool:
        probes = seen.probes
        if probes.text_baseline is not None and probes.text_baseline_shuffled is not None:
            return probes.text_baseline - probes.text_baseline_shuffled < 0.03
        return probes.train is not None and reading.failed(probes.train)


class NotNormalised(Check):
    """The inputs are not normalised, and training suffers from it.

    Raw pixels, years or prices make the first layer's sums large or leave one feature to decide everything. Large numbers alone are
    no fault (a model may scale them itself): judged by a run on standardised inputs, or by an initial loss far above a uniform guess
    that does not come down. Sources: LeCun et al. 1998, "Efficient BackProp", section 4.3; Ioffe and Szegedy 2015.
    """

    code: ClassVar[str] = "D108"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101", "D103", "D104", "B103", "E503", "L201", "L203", "L206", "L208", "L210", "G302",
                                           "G303", "S403", "S404", "S405")

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the range of float inputs together with a probe."""
        floats = self._floats(seen)
        if not floats:
            if any(inputs_of(batch) for batch in seen.batches):
                return None  # token ids and the like
            raise NotJudged("no numeric input was seen")
        name, facts = floats[0]
        why = _unusual(facts) or _shrunk(seen, facts)
        if why is None:
            return None
        if reading.several_models(seen):
            raise NotJudged("more than one model is trained")
        if seen.policy is not None:
            raise NotJudged("the loss of a policy is none that has to fall")
        own, other = seen.probes.train, seen.probes.train_standardised
        if own is not None and other is not None and len(own.losses) >= 10:
            return self._compared(seen, name, facts, why, own, other)
        return self._by_loss(seen, name, facts, why)

    @staticmethod
    def _floats(seen: Observation) -> list[tuple[str, TensorFacts]]:
        found = [inputs_of(batch) for batch in seen.batches]
        return [item for item in found if item is not None and "float" in item[1].dtype and item[1].maximum is not None]

    def _compared(self, seen: Observation, name: str, facts: TensorFacts, why: str, own: CurveFacts, other: CurveFacts) -> Finding | None:
        start, end = reading.start_and_end(own.losses)
        best = reading.start_and_end(other.losses)[1]
        if not math.isfinite(best) or (reading.learned(own) and end <= 1.5 * best):
            return None
        if end <= best or (best < 0 and start - end >= _MOST_OF * (start - best)):
            return None  # of a loss that has no lower end parts mean nothing, but distances do
        guess = _guess(seen)
        # What stays at a guess, and comes away from it with other inputs, says enough long before it has learnt.
        begun = guess is not None and not reading.script_learns(seen) and min(
            end, own.final_loss or end) >= _AT_A_GUESS * guess and max(best, other.final_loss or best) <= _AWAY * guess
        if math.isfinite(end) and end <= 1.3 * best and not begun:
            return None
        if guess is not None and math.isfinite(end) and end < 0.7 * guess:
            return None  # slower, but it learns as it is
        evidence = [f"as it is: loss {start:.3g} -> {end:.3g} in {len(own.losses)} steps",
                    f"with standardised inputs, all else equal: {reading.start_and_end(other.losses)[0]:.3g} -> {best:.3g}"]
        return self._finding(seen, name, facts, why, evidence)

    def _by_loss(self, seen: Observation, name: str, facts: TensorFacts, why: str) -> Finding | None:
        guess, first = _guess(seen), seen.probes.initial_loss
        losses = reading.finite(reading.observed_losses(seen))
        if guess is None or first is None or len(losses) < 20:
            raise NotJudged(f"the input `{name}` is {why}, but whether training suffers was not probed")
        calls = [call.step for call in seen.loss_calls]
        if calls and calls.count(min(calls)) > 1:
            raise NotJudged(f"the input `{name}` is {why}, but the loss has several parts, and what a guess costs is not known")
        end = reading.start_and_end(losses)[1]
        if reading.script_learns(seen) and end < 0.9 * guess:
            return None
        if first - _offset(seen) < 3 * guess or end < 0.95 * guess:
            raise NotJudged(f"the input `{name}` is {why}, but nothing shows that training suffers from it")
        evidence = [f"initial loss {first:.3g}; a uniform guess has {guess:.3g}", f"after {len(losses)} steps {end:.3g}"]
        return self._finding(seen, name, facts, why, evidence)

    @staticmethod
    def _finding(seen: Observation, name: str, facts: TensorFacts, why: str, evidence: list[str]) -> Finding:
        loader = raised.train_loader(seen)
        pixels = facts.minimum is not None and facts.minimum >= 0 and facts.maximum is not None and 200 < facts.maximum <= 255
        if pixels:
            remedy = "Scale the pixels to [0, 1]: `images = images.astype(\"float32\") / 255` (torchvision's `ToTensor()` does it)."
        else:
            remedy = ("Standardise each feature with the training set's figures: `mean, std = x_train.mean(0), x_train.std(0)`, then "
                      "`(x - mean) / std` for training and evaluation alike (`sklearn.preprocessing.StandardScaler`).")
        if seen.framework in reading.KERAS and pixels:
            remedy = "Scale the pixels inside the model, `layers.Rescaling(1 / 255)` as its first layer, or `x = x / 255` before `fit`."
        if "unadapted" in seen.sites:
            remedy = ("Show the layer the training inputs before it is used, `norm.adapt(x_train)`: until then a `Normalization` layer "
                      "hands them on as they are.")
        elif "rescaled" in seen.sites and _unusual(facts) is None:
            remedy = "Scale once: leave out the division where the batches are made, or the `Rescaling` layer of the model."
        elif "one_scale" in seen.sites:
            remedy = ("Let the `Normalization` layer take a mean and a deviation for each feature, `axis=-1` (its default): with "
                      "`axis=None` all features share one of each.")
        spread = f", mean {facts.mean:.3g}, standard deviation {facts.std:.3g}" if facts.mean is not None and facts.std is not None else ""
        return Finding(message=f"The input `{name}` is {why}, and training suffers from it: {evidence[0]}; {evidence[1]}.", remedy=remedy,
                       site=(reading.place(seen, "unadapted", "one_scale", *(("rescaled",) if _unusual(facts) is None else ()))
                             or (reading.place(seen, "scaled_whole") if _scaled_whole(facts) else None)
                             or (loader.site if loader else None) or reading.place(seen, "fit")
                             or sourcing.line(seen, "inputs", "converted") or sourcing.line(seen, "inputs", "made")
                             or reading.place(seen, "model")),
                       evidence=[f"`{name}`: from {facts.minimum:g} to {facts.maximum:g}{spread}", *evidence])


def _scaled_whole(facts: TensorFacts) -> bool:
    """Whether numbers whose features differ are about as they would be after one mean and one deviation for all of them."""
    apart = facts.column_stds is not None and facts.column_stds[1] >= _UNEVEN * facts.column_stds[0]
    return apart and facts.mean is not None and facts.std is not None and abs(facts.mean) < 0.5 and 0.5 < facts.std < 2


def _unusual(facts: TensorFacts) -> str | None:
    """Why these numbers are not normalised, None where they are."""
    if facts.minimum is None or facts.maximum is None:
        return None
    largest = max(abs(facts.minimum), abs(facts.maximum))
    if facts.column_stds is not None and facts.column_stds[0] > 0 and facts.column_stds[1] / facts.column_stds[0] >= _UNEVEN:
        return (f"of very different scales (standard deviations of its features from {facts.column_stds[0]:.3g} to "
                f"{facts.column_stds[1]:.3g})")
    if largest >= 30 and (facts.std is None or facts.std >= 10 or abs(facts.mean or 0.0) >= 10):
        return f"not normalised (up to {largest:.4g})"
    return None


def _shrunk(seen: Observation, facts: TensorFacts) -> str | None:
    """Inputs that the model's own first layer scales to next to nothing, since they were scaled before."""
    own = seen.model.rescaling if seen.model is not None else None
    if own is None or facts.minimum is None or facts.maximum is None:
        return None
    width = abs(own[0]) * (facts.maximum - facts.minimum)
    return f"scaled down once more inside the model, to a range of {width:.2g}" if 0 < width < _SHRUNK else None


def _guess(seen: Observation) -> float | None:
    """Loss of the best constant answer: the labels' entropy, ln k for k classes (of as many rows as the script adds up), or a regression
    target's variance or mean distance."""
    counts = counts_of(raised.train_loader(seen))
    if seen.task == "classification" and len(counts) > 1 and not any(call.weighted for call in seen.loss_calls):
        return max(entropy(counts), 0.05) * reading.rows_added_up(seen)
    if seen.task == "classification" and seen.classes and seen.classes > 1:
        return math.log(seen.classes) * reading.rows_added_up(seen)
    return constant_answer.of_numbers(seen)


def _offset(seen: Observation) -> float:
    """What targets far from zero cost any model that begins near it: the square of their mean where the loss is a squared error, else 0."""
    targets = [call.target for call in seen.loss_calls if call.name == "mse" and call.target is not None]
    means = [target.mean for target in targets if target.mean is not None]
    return statistics.fmean(means) ** 2 if means else 0.0
