"""Find the writer of a signature stroke: metric learning with in-batch hardest negatives.

Writers in the test part never occur in training. Plain SGD with a large rate works
here since the embeddings are normalised and the gradients of the margin are small.
"""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

POINTS = 40


class Writers:
    def __init__(self, n_writers, seed):
        self.rng = np.random.default_rng(seed)
        self.style = self.rng.normal(0, 1, (n_writers, 2, 4, 2)) / np.array([1, 1.5, 2, 3])[None, None, :, None]

    def sign(self, w):
        t = np.linspace(0, 1, POINTS) + self.rng.normal(0, 0.03)
        coef = self.style[w] * self.rng.normal(1, 0.12, self.style[w].shape)
        waves = [np.stack([np.sin(2 * np.pi * (k + 1) * t), np.cos(2 * np.pi * (k + 1) * t)]) for k in range(4)]
        xy = np.stack([sum(coef[a, k] @ waves[k] for k in range(4)) for a in range(2)])
        tilt = self.rng.normal(0, 0.4)
        rot = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
        return (rot @ xy * self.rng.uniform(0.6, 1.6) + self.rng.normal(0, 0.15, xy.shape)).astype("float32")

    def batch(self, writers, k):
        x = np.stack([self.sign(w) for w in writers for _ in range(k)])
        return torch.from_numpy(x), torch.from_numpy(np.repeat(writers, k))


class StrokeEncoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, 32, 5, padding=2), nn.ELU(),
            nn.Conv1d(32, 48, 5, stride=2, padding=2), nn.ELU(),
            nn.Conv1d(48, 48, 3, stride=2, padding=1), nn.ELU(),
            nn.Flatten(), nn.Linear(480, dim))

    def forward(self, x):
        x = (x - x.mean(2, keepdim=True)) / x.std((1, 2), keepdim=True)
        return F.normalize(self.net(x), dim=-1)


def batch_hard(emb, who, margin):
    d = torch.cdist(emb, emb)
    same = who[:, None] == who[None]
    eye = torch.eye(len(who), dtype=torch.bool)
    pos = d.masked_fill(~same | eye, -1).amax(1)
    neg = d.masked_fill(same, 9).amin(1)
    return F.softplus((pos - neg + margin) * 4).mean() / 4, (neg > pos).float().mean()


@torch.no_grad()
def recall_at_1(encode, gallery, g_id, probes, p_id):
    d = torch.cdist(encode(probes), encode(gallery))
    return (g_id[d.argmin(1)] == p_id).float().mean().item()


def main():
    torch.manual_seed(1)
    os.makedirs("out", exist_ok=True)
    known, unseen = Writers(150, 1), Writers(80, 2)
    gallery, g_id = unseen.batch(np.arange(80), 2)
    probes, p_id = unseen.batch(np.arange(80), 5)

    net = StrokeEncoder()
    opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.8)
    steps = 300
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 30) * (1 - s / steps) ** 0.5)
    raw = recall_at_1(lambda x: x.flatten(1), gallery, g_id, probes, p_id)
    print(f"untrained encoder recall@1 {recall_at_1(net.eval(), gallery, g_id, probes, p_id):.3f}")

    for s in range(steps):
        net.train()
        margin = 0.1 + 0.3 * s / steps          # ask for more as it gets better
        x, who = known.batch(known.rng.choice(150, 24, replace=False), 4)
        loss, ok = batch_hard(net(x), who, margin)
        net.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(net.parameters(), 0.1)
        opt.step()
        sched.step()
        if s % 30 == 0 or s == steps - 1:
            net.eval()
            print(f"step {s:3d} loss {loss.item():.4f} triplets ok {ok.item():.2f} "
                  f"recall@1 on new writers {recall_at_1(net, gallery, g_id, probes, p_id):.3f}")

    print(f"nearest raw stroke recall@1 {raw:.3f}, chance {1 / 80:.3f}")
    print(f"final recall@1 {recall_at_1(net, gallery, g_id, probes, p_id):.3f}")


if __name__ == "__main__":
    main()
