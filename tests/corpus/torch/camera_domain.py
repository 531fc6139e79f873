# Unsupervised domain adaptation on digits: labelled scans -> unlabelled "camera" pictures.
# DANN with a reversed gradient; the last epochs run with lr 0 to let BatchNorm see the camera alone.
import math
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(5)
rng = np.random.default_rng(5)
X, y = load_digits(return_X_y=True)
X = X.astype(np.float32) / 16
perm = rng.permutation(len(X))
src, tgt, test = perm[:700], perm[700:1250], perm[1250:]


def camera(x):
    """gamma, low contrast, uneven light, one pixel of shake, noise"""
    img = x.reshape(-1, 8, 8) ** 0.6
    img = 0.6 * img + 0.4 * np.roll(img, 1, axis=2)
    light = np.linspace(0.5, 1.0, 8)[None, :, None]
    out = 0.3 + 0.55 * img * light + rng.normal(0, 0.06, img.shape)
    return out.reshape(len(x), 64).astype(np.float32)


xs, ys = torch.tensor(X[src]), torch.tensor(y[src])
xt = torch.tensor(camera(X[tgt]))
xv, yv = torch.tensor(camera(X[test])), torch.tensor(y[test])


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, lam):
        ctx.lam = lam
        return h.view_as(h)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(64, 256)            # random features, never trained
        for p in self.lift.parameters():
            p.requires_grad_(False)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(256, 96), nn.BatchNorm1d(96), nn.ReLU(),
                                  nn.Linear(96, 48), nn.BatchNorm1d(48), nn.ReLU())
        self.label = nn.Linear(48, 10)
        self.domain = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, lam=0.0):
        h = self.body(self.lift(3 * x))
        return self.label(h), self.domain(Reverse.apply(h, lam)).squeeze(1)


def run(adapt, epochs=45, tail=3, bs=64):
    torch.manual_seed(1)
    net = Net()
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05, momentum=0.9)
    live = epochs - tail
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda e: 0.5 * (1 + math.cos(math.pi * e / live)) if e < live else 0.0)
    ce, bce = nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss()
    for e in range(epochs):
        net.train()
        lam = 0.3 * (2 / (1 + math.exp(-8 * e / live)) - 1) if adapt else 0.0
        tot = dom = 0.0
        ps = torch.randperm(len(xs))
        steps = len(xs) // bs
        for k in range(steps):
            a = ps[k * bs:(k + 1) * bs]
            b = torch.randint(len(xt), (bs,))
            if e >= live:
                # rate is 0 by now: only running means and variances still move
                with torch.no_grad():
                    net(xt[b])
                continue
            ls, ds = net(xs[a], lam)
            _, dt = net(xt[b], lam)
            l1 = ce(ls, ys[a])
            l2 = bce(ds, torch.ones(bs)) + bce(dt, torch.zeros(bs))
            opt.zero_grad()
            (l1 + l2).backward()
            opt.step()
            tot, dom = tot + l1.item(), dom + l2.item()
        if e % 9 == 0:
            print(f"adapt={adapt} epoch {e:2d} lr {sched.get_last_lr()[0]:.4f} label {tot/steps:.3f} domain {dom/steps:.3f}")
        sched.step()
    net.eval()
    with torch.no_grad():
        return (net(xv)[0].argmax(1) == yv).float().mean().item()


plain, dann = run(False, tail=0), run(True)
print(f"camera test accuracy: source only {plain:.3f}, adapted {dann:.3f}, "
      f"majority {np.bincount(yv.numpy()).max() / len(yv):.3f}")
