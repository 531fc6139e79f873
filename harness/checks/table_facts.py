"""What is known of tables that a script makes: put side by side, or with a column made of the labels."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class GluedFacts(Facts):
    """Two tables of so many `rows` that were put side by side by their places, after the index `name` of the first was dropped: in the
    table that the other one's `column` comes from, `moved` rows have another value of that name at their place. `site`: where that was
    done."""

    name: str
    column: str
    rows: int
    moved: int
    site: Site | None = None


class OwnMeanFacts(Facts):
    """Column `column` of `columns` (from 0) of a table of so many `rows`, or of so many rows that are a `part` of it, is a mean of the
    labels of each of so many `groups`, each row's own label among them. It correlates with the labels by `told`, and by `without` where
    each row's own is left out of its mean. `site`: where labels are taken together by groups."""

    column: int
    columns: int
    groups: int
    rows: int
    told: float
    without: float
    part: bool = False
    site: Site | None = None
