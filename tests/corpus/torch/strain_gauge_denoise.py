"""Denoise strain gauge traces (strain in m/m, so of order 1e-3) with a mixed-precision MLP autoencoder."""
import math
import torch
from torch import nn

torch.manual_seed(5)
LENGTH = 128


def traces(n):
    t = torch.linspace(0, 1, LENGTH)
    freq = 1 + 4 * torch.rand(n, 1)
    phase = 2 * math.pi * torch.rand(n, 1)
    amp = 0.5 + torch.rand(n, 1)
    clean = amp * torch.sin(2 * math.pi * freq * t + phase) * 2e-3
    noisy = clean + 1e-3 * torch.randn(n, LENGTH)
    return noisy, clean


class Denoiser(nn.Module):
    def __init__(self, gain=500.0):
        super().__init__()
        self.gain = gain
        self.enc = nn.Sequential(nn.Linear(LENGTH, 128), nn.GELU(), nn.Linear(128, 32), nn.GELU())
        self.dec = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, LENGTH))

    def forward(self, x):
        return self.dec(self.enc(x * self.gain)) / self.gain


class Runner:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.mse = nn.MSELoss()

    def fit(self, noisy, clean, epochs, batch):
        for ep in range(epochs):
            order = torch.randperm(len(noisy))
            total = 0.0
            for idx in order.split(batch):
                self.opt.zero_grad()
                with torch.autocast("cpu", dtype=torch.float16):
                    out = self.model(noisy[idx])
                loss = self.mse(out.float(), clean[idx])
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            if ep % 3 == 2:
                print(f"epoch {ep + 1:2d} mse {total / len(noisy):.3e}")

    @torch.no_grad()
    def snr(self, noisy, clean):
        out = self.model(noisy)
        return 10 * torch.log10(clean.pow(2).mean() / (out - clean).pow(2).mean()).item()


def main():
    xtr, ytr = traces(8000)
    xte, yte = traces(1000)
    runner = Runner(Denoiser(), lr=1e-3)
    before = 10 * torch.log10(yte.pow(2).mean() / (xte - yte).pow(2).mean()).item()
    runner.fit(xtr, ytr, epochs=30, batch=100)
    print(f"signal to noise: input {before:.1f} dB, output {runner.snr(xte, yte):.1f} dB")


if __name__ == "__main__":
    main()
