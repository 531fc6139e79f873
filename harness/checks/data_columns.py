"""The columns that reach the model: its inputs, and its labels."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import LoaderFacts
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_SPECIFY = (r"You have to specify either (?P<wanted>input_ids) or inputs_embeds",
            r"You must specify exactly one of (?P<wanted>input_ids) or inputs_embeds",
            r"You have to specify (?P<wanted>pixel_values|input_features|input_values|input_ids)\b")
_PAD = (r"encodings to this method that includes (?P<wanted>\w+), but you provided (?P<given>\[[^\]]*\])",)
_NONE_LEFT = (r"No columns in the dataset match the model's forward method signature",)
_REQUIRED = (r"(?P<callee>\w+)\.(?:forward|call)\(\) missing \d+ required positional arguments?: '(?P<wanted>\w+)'",)
_FIRST_ARGUMENT = (r"The first argument to `Layer\.call` must always be passed",)
_BARE = (r"'(?:SymbolicTensor|EagerTensor|Tensor)' object has no attribute 'items'",)
_NOTHING = (r"'NoneType' object has no attribute '(?:dtype|shape|size|device|dim|to|ndim)'",)
_STRINGS = (r"(?:DataType|dtype|type) '?string'? not in list of allowed values", (r"dtype=string\b.*not in|Cast string to \w+ is not "
                                                                                 r"supported"))
# TensorFlow traces a function of its own making in place of `call`.
_NOT_TAKEN = (r"(?P<callee>\w+|<locals>)\.(?:forward|(?:tf__)?call)\(\) got an unexpected keyword argument '(?P<name>\w+)'",)

# Of a message alone only usual names tell that it is about the model's inputs.
_INPUT_REQUIRED = tuple(pattern.replace(r"(?P<wanted>\w+)", f"(?P<wanted>{'|'.join(raised.INPUTS)})") for pattern in _REQUIRED)


class ModelInputs(Check):
    """The model's inputs are missing from the batch, or the batch holds columns that the model does not take.

    A Trainer drops every column that `forward` does not name, without a word on the console. Of a dataset that was never
    tokenized only the label is left. A plain loop that passes `**batch` has the opposite trouble: a column too many.
    Sources: transformers docs, TrainingArguments.remove_unused_columns; Hugging Face course, chapter 8.4.
    """

    code: ClassVar[str] = "D101"
    stage: ClassVar[Stage] = "data"
    messages: ClassVar[tuple[str, ...]] = (
        *_SPECIFY, *_PAD, *_NONE_LEFT, *_INPUT_REQUIRED, *_FIRST_ARGUMENT, *_BARE, *_NOTHING, *_STRINGS, *_NOT_TAKEN)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a model or collator says of a batch without inputs."""
        loader = raised.train_loader(seen)
        for patterns in (_SPECIFY, _PAD, _NONE_LEFT):
            hit = raised.find(seen, patterns)
            if hit:
                if patterns is _SPECIFY and _has_inputs(seen, hit[0]):
                    return None  # of a decoder, or both forms of input were given
                return self._missing(seen, hit[0], hit[1].groupdict().get("wanted") or _main_input(seen), loader)
        hit = raised.find(seen, _REQUIRED, types=("TypeError",))
        if hit and (raised.has_frame(hit[0], r"/transformers/trainer") or hit[1]["wanted"] in raised.INPUTS):
            return self._missing(seen, hit[0], hit[1]["wanted"], loader)
        hit = raised.find(seen, _FIRST_ARGUMENT) or raised.find(seen, _BARE)
        if hit and (raised.has_frame(hit[0], r"/transformers/modeling_tf") or "Layer.call" in hit[1][0]):
            return self._missing(seen, hit[0], _main_input(seen), loader)
        hit = raised.find(seen, _NOTHING, types=("AttributeError",))
        if hit and "/transformers/models/" in raised.innermost(hit[0]) and _lacks_inputs(seen, hit[0]):
            return self._missing(seen, hit[0], _main_input(seen), loader)
        hit = raised.find(seen, _STRINGS)
        if hit and raised.has_frame(hit[0], r"/transformers/"):
            return self._missing(seen, hit[0], _main_input(seen), loader)
        hit = raised.find(seen, _NOT_TAKEN, types=("TypeError",))
        if hit and hit[1]["name"] not in {*raised.LABELS, "num_items_in_batch"} and _library_or_batch(hit[0]):
            return self._not_taken(seen, hit[0], _callee(seen, hit[1]), hit[1]["name"])
        hit = raised.find(seen, _COLUMN, types=("KeyError",))
        dropping = next((one for one in seen.loaders if hit and hit[1]["name"] in one.dropped_columns), None)
        if hit and dropping is not None:
            return self._read_too_late(seen, hit[0], hit[1]["name"], dropping)
        if loader is not None and loader.missed:
            return self._never_comes(seen, loader)
        if not seen.batches and not seen.steps and seen.exception is None:
            raise NotJudged("no batch was seen")
        return None

    @staticmethod
    def _never_comes(seen: Observation, loader: LoaderFacts) -> Finding:
        """A `forward` takes anything as `**kwargs`, and a Trainer keeps what it names only."""
        missed = ", ".join(f"`{name}`" for name in loader.missed)
        if loader.missed_by:
            return Finding(
                message=f"{loader.missed_by}() asks for {missed}, and the Trainer has dropped that column before: it keeps the columns "
                        "that the model's forward() names.",
                remedy="Keep the dataset's columns, `TrainingArguments(..., remove_unused_columns=False)`, and give the model those that "
                       "it takes.",
                site=reading.place(seen, "training_arguments", "loader"),
                evidence=[f"columns of the dataset: {', '.join(loader.columns)}", f"dropped: {', '.join(loader.dropped_columns)}"])
        return Finding(
            message=f"forward() asks for {missed} in what it takes as `**` anything else, and the Trainer has dropped that column before: "
                    "it keeps the columns that forward() names.",
            remedy=f"Name it: `def forward(self, ..., {loader.missed[0]}=None)`; or keep all columns, "
                   "`TrainingArguments(..., remove_unused_columns=False)`.",
            site=reading.place(seen, "forward_written", "training_arguments", "loader"),
            evidence=[f"columns of the dataset: {', '.join(loader.columns)}", f"dropped: {', '.join(loader.dropped_columns)}"])

    @staticmethod
    def _read_too_late(seen: Observation, error: ExceptionFacts, name: str, loader: LoaderFacts) -> Finding:
        """What reads rows when they are asked for (`set_transform`, a collator) wants a column that is gone by then."""
        return Finding(
            message=f"`{name}` is read when a batch is made, and the Trainer has dropped that column before: the model's forward() does "
                    "not name it.",
            remedy="Keep the dataset's columns: `TrainingArguments(..., remove_unused_columns=False)`.",
            site=reading.place(seen, "training_arguments", "loader") or error.site,
            evidence=[raised.quote(error), *([f"read here: {error.site.source}"] if error.site else []),
                      f"dropped, since forward() does not name them: {', '.join(loader.dropped_columns)}"])

    @staticmethod
    def _missing(seen: Observation, error: ExceptionFacts, wanted: str, loader: LoaderFacts | None) -> Finding:
        evidence = [raised.quote(error)]
        batch = raised.last_batch(seen, error)
        given = list(batch.columns) if batch else []
        if loader and loader.columns:
            evidence.append(f"columns of the dataset: {', '.join(loader.columns)}")
            given = given or [name for name in loader.columns if name not in loader.dropped_columns]
        if loader and loader.dropped_columns:
            evidence.append(f"dropped, since forward() does not name them: {', '.join(loader.dropped_columns)}")
        hit = raised.find(seen, _PAD)
        if hit and not given:
            given = re.findall(r"'(\w+)'", hit[1]["given"])
        reach = f"only {raised.listing(given)} arrived" if given else "no input arrived"
        if loader and wanted in loader.columns:
            message = f"The dataset has `{wanted}`, but {reach} at the model: its forward() does not name that column, so it was dropped."
            remedy = f"Name `{wanted}` in the model's forward(), or pass `TrainingArguments(..., remove_unused_columns=False)`."
            written = reading.place(seen, "forward_written")
            if written is not None:
                return Finding(message=message, remedy=remedy, site=written, evidence=evidence)
        else:
            dropped = loader.dropped_columns if loader else []
            why = (f" {raised.listing(dropped)} {'are' if len(dropped) > 1 else 'is'} dropped, because the model takes no such argument."
                   if dropped else "")
            message = f"The model was never given `{wanted}`: {reach}.{why} This looks like the raw dataset, before it was tokenized."
            remedy = _tokenize(wanted, dropped, seen.framework == "torch")
        return Finding(message=message, remedy=remedy, site=raised.site_of(seen, error, loader), evidence=evidence)

    @staticmethod
    def _not_taken(seen: Observation, error: ExceptionFacts, callee: str, name: str) -> Finding:
        batch = raised.last_batch(seen, error)
        accepts = seen.model.accepts if seen.model else []
        evidence = [raised.quote(error)]
        if batch:
            evidence.append(f"the batch holds: {', '.join(batch.columns)}")
        if accepts:
            evidence.append(f"forward() takes: {', '.join(accepts[:12])}")
        if name == "token_type_ids":
            remedy = ("Load tokenizer and model from the same checkpoint, or leave the column out: "
                      "`tokenizer(texts, return_token_type_ids=False)`.")
        else:
            remedy = f"Take the column out before batches are made: `dataset = dataset.remove_columns([\"{name}\"])`."
        return Finding(message=f"The batch holds a column `{name}` that the forward pass of {callee} does not take.", remedy=remedy,
                       site=raised.site_of(seen, error), evidence=evidence)


def _tokenize(wanted: str, dropped: list[str], torch: bool) -> str:
    if wanted in {"input_ids", "inputs_embeds"}:
        text = next((name for name in dropped if name not in raised.LABELS), "text")
        passed = "hand the result to the Trainer (`train_dataset=tokenized[\"train\"]`)" if torch else \
            "make the batches from the result (`tokenized[\"train\"].to_tf_dataset(columns=[\"input_ids\", \"attention_mask\"], ...)`)"
        return (f"Tokenize first, `tokenized = raw.map(lambda rows: tokenizer(rows[\"{text}\"], truncation=True), batched=True)`, and "
                f"{passed}.")
    return (f"Put `{wanted}` into the dataset with the model's processor, and keep the raw column until it has been read: "
            "`dataset.set_transform(lambda rows: {**processor(rows[\"image\"], return_tensors=\"pt\"), \"labels\": rows[\"label\"]})` "
            "with `remove_unused_columns=False`.")


def _callee(seen: Observation, match: re.Match[str]) -> str:
    """The class whose forward pass was called, also where a function stands in for that."""
    return match["callee"] if "<" not in match["callee"] else seen.model.kind if seen.model and seen.model.kind else "the model"


def _main_input(seen: Observation) -> str:
    accepts = seen.model.accepts if seen.model else []
    return next((name for name in raised.INPUTS if name in accepts), "input_ids")


def _has_inputs(seen: Observation, error: ExceptionFacts) -> bool:
    batch = raised.last_batch(seen, error)
    return batch is not None and any(name in batch.columns for name in raised.INPUTS)


def _lacks_inputs(seen: Observation, error: ExceptionFacts) -> bool:
    batch = raised.last_batch(seen, error)
    if batch is not None:
        return not any(name in batch.columns for name in raised.INPUTS)
    loader = raised.train_loader(seen)
    if loader is not None and loader.columns:
        return not any(name in loader.columns for name in raised.INPUTS)
    # A batch whose inputs are unknown came from a Trainer: it passes a dict by name, so a None input was missing from it.
    return raised.has_frame(error, r"/transformers/trainer\.py:compute_loss$")


def _library_or_batch(error: ExceptionFacts) -> bool:
    """Whether the argument came out of a batch (`model(**batch)`), rather than being written at the call."""
    return raised.has_frame(error, r"/transformers/trainer\.py:|/modeling_tf_utils\.py:") or (
        error.site is not None and "**" in error.site.source)


_NO_LOSS = ((r"did not return a loss from the inputs, only the following keys: (?P<keys>[^.]*)\. "
            r"For reference, the inputs it received are (?P<inputs>[\w,]*)"),)
_NONE_LOSS = (r"'NoneType' object has no attribute '(?:backward|item|detach|mean|sum)'", r"unsupported operand type\(s\) for .*'NoneType'")
_COLUMN = (r"^'(?P<name>\w+)'$", r"Column '?(?P<name>\w+)'? doesn't exist", r"Original column name (?P<name>\w+) not in the dataset",
           r"(?:Label c|C)olumn (?P<name>\w+) not found in dataset")
_DECODER = (r"You have to specify either (decoder_input_ids) or decoder_inputs_embeds",
            r"You must specify exactly one of (decoder_input_ids) or decoder_inputs_embeds")
_BEST = (r"`metric_for_best_model` training argument is set to 'eval_loss', which is not found",)

# Of a message alone only usual names tell that it is about labels.
_NAMES = f"(?P<name>{'|'.join(raised.LABELS)})"
_LABELS_ONLY = tuple(pattern.replace(r"(?P<name>\w+)", _NAMES) for pattern in (*_NOT_TAKEN, *_COLUMN))


class LabelName(Check):
    """The labels have a name that the model does not take, so no loss is computed.

    Models of the transformers library compute the loss themselves, from an argument called `labels` (collators rename `label`).
    Under any other name the column is dropped or refused, and the forward pass gives logits only.
    Sources: transformers docs, Trainer; Hugging Face forum threads on "The model did not return a loss".
    """

    code: ClassVar[str] = "D102"
    stage: ClassVar[Stage] = "data"
    requires: ClassVar[tuple[str, ...]] = ("D101",)
    messages: ClassVar[tuple[str, ...]] = (*_NO_LOSS, *_LABELS_ONLY, *_NONE_LOSS, *_DECODER, *_BEST)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exception that a missing loss or column leads to, and from an evaluation whose metrics are not computed."""
        for judge in (self._no_loss, self._argument, self._column, self._none_loss, self._decoder, self._unlabelled, self._best):
            finding = judge(seen)
            if finding:
                return finding
        if seen.exception is None and not seen.steps and not seen.loss_calls:
            raise NotJudged("no loss was seen")
        return None

    def _no_loss(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _NO_LOSS)
        if not hit:
            return None
        error, match = hit
        received = match["inputs"].split(",")
        model = seen.model.kind if seen.model and seen.model.kind else "the model"
        takes = seen.model.accepts if seen.model else []
        if any(name in received for name in ("labels", "start_positions")) or (
                takes and not {"labels", "label", "label_ids", "kwargs", "start_positions"} & set(takes)):
            return Finding(
                message=f"{model} computes no loss: it gave back {raised.listing(match['keys'].replace(' ', '').split(','))} only.",
                remedy="Load the model with a head for the task, `AutoModelForSequenceClassification.from_pretrained(checkpoint, "
                       "num_labels=...)`; in a model of your own return `{\"loss\": loss, \"logits\": logits}` when labels are given.",
                site=reading.place(seen, "model") or error.site, evidence=[raised.quote(error, 300)])
        return self._renamed(seen, error, received, "The batch reached the model without labels, so it computed no loss")

    def _argument(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _NOT_TAKEN, types=("TypeError",))
        if not hit or hit[1]["name"] not in raised.LABELS:
            return None
        error, match = hit
        accepts = seen.model.accepts if seen.model else []
        other = next((name for name in raised.LABELS if name in accepts), None)
        if match["name"] == "labels" and other is not None and "labels" not in accepts:
            why = " (collators of transformers rename `label` and `label_ids` to `labels`)" if other in {"label", "label_ids"} else ""
            return Finding(
                message=f"{_callee(seen, match)} takes its labels as `{other}`, and the batch has them as `labels`{why}.",
                remedy=f"Call the argument of the model `labels` in place of `{other}`.",
                site=error.refuser or raised.site_of(seen, error), evidence=[raised.quote(error)])
        if match["name"] == "labels" or (accepts and "labels" not in accepts):
            return Finding(
                message=f"{_callee(seen, match)} takes no `{match['name']}`: this class has no head and computes no loss.",
                remedy="Load the class with a head for the task, for example `AutoModelForSequenceClassification`, or take the labels out "
                       "of the batch and compute the loss yourself: `labels = batch.pop(\"labels\")`.",
                site=raised.site_of(seen, error), evidence=[raised.quote(error)])
        return Finding(
            message=f"The labels are in the batch as `{match['name']}`, and the model's argument is `labels`.",
            remedy=f"Rename the column before batches are made: `dataset = dataset.rename_column(\"{match['name']}\", \"labels\")`; of a "
                   "`tf.data` pipeline call the key of the dictionary `labels`.",
            site=(reading.place(seen, f"keyed.{match['name']}") if seen.framework in reading.KERAS else None)
                 or raised.site_of(seen, error),
            evidence=[raised.quote(error)])

    def _column(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _COLUMN, types=("KeyError", "ValueError", "InvalidArgumentError"))
        if not hit or hit[1]["name"] not in raised.LABELS:
            return None
        error, match = hit
        wanted = match["name"]
        listed = re.search(r"Current columns in the dataset: (\[.*\])", error.message)
        known = [name for name in raised.column_names(seen) if name != wanted]
        known += re.findall(r"'(\w+)'", listed[1]) if listed else []
        others = [name for name in raised.LABELS if name in known]
        from_batch = raised.has_frame(error, r"/transformers/tokenization\w*|/datasets/")
        if not others and not from_batch:
            return None  # a dict of the user's own
        # Collators rename `label` and `label_ids`; datasets come with `label`.
        collated = raised.has_frame(error, r"/transformers/tokenization")
        there = others[0] if others else ("labels" if wanted != "labels" else "label")
        why = " (the collator renames `label` to `labels`)" if collated and wanted in {"label", "label_ids"} else ""
        remedy = (f"Use the name that is there, `[\"{there}\"]`, or rename the column before: "
                  f"`dataset = dataset.rename_column(\"{there}\", \"{wanted}\")`.")
        return Finding(message=f"There is no `{wanted}` here: the labels are called `{there}`{why}.", remedy=remedy, site=error.site,
                       evidence=[raised.quote(error)] + ([f"known columns: {', '.join(known)}"] if known else []))

    def _none_loss(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _NONE_LOSS, types=("AttributeError", "TypeError"), stages=("setup", "backward", "loss"))
        if not hit or hit[0].site is None or "loss" not in hit[0].site.source or seen.loss_calls:
            return None
        error = hit[0]
        batch = raised.last_batch(seen, error)
        takes = "labels" in (seen.model.accepts if seen.model else [])
        if (batch is not None and "labels" in batch.columns) or not (takes or ".loss" in error.site.source):  # type: ignore[union-attr]
            return None
        return self._renamed(seen, error, list(batch.columns) if batch else [], "The model was called without `labels`, so its `.loss` is "
                                                                                "None")

    def _decoder(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, (*_DECODER, *_SPECIFY))
        if not hit:
            return None
        batch = raised.last_batch(seen, hit[0])
        if "decoder" not in hit[1][0] and not (batch and "input_ids" in batch.columns and "inputs_embeds" not in batch.columns
                                               and "labels" not in batch.columns):
            return None
        return self._renamed(seen, hit[0], list(batch.columns) if batch else [],
                             "The decoder was given nothing to predict: an encoder-decoder model makes its decoder's input from `labels`")

    @staticmethod
    def _unlabelled(seen: Observation) -> Finding | None:
        if seen.model is not None and seen.model.unlabelled is not None and not any(call.target for call in seen.loss_calls):
            named = raised.listing(seen.model.unlabelled)
            return Finding(
                message=f"{seen.model.kind} trains by its own loss, which it makes of `labels`, and none reach it: the targets are called "
                        f"{named}.",
                remedy="Call the key `labels`, " + ("among the inputs or the targets; or give `compile` a loss of its own."
                                                     if seen.framework in reading.KERAS else "as the argument of forward() is called."),
                site=next((place for name in seen.model.unlabelled if (place := reading.place(seen, f"keyed.{name}"))), None)
                or reading.place(seen, "fit", "compile"),
                evidence=reading.own_losses(seen))
        names = seen.evaluation.unlabelled
        if not names:
            return None
        several = len(names) > 1
        return Finding(
            message=f"The Trainer finds no labels in its evaluation, so that `compute_metrics` is never called and no loss is told: it "
                    f"looks for other names than this model's labels have, {raised.listing(names)}.",
            remedy=f"Tell it: `TrainingArguments(..., label_names={names!r})`"
                   + ("." if several else "; or call the column, and the argument of forward(), `labels`."),
            site=reading.place(seen, "training_arguments.label_names", "training_arguments", "trainer"),
            evidence=[f"The training rows have {raised.listing(names)}, of which forward() makes a loss; not in `label_names`."])

    def _best(self, seen: Observation) -> Finding | None:
        hit = raised.find(seen, _BEST)
        if not hit:
            return None
        return self._renamed(seen, hit[0], [], "The evaluation gave no loss to choose the best model by: its rows reached the model "
                                               "without "
                                               "labels")

    @staticmethod
    def _renamed(seen: Observation, error: ExceptionFacts, received: list[str], what: str) -> Finding:
        loader = raised.train_loader(seen)
        known = [*(loader.columns if loader else []), *received]
        column = loader.label_column if loader else None
        column = column if column and column not in {"labels", *received} else None
        column = column or next((name for name in raised.LABELS if name in known and name != "labels"), None)
        made = [name for name in loader.dropped_columns if name in seen.made] if loader and column is None else []
        column = made[0] if len(made) == 1 else column  # beside what it tokenized, the script has made one column, and no model takes it
        numbers = [name for name in loader.dropped_columns if name in loader.numbers] if loader and column is None else []
        column = numbers[0] if len(numbers) == 1 else column
        evidence = [raised.quote(error, 300)]
        if received:
            evidence.append(f"what the model received: {', '.join(received)}")
        if loader and loader.dropped_columns:
            evidence.append(f"dropped, since forward() does not name them: {', '.join(loader.dropped_columns)}")
        if column:
            message = f"{what}: the labels are in the column `{column}`, and the model's argument is `labels`."
            remedy = f"Rename the column before training: `dataset = dataset.rename_column(\"{column}\", \"labels\")`."
            named = reading.place(seen, "collator.labels", "getitem.labels") if loader and column not in loader.columns else None
            if named is not None and column in named.source:
                return Finding(message=message, evidence=evidence, site=named,
                               remedy=f"Call them `labels` where the batch is made: `\"labels\": ...` in place of `\"{column}\"`.")
        else:
            message = f"{what}."
            remedy = ("Give every row a `labels` column (`dataset = dataset.rename_column(\"<your label column>\", \"labels\")`); in a "
                      "loop of "
                      "your own pass it on: `model(**batch, labels=labels)`.")
        return Finding(message=message, remedy=remedy, evidence=evidence,
                       site=raised.made_by(seen, column) or raised.built_by(seen, column)
                       or (reading.place(seen, "getitem.last") if "trainer" in seen.sites else None) or raised.site_of(seen, error, loader))
