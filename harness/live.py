"""Diagnose an object that is already there: a Trainer, a Keras model with its data, a PyTorch model with loader, loss and optimizer.

The object is trained for a few steps under watch, in this process, and afterwards it is as it was: weights, optimizer, random states.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.checks.base import walk
from harness.diagnosis.record import Diagnosis, conclude
from harness.errors import BadParameter
from harness.frameworks.watch.session import Enough, WatchBudget, WatchSession

_EPOCHS = 1000  # more than are ever watched


class LiveDiagnosis(Diagnosis, frozen=True, kw_only=True):
    """A diagnosis that prints as its report, and shows as one in a notebook."""

    def __str__(self) -> str:
        from harness.report.diagnosis_text import render

        return render(self)

    def _repr_markdown_(self) -> str:
        from harness.report.diagnosis_markup import markdown

        return markdown(self)


def diagnose(subject: Any, *data: Any, loss: Callable[..., Any] | None = None, optimizer: Any = None,
             seconds: float = 20.0, steps: int = 60, **fit: Any) -> LiveDiagnosis:
    """Train `subject` for a few steps under watch, put everything back, and name the first cause.

    | subject | then |
    |---|---|
    | a `transformers.Trainer` | nothing more |
    | a compiled Keras model | what its `fit` takes: `diagnose(model, x, y)`, `diagnose(model, dataset)`, also by name (`batch_size=32`) |
    | a `torch.nn.Module` | an iterable of batches, `optimizer=`, and `loss=`, a function of (output, target); without it the model has \
to return its loss (`model(**batch).loss`); batches are brought to the model's device |

    `seconds` of training are watched and at most `steps` of them. Raises `BadParameter` for a subject of another kind.
    """
    kept, train = _how(subject, data, loss, optimizer, fit)
    with kept, _silence():
        budget = WatchBudget(seconds=seconds, steps=steps, onward_seconds=0.0)
        return watched(train, sys._getframe(1).f_code.co_filename, type(subject).__name__, budget)


def watched(train: Callable[[], object], file: str, shown: str, budget: WatchBudget) -> LiveDiagnosis:
    """Call `train()` under watch and judge what was seen. `file` holds the user's own code; `shown` is its name for people."""
    session = WatchSession(file, budget)
    error: BaseException | None = None
    begun = time.monotonic()
    session.attach()
    try:
        train()
    except BadParameter:
        raise
    except (Exception, Enough) as raised:  # noqa: BLE001 - whatever ends training is looked at
        error = raised
    finally:
        session.detach()
    seen = session.finish(error)
    seen.seconds = time.monotonic() - begun
    found = conclude(shown, seen, walk(seen))
    return LiveDiagnosis(**{name: getattr(found, name) for name in found.__struct_fields__})


def _how(subject: Any, data: tuple[Any, ...], loss: Any, optimizer: Any,
         fit: dict[str, Any]) -> tuple[contextlib.AbstractContextManager[None], Callable[[], None]]:
    kinds = {f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(subject).__mro__}
    if "transformers.Trainer" in kinds:
        return _trainer_kept(subject), lambda: subject.train()  # noqa: PLW0108 - looked up when it is watched
    if "torch.Module" in kinds:
        if len(data) != 1 or optimizer is None:
            raise BadParameter("diagnose(model, loader, optimizer=..., loss=...) needs the batches and the optimizer of a PyTorch model")
        return _torch_kept([subject], [optimizer], data[0]), lambda: _loop(subject, data[0], loss, optimizer)
    if hasattr(subject, "fit") and hasattr(subject, "compile"):
        arguments = {"epochs": _EPOCHS, "verbose": 0, **fit}
        return _keras_kept(subject), lambda: subject.fit(*data, **arguments)
    raise BadParameter(f"a {type(subject).__name__} cannot be diagnosed; give a Trainer, a Keras model with its data, or a PyTorch "
                       "model with loader, loss and optimizer")


def _loop(model: Any, batches: Iterable[Any], loss: Any, optimizer: Any) -> None:
    """The plainest training loop. Ends when it was watched for long enough, or after enough epochs."""
    model.train()
    device = next((weight.device for weight in model.parameters()), None)
    for batch in itertools.chain.from_iterable(itertools.repeat(batches, _EPOCHS)):
        optimizer.zero_grad()
        _loss_of(model, _moved(batch, device), loss).backward()
        optimizer.step()


def _moved(batch: Any, device: Any) -> Any:
    """A batch with its tensors on `device`, as every loop over a loader has to bring them there. None or the CPU: as it is."""
    if device is None or device.type == "cpu":
        return batch
    from harness.frameworks.watch import trees

    return trees.mapped(batch, lambda leaf: leaf.to(device) if hasattr(leaf, "to") else leaf)


def _loss_of(model: Any, batch: Any, loss: Any) -> Any:
    if hasattr(batch, "keys"):
        if loss is None:
            return model(**batch).loss
        name = next((name for name in ("labels", "label", "target", "y") if name in batch), None)
        if name is None:
            raise BadParameter(f"no target in a batch of {', '.join(map(str, batch))}; call it labels, or let the model return its loss")
        return loss(model(**{key: value for key, value in batch.items() if key != name}), batch[name])
    *inputs, target = batch
    return loss(model(*inputs), target) if loss is not None else model(*inputs, target)


@contextlib.contextmanager
def _torch_kept(modules: list[Any], optimizers: list[Any], loader: Any = None) -> Iterator[None]:
    import torch

    from harness.frameworks.watch.torch_state import Frozen

    generators = [found for holder in (loader, getattr(loader, "sampler", None))
                  if isinstance(found := getattr(holder, "generator", None), torch.Generator)]
    states = [generator.get_state() for generator in generators]
    with Frozen(torch, modules, [found for found in optimizers if found is not None], []).held():
        yield
    for generator, state in zip(generators, states, strict=True):
        generator.set_state(state)


@contextlib.contextmanager
def _trainer_kept(trainer: Any) -> Iterator[None]:
    """A Trainer's own attributes, its arguments, callbacks and accelerator besides what PyTorch holds.

    Only the callback that steers the loop stays: the others print, save, or report elsewhere.
    """
    from transformers.trainer_callback import DefaultFlowCallback

    holders = [trainer, trainer.args, trainer.callback_handler, trainer.accelerator, trainer.state, trainer.control]
    before = [dict(vars(holder)) for holder in holders]
    held_lists = [held for holder in (trainer.accelerator, trainer.state) for held in vars(holder).values() if isinstance(held, list)]
    lists = [(held, list(held)) for held in held_lists]
    schedule = trainer.lr_scheduler.state_dict() if trainer.lr_scheduler is not None else None
    with _torch_kept([trainer.model], [trainer.optimizer]):
        try:
            trainer.callback_handler.callbacks = [found for found in trainer.callback_handler.callbacks
                                                  if isinstance(found, DefaultFlowCallback)]
            yield
        finally:
            for holder, attributes in zip(holders, before, strict=True):
                vars(holder).clear()
                vars(holder).update(attributes)
            for held, items in lists:
                held[:] = items
            if schedule is not None:
                trainer.lr_scheduler.load_state_dict(schedule)


@contextlib.contextmanager
def _keras_kept(model: Any) -> Iterator[None]:
    """Weights and generators as the probes keep them. The optimizer that trains meanwhile is a copy of the model's own, which may have
    no slots yet and could not be rid of them again."""
    from harness.frameworks.watch.keras_state import Frozen, optimizers_of

    names = ("history", "train_function", "test_function", "train_tf_function", "_compile_metrics", "_is_built")
    before = {name: vars(model)[name] for name in names if name in vars(model)}
    with Frozen(model).held():
        for name in optimizers_of(model):
            own = vars(model)[name]
            vars(model)[name] = type(own).from_config(own.get_config())
        vars(model).update({name: None for name in before if name.endswith("_function")})
        try:
            yield
        finally:
            vars(model).update(before)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        before = logging.root.manager.disable
        logging.disable(logging.INFO)
        try:
            yield
        finally:
            logging.disable(before)
