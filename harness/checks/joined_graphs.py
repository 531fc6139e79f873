"""Graphs of a batch whose edges name the nodes of other graphs."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import reading
from harness.checks.base import Check, Finding, NotJudged
from harness.checks.observation import Observation

_LEAST = 3


class JoinedGraphs(Check):
    """Graphs are joined to a batch, and their edges still have the numbers that they had alone: all run among the first nodes.

    Nodes of several graphs stand one behind the other, so that node 0 of the second graph is node n of the batch. Edges that are not moved
    along all name nodes of the first graph or two: these get the messages of the whole batch, and all others get none.
    Source: Fey & Lenssen 2019, "Fast Graph Representation Learning with PyTorch Geometric" (mini-batching by a block-diagonal adjacency
    matrix).
    """

    code: ClassVar[str] = "B105"
    stage: ClassVar[Stage] = "batch"

    def check(self, seen: Observation) -> Finding | None:
        """Judges from arrays that a model is given in training: the graph of each node (or the graphs' sizes), int (N,), and pairs of
        nodes, int (2, E) or (E, 2). In three batches at the least no edge names a node beyond the size of the largest graph, and at most
        half of the graphs have an edge."""
        facts = seen.joined
        if facts is None:
            raise NotJudged("the model is given no graphs that were joined to a batch, or their edges reach all of them")
        if facts.batches < _LEAST:
            return None
        edges = "tf.concat" if seen.framework in reading.KERAS else "torch.cat"
        return Finding(
            message=f"{facts.graphs} graphs with {facts.nodes} nodes are joined to a batch, and no edge names a node beyond the number "
                    f"{facts.highest}: {facts.graphs - facts.reached} of the graphs have no edge at all, and the first ones have those of "
                    "all.",
            remedy="Move the edges of each graph by the number of nodes that come before it: "
                   f"`edges.append(edge_index + nodes); nodes += len(x)`, then `{edges}(edges, 1)`.",
            site=facts.site or reading.place(seen, "loader", "forward"),
            evidence=[f"batches in which this was so: {facts.batches}, from the first one on",
                      f"edges of the last one: {facts.edges}; nodes of its largest graph: {facts.largest}"])
