"""What is known of values that a script changes, or reads in one of several forms, before and beside its model."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class MergeFacts(Facts):
    """What `calls` on a line made of whole numbers, of one `shape` there: `changed` of `places`. The values that there were `before` and
    `after`, those that were `replaced`, and `by` which; up to 64 of each."""

    calls: int = 0
    places: int = 0
    changed: int = 0
    before: list[int] = []
    after: list[int] = []
    replaced: list[int] = []
    by: list[int] = []
    shape: list[int] = []
    site: Site | None = None


class BoxFacts(Facts):
    """Boxes, float[rows, 4], that a `function` of overlap was given, and the `form` in which it was seen to read them: `corners` (x0, y0,
    x1, y1), `sized` (x, y, width, height) or `centred` (the middle in place of the corner). `rows`: how many either argument had, of which
    `reversed` are no corners (of the argument that has fewer of these): their third number is smaller than the first, or the fourth than
    the second. `site`: where it begins to take them apart.

    `converts`: the function makes another form of them; read in its own form, so many reach `outside` of the picture, and in those that it
    `fits` none does. `site`: where it is called."""

    form: str
    function: str = ""
    rows: int = 0
    reversed: int = 0
    converts: bool = False
    outside: int = 0
    fits: list[str] = []
    site: Site | None = None


class SuppressionFacts(Facts):
    """Calls of a `function` that keeps the best of overlapping boxes, of two boxes and more: in `without_best` of `calls` it did not keep
    the one with the highest score. `site`: where it puts them in order."""

    function: str = ""
    calls: int = 0
    without_best: int = 0
    site: Site | None = None


class WrapFacts(Facts):
    """Arithmetic of tables of whole numbers of 8 or 16 bits, by its `sign`, in so many `calls` on a line: of `values` results so many do
    not fit into their `dtype` (`wrapped`), and were taken modulo 256 or 65536."""

    sign: str
    dtype: str = "uint8"
    calls: int = 0
    values: int = 0
    wrapped: int = 0
    site: Site | None = None


class ShareFacts(Facts):
    """Shares of rows that were taken on a line before the training began: so many `calls`, each of which asks for one of so many `shares`.
    `same`: how many of them asked for the same one of the same rows, the last of which has this `number`. `looped`: the line of a loop that
    it is taken in."""

    shares: int
    calls: int = 0
    same: int = 0
    number: int = 0
    looped: Site | None = None
    site: Site | None = None
