import resource
import time

import numpy as np
import torch
import torch.nn as nn


class Phantoms:
    """Noisy / clean pairs of 64x64 ellipse phantoms."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[-1:1:64j, -1:1:64j]
        clean = np.zeros((n, 1, 64, 64), np.float32)
        for i in range(n):
            for _ in range(rng.integers(3, 7)):
                cx, cy = rng.uniform(-0.6, 0.6, 2)
                a, b = rng.uniform(0.1, 0.5, 2)
                th = rng.uniform(0, np.pi)
                u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
                v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
                clean[i, 0] += ((u / a) ** 2 + (v / b) ** 2 < 1) * rng.uniform(0.1, 0.4)
        self.clean = torch.from_numpy(clean.clip(0, 1))
        self.noisy = self.clean + 0.2 * torch.from_numpy(rng.normal(size=clean.shape).astype(np.float32))

    def batches(self, size, shuffle):
        order = torch.randperm(len(self.clean)) if shuffle else torch.arange(len(self.clean))
        for idx in order.split(size):
            yield self.noisy[idx], self.clean[idx]


class Denoiser(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.inc = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(ch, 2 * ch, 3, 2, 1), nn.ReLU(), nn.Conv2d(2 * ch, 2 * ch, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * ch, ch, 2, 2)
        self.out = nn.Sequential(nn.Conv2d(2 * ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, 1, 3, padding=1))

    def forward(self, x):
        a = self.inc(x)
        b = self.up(self.down(a))
        return x - self.out(torch.cat([a, b], 1))


class Runner:
    def __init__(self, model, train, valid, lr=2e-3, epochs=3):
        self.model, self.train_data, self.valid_data = model, train, valid
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.epochs = epochs

    def fit(self):
        for epoch in range(self.epochs):
            start = time.time()
            self.model.train()
            running = []
            for noisy, clean in self.train_data.batches(16, True):
                loss = nn.functional.mse_loss(self.model(noisy), clean)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                running.append(loss.item())
            score = self.validate()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"epoch {epoch} loss {np.mean(running):.5f} psnr {score:.2f} dB "
                  f"({time.time() - start:.1f}s, peak memory {peak:.0f} MB)")

    def validate(self):
        self.model.eval()
        outputs, targets = [], []
        for noisy, clean in self.valid_data.batches(32, False):
            outputs.append(self.model(noisy))
            targets.append(clean)
        mse = ((torch.cat(outputs) - torch.cat(targets)) ** 2).mean(dim=(1, 2, 3))
        return (-10 * torch.log10(mse)).mean().item()


if __name__ == "__main__":
    torch.manual_seed(7)
    runner = Runner(Denoiser(), Phantoms(600, 0), Phantoms(640, 1))
    runner.fit()
