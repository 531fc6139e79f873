"""What `torch.autograd.grad` is asked about: weights that the script will change itself, or inputs."""

from __future__ import annotations

from typing import Any


class AskedAbout:
    """Told of each call."""

    def __init__(self) -> None:
        self._before: list[int] = []

    def weights(self, torch: Any, inputs: Any) -> bool:
        """Whether these are weights: parameters, or tensors of the script's own that it asks about again and again, while a batch is
        another one each time."""
        given = [inputs] if torch.is_tensor(inputs) else list(inputs)
        again, self._before = self._before == list(map(id, given)), list(map(id, given))
        return all(isinstance(one, torch.nn.Parameter) for one in given) or (again and all(one.is_leaf for one in given))
