"""What `Trainer.predict` gives back: answers in the order in which its loader brought the rows, with their labels in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import PredictedFacts
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_LABELS = 1  # where they stand in `PredictionOutput`


class Predictions:
    """Hooks `Trainer.predict`: whether a script looks at the labels that come with answers of another order than the dataset has."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch

    def attach(self, module: Any) -> None:
        """Hook the Trainer of `transformers.trainer`."""
        self._watch.session.patches.replace(module.Trainer, "predict", self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._watch.session

        def predict(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.sites.place() if session.active else None
            result = original(trainer, *args, **kwargs)
            current = self._watch.data.current
            if not session.active or current is None or not current.facts.shuffled or not hasattr(result, "label_ids"):
                return result
            facts = PredictedFacts(rows=current.facts.rows or 0, grouped=_grouped(trainer.args), site=site(place),
                                   loader=current.facts.site if current.facts.site != site(self._watch.trainers.place) else None)
            self._watch.seen.evaluation.predicted.append(facts)
            return session.safely("what predict() gave", self._followed, result, facts) or result

        return predict

    def _followed(self, result: Any, facts: PredictedFacts) -> Any:
        """The same, which notes in `facts` what is taken of it."""
        kind = type(result)

        class Followed(kind):  # type: ignore[misc,valid-type]
            __slots__ = ()

            @property
            def predictions(self) -> Any:
                facts.answers = True
                return tuple.__getitem__(self, 0)

            @property
            def label_ids(self) -> Any:
                facts.labels = True
                return tuple.__getitem__(self, _LABELS)

            def __getitem__(self, index: Any) -> Any:
                facts.answers, facts.labels = True, facts.labels or index != 0
                return tuple.__getitem__(self, index)

            def __iter__(self) -> Any:
                facts.answers = facts.labels = True
                return tuple.__iter__(self)

            def __reduce__(self) -> Any:
                return kind, tuple(self)  # a script may keep it in a file

        Followed.__name__, Followed.__qualname__ = kind.__name__, kind.__qualname__
        return tuple.__new__(Followed, tuple(result))


def _grouped(arguments: Any) -> bool:
    """Whether rows of like length come together: a flag up to transformers 4, a strategy since 5; both hold for evaluations too."""
    return bool(getattr(arguments, "group_by_length", False)) or getattr(arguments, "train_sampling_strategy", "") == "group_by_length"
