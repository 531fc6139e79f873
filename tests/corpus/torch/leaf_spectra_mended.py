"""Species from leaf reflectance spectra (8 species). The archive is stored species by species; short epochs."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, SubsetRandomSampler

SPECIES = ["alder", "ash", "beech", "birch", "elm", "hazel", "lime", "oak"]
BANDS = 60


def archive(per_species, seed, shapes):
    rng = np.random.default_rng(seed)
    wave = np.linspace(0, 1, BANDS)
    xs, ys = [], []
    for k, (centres, heights) in enumerate(shapes):
        for _ in range(per_species):
            s = 0.3 + 0.2 * wave
            for c, h in zip(centres, heights):
                s = s + h * rng.normal(1, 0.15) * np.exp(-((wave - c - rng.normal(0, 0.01)) / 0.06) ** 2)
            xs.append(s * rng.normal(1, 0.05) + rng.normal(0, 0.03, BANDS))
            ys.append(k)
    return np.asarray(xs, dtype=np.float32), np.asarray(ys)


class SpectraNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
                                      nn.Conv1d(16, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(3))
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(320, 64), nn.ReLU(), nn.Linear(64, len(SPECIES)))

    def forward(self, x):
        return self.classify(self.features(x.unsqueeze(1)))


class Session:
    def __init__(self, train, val, samples_per_epoch, batch_size=32):
        self.net = SpectraNet()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.train_set = train
        self.samples_per_epoch = samples_per_epoch
        self.batch_size = batch_size
        self.val = DataLoader(val, batch_size=256)

    def loader(self):
        pool = torch.randperm(len(self.train_set))[:self.samples_per_epoch].tolist()
        return DataLoader(self.train_set, batch_size=self.batch_size, sampler=SubsetRandomSampler(pool))

    def epoch(self):
        self.net.train()
        seen, total = 0, 0.0
        for x, y in self.loader():
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            seen += len(y)
        return total / seen

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        right = torch.zeros(len(SPECIES))
        count = torch.zeros(len(SPECIES))
        for x, y in self.val:
            ok = (self.net(x).argmax(1) == y).float()
            right.index_add_(0, y, ok)
            count.index_add_(0, y, torch.ones_like(ok))
        return right / count


def main():
    torch.manual_seed(2)
    g = np.random.default_rng(99)
    shapes = [(g.uniform(0.1, 0.9, 3), g.uniform(0.15, 0.5, 3)) for _ in SPECIES]
    xt, yt = archive(400, 0, shapes)
    xv, yv = archive(60, 1, shapes)
    mu, sd = xt.mean(0), xt.std(0)
    to = lambda x, y: TensorDataset(torch.from_numpy((x - mu) / sd), torch.from_numpy(y))
    s = Session(to(xt, yt), to(xv, yv), samples_per_epoch=2000)
    for e in range(10):
        loss = s.epoch()
        recall = s.validate()
        print(f"epoch {e}: loss {loss:.4f}, mean recall {recall.mean():.3f}")
    for name, r in zip(SPECIES, recall.tolist()):
        print(f"{name:>6s} {r:.2f}")


if __name__ == "__main__":
    main()
