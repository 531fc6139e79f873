"""Tensors that are changed in place before the backward pass, and scripts that change what nobody needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, LOOP, found, watch

pytest.importorskip("torch")

MODEL = "return self.b(self.drop(torch.relu(self.a(x))))"
LOSS = "loss = F.cross_entropy(out, yb)"


def text(forward: str = MODEL, loss: str = LOSS, before: str = "") -> str:
    return HEAD.replace(MODEL, forward) + before + LOOP.replace(LOSS, loss)


@pytest.mark.parametrize(("script", "source", "remedy"), [
    (text("h = torch.sigmoid(self.a(x))\n        h += 1\n        return self.b(h)"), "h += 1", "`x = x + y` for `x += y`"),
    (text("h = torch.tanh(self.a(x))\n        h = F.relu(h, inplace=True)\n        return self.b(h)"), "inplace=True", "inplace=False"),
    (text("h = torch.zeros(len(x), 3, 32)\n        h[:, 0] = self.a(x)\n        for t in range(2):\n"
          "            h[:, t + 1] = torch.tanh(h[:, t]) * h[:, t]\n        return self.b(h[:, -1])"), "h[:, t + 1] =", "torch.stack"),
    (text(loss="p = out.exp()\n        p[yb == 1] = 0.5\n        loss = p.log().mean() ** 2"), "p[yb == 1] = 0.5", "torch.stack"),
    (text(loss="loss = F.cross_entropy(out, yb)\n        model.b.weight += 0.1"), "model.b.weight += 0.1", "torch.no_grad()")],
    ids=["added to", "inplace=True", "filled step by step", "in the loop", "a weight"])
def test_what_is_changed_and_where(tmp_path: Path, script: str, source: str, remedy: str) -> None:
    seen = watch(tmp_path, script)
    assert found(seen)[:1] == ["G309"], (found(seen), seen.exception, seen.warnings)
    finding = next(result.finding for result in walk(seen) if result.code == "G309")
    assert finding is not None
    assert finding.site is not None
    assert source in finding.site.source
    assert remedy in finding.remedy


@pytest.mark.parametrize("script", [
    text("h = self.a(x)\n        h += 1\n        return self.b(F.relu(h, inplace=True))"),
    text("h = torch.zeros(len(x), 2, 32)\n        h[:, 0] = self.a(x)\n        h[:, 1] = x[:, :1]\n        return self.b(h.sum(1))"),
    text().replace("optimizer.step()\n", "optimizer.step()\n        with torch.no_grad():\n            model.b.weight += 0.001\n")])
def test_what_may_be_changed(tmp_path: Path, script: str) -> None:
    seen = watch(tmp_path, script)
    assert seen.exception is None
    assert "G309" not in found(seen)


def test_nothing_is_left_of_the_second_look(tmp_path: Path) -> None:
    script = text("h = self.norm(torch.sigmoid(self.a(x)))\n        h = h.sigmoid()\n        h *= 2\n        return self.b(h)") + "\n"
    script = script.replace("self.drop = nn.Dropout(0.1)", "self.drop, self.norm = nn.Dropout(0.1), nn.BatchNorm1d(32)")
    caught = script.replace("        loss.backward()", """        counted = int(model.norm.num_batches_tracked)
        state = torch.random.get_rng_state()
        try:
            loss.backward()
        except RuntimeError as error:
            assert int(model.norm.num_batches_tracked) == counted == 1
            assert torch.equal(state, torch.random.get_rng_state())
            raise""")
    seen = watch(tmp_path, caught)
    assert seen.exception is not None
    assert seen.exception.type == "RuntimeError", seen.exception
    assert found(seen)[:1] == ["G309"]
