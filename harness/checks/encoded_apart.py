"""Rows of an evaluation that are encoded by what was learnt from other rows than those of the training."""

from __future__ import annotations

import itertools
import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading, sourcing
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.evaluation_facts import IndicatorFacts
from harness.checks.observation import Observation
from harness.checks.training_facts import ExceptionFacts

_ROWS, _NAMED = 20, 5
# Share of the evaluation's tokens that one id makes; how much less of the training's; by how much the training rows are told better.
_STRANGE, _KNOWN, _WORSE, _TOKENS = 0.2, 0.1, 0.1, 1000
_ADAPTED = "`layer.adapt(train_rows)` once, then `layer(train_rows)` and `layer(test_rows)`."
_HARM = 0.03  # by how much rows are told worse
_FURTHER = 2.0  # times as far off as those of the training, of numbers
_FITTED = {"Tokenizer": "`tokenizer.fit_on_texts(train_texts)`, then `tokenizer.texts_to_sequences(test_texts)`.",
           **dict.fromkeys(("TextVectorization", "StringLookup", "IntegerLookup", "Normalization"), _ADAPTED)}
_OF_WORDS = ("Tokenizer", "TextVectorization", "StringLookup", "IntegerLookup")
# A width that does not fit: of layers of PyTorch and Keras, of estimators of scikit-learn.
_WIDTHS = (
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<got>\d+) and (?P<wants>\d+)x\d+\)",
    r"expected axis -1 of input shape to have value (?P<wants>\d+), but received input with shape \(.*?(?P<got>\d+)\)",
    r"Invalid input shape for input .*Expected shape \(None, (?P<wants>\d+)\), but input has incompatible shape \(\w+, (?P<got>\d+)\)",
    r"expected shape=\(None, (?P<wants>\d+)\), found shape=\(\w+, (?P<got>\d+)\)",
    r"Matrix size-incompatible: In\[0\]: \[\d+,(?P<got>\d+)\], In\[1\]: \[(?P<wants>\d+),\d+\]",
    r"size of tensor a \((?P<got>\d+)\) must match the size of tensor b \((?P<wants>\d+)\)",
    r"operands could not be broadcast together with shapes \(\d+,(?P<got>\d+)\) \((?P<wants>\d+),\)",
    r"X has (?P<got>\d+) features, but \w+ is expecting (?P<wants>\d+) features",
)


class EncodedApart(Check):
    """A scaler, tokenizer or table of categories is fitted anew for the evaluation.

    The same number then no longer means the same: a value at the mean of the test rows becomes 0, whatever 0 was in training, and a word
    gets the id that another word had.
    Categories that one part of the rows lacks leave it with fewer columns.
    Source: scikit-learn docs, "Common pitfalls" (inconsistent preprocessing; `fit` on the training data alone); Keras docs, text
    preprocessing; pandas docs, `get_dummies`.
    """

    code: ClassVar[str] = "E512"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what the encoder of each row had learnt when it encoded it, row by row, in training and evaluation. Where parts of
        the training have encoders of their own (one for each person, for each fold), none is expected to be the same."""
        told = _columns(seen) or _numbered(seen) or _strange(seen) or _standardised(seen)
        if told is not None:
            return told
        encoded = seen.evaluation.encoded
        if encoded is None:
            raise NotJudged("no rows were seen that one object encoded for the training and another one for the evaluation")
        if encoded.rows < _ROWS:
            return None
        words = encoded.kind in _OF_WORDS
        means = "the same word has another id" if words else "the same value is another number"
        return Finding(
            message=f"{encoded.rows} rows of the evaluation are encoded by a {encoded.kind} that was fitted anew, and not by what was "
                    f"learnt from the rows of the training: {means} there.",
            remedy="Fit once, on the rows of the training, and only apply it to all others: "
                   + _FITTED.get(encoded.kind, "`x_train = scaler.fit_transform(x_train)`, then `x_test = scaler.transform(x_test)`."),
            site=encoded.site,
            evidence=[f"rows of the training by the first state: {encoded.trained}"
                      + (f", encoded at line {encoded.trained_site.line}" if encoded.trained_site is not None else ""),
                      f"rows of the evaluation by the second: {encoded.rows}"])


def _standardised(seen: Observation) -> Finding | None:
    """A mean and a deviation that are taken from the rows of the evaluation themselves. It may do no harm, where these are drawn as the
    training's are."""
    facts, relation = seen.evaluation.standardised, seen.evaluation.relation or seen.evaluation.loose_relation
    if facts is None:
        return None
    worse = relation.trained - relation.held if relation is not None and relation.classes else None
    further = relation.errors[1] / max(relation.errors[0], 1e-12) if relation is not None and relation.errors is not None else None
    if worse is not None and worse < _HARM:
        return None
    known = worse is not None or further is not None or not facts.whole
    if facts.unread and known and (worse is None or worse < _WORSE) and (further is None or further < _FURTHER):
        return None
    told = [f"told rightly: {relation.trained:.0%} of the training rows, {relation.held:.0%} of the evaluation's"] if (
        relation is not None and relation.classes) else []
    if further is not None and further > _FURTHER:
        told.append(f"the answers to these rows are off by {further:.1f} times as much as those to rows of the training (root of the mean "
                    "square)")
    return Finding(
        message=f"The {facts.rows} rows of the evaluation are standardised by their own mean and deviation, and not by those of the "
                "training: the same value is another number there, and what sets these rows apart is gone.",
        remedy="Take both once, from the rows of the training, and use them for all others: `mean, std = x_train.mean(0), x_train.std(0)`, "
               "then `(x_test - mean) / std`.",
        site=facts.site,
        evidence=[f"over these rows, each of {facts.columns} columns has a mean of 0 and a deviation of 1, as exactly as rounding lets it",
                  *told])


def _numbered(seen: Observation) -> Finding | None:
    """Ids whose values were numbered once for the training and once more for the evaluation."""
    facts = seen.evaluation.numbered
    if facts is None:
        return None
    remedy = {
        "factorize": "Number them once, before the rows are parted; or keep what the training's had: `codes, users = pd.factorize("
                     "train['user'])`, then `users.get_indexer(test['user'])`, which says -1 to what is new.",
        "category": "Make the column a category before the rows are parted, or give the second the categories of the first: "
                    "`pd.Categorical(test['user'], categories=train['user'].cat.categories).codes`.",
        "LabelEncoder": "Fit once, on the values of the training, and only apply it to others: `encoder.transform(test['user'])`.",
    }[facts.kind]
    return Finding(
        message=f"The values of a column are numbered anew for the evaluation: {facts.moved} of the {facts.shared} that the training has "
                "as well have another number there, and with it what was learnt for another value.",
        remedy=remedy, site=facts.site,
        evidence=[f"the {facts.rows} ids that the model is asked about are those of a numbering of their own"
                  + (f"; the training's was made at line {facts.trained_site.line}" if facts.trained_site is not None else "")])


def _strange(seen: Observation) -> Finding | None:
    """An id that the training hardly has, and much of the evaluation is: words as the vocabulary does not know them. It harms where the
    training rows are told much better."""
    facts, relation = seen.evaluation.strange, seen.evaluation.relation
    if facts is None or relation is None or not relation.classes or min(facts.tokens, facts.trained_tokens) < _TOKENS:
        return None
    if facts.share < _STRANGE or facts.trained_share > _KNOWN * facts.share or relation.trained - relation.held < _WORSE:
        return None
    return Finding(
        message=f"{facts.share:.0%} of the tokens of the evaluation are the id {facts.token}, which makes {facts.trained_share:.1%} of "
                "those that were trained on: its texts are prepared in another way, and their words are not in the vocabulary.",
        remedy="Prepare all texts by one function (lower case, punctuation, tokens), and call it wherever texts become ids: "
               "`encode(clean(text))`.",
        site=sourcing.line(seen, "inputs", "called") or reading.place(seen, "evaluation", "fit"),
        evidence=[f"told rightly: {relation.trained:.0%} of the training rows, {relation.held:.0%} of the evaluation's"])


def _columns(seen: Observation) -> Finding | None:
    """What is wrong with a width, where the columns of two parts of the rows are different, and by as many as are too few or too many; or
    a column that is asked for, and that one of them has."""
    for error in reading.raised(seen):
        widths = next((match for pattern in _WIDTHS if (match := re.search(pattern, error.message))), None)
        for part, other in itertools.permutations(reversed(seen.evaluation.indicators), 2):
            astray = widths is not None and len(part.columns) <= int(widths["got"]) and (
                len(part.columns) - len(other.columns) == int(widths["got"]) - int(widths["wants"]) != 0)
            if not set(part.columns) & set(other.columns):
                continue  # of other things altogether
            lacks = set(other.columns) - set(part.columns)
            if astray or (error.type == "KeyError" and any(f"'{name}'" in error.message for name in lacks)):
                return _apart(part, other, error)
    return None


def _apart(part: IndicatorFacts, other: IndicatorFacts, error: ExceptionFacts) -> Finding:
    lacks, more = ([name for name in one.columns if name not in another.columns] for one, another in ((other, part), (part, other)))
    named = [f"{what}: {', '.join(names[:_NAMED])}" for what, names in (("missing", lacks), ("only there", more)) if names]
    return Finding(
        message=f"`get_dummies` is called for each part of the rows by itself, and makes a column for each category that it finds there: "
                f"{len(other.columns)} of {other.rows} rows, and {len(part.columns)} of the {part.rows} that are asked about.",
        remedy="Say which categories there are before the rows are parted, `frame[name] = frame[name].astype(\"category\")`, or encode the "
               "whole table; for rows that come later, `pd.get_dummies(rows).reindex(columns=train_columns, fill_value=0)`.",
        site=part.site or error.site, evidence=[*named, raised.quote(error)])
