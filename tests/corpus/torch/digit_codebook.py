"""Vector-quantised autoencoder on 8x8 digits: four code words per picture, codebook kept as running averages."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Codebook(nn.Module):
    """Nearest code word with a straight-through estimate; the words follow the mean of the vectors they serve."""

    def __init__(self, n_words, dim, momentum=0.97, commit=0.25):
        super().__init__()
        self.momentum, self.commit = momentum, commit
        self.register_buffer("words", torch.randn(n_words, dim))
        self.register_buffer("count", torch.ones(n_words))
        self.register_buffer("total", self.words.clone())

    @torch.no_grad()
    def update(self, flat, idx):
        hot = F.one_hot(idx, len(self.words)).float()
        m = self.momentum
        self.count.mul_(m).add_(hot.sum(0), alpha=1 - m)
        self.total.mul_(m).add_(hot.T @ flat, alpha=1 - m)
        self.words.copy_(self.total / (self.count.unsqueeze(1) + 1e-5))
        idle = self.count < 0.05
        if idle.any():                                           # move idle words onto random vectors of the batch
            fresh = flat[torch.randint(len(flat), (int(idle.sum()),))]
            self.words[idle], self.total[idle], self.count[idle] = fresh, fresh, 1.0

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        idx = torch.cdist(flat, self.words).argmin(1)
        q = self.words[idx].view_as(z)
        if self.training:
            self.update(flat.detach(), idx)
        loss = self.commit * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, idx.view(z.shape[:-1])


class VQ(nn.Module):
    def __init__(self, n_words=64, dim=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 32, 3, 2, 1), nn.SiLU(), nn.Conv2d(32, 48, 3, 2, 1), nn.SiLU(), nn.Conv2d(48, dim, 1))
        self.book = Codebook(n_words, dim)
        self.dec = nn.Sequential(nn.Flatten(), nn.Linear(4 * dim, 128), nn.SiLU(), nn.Linear(128, 64))

    def forward(self, x):
        z = self.enc(x).permute(0, 2, 3, 1)
        q, loss, idx = self.book(z)
        return self.dec(q.permute(0, 3, 1, 2)).view_as(x), loss, idx


def main():
    torch.manual_seed(12)
    data = load_digits()
    order = np.random.default_rng(12).permutation(len(data.target))
    x = torch.tensor(data.images[order] / 8.0 - 1.0, dtype=torch.float32).unsqueeze(1)
    y = data.target[order]
    x_tr, x_te, y_tr, y_te = x[:1300], x[1300:], y[:1300], y[1300:]

    net = VQ()
    opt = torch.optim.RAdam(net.parameters(), lr=3e-3, betas=(0.9, 0.95))
    epochs = 40
    sched = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=epochs, power=1.0)
    for epoch in range(1, epochs + 1):
        net.train()
        rec_sum = com_sum = 0.0
        for idx in torch.randperm(len(x_tr)).split(50):
            rec, commit, _ = net(x_tr[idx])
            mse = F.mse_loss(rec, x_tr[idx])
            opt.zero_grad(set_to_none=True)
            (mse + commit).backward()
            opt.step()
            rec_sum += mse.item() * len(idx)
            com_sum += commit.item() * len(idx)
        sched.step()
        if epoch % 8 == 0:
            print(f"epoch {epoch:3d}  mse {rec_sum / len(x_tr):.4f}  commit {com_sum / len(x_tr):.4f}")

    net.eval()
    with torch.no_grad():
        rec, _, codes = net(x_te)
        _, _, codes_tr = net(x_tr)
    mse = F.mse_loss(rec, x_te).item()
    flat_mse = F.mse_loss(x_tr.mean(0, keepdim=True).expand_as(x_te), x_te).item()
    use = torch.bincount(codes.flatten(), minlength=64).float()
    p = use[use > 0] / use.sum()
    # digits from the four code words, by counting (naive Bayes)
    table = torch.ones(10, 4, 64)
    for c, t in zip(codes_tr.flatten(1), y_tr):
        table[t, torch.arange(4), c] += 1
    logp = (table / table.sum(-1, keepdim=True)).log()
    scores = torch.stack([logp[:, torch.arange(4), c].sum(1) for c in codes.flatten(1)])
    acc = (scores.argmax(1).numpy() == y_te).mean()
    print(f"test mse {mse:.4f} (mean picture {flat_mse:.4f})  code perplexity {torch.exp(-(p * p.log()).sum()):.1f} of 64  "
          f"digit from codes {acc:.3f} (largest class {np.bincount(y_te).max() / len(y_te):.3f})")


if __name__ == "__main__":
    main()
