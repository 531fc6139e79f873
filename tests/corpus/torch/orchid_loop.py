"""Character LSTM with truncated back-propagation, in the style of the old word_language_model example."""
import math
import random

import torch
import torch.nn as nn

random.seed(2)
torch.manual_seed(2)
NUMS = "one two three four five six seven eight nine".split()
lines = []
for _ in range(2500):
    i = random.randint(0, 7)
    lines.append(f"{NUMS[i]} {random.choice(['birds', 'ships', 'bells'])} then {NUMS[i + 1]}.")
text = "\n".join(lines)
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
def batchify(d, bsz):
    n = d.size(0) // bsz
    return d[:n * bsz].view(bsz, n).t().contiguous()      # time first

cut = int(len(data) * 0.9)
train, valid = batchify(data[:cut], 16), batchify(data[cut:], 8)
bptt = 35

class CharLM(nn.Module):
    def __init__(self, n, hid=96):
        super().__init__()
        self.emb = nn.Embedding(n, hid)
        self.rnn = nn.LSTM(hid, hid)
        self.out = nn.Linear(hid, n)
        self.out.weight = self.emb.weight
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h).flatten(0, 1), state

model = CharLM(len(chars))
criterion = nn.CrossEntropyLoss()
lr, best = 20.0, None

def evaluate():
    model.eval()
    total, state = 0.0, None
    with torch.no_grad():
        for i in range(0, valid.size(0) - 1, bptt):
            y = valid[i + 1:i + 1 + bptt]
            x = valid[i:i + len(y)]
            out, state = model(x, state)
            total += criterion(out, y.flatten()).item() * len(y)
    return total / (valid.size(0) - 1)

for epoch in range(1, 9):
    model.train()
    state, total, seen = None, 0.0, 0
    for i in range(0, train.size(0) - 1, bptt):
        y = train[i + 1:i + 1 + bptt]
        x = train[i:i + len(y)]
        if state is not None:
            state = tuple(s.detach() for s in state)
        model.zero_grad()
        out, state = model(x, state)
        loss = criterion(out, y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
        total += loss.item()
        seen += 1
    val = evaluate()
    print(f"| epoch {epoch} | lr {lr:5.2f} | train {total / seen:.3f} | valid {val:.3f} | bpc {val / math.log(2):.3f}")
    if best is None or val < best:
        best = val
    else:
        lr /= 4.0
