"""What the records of an `Observation` are made of: places in the script, and tensors."""

from __future__ import annotations

import msgspec


class Facts(msgspec.Struct, kw_only=True):
    """Base of the records: mutable while observing, never changed by a check."""


class Site(Facts):
    """A place in the user's own code: the innermost frame that is no library's.

    `cell`: of a notebook, the number of the code cell, counted from 1 as Jupyter does; `line` is within it then.
    """

    file: str
    line: int
    source: str = ""
    function: str = "<module>"
    cell: int | None = None

    @property
    def where(self) -> str:
        """The place in words."""
        return f"{self.file}:{self.line}" if self.cell is None else f"{self.file}, cell {self.cell}, line {self.line}"


class TensorFacts(Facts):
    """One tensor: shape, dtype, device, range over its finite values, rows (first axis) that hold a NaN or infinity.

    `rows_sum_to_one`: every slice along the last axis is non-negative and sums to 1 within 1e-3 (probabilities).
    `log_probabilities`: every slice along the last axis has exp() summing to 1 within 1e-3.
    `batch_sums_to_one`: of two axes with more than one row, every column sums to 1 over the rows while the rows themselves do not
    (a softmax, or the exp() of a log_softmax, over the wrong axis).
    `columns_alike`: of two axes, all columns hold the same numbers, which differ from row to row. `rows_alike`: of two axes and more, all
    rows (first axis) hold the same numbers, which differ within a row.
    `column_stds`: smallest (above 0, of those that are not zero in most rows) and largest standard deviation of a column, of a
    two-dimensional tensor of floats; of a feature, of rows of steps.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    bad_rows: list[int] = []
    integral: bool | None = None
    rows_sum_to_one: bool = False
    log_probabilities: bool = False
    batch_sums_to_one: bool = False
    columns_alike: bool = False
    rows_alike: bool = False
    column_stds: tuple[float, float] | None = None
    requires_grad: bool | None = None


class CutFacts(Facts):
    """An array that was cut into other pieces before training: the shapes `before` and `after` have the same axes in another order."""

    before: list[int]
    after: list[int]
    site: Site | None = None
