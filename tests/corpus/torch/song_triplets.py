"""Cover-song style retrieval: melody encoder trained with batch-hard triplets, a frozen
random filter bank in front, a margin that grows, and averaged weights at the end."""
import copy
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, Dataset, Sampler

torch.manual_seed(31)
torch.set_num_threads(1)
NOTES, T = 12, 32


class Covers(Dataset):
    """Chroma sequences; versions of a song differ by key, tempo and played notes."""

    def __init__(self, songs, versions, seed):
        rng = np.random.default_rng(seed)
        self.x, self.song = [], []
        for s in range(songs):
            steps = rng.choice([-5, -4, -2, -1, 0, 1, 2, 3, 5, 7], 16)
            tune = np.cumsum(steps)
            for _ in range(versions):
                key = rng.integers(0, NOTES)
                where = np.linspace(0, 15.99, T) if rng.random() < 0.5 else np.sort(rng.uniform(0, 15.99, T))
                line = (tune[where.astype(int)] + key) % NOTES
                wrong = rng.random(T) < 0.1
                line[wrong] = rng.integers(0, NOTES, wrong.sum())
                c = np.eye(NOTES)[line].T + 0.15 * rng.random((NOTES, T))
                self.x.append(c.astype("float32"))
                self.song.append(s)
        self.x = torch.from_numpy(np.stack(self.x))
        self.song = torch.tensor(self.song)

    def __len__(self):
        return len(self.song)

    def __getitem__(self, i):
        return self.x[i].roll(int(torch.randint(NOTES, ())), 0), self.song[i]


class PKSampler(Sampler):
    def __init__(self, song, p, k, batches):
        self.groups = [torch.nonzero(song == s).ravel() for s in song.unique()]
        self.p, self.k, self.batches = p, k, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            pick = torch.randperm(len(self.groups))[:self.p]
            yield torch.cat([self.groups[i][torch.randperm(len(self.groups[i]))[:self.k]] for i in pick]).tolist()


class Encoder(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.bank = nn.Conv2d(1, 24, (NOTES, 5))          # stays as drawn
        for q in self.bank.parameters():
            q.requires_grad_(False)
        self.conv = nn.Sequential(
            nn.Conv2d(24, 48, (3, 3), padding=(0, 1)), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 64, (3, 3), padding=(0, 1)), nn.BatchNorm2d(64), nn.ReLU())
        self.head = nn.Linear(64 * 7, dim)

    def forward(self, x):
        x = torch.cat([x, x[:, :NOTES - 1]], 1).unsqueeze(1)      # every key is one row
        h = F.relu(self.bank(x))
        h = torch.cat([h, h[:, :, :4]], 2)
        h = self.conv(h).amax(2)                                  # key does not matter
        h = F.adaptive_avg_pool1d(h, 7).flatten(1)
        return F.normalize(self.head(h), dim=1)


def batch_hard(z, song, margin):
    d = torch.cdist(z, z)
    same = song[:, None] == song[None]
    far = (d * same).amax(1)
    near = d.masked_fill(same, math.inf).amin(1)
    return F.softplus((far - near + margin) * 4).mean() / 4


@torch.no_grad()
def hit_rate(model, data):
    model.eval()
    z = torch.cat([model(c) for c in data.x.split(200)])
    d = torch.cdist(z, z).fill_diagonal_(math.inf)
    return (data.song[d.argmin(1)] == data.song).float().mean().item()


train, held = Covers(150, 8, 1), Covers(80, 4, 2)
loader = DataLoader(train, batch_sampler=PKSampler(train.song, 12, 4, 30))
net = Encoder()
first = hit_rate(copy.deepcopy(net), held)
opt = torch.optim.RMSprop([q for q in net.parameters() if q.requires_grad], lr=7e-4, alpha=0.95)
swa = AveragedModel(net)
EPOCHS = 10
for epoch in range(EPOCHS):
    net.train()
    total = 0.0
    for x, song in loader:
        loss = batch_hard(net(x), song, margin=0.1 + 0.2 * epoch / EPOCHS)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch >= EPOCHS - 5:
        swa.update_parameters(net)
    if epoch % 3 == 1:
        print(f"epoch {epoch + 1:2d}  triplet {total / len(loader):.4f}  held-out hit@1 {hit_rate(net, held):.3f}")
update_bn(loader, swa)
print(f"held-out songs: hit@1 averaged {hit_rate(swa, held):.3f}  last {hit_rate(net, held):.3f}  untrained {first:.3f}  "
      f"chance {3 / (len(held) - 1):.3f}")
