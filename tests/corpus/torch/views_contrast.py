"""Self-supervised features from several augmented views per picture, then a linear probe.
Runs the encoder in half precision with its own loss scale (no GradScaler on this box)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch.utils.data import DataLoader, Dataset

VIEWS = 4
TAU = 0.15


class ViewSet(Dataset):
    """Returns VIEWS random views of one picture: [V, 1, 8, 8]."""

    def __init__(self, images):
        self.images = images.astype("float32") / 16
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.images)

    def _view(self, im):
        rng = self.rng
        im = np.roll(im, rng.integers(-1, 2, 2), (0, 1))
        im = im * rng.uniform(0.6, 1.3) + rng.normal(0, 0.05, im.shape)
        r, c = rng.integers(0, 7, 2)
        im[r:r + 2, c:c + 2] = 0
        return im

    def __getitem__(self, i):
        return torch.tensor(np.stack([self._view(self.images[i]) for _ in range(VIEWS)])[:, None],
                            dtype=torch.float32)


def start_worker(worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(1, 48, 3, 2, 1), nn.GroupNorm(4, 48), nn.ReLU(), nn.Flatten(),
                               nn.Linear(48 * 16, 256), nn.LayerNorm(256), nn.ReLU(), nn.Linear(256, dim), nn.ReLU())
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 32))

    def forward(self, x):
        h = self.f(x)
        return h, self.proj(h)


def nt_xent(z, rows):
    """z: [rows * VIEWS, d], the views of one row next to each other."""
    z = F.normalize(z.float(), dim=1)
    sim = z @ z.T / TAU
    n = rows * VIEWS
    owner = torch.arange(rows).repeat_interleave(VIEWS)
    eye = torch.eye(n, dtype=torch.bool)
    pos = (owner[:, None] == owner[None]) & ~eye
    logp = sim - torch.logsumexp(sim.masked_fill(eye, float("-inf")), 1, keepdim=True)
    return -(logp * pos).sum(1).div(VIEWS - 1).mean()


class HandScale:
    def __init__(self, start=2.0 ** 14, patience=30):
        self.value, self.good, self.patience, self.skipped = start, 0, patience, 0

    def step(self, loss, opt, params):
        opt.zero_grad()
        (loss * self.value).backward()
        grads = [p.grad for p in params if p.grad is not None]
        for g in grads:
            g.div_(self.value)
        if not all(torch.isfinite(g).all() for g in grads):
            self.value, self.good, self.skipped = self.value / 2, 0, self.skipped + 1
            return False
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        self.good += 1
        if self.good >= self.patience:
            self.value, self.good = self.value * 2, 0
        return True


def main():
    torch.manual_seed(0)
    d = load_digits()
    perm = np.random.default_rng(1).permutation(len(d.target))
    tr, te = perm[:1297], perm[1297:]
    loader = DataLoader(ViewSet(d.images[tr]), batch_size=48, shuffle=True, drop_last=True, num_workers=2,
                        worker_init_fn=start_worker, persistent_workers=True)
    net = Encoder()
    params = list(net.parameters())
    opt = torch.optim.AdamW(params, lr=3e-3, weight_decay=1e-4)
    scale = HandScale()
    for epoch in range(8):
        losses = []
        for x in loader:
            rows = x.shape[0]
            with torch.autocast("cpu", dtype=torch.float16):
                _, z = net(x.view(rows * VIEWS, *x.shape[2:]))
            loss = nt_xent(z, rows)
            if scale.step(loss, opt, params):
                losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.3f} scale 2^{np.log2(scale.value):.0f} skipped {scale.skipped}")

    def feats(model, idx):
        with torch.no_grad():
            return model.f(torch.tensor(d.images[idx] / 16, dtype=torch.float32)[:, None]).numpy()

    few = tr[:40]                       # only 40 labels
    res = {}
    for name, model in (("random encoder", Encoder()), ("trained encoder", net.eval())):
        clf = LogisticRegression(max_iter=2000, C=10).fit(feats(model, few), d.target[few])
        res[name] = clf.score(feats(model, te), d.target[te])
        print(f"probe on {name}: held-out accuracy {res[name]:.3f}")
    print("majority class:", round(np.bincount(d.target[te]).max() / len(te), 3))


if __name__ == "__main__":
    main()
