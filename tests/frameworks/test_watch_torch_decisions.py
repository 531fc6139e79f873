"""Answers that an evaluation makes of outputs by hand, and training in evaluation mode of what is frozen."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import HEAD, watch

LOOP = """
head = nn.Linear(2, 1)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(head(model(xb)).squeeze(-1), yb.float()).backward()
        optimizer.step()
    with torch.no_grad():
        scores = torch.cat([head(model(xb)) for xb, yb in test]).squeeze(-1)
        ANSWER
"""


@pytest.mark.parametrize(("answer", "how", "threshold"), [
    ("right = (torch.round(scores) == y[320:]).float().mean()", "round", None),
    ("right = ((scores > 0.5) == y[320:]).float().mean()", "compare", 0.5),
    ("right = ((scores.reshape(-1) >= 0) == y[320:]).float().mean()", "compare", 0.0),
])
def test_an_answer_is_followed_to_the_outputs(answer: str, how: str, threshold: float | None, tmp_path: Path) -> None:
    text = HEAD + LOOP.replace("ANSWER", answer)
    seen = watch(tmp_path, text)
    made = seen.evaluation.decisions[0]
    assert (made.how, made.threshold, made.values) == (how, threshold, 80)
    assert made.minimum < 0 < made.maximum
    assert made.site is not None
    assert made.site.source == answer


@pytest.mark.parametrize("answer", ["right = (torch.sigmoid(scores) > 0.5).float().mean()", "kept = y[320:] > 0.5"])
def test_probabilities_and_other_numbers_are_let_go(answer: str, tmp_path: Path) -> None:
    assert watch(tmp_path, HEAD + LOOP.replace("ANSWER", answer)).evaluation.decisions == []


@pytest.mark.parametrize(("answer", "pairs"), [
    ("right = ((scores.unsqueeze(-1) > 0) == y[320:]).float().mean()", True),
    ("error = (scores.unsqueeze(1) - y[320:]).abs().mean()", True),
    ("error = F.mse_loss(scores.view(-1, 1), y[320:].float())", True),
    ("right = ((scores > 0) == y[320:]).float().mean()", False),
    ("order = (scores.unsqueeze(1) - scores).sign()", False),
])
def test_a_table_of_all_pairs(answer: str, pairs: bool, tmp_path: Path) -> None:
    decisions = watch(tmp_path, HEAD + LOOP.replace("ANSWER", answer)).evaluation.decisions
    assert [made.values for made in decisions if made.how == "pairs"] == ([80] if pairs else [])


TWO = """
body, head = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU()), nn.Linear(16, 2)
body.eval()
FREEZE
optimizer = torch.optim.Adam([weight for weight in [*body.parameters(), *head.parameters()] if weight.requires_grad], lr=1e-2)
for xb, yb in train:
    optimizer.zero_grad()
    F.cross_entropy(head(body(xb)), yb).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("freeze", "counted"), [("body.requires_grad_(False)", False), ("", True)])
def test_a_frozen_body_in_evaluation_mode_is_meant_so(freeze: str, counted: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TWO.replace("FREEZE", freeze))
    assert bool(seen.evaluation.training_in_eval_mode) is counted


TRANSFERRED = """
body = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU())
models = [nn.Sequential(body, nn.Linear(16, 2)) for _ in range(2)]
for model, epochs in zip(models, (2, 3)):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for xb, yb in train:
            optimizer.zero_grad()
            F.cross_entropy(model(xb), yb).backward()
            optimizer.step()
    FREEZE
    models[1].eval()
    with torch.no_grad():
        print((model(X[320:]).argmax(1) == y[320:]).float().mean())
"""


@pytest.mark.parametrize(("freeze", "counted"), [("body.requires_grad_(False)", False), ("pass", True)])
def test_a_body_that_is_frozen_for_a_second_training(freeze: str, counted: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + TRANSFERRED.replace("FREEZE", freeze), steps=100)
    assert bool(seen.evaluation.training_in_eval_mode) is counted


CLASSES = """
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    with torch.no_grad():
        outputs = torch.cat([model(xb) for xb, yb in test])
        ANSWER
"""


@pytest.mark.parametrize(("answer", "wrong"), [
    ("best, _ = torch.max(outputs, 1); right = (best == y[320:]).sum()", True),
    ("_, best = torch.max(outputs, 1); right = (best == y[320:]).sum()", False),
    ("right = (outputs.max(1).values.eq(y[320:])).sum()", True), ("right = (outputs.argmax(1) == y[320:]).sum()", False),
    ("right = (torch.softmax(outputs, 1).max(1).values > 0.5).sum()", False)])
def test_scores_that_are_asked_to_be_class_ids(answer: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + CLASSES.replace("ANSWER", answer))
    found = next(result for result in walk(seen) if result.code == "E501")
    assert (found.state == "found") is wrong
    if found.finding is not None:
        assert found.finding.site is not None
        assert found.finding.site.source == answer
