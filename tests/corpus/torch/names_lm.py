"""Letters of invented names, predicted one after another."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
SYLLABLES = ["ka", "ri", "to", "mel", "an", "dor", "is", "lu", "ven", "sa"]
names = ["".join(random.choices(SYLLABLES, k=random.randint(2, 4))) for _ in range(1500)]
letters = ["."] + sorted({c for name in names for c in name})
code = {c: i for i, c in enumerate(letters)}
longest = max(map(len, names))


def encode(name):
    ids = [0] + [code[c] for c in name] + [0]
    return ids + [-1] * (longest + 2 - len(ids))


data = torch.tensor([encode(n) for n in names])


class Decoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(len(letters), width)
        self.place = nn.Parameter(torch.zeros(longest + 1, width))
        block = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, 3)
        self.out = nn.Linear(width, len(letters))

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        return self.out(self.blocks(self.embed(ids) + self.place[:ids.size(1)], mask=mask))


model = Decoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
for step in range(150):
    rows = data[torch.randint(len(data), (32,))]
    inputs, targets = rows[:, :-1].clamp(min=0), rows[:, 1:]
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=-1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(step, loss.item())
