"""VQ autoencoder for woven motifs (12 x 12 grey patches), EMA codebook, then a linear probe on the codes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE, N_CODES, DIM, SLOTS = 12, 24, 12, 6


def weave(n, gen):
    """Every patch: a warp period, a weft period, a knot at one of four corners."""
    warp = torch.randint(2, 5, (n,), generator=gen)
    weft = torch.randint(2, 5, (n,), generator=gen)
    corner = torch.randint(0, 4, (n,), generator=gen)
    grid = torch.arange(SIDE).float()
    rows = torch.cos(2 * torch.pi * grid[None, :] / warp[:, None])
    cols = torch.cos(2 * torch.pi * grid[None, :] / weft[:, None])
    img = 0.5 * (rows[:, :, None] + cols[:, None, :])
    for k in range(4):
        r, c = (k // 2) * 7, (k % 2) * 7
        img[corner == k, r:r + 5, c:c + 5] += 1.5
    img = img + 0.1 * torch.randn(img.shape, generator=gen)
    return img.flatten(1), (warp - 2) * 3 + (weft - 2)


class Codebook(nn.Module):
    def __init__(self, n_codes, dim, decay=0.97, beta=0.25):
        super().__init__()
        self.decay, self.beta = decay, beta
        self.register_buffer("embed", torch.randn(n_codes, dim))
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.embed.clone())

    @torch.no_grad()
    def update(self, flat, ids):
        hot = F.one_hot(ids, len(self.embed)).float()
        self.count.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(hot.t() @ flat, alpha=1 - self.decay)
        self.embed.copy_(self.total / self.count.clamp_min(1e-3)[:, None])
        idle = self.count < 0.05
        if idle.any():
            fresh = flat[torch.randint(len(flat), (int(idle.sum()),))]
            self.embed[idle], self.total[idle], self.count[idle] = fresh, fresh, 1.0

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        ids = torch.cdist(flat.detach(), self.embed).argmin(1)
        z_q = self.embed[ids].view_as(z)
        if self.training:
            self.update(flat.detach(), ids)
        commit = self.beta * F.mse_loss(z, z_q.detach())
        z_q = (z + z_q - z).detach()
        return z_q, commit, ids.view(z.shape[:-1])


class MotifVQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, SLOTS * DIM))
        self.book = Codebook(N_CODES, DIM)
        self.dec = nn.Sequential(nn.Linear(SLOTS * DIM, 128), nn.ReLU(), nn.Linear(128, SIDE * SIDE))

    def forward(self, x):
        z = self.enc(x).view(len(x), SLOTS, DIM)
        z_q, commit, ids = self.book(z)
        return self.dec(z_q.flatten(1)), commit, ids


def probe(feats, labels, test_feats, test_labels):
    head = nn.Linear(feats.shape[1], 9)
    opt = torch.optim.Adam(head.parameters(), lr=0.02)
    for _ in range(200):
        loss = F.cross_entropy(head(feats), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return (head(test_feats).argmax(1) == test_labels).float().mean().item()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    x, y = weave(3000, gen)
    xt, yt = weave(600, gen)
    net = MotifVQ()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(30):
        net.train()
        sums = torch.zeros(2)
        batches = torch.randperm(len(x)).split(128)
        for idx in batches:
            recon, commit, _ = net(x[idx])
            rec_loss = F.mse_loss(recon, x[idx])
            opt.zero_grad()
            (rec_loss + commit).backward()
            opt.step()
            sums += torch.stack([rec_loss.detach(), commit.detach()])
        if epoch % 5 == 4:
            rec, com = (sums / len(batches)).tolist()
            print(f"epoch {epoch + 1} recon {rec:.4f} commit {com:.4f}")
    net.eval()
    with torch.no_grad():
        recon, _, ids = net(xt)
        codes, codes_t = (F.one_hot(net(v)[2], N_CODES).flatten(1).float() for v in (x, xt))
        print(f"test recon {F.mse_loss(recon, xt).item():.4f}  codes in use {ids.unique().numel()}")
    print(f"probe accuracy {probe(codes, y, codes_t, yt):.3f}")


if __name__ == "__main__":
    main()
