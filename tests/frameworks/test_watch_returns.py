"""Returns that are summed up from the front of an episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import returns
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import watch

TEXT = """
import torch, torch.nn as nn
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), 5e-3)
def episode():
    place, states, actions, rewards = 0, [], [], []
    for step in range(12):
        states.append(torch.eye(5)[place])
        actions.append(torch.distributions.Categorical(logits=policy(states[-1])).sample().item())
        place = max(0, min(4, place + (1 if actions[-1] else -1)))
        rewards.append(float(place == 4))
    return torch.stack(states), torch.tensor(actions), rewards
def credited(rewards):
LOOP
for step in range(20):
    states, actions, rewards = episode()
    logs = torch.log_softmax(policy(states), 1)[torch.arange(len(actions)), actions]
    log_prob = logs
    loss = -(log_prob * torch.tensor(credited(rewards))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FRONT = """
    g, kept = 0.0, []
    for r in rewards:
        g = r + 0.9 * g
        kept.append(g)
    return kept
"""
NUMBERED = """
    g, kept = 0.0, [0.0] * len(rewards)
    for t in range(len(rewards)):
        g = rewards[t] + 0.9 * g
        kept[t] = g
    return kept
"""
RIGHT = {"numbered from the end": NUMBERED.replace("range(len(rewards))", "reversed(range(len(rewards)))"),
         "numbered down": NUMBERED.replace("range(len(rewards))", "range(len(rewards) - 1, -1, -1)"),
         "numbered, turned after": NUMBERED.replace("return kept", "return kept[::-1]"),
         "reversed": FRONT.replace("in rewards", "in reversed(rewards)").replace("return kept", "return kept[::-1]"),
         "turned before": FRONT.replace("g, kept", "rewards = rewards[::-1]\n    g, kept").replace("return kept", "return kept[::-1]"),
         "turned after": FRONT.replace("return kept", "kept.reverse()\n    return kept"),
         "put in front": FRONT.replace("in rewards", "in rewards[::-1]").replace("kept.append(g)", "kept.insert(0, g)")}


@pytest.mark.parametrize(("loop", "line"), [(FRONT, "for r in rewards"), (NUMBERED, "g = rewards[t]")])
def test_from_the_front(tmp_path: Path, loop: str, line: str) -> None:
    pytest.importorskip("torch")
    text = TEXT.replace("LOOP", loop)
    found = next(result.finding for result in walk(watch(tmp_path, text)) if result.code == "L226")
    assert found is not None
    assert found.site is not None
    assert found.site.line == test_watch_keras.line(text, line)


@pytest.mark.parametrize("loop", RIGHT.values(), ids=RIGHT)
def test_from_the_end(tmp_path: Path, loop: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(TEXT.replace("LOOP", loop))
    assert returns.facts(script) is None


def test_a_moving_average_is_no_return(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TEXT.replace("LOOP", FRONT.replace("rewards", "prices").replace("r in", "p in").replace("r +", "p +")))
    assert returns.facts(script) is None
