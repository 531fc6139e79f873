"""Prompts of different lengths that a decoder goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, found, watch

TEXT = HEAD + """
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
writer = GPT2LMHeadModel(GPT2Config(vocab_size=12, n_positions=32, n_embd=32, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1,
                                    pad_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
X = torch.stack([(torch.arange(9) + start) % 10 + 2 for start in torch.randint(0, 10, (400,))])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.writer = writer
    def forward(self, x):
        return self.writer(input_ids=x, attention_mask=torch.ones_like(x)).logits[:, :-1].flatten(0, 1)
model = Net()
train = DataLoader(TensorDataset(X, X[:, 1:]), batch_size=16)
test = DataLoader(TensorDataset(X[:80], X[:80, 1:]), batch_size=16)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
""" + LOOP.replace("(out, yb)", "(out, yb.flatten())").replace("argmax(1) == yb", "argmax(1) == yb.flatten()") + """
texts = [X[row, : 3 + row % 4] for row in range(12)]
rows = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_side="SIDE")
writer.eval()
print(writer.generate(rows, attention_mask=MASK, max_new_tokens=4, do_sample=False))
"""


@pytest.mark.parametrize(("side", "mask", "padded"), [
    ("right", "(rows > 0).long()", 9), ("right", "None", 9), ("left", "(rows > 0).long()", 0), ("left", "None", 0)])
def test_a_decoder(tmp_path: Path, side: str, mask: str, padded: int) -> None:
    seen = watch(tmp_path, TEXT.replace("SIDE", side).replace("MASK", mask), steps=40, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    facts = seen.evaluation.prompts
    assert facts is not None
    assert (facts.rows, facts.padded) == (12, padded)
    assert (facts.alone, found(seen)) == ((4, ["E521"]) if padded else (0, []))


def test_prompts_of_one_length(tmp_path: Path) -> None:
    text = TEXT.replace("SIDE", "right").replace("MASK", "None").replace("3 + row % 4", "5")
    seen = watch(tmp_path, text, steps=40, probe_seconds=1)
    assert seen.evaluation.prompts is not None
    assert (seen.evaluation.prompts.padded, found(seen)) == (0, [])


OWN = TEXT[:TEXT.index("print(writer.generate")] + """
rows = rows.clone()
mask = MASK
with torch.no_grad():
    for turn in range(3):
        logits = writer(input_ids=rows, attention_mask=mask).logits
        following = TAKEN.argmax(-1)
        rows = torch.cat([rows, following[:, None]], 1)
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)
"""


@pytest.mark.parametrize(("side", "taken", "fault"), [
    ("right", "logits[:, -1]", True), ("left", "logits[:, -1]", False),
    ("right", "logits[torch.arange(len(rows)), mask[:, : 6 + turn].argmin(1) - 1 if turn == 0 else -1]", False)])
def test_a_loop_that_writes(tmp_path: Path, side: str, taken: str, *, fault: bool) -> None:
    text = OWN.replace("SIDE", side).replace("MASK", "(rows > 0).long()").replace("TAKEN", taken)
    seen = watch(tmp_path, text, steps=40, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E521" in found(seen)) is fault, seen.evaluation.prompts
