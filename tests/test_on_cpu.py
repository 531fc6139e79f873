"""A script that asks for a GPU by name, run on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.diagnosis import subject
from harness.diagnosis.diagnose import Options, _on_the_cpu

SCRIPT = """\
import torch
from torch import nn

device = DEVICE
model = nn.Sequential(nn.Embedding(10, 8), nn.Flatten(), nn.Linear(32, WIDTH))SENT
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
labels = torch.arange(16, device=device) % 3
for step in range(20):
    tokens = torch.randint(0, IDS, (16, 4)).to(device, non_blocking=True)
    output = model(tokens)
    torch.cuda.synchronize()
    loss = nn.functional.cross_entropy(output, labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


def raised(folder: Path, device: str, *, sent: str = ".to(device)", ids: int = 10, width: int = 3) -> tuple[str, int] | None:
    """Class and line of what the script raises on the CPU."""
    path = folder / "train.py"
    path.write_text(SCRIPT.replace("DEVICE", device).replace("SENT", sent).replace("IDS", str(ids)).replace("WIDTH", str(width)))
    with subject.resolve(str(path), (), variant="broken", framework=None, pairs=(), device=None) as found:
        seen = _on_the_cpu(found, Options(seconds=2.0))
    if seen is None:
        return None
    assert seen.exception is not None
    assert seen.exception.site is not None
    return seen.exception.type, seen.exception.site.line


@pytest.mark.parametrize(("device", "sent"), [
    ('"cuda"', ".to(device)"), ('torch.device("cuda:0")', ".to(device)"), ('"cuda"', ".cuda()"), ('"cuda"', ".to(0)")])
def test_the_true_line_of_what_a_gpu_reports_late(tmp_path: Path, device: str, sent: str) -> None:
    assert raised(tmp_path, device, sent=sent, width=2) == ("IndexError", 12)


def test_ids_outside_the_table(tmp_path: Path) -> None:
    assert raised(tmp_path, '"cuda"', ids=30) == ("IndexError", 10)


def test_nothing_is_raised_there(tmp_path: Path) -> None:
    assert raised(tmp_path, '"cuda"') is None


def test_that_there_is_no_gpu_is_no_second_opinion(tmp_path: Path) -> None:
    assert raised(tmp_path, "torch.cuda.get_device_properties(0) and 'cuda'") is None
