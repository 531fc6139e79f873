"""Pictures whose targets are pictures too: whether what is drawn at random for one is drawn for the other as well.

After the script, the same row is asked for several times. Random generators that the dataset holds are put back.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import AugmentationFacts
from harness.frameworks.watch import motions, tensors, torch_batches, torch_datasets, written
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SECONDS = 0.5
_ROWS, _DRAWS = 16, 4


def measure(watch: TorchWatcher) -> None:
    """Enters what rows drawn again show, where a row is a picture and a picture that is wanted for it."""
    loader = watch.data.training_loader
    dataset = loader.dataset if loader is not None else None
    if watch.seen.overwritten is not None:
        return
    if dataset is None or not hasattr(dataset, "__len__") or not hasattr(type(dataset), "__getitem__") or not len(dataset):
        return
    own = torch_datasets.whole(dataset)
    with generators_kept(watch.torch), own_generators_kept(own):
        found = _draw_again(dataset)
    if found is None or not found.compared:
        return
    watch.seen.augmentation = found
    place = written.last_made(getattr(type(own), "__getitem__", None), watch.session.sites)
    watch.session.noted("getitem.drawn", place)


def _draw_again(dataset: Any) -> AugmentationFacts | None:
    begun, facts = time.monotonic(), AugmentationFacts()
    for number in np.linspace(0, len(dataset) - 1, min(_ROWS, len(dataset))).astype(int).tolist():
        first = _pair(dataset[number])
        if first is None:
            return None
        for _ in range(_DRAWS):
            if time.monotonic() - begun > _SECONDS:
                return facts
            again = _pair(dataset[number])
            how = _between(first[0], again[0]) if again is not None and again[0].shape == first[0].shape else []
            if again is None or len(how) != 1 or again[1].shape != first[1].shape:
                continue  # blurred, or as it looks from the other side too
            if motions.moved(first[1], again[1], how[0]):
                facts.compared += 1
                continue
            others = motions.between(first[1], again[1])
            if others:
                facts.compared += 1
                facts.apart += 1
                facts.example = facts.example or (number, str(how[0]), str(others[0]))
    return facts


def _between(first: motions.Picture, second: motions.Picture) -> list[motions.Motion]:
    """The motions of a picture, whose brightness and contrast may have been drawn as well."""
    how = motions.between(first, second)
    return how or motions.between(motions.levelled(first), motions.levelled(second))


def _pair(row: Any) -> tuple[motions.Picture, motions.Picture] | None:
    """The first picture of a row, and the last one of the same height and width; None where there are no two."""
    found = []
    for part in torch_batches.columns_of(row).values():
        array = tensors.array(part) if tensors.is_tensor(part) else part if isinstance(part, np.ndarray) else None
        made = motions.picture(array) if array is not None else None
        if made is not None:
            found.append(made)
    if len(found) < 2 or found[0].shape[:2] != found[-1].shape[:2]:
        return None
    return found[0], found[-1]
