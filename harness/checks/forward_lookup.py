"""Lookups of the forward pass: positions and the vocabulary."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.data_facts import BatchFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site, TensorFacts
from harness.checks.training_facts import ExceptionFacts

_SIZES = (r"size of tensor a \((?P<length>\d+)\) must match the size of tensor b \((?P<table>\d+)\)",
          r"expanded size of the tensor \((?P<length>\d+)\) must match the existing size \((?P<table>\d+)\)",
          r"index (?P<length>\d+) is out of bounds for dimension \d+ with size (?P<table>\d+)")
_LOOKUP = (r"^index out of range in self", r"indices\[(?:\d+,)*(?P<at>\d+)\] = (?P<id>-?\d+) is not in \[0, (?P<table>\d+)\)",
           r"Expected \w+ < index_size to be true",  # an embedding bag, where the processor decides on how it is summed
           r"Index \d+ of input takes value (?P<id>-?\d+) which is not in the valid range \[0, (?P<table>\d+)\)",
           r"maximum value of \w+ \((?P<id>.*?)\) must be smaller than the embedding layer.{1,2}s input dimension \((?P<table>\d+)\)",
           r"Assertion `srcIndex < srcSelectDimSize` failed", r"Assertion `?ind >= 0 && ind < ind_dim_size")
_RESERVED = 2
_POSITION = re.compile(r"posit|\bpos\b|_pos\b|pos_|\bpe\b|\bwpe\b", re.IGNORECASE)
_EMBEDDING_CODE = r"/models/\w+/modeling_\w+\.py:"


def _lengths(seen: Observation) -> tuple[int | None, int | None]:
    """Longest row that was seen (in tokens), and rows of the position table."""
    lengths = [batch.longest for batch in (*seen.batches, *seen.eval_batches) if batch.longest is not None]
    return (max(lengths) if lengths else None), (seen.model.positions if seen.model else None)


def _ids(batch: BatchFacts | None) -> TensorFacts | None:
    if batch is None:
        return None
    return batch.columns.get("input_ids") or (batch.columns.get(batch.inputs_key) if batch.inputs_key else None)


def _about_positions(error: ExceptionFacts, seen: Observation) -> bool:
    """Whether what was looked up was a position: by name, or because the row is longer than the table while its ids fit."""
    if error.module and _POSITION.search(error.module):
        return True
    longest, positions = _lengths(seen)
    if longest is not None and positions is not None:
        return longest > positions
    if error.module:
        return _POSITION.search(error.module) is not None
    return error.site is not None and _POSITION.search(error.site.source) is not None


class TooLong(Check):
    """The input is longer than the model's position table.

    Learned positions end at a fixed row (512 for BERT, 1024 for GPT-2): a longer text has no position to look up.
    Sources: transformers docs, "Padding and truncation"; Hugging Face course, chapter 2.
    """

    code: ClassVar[str] = "F101"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("D101", "B101", "B103")
    messages: ClassVar[tuple[str, ...]] = (*_SIZES, *_LOOKUP)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exception of a position lookup, against the length of the rows where it is known."""
        longest, positions = _lengths(seen)
        hit = raised.find(seen, _SIZES, forward=True)
        if hit and self._is_length(seen, hit[0], int(hit[1]["length"]), int(hit[1]["table"])):
            return self._finding(seen, hit[0], longest or int(hit[1]["length"]), positions or int(hit[1]["table"]))
        hit = raised.find(seen, _LOOKUP)
        if hit and hit[0].stage not in {"loss", "evaluation"} and "maximum value of" not in hit[1][0]:
            sizes = hit[1].groupdict()
            if _fits(seen, hit[0]) is False:
                return None  # an id that the vocabulary does not have
            # Positions are 0, 1, 2, ...: the first one that is missing is as large as its own place, and as the table.
            at_end = sizes.get("id") is not None and sizes["id"] == sizes["table"] == sizes.get("at")
            # RoBERTa's begin at the row after its padding's.
            by_size = positions is not None and sizes.get("table") == str(positions) and seen.model is not None and (
                seen.model.vocabulary not in {None, positions})
            if _about_positions(hit[0], seen) or at_end or by_size:
                table = positions or (int(sizes["table"]) if sizes.get("table") else None)
                return self._finding(seen, hit[0], longest, table)
        if seen.exception is None and not seen.batches and not seen.steps:
            raise NotJudged("no forward pass was seen")
        return None

    @staticmethod
    def _is_length(seen: Observation, error: ExceptionFacts, length: int, table: int) -> bool:
        longest, positions = _lengths(seen)
        if length <= table and not error.message.startswith("index"):
            return False
        if positions is not None and longest is not None:
            padded = range(positions, positions + _RESERVED + 1)  # RoBERTa's table begins with rows for its padding
            return longest > positions and (table in padded or length == longest)
        if table == positions:
            return True
        if _POSITION.search(f"{error.module} {error.site.source if error.site else ''}"):
            return True
        # Inside a library's own embedding block, the only thing whose size is fixed along a row is its positions.
        inner = [f"{path}:{function}" for path, _, function in error.frames[-8:]]
        return any(re.search(r"/transformers/models/|/transformers/modeling", name) for name in inner) and positions is None

    @staticmethod
    def _finding(seen: Observation, error: ExceptionFacts, length: int | None, table: int | None) -> Finding:
        length = None if length is not None and table is not None and length <= table else length  # a batch before that one
        has = f"the position table has {table} positions" if table else "more tokens than the position table has rows"
        rows = f"it has {length} tokens, and " if length and table else f"it has {length} tokens, " if length else ""
        warned = [line for line in seen.warnings if "longer than the specified maximum" in line]
        limit = table if table else 512
        own = seen.model is not None and not seen.model.pretrained
        table_site = (reading.place(seen, "config.max_position_embeddings", "config.n_positions") if own else None) \
            or (reading.place(seen, "layer") if _own_layer(seen, error) else None)
        # The first rows of RoBERTa's table are for its padding: one that was made just long enough is two too short.
        reserved = length is not None and table is not None and 0 < length - table <= _RESERVED
        cut = None if reserved and table_site else reading.place(seen, "untruncated")
        return Finding(message=f"A row of the batch is too long for the model: {rows}{has}.",
                       remedy=f"Cut the rows when tokenizing, `tokenizer(texts, truncation=True, max_length={limit})`, or split long "
                              "texts; "
                              "a model of your own needs a longer position table.",
                       # A table of the script's own is mended where it is built, a tokenizer's rows where they are cut.
                       site=cut or table_site or error.site,
                       evidence=[raised.quote(error), *warned[:1], *reading.caveat(seen)])


def _own_layer(seen: Observation, error: ExceptionFacts) -> bool:
    """Whether the script itself built the layer that raised: it did not load the model."""
    return seen.model is not None and not seen.model.pretrained and error.during == "script" and "layer" in seen.sites


def _fits(seen: Observation, error: ExceptionFacts) -> bool | None:
    """Whether every id of the batch is in the vocabulary; None where that cannot be told."""
    ids = _ids(raised.last_batch(seen, error))
    if ids is None or ids.maximum is None or seen.model is None or seen.model.vocabulary is None:
        return None
    return ids.maximum < seen.model.vocabulary and (ids.minimum is None or ids.minimum >= 0)


class OutsideVocabulary(Check):
    """An id is outside of the embedding table.

    An embedding has one row per id, from 0. A tokenizer that knows more words than the model (another checkpoint, or tokens that were
    added), ids that begin at 1, or -1 and -100 as filler ask for a row that is not there.
    Sources: PyTorch docs, nn.Embedding; transformers docs, `resize_token_embeddings`.
    """

    code: ClassVar[str] = "F102"
    stage: ClassVar[Stage] = "forward"
    requires: ClassVar[tuple[str, ...]] = ("D101", "B103", "F101")
    messages: ClassVar[tuple[str, ...]] = _LOOKUP

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the exception of an embedding; rows that were too long are another check's."""
        hit = raised.find(seen, _LOOKUP)
        if not hit or hit[0].stage in {"loss", "evaluation"} or not self._of_embedding(hit[0], hit[1]):
            if seen.exception is None and not seen.batches and not seen.steps:
                raise NotJudged("no forward pass was seen")
            return None
        error, match = hit
        sizes = {name: value for name, value in match.groupdict().items() if value}
        ids = self._culprit(seen, error)
        table = sizes.get("table") or (str(seen.model.vocabulary) if seen.model and seen.model.vocabulary else None)
        worst = sizes.get("id") if (sizes.get("id") or "").lstrip("-").isdigit() else None
        column = "an id"
        if ids is not None and ids[1].maximum is not None and ids[1].minimum is not None:
            column = f"`{ids[0]}`"
            if worst is None:
                worst = f"{ids[1].minimum:.0f}" if ids[1].minimum < 0 else f"{ids[1].maximum:.0f}"
        has = f"the embedding table has the rows 0 to {int(table) - 1}" if table else "an embedding has no row for it"
        holds = f"{column} holds {worst}" if ids is not None and worst else (f"the id {worst} was asked for" if worst else "an id is "
                                                                                                                           "outside")
        evidence = [raised.quote(error)]
        if ids is not None:
            evidence.append(f"`{ids[0]}` ranges from {ids[1].minimum:.0f} to {ids[1].maximum:.0f} in this batch")
        return Finding(message=f"{holds[0].upper()}{holds[1:]}, and {has}.", remedy=self._remedy(seen, worst, error),
                       site=self._site(seen, worst, table, error), evidence=[*evidence, *reading.caveat(seen)])

    @staticmethod
    def _site(seen: Observation, worst: str | None, table: str | None, error: ExceptionFacts) -> Site | None:
        """Filler below zero is put in where batches are made; a table of the script's own that is too small is mended where it is built."""
        if worst is not None and worst.startswith("-"):
            return reading.place(seen, "collator") or error.site
        built = reading.place(seen, f"embedding {table}", "embedding") if seen.framework in reading.KERAS else None
        if raised.has_frame(error, _EMBEDDING_CODE):
            built = built or reading.place(seen, "config.vocab_size")
        return built or (reading.place(seen, "layer") if _own_layer(seen, error) else None) or error.site

    @staticmethod
    def _of_embedding(error: ExceptionFacts, match: re.Match[str]) -> bool:
        if "index out of range in self" in match[0]:
            return error.stage == "forward" or raised.has_frame(error, r"functional\.py:embedding|sparse\.py:forward")
        return True

    @staticmethod
    def _culprit(seen: Observation, error: ExceptionFacts) -> tuple[str, TensorFacts] | None:
        batch = raised.last_batch(seen, error)
        size = seen.model.vocabulary if seen.model else None
        if batch is None:
            return None
        for name, limit in (("input_ids", size), (batch.inputs_key or "", size), ("token_type_ids", 2)):
            facts = batch.columns.get(name)
            if facts is None or facts.maximum is None or facts.minimum is None or limit is None:
                continue
            if facts.maximum >= limit or facts.minimum < 0:
                return name, facts
        return None

    @staticmethod
    def _remedy(seen: Observation, worst: str | None, error: ExceptionFacts) -> str:
        if worst is not None and worst.startswith("-"):
            return f"Take {worst} out of the inputs: -100 belongs in the labels only; pad inputs with `tokenizer.pad_token_id`."
        if seen.model and seen.model.pretrained is False and "config.vocab_size" in seen.sites:
            return ("Build the model for every id that the tokenizer may give: `vocab_size=len(tokenizer)` (`tokenizer.vocab_size` leaves "
                    "out the tokens that were added).")
        if (seen.model and seen.model.pretrained) or raised.has_frame(error, _EMBEDDING_CODE):
            return ("Load tokenizer and model from the same checkpoint; after adding tokens, make room for them: "
                    "`model.resize_token_embeddings(len(tokenizer))`.")
        rows = f"{int(worst) + 1}" if worst else "max(ids) + 1"
        layer = f"layers.Embedding({rows}, ...)" if seen.framework in reading.KERAS else f"nn.Embedding({rows}, ...)"
        return f"Give the embedding a row for every id, `{layer}` (the largest id plus 1), or map rare ids to one `unknown` id."
