"""Half precision rounds small changes away: an output that begins at zero depends on its inputs all the same."""

from __future__ import annotations

from pathlib import Path

from tests.frameworks.watching import HEAD, LOOP, found, watch

HALF = """
nn.init.zeros_(model.b.weight)
nn.init.constant_(model.b.bias, -3.0)
"""
UNDER = "        with torch.autocast('cpu', dtype=torch.bfloat16):\n            out = model(xb)"
AUTOCAST = LOOP.replace("        out = model(xb)", UNDER).replace("F.cross_entropy(out, yb)", "F.cross_entropy(out.float(), yb)")


def test_an_output_that_begins_at_zero_in_half_precision(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + HALF + AUTOCAST)
    assert seen.probes.input_matters is True
    assert "F104" not in found(seen)
