"""2-D GAN: points on eight Gaussians arranged on a ring."""
import math
import torch
import torch.nn as nn

Z, H, BS, ITERS = 8, 64, 128, 2000


def real_points(n):
    k = torch.randint(0, 8, (n,)) * (2 * math.pi / 8)
    return torch.stack([k.cos(), k.sin()], 1) * 2 + 0.08 * torch.randn(n, 2)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, H), nn.LeakyReLU(.2), nn.Linear(H, H), nn.LeakyReLU(.2), nn.Linear(H, n_out))


class Gan:
    def __init__(self, lr_g=1e-3, lr_d=1e-3):
        self.G, self.D = mlp(Z, 2), mlp(2, 1)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr_g, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr_d, betas=(0.5, 0.999))
        self.bce = nn.BCEWithLogitsLoss()

    def update(self, real):
        n = real.size(0)
        ones, zeros = torch.ones(n, 1), torch.zeros(n, 1)
        fake = self.G(torch.randn(n, Z)).detach()

        d_loss = self.bce(self.D(real), ones) + self.bce(self.D(fake), zeros)
        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        g_loss = self.bce(self.D(fake), ones)
        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_loss.item()

    @torch.no_grad()
    def report(self, n=2000):
        pts = self.G(torch.randn(n, Z))
        k = torch.arange(8) * (2 * math.pi / 8)
        centres = torch.stack([k.cos(), k.sin()], 1) * 2
        dist, which = torch.cdist(pts, centres).min(1)
        good = dist < 0.4
        return good.float().mean().item(), which[good].unique().numel()


if __name__ == "__main__":
    torch.manual_seed(1)
    gan = Gan()
    for it in range(1, ITERS + 1):
        d, g = gan.update(real_points(BS))
        if it % 250 == 0:
            q, modes = gan.report()
            print(f"it {it:5d}  D {d:.3f}  G {g:.3f}  close to a mode {q:.2f}  modes {modes}/8")
