"""Next item in a shopping session; a catalogue of twenty thousand items."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ITEMS = 20_000


class Sessions(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        start = torch.randint(0, 200, (n,), generator=g)
        self.history = (start.unsqueeze(1) * 97 + torch.arange(5) * 13) % ITEMS
        self.target = (start * 97 + 5 * 13) % ITEMS

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return {"history": self.history[i], "target": self.target[i]}


class Recommender(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.items = nn.Embedding(ITEMS, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.scores = nn.Linear(dim, ITEMS)

    def forward(self, history):
        _, h = self.gru(self.items(history))
        return self.scores(h[-1])


def run():
    torch.manual_seed(0)
    loader = DataLoader(Sessions(2000, 0), batch_size=64, shuffle=True)
    model = Recommender()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        for batch in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(batch["history"]), batch["target"])
            loss.backward()
            opt.step()
        print(epoch, loss.item())
    test = Sessions(200, 1)
    with torch.no_grad():
        print("hit rate", (model(test.history).argmax(1) == test.target).float().mean().item())


run()
