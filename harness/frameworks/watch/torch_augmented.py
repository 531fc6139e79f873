"""Pictures whose targets are pictures too: whether what is drawn at random for one is drawn for the other as well.

After the script, the same row is asked for several times. Random generators that the dataset holds are put back.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import drawn_apart, motions, tensors, torch_batches, torch_datasets, written
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SECONDS = 0.5
_ROWS = 16


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
        numbers = np.linspace(0, len(dataset) - 1, min(_ROWS, len(dataset))).astype(int).tolist()
        found = drawn_apart.found(((number, functools.partial(_row, dataset, number)) for number in numbers), _SECONDS)
    if found is None or not found.compared:
        return
    watch.seen.augmentation = found
    place = written.last_made(getattr(type(own), "__getitem__", None), watch.session.sites)
    watch.session.noted("getitem.drawn", place)


def _row(dataset: Any, number: int) -> drawn_apart.Pair | None:
    return _pair(dataset[number])


def _pair(row: Any) -> drawn_apart.Pair | None:
    """The first picture of a row, and the last one of the same height and width; None where there are no two."""
    found = []
    for part in torch_batches.columns_of(row).values():
        array = tensors.array(part) if tensors.is_tensor(part) else part if isinstance(part, np.ndarray) else None
        made = motions.picture(array) if array is not None else None
        if made is not None:
            found.append(made)
    return drawn_apart.pair(found)
