"""What `compile` was given: the optimizer and its rate, the losses, and where that stands in the script."""

from __future__ import annotations

import inspect
import itertools
import linecache
import math
import statistics
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import OptimizerFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import unread
from harness.frameworks.watch.keras_functions import OF_KERAS
from harness.frameworks.watch.sites import Place, keywords, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_OLD = ("lr", "decay")
_FINE, _COARSER = 40, 1.15  # steps of a schedule that are looked at one by one, and how much further apart the others are each time
_LOOKED_AT = 100  # of the planned steps
_NOTHING = 1e-6  # of the highest rate
_CLASSES = {
    "SparseCategoricalCrossentropy": "sparse_categorical", "CategoricalCrossentropy": "categorical", "BinaryCrossentropy": "bce",
    "BinaryFocalCrossentropy": "bce", "CategoricalFocalCrossentropy": "categorical", "MeanSquaredError": "mse", "MeanAbsoluteError": "l1",
    "Huber": "l1", "LogCosh": "l1", "KLDivergence": "kl", "Hinge": "hinge", "SquaredHinge": "hinge", "CategoricalHinge": "hinge",
}
_REDUCTIONS = {"auto": "mean", "sum_over_batch_size": "mean", "mean": "mean", "mean_with_sample_weight": "mean", "sum": "sum",
               "none": "none", "None": "none"}
CROSS_ENTROPIES = ("sparse_categorical", "categorical", "bce")


@dataclass
class Compiled:
    """The arguments of one `compile` call, and the lines of the script that were under way, the innermost first."""

    place: Place | None
    arguments: dict[str, Any] = field(default_factory=dict)
    stack: tuple[Place, ...] = ()


class Compiles:
    """Wraps `Model.compile` and the constructors of layers, losses, metrics and optimizers."""

    def __init__(self, watch: KerasWatcher, keras: Any) -> None:
        self._watch = watch
        self._keras = keras
        self._compiled: dict[int, Compiled] = {}
        self._places: dict[int, tuple[Any, Place | None, tuple[Place, ...]]] = {}
        self._rates: dict[int, bool] = {}
        self._ignored: dict[int, dict[str, float]] = {}
        self.described: Any = None  # the optimizer

    def attach(self) -> None:
        patches = self._watch.session.patches
        # Keras compiles a model that it loads only if its class has the very `compile` that is defined there.
        owner = next(cls for cls in self._keras.Model.__mro__ if "compile" in vars(cls))
        patches.replace(owner, "compile", self._wrap_compile)
        optimizer = self._keras.optimizers.Optimizer
        unread.attach(self._watch.session, optimizer, "keras.", current_rate_of)
        inner = next(cls for cls in optimizer.__mro__ if "__init__" in vars(cls))
        patches.replace(self._keras.layers.Layer, "__init__", self._wrap_init)
        patches.replace(self._keras.losses.Loss, "__init__", self._wrap_init)
        patches.replace(self._keras.metrics.MeanMetricWrapper, "__init__", self._wrap_init)
        patches.replace(inner, "__init__", self._wrap_init)
        for schedule in vars(self._keras.optimizers.schedules).values():
            if inspect.isclass(schedule) and "__init__" in vars(schedule):
                patches.replace(schedule, "__init__", self._wrap_schedule)
        for name in ("Adam", "SGD", "RMSprop", "AdamW", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl", "Lion"):
            cls = getattr(self._keras.optimizers, name, None)
            if cls is not None and "__init__" in vars(cls):
                patches.replace(cls, "__init__", self._wrap_optimizer)

    def _wrap_init(self, original: Any) -> Any:
        compiles, session = self, self._watch.session

        # Keras 3 looks at a constructor's parameters to tell a layer's configuration, so they have to be the original's.
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active and compiles.place_of(self) is None:
                compiles._places[id(self)] = (weakref.ref(self), session.sites.place(skip=self), session.sites.stack())
            original(self, *args, **kwargs)

        __init__.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return __init__

    def _wrap_optimizer(self, original: Any) -> Any:
        compiles, session = self, self._watch.session

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active:
                place = session.sites.place(skip=self)
                compiles._places[id(self)] = (weakref.ref(self), place, ())
                compiles._rates[id(self)] = bool(args) or "learning_rate" in kwargs or "lr" in kwargs
                session.noted("optimizer", place)
            original(self, *args, **kwargs)
            if session.active:
                session.safely("an optimizer's arguments", compiles._passed_over, self, kwargs)

        __init__.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return __init__

    def _passed_over(self, optimizer: Any, given: dict[str, Any]) -> None:
        """Arguments of older versions that this one did not heed."""
        old = {name: value for name in _OLD if isinstance(value := given.get(name), int | float) and value > 0}
        if "lr" in old and math.isclose(old["lr"], rate_of(optimizer) or 0.0, rel_tol=1e-3):
            del old["lr"]  # the same as its default
        self._ignored[id(optimizer)] = {name: float(value) for name, value in old.items() if getattr(optimizer, name, None) != value}

    def _wrap_schedule(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active:
                session.safely("a schedule", session.site, "schedule", site(session.sites.place(skip=self)))
            original(self, *args, **kwargs)

        __init__.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return __init__

    def _wrap_compile(self, original: Any) -> Any:
        session = self._watch.session
        signature = inspect.signature(original)

        def compile_(model: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                session.safely("compile", self._note, signature, model, args, kwargs)
            return original(model, *args, **kwargs)

        return compile_

    def _note(self, signature: inspect.Signature, model: Any, args: Any, kwargs: Any) -> None:
        given = signature.bind(model, *args, **kwargs).arguments
        sites = self._watch.session.sites
        known = Compiled(sites.place(), {**given, **given.get("kwargs", {})}, sites.stack())
        self._compiled[id(model)] = known
        self._watch.session.observation.sites.pop("compile", None)  # a model that is compiled again trains as said last
        self._watch.session.site("compile", site(known.place))

    def of(self, model: Any) -> Compiled:
        """What a model was compiled with."""
        return self._compiled.get(id(model), Compiled(None))

    def stack_of(self, model: Any) -> list[Place]:
        """Where a model was made, and the lines that were under way when it was compiled, the innermost first."""
        made = self.place_of(model)
        return [*([made] if made is not None else []), *self.of(model).stack]

    def place_of(self, made: Any) -> Place | None:
        """Where a layer, model, loss, metric or optimizer was made."""
        found = self._places.get(id(made))
        return found[1] if found is not None and found[0]() is made else None

    def named(self, made: Any, word: str | None) -> Place | None:
        """The innermost line that was under way when a layer was made and has this word in it; else where it was made."""
        place = self.place_of(made)
        lines = (place, *self._places[id(made)][2]) if place is not None and word else ()
        return next((line for line in lines if line is not None and word in linecache.getline(*line[:2])), place) if word else place

    # Facts

    def loss(self, model: Any, loss: Any, step: int) -> LossCall:
        """Facts of a loss object that need no values."""
        given = self.of(model).arguments.get("loss")
        function = getattr(loss, "fn", None)
        known = getattr(loss, "kind", None) or OF_KERAS.get(getattr(function, "__name__", ""), "other")
        name: str = _CLASSES.get(type(loss).__name__) or known
        code = getattr(function, "__code__", None)
        if name == "other" and code is not None and self._watch.session.sites.is_own(code.co_filename):
            self._watch.session.site("loss.function", site((code.co_filename, code.co_firstlineno, code.co_name)))
        options = dict(getattr(loss, "_fn_kwargs", None) or {})
        if not isinstance(getattr(loss, "fn", None), type(None)) and name != "other" and "from_logits" not in options:
            options["from_logits"] = getattr(loss, "from_logits", False)
        made, compiled, fit = self.place_of(loss), self.of(model).place, self._watch.seen.sites.get("fit")
        parts = list(given.values()) if isinstance(given, dict) else list(given) if isinstance(given, list | tuple) else [given]
        own = any(part is loss for part in parts)
        named = not own and any(isinstance(part, str) for part in parts)
        # Keras (or transformers) made it itself while `fit` ran, of what `compile` was told.
        inside_library = made is None or not (own or fit is None or made[1] != fit.line)
        return LossCall(
            name=name, from_logits=bool(options.get("from_logits")) if name in CROSS_ENTROPIES else None, by_name=named,
            reduction=_REDUCTIONS.get(str(getattr(loss, "reduction", "mean")), "mean"), step=step, lined_up=function is not None,
            smoothing=float(options.get("label_smoothing") or 0.0), ignore_index=options.get("ignore_class"),
            site=getattr(loss, "site", None) or (self.keyword(site(compiled), "loss") if inside_library or named else site(made)))

    @staticmethod
    def keyword(found: Site | None, name: str) -> Site | None:
        """The line of a call's keyword, where a call spans several lines."""
        if found is None:
            return None
        written = keywords((found.file, found.line, found.function)).get(name)
        return site(written) if written is not None and written[1] != found.line else found

    def optimizer(self, model: Any, optimizer: Any) -> OptimizerFacts:
        """Facts of the optimizer that is about to step."""
        given = self.of(model).arguments.get("optimizer", "rmsprop") if model is not None else optimizer
        inner = self.described = getattr(optimizer, "inner_optimizer", optimizer)
        rate = rate_of(inner)
        by_name = isinstance(given, str)
        place = self.of(model).place if by_name else self.place_of(inner) or self.of(model).place
        facts = OptimizerFacts(
            kind=type(inner).__name__, learning_rate=rate, learning_rates=[rate] if rate is not None else [], by_name=by_name,
            rate_given=False if by_name else self._rates.get(id(inner)), scheduled=schedule_of(inner) is not None,
            momentum=_number(getattr(inner, "momentum", getattr(inner, "beta_1", None))),
            second_momentum=_number(getattr(inner, "beta_2", None)),
            weight_decay=_number(getattr(inner, "weight_decay", None)),
            clipping=next((_number(value) for name in ("clipnorm", "global_clipnorm", "clipvalue")
                           if (value := getattr(inner, name, None))), None))
        facts.ignored = {} if by_name else self._ignored.get(id(inner), {})
        facts.site = self.keyword(site(place), "optimizer") if by_name else site(place)
        if facts.site is not None:
            self._watch.seen.sites["optimizer"] = facts.site
        return facts

    def ahead(self) -> None:
        """What a schedule comes to in the steps that are planned: a script's own loops are counted batch by batch, of which an optimizer's
        step may take several."""
        seen = self._watch.seen
        facts = seen.optimizer
        if facts is None or self.described is None or not seen.steps:
            return
        of_a_step = max(1, round(statistics.median(step.backwards or 1 for step in seen.steps)))
        planned = facts.planned_steps or (facts.training_steps or 0) // of_a_step
        from_step = used_up(self.described, planned)
        facts.used_up = (from_step + 1, planned) if from_step is not None else None


def schedule_of(optimizer: Any) -> Any:
    """The schedule of an optimizer's rate, None where it is a number. Optimizers of the older kind have it under the rate's own name."""
    given = getattr(optimizer, "_learning_rate", None)
    given = getattr(optimizer, "learning_rate", None) if given is None else given
    return given if callable(given) and hasattr(given, "get_config") else None


def rate_of(optimizer: Any) -> float | None:
    """The learning rate; of a schedule its highest over the first thousand steps."""
    schedule = schedule_of(optimizer)
    if schedule is not None:
        return max(float(schedule(step)) for step in (0, 1, 3, 10, 30, 100, 300, 1000))
    return _number(getattr(optimizer, "learning_rate", None))


def planned(optimizer: Any, steps: int) -> float | None:
    """The highest rate of a schedule within so many steps, as a part of the highest that it ever comes to; None where there is none."""
    schedule = schedule_of(optimizer)
    if schedule is None or steps < 1:
        return None
    within = [float(schedule(step)) for step in sorted({*range(0, steps, max(1, steps // 20)), steps})]
    later = [float(schedule(int(steps * 1.5**power))) for power in range(1, 24)]
    highest = max([*within, *later])
    return max(within) / highest if math.isfinite(highest) and highest > 0 else None


def worth(optimizer: Any, steps: int) -> float | None:
    """What the rates of a schedule in so many steps come to together, as a number of steps at the first; None where there is none."""
    schedule = schedule_of(optimizer)
    first = float(schedule(0)) if schedule is not None and steps > 0 else 0.0
    if schedule is None or not math.isfinite(first) or first <= 0:
        return None
    # Finely where a rate may fall at once, and more and more coarsely.
    further = itertools.takewhile(lambda mark: mark < steps, (int(_FINE * _COARSER**power) for power in itertools.count()))
    marks = sorted({*range(min(steps, _FINE)), *further, steps})
    whole: float = sum((later - mark) * float(schedule(mark)) for mark, later in itertools.pairwise(marks))
    return whole / first


def used_up(optimizer: Any, steps: int) -> int | None:
    """The step, of so many, from which on a schedule gives no rate any more; None where it gives one to the end, or is none."""
    schedule = schedule_of(optimizer)
    if schedule is None or steps < 2:
        return None
    marks = sorted({*range(0, steps, max(1, steps // _LOOKED_AT)), steps - 1})
    rates = [float(schedule(mark)) for mark in marks]
    given = [mark for mark, rate in zip(marks, rates, strict=True) if rate > _NOTHING * max(rates)]
    if not given or given[-1] == steps - 1:
        return None
    last, least = given[-1], _NOTHING * max(rates)
    return next((step for step in range(last + 1, last + 1 + steps // _LOOKED_AT) if float(schedule(step)) <= least), last + 1)


def current_rate_of(optimizer: Any) -> float | None:
    """The learning rate of the step that comes next."""
    schedule = schedule_of(optimizer)
    return rate_of(optimizer) if schedule is None else _number(schedule(optimizer.iterations))


def _number(value: Any) -> float | None:
    if hasattr(value, "numpy"):
        value = value.numpy()
    try:
        return None if value is None or isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        return None
