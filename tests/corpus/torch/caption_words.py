import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

VOCAB, MAX_LEN = 60, 48


class Copying(Dataset):
    """Which of two marker words comes last?"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(4, VOCAB, (n, 64), generator=g)
        self.labels = torch.randint(0, 2, (n,), generator=g)
        spots = torch.randint(0, 64, (n,), generator=g)
        self.ids[torch.arange(n), spots] = self.labels + 2

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i], self.labels[i]


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.word = nn.Embedding(VOCAB, dim)
        self.position = nn.Embedding(MAX_LEN, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(dim, 2)
        self.scale = math.sqrt(dim)

    def forward(self, ids):
        places = torch.arange(ids.size(1), device=ids.device)
        x = self.word(ids) * self.scale + self.position(places)
        return self.out(self.layers(x).max(dim=1).values)


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    for ids, labels in DataLoader(Copying(1500, 0), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
