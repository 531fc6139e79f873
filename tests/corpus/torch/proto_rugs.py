"""Prototypical networks (Snell et al. 2017) on procedurally woven rug patterns, 5-way 3-shot.

Classes of the test episodes never occur in training.
"""
import numpy as np
import torch
import torch.nn as nn

WAYS, SHOTS, QUERIES = 5, 3, 8
SIDE = 20


class RugFactory:
    def __init__(self, n_classes, seed):
        rng = np.random.default_rng(seed)
        self.spec = [(rng.uniform(0.3, 1.6), rng.uniform(0, np.pi), rng.uniform(0.3, 1.6), rng.uniform(0, np.pi),
                      rng.uniform(0.3, 0.7)) for _ in range(n_classes)]
        self.rng = rng

    def __len__(self):
        return len(self.spec)

    def weave(self, cls, n):
        f1, a1, f2, a2, mix = self.spec[cls]
        yy, xx = np.mgrid[:SIDE, :SIDE]
        out = np.empty((n, 1, SIDE, SIDE), np.float32)
        for k in range(n):
            p1, p2 = self.rng.uniform(0, 2 * np.pi, 2)
            one = np.sin(f1 * (xx * np.cos(a1) + yy * np.sin(a1)) + p1)
            two = np.sin(f2 * (xx * np.cos(a2) + yy * np.sin(a2)) + p2)
            out[k, 0] = mix * one + (1 - mix) * two + self.rng.normal(0, 0.35, (SIDE, SIDE))
        return out

    def episode(self):
        classes = self.rng.choice(len(self), WAYS, replace=False)
        rugs = np.stack([self.weave(c, SHOTS + QUERIES) for c in classes])
        rugs = torch.from_numpy(rugs)
        support, query = rugs[:, :SHOTS], rugs[:, SHOTS:]
        target = torch.arange(WAYS).repeat_interleave(QUERIES)
        return support.flatten(0, 1), query.flatten(0, 1), target


def conv_block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.ReLU(), nn.MaxPool2d(2))


class Embedder(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.body = nn.Sequential(conv_block(1, ch), conv_block(ch, ch), conv_block(ch, ch * 2))

    def forward(self, x):
        return self.body(x).flatten(1)


def episode_logits(net, support, query):
    z = net(torch.cat([support, query]))
    zs, zq = z[: len(support)], z[len(support):]
    proto = zs.view(WAYS, SHOTS, -1).mean(1)
    return -torch.cdist(zq, proto).pow(2)


def run_test(net, factory, n):
    hits = []
    with torch.no_grad():
        for _ in range(n):
            s, q, t = factory.episode()
            hits.append((episode_logits(net, s, q).argmax(1) == t).float().mean().item())
    return np.mean(hits)


def main():
    torch.manual_seed(13)
    train_rugs, test_rugs = RugFactory(60, seed=1), RugFactory(25, seed=2)
    net = Embedder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 150, gamma=0.5)
    criterion = nn.CrossEntropyLoss()
    print(f"untrained: unseen classes {run_test(net, test_rugs, 40):.3f}")
    recent = []
    for ep in range(1, 401):
        support, query, target = train_rugs.episode()
        loss = criterion(episode_logits(net, support, query), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        recent.append(loss.item())
        if ep == 1 or ep % 50 == 0:
            print(f"episode {ep:4d} loss {np.mean(recent[-50:]):.4f} unseen classes {run_test(net, test_rugs, 20):.3f}")
    print(f"final: unseen classes {run_test(net, test_rugs, 60):.3f}")


if __name__ == "__main__":
    main()
