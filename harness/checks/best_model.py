"""The measure by which the best model is chosen."""

from __future__ import annotations

import re
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.evaluation_facts import MonitorFacts
from harness.checks.observation import Observation

_LESS = {"loss", "losses", "mse", "rmse", "mae", "mape", "msle", "error", "err", "perplexity", "ppl", "wer", "cer", "ter", "brier", "nll",
         "crossentropy", "bce", "hinge", "logloss"}
_MORE = {"accuracy", "acc", "auc", "auroc", "f1", "precision", "recall", "r2", "bleu", "rouge", "rouge1", "rouge2", "rougel", "matthews",
         "mcc", "iou", "miou", "dice", "jaccard", "pearson", "pearsonr", "spearman", "spearmanr", "ndcg", "kappa", "prc", "em"}
# Turned round by its own name.
_TURNED = {"neg", "negative", "minus", "inverse", "one", "reward", "elbo", "gain"}


class BestByTheWrongWay(Check):
    """The best model is chosen by a measure that is read the wrong way round.

    A loss or an error is better when it is less, an accuracy when it is more. Read the other way, the worst epoch is kept as the best,
    early stopping ends the training while it improves, and a rate is lowered at every step forward.
    Sources: Transformers docs, `TrainingArguments.greater_is_better` (by default True for every name that does not end in `loss`); Keras
    docs, `ModelCheckpoint` and `EarlyStopping` (`mode`); PyTorch docs, `ReduceLROnPlateau`.
    """

    code: ClassVar[str] = "E507"
    stage: ClassVar[Stage] = "evaluation"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the name of the measure, where that leaves no doubt, and from which way it is followed."""
        wrong = next((facts for facts in seen.evaluation.monitors if _more_is_better(facts.measure) is (not facts.greater)), None)
        if wrong is None:
            return None
        who, larger = "The Trainer" if wrong.kind == "Trainer" else f"`{wrong.kind}`", "larger" if wrong.greater else "smaller"
        return Finding(
            message=f"{who} takes a {larger} `{wrong.measure}` for the better one: "
                    f"{_HARM.get(wrong.kind, 'the worst epoch counts as the best')}.",
            remedy=_remedy(wrong), site=wrong.site,
            evidence=[f"`{wrong.measure}` is followed upwards" if wrong.greater else f"`{wrong.measure}` is followed downwards"])


_HARM = {"EarlyStopping": "training ends while it still improves", "ReduceLROnPlateau": "the rate is lowered while training improves",
         "ModelCheckpoint": "the worst epoch is kept as the best", "Trainer": "the worst checkpoint is kept, and loaded in the end"}


def _more_is_better(measure: str) -> bool | None:
    """None where the name does not tell, or tells both."""
    words = set(re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", measure).lower()))
    less, more = bool(words & _LESS), bool(words & _MORE)
    return more if less != more and not words & _TURNED else None


def _remedy(wrong: MonitorFacts) -> str:
    if wrong.kind == "Trainer":
        return (f"`TrainingArguments(metric_for_best_model=\"{wrong.measure}\", greater_is_better={not wrong.greater}, ...)`; left out, it "
                "is True for every name that does not end in `loss`.")
    mode = "min" if wrong.greater else "max"
    given = "" if wrong.kind == "ReduceLROnPlateau" else f"monitor=\"{wrong.measure}\", "
    return f"Say which way is better: `{wrong.kind}({given}mode=\"{mode}\", ...)`; `mode=\"auto\"` knows few names."
