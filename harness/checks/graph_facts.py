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


class HeldEdgesFacts(Facts):
    """A graph of `edges` (each counted both ways) that a model is given in training holds all the `pairs` that the script keeps by these
    `names` for its evaluation, beside those that it has by the name `trained`. `site`: where the graph is made."""

    names: list[str]
    pairs: int
    trained: str
    edges: int
    site: Site | None = None
