# Unsupervised adaptation: labelled clean scans -> unlabelled scans from another scanner (DANN style).
import math

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED, EPOCHS, BATCH = 11, 48, 64
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


class ReverseGrad(torch.autograd.Function):
    """Identity forward, gradient times -lambda backward (lambda kept small, or classes swap places)."""

    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.lam * grad, None


def scanner_b(images):
    """Lower contrast, a grey background and line banding, as the second scanner gives."""
    band = 0.45 * (np.arange(8) % 2)[None, :, None]
    out = 0.6 * images + 0.2 + band + 0.05 * rng.standard_normal(images.shape)
    return out.astype(np.float32)


x, y = load_digits(return_X_y=True)
x = (x.reshape(-1, 8, 8) / 16).astype(np.float32)
src_x, rest_x, src_y, rest_y = train_test_split(x, y, test_size=0.55, stratify=y, random_state=SEED)
tgt_x, test_x, tgt_y, test_y = train_test_split(rest_x, rest_y, test_size=0.5, stratify=rest_y, random_state=SEED)
tgt_x, test_x = scanner_b(tgt_x), scanner_b(test_x)
del tgt_y  # the target scanner comes without labels
src_x, tgt_x, test_x = (torch.from_numpy(v).unsqueeze(1) for v in (src_x, tgt_x, test_x))
src_y, test_y = torch.from_numpy(src_y), torch.from_numpy(test_y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3),
            nn.Linear(48 * 16, 64), nn.ReLU(),
        )
        self.label = nn.Linear(64, 10)
        self.domain = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, lam=0.0):
        z = self.features(x)
        return self.label(z), self.domain(ReverseGrad.apply(z, lam)).squeeze(1)


def fit(adapt):
    torch.manual_seed(SEED)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.5, 0.999))
    ce, bce = nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss()
    steps = math.ceil(len(src_x) / BATCH)
    for epoch in range(EPOCHS):
        net.train()
        lam = adapt * 0.03 * (2 / (1 + math.exp(-10 * epoch / EPOCHS)) - 1)
        perm, tperm = torch.randperm(len(src_x)), torch.randperm(len(tgt_x))
        tot_c = tot_d = 0.0
        for s in range(steps):
            i = perm[s * BATCH:(s + 1) * BATCH]
            j = tperm[torch.arange(s * BATCH, s * BATCH + len(i)) % len(tgt_x)]
            logits, dom_s = net(src_x[i], lam)
            _, dom_t = net(tgt_x[j], lam)
            loss_c = ce(logits, src_y[i])
            dom = torch.cat([dom_s, dom_t])
            dom_y = torch.cat([torch.zeros(len(i)), torch.ones(len(j))])
            loss_d = bce(dom, dom_y)
            opt.zero_grad()
            (loss_c + loss_d).backward()
            opt.step()
            tot_c += loss_c.item() / steps
            tot_d += loss_d.item() / steps
        if (epoch + 1) % 12 == 0:
            print(f"  adapt={adapt} epoch {epoch + 1} lambda {lam:.3f} class {tot_c:.3f} domain {tot_d:.3f}")
    net.eval()
    with torch.no_grad():
        return (net(test_x)[0].argmax(1) == test_y).float().mean().item()


plain = fit(0.0)
adapted = fit(1.0)
print(f"second-scanner test accuracy: source only {plain:.3f}, adversarial adaptation {adapted:.3f}, chance 0.100")
