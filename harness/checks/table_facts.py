"""What is known of tables that a script puts side by side."""

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
