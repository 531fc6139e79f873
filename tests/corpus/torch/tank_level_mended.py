"""Estimate the hidden fill level of tanks along runs of different length (inflow/outflow readings)."""
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class TankRuns(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.runs = []
        for _ in range(n):
            steps = int(rng.integers(15, 50))
            flow = rng.normal(0, 1, (steps, 2)).astype(np.float32)
            level = np.zeros(steps, dtype=np.float32)
            state = 0.0
            for t in range(steps):
                state = 0.8 * state + 0.5 * flow[t, 0] - 0.3 * flow[t, 1]
                level[t] = state + rng.normal(0, 0.05)
            self.runs.append((torch.from_numpy(flow), torch.from_numpy(level)))

    def __len__(self):
        return len(self.runs)

    def __getitem__(self, i):
        return self.runs[i]


def collate(batch):
    flows, levels = zip(*batch)
    lengths = torch.tensor([len(f) for f in flows])
    x = pad_sequence(flows, batch_first=True)
    y = pad_sequence(levels, batch_first=True)
    mask = (torch.arange(x.size(1))[None, :] < lengths[:, None]).float()
    return x, y, mask, lengths


class LevelNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=x.size(1))
        return self.out(h).squeeze(-1)


def sequence_loss(pred, target, mask):
    err = (pred - target) ** 2
    return (err * mask).sum() / mask.sum()


class Estimator:
    def __init__(self, lr=0.1, epochs=20):
        torch.manual_seed(21)
        self.net = LevelNet()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=0.5, patience=3)
        self.epochs = epochs

    def evaluate(self, loader):
        self.net.eval()
        sq, n, values = 0.0, 0.0, []
        with torch.no_grad():
            for x, y, mask, lengths in loader:
                pred = self.net(x, lengths)
                sq += float((((pred - y) ** 2) * mask).sum())
                n += float(mask.sum())
                values.append(y[mask.bool()])
        return sq / n, float(torch.cat(values).var())

    def fit(self, train_loader, val_loader):
        for epoch in range(self.epochs):
            self.net.train()
            seen = []
            for x, y, mask, lengths in train_loader:
                loss = sequence_loss(self.net(x, lengths), y, mask)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                seen.append(loss.item())
            mse, _ = self.evaluate(val_loader)
            self.plateau.step(mse)
            print("epoch %2d train %.4f val mse %.4f" % (epoch, np.mean(seen), mse))
        return self


if __name__ == "__main__":
    train = DataLoader(TankRuns(600, 1), batch_size=32, shuffle=True, collate_fn=collate)
    val = DataLoader(TankRuns(150, 2), batch_size=64, collate_fn=collate)
    test = DataLoader(TankRuns(200, 3), batch_size=64, collate_fn=collate)
    est = Estimator().fit(train, val)
    mse, var = est.evaluate(test)
    print("test mse %.4f r2 %.4f" % (mse, 1 - mse / var))
