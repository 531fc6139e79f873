"""What is known of graphs that a model is given."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class JoinedFacts(Facts):
    """Batches, so many, of several graphs each whose nodes stand in one array, and whose edges all run among the first of these nodes. Of
    the last batch: so many `graphs`, `nodes` and `edges`; the `largest` graph has so many nodes, `highest` is the highest number of a node
    that an edge names, and `reached` graphs have an edge. `site`: where the script puts edges together."""

    batches: int
    graphs: int
    nodes: int
    edges: int
    largest: int
    highest: int
    reached: int
    site: Site | None = None
