"""Tiny keyword spotter on synthetic 'audio': 6 chirp-like commands in noise."""
import math
import resource
import torch
from torch import nn

torch.manual_seed(0)
SR, N_CLS = 4000, 6


def synth(n, gen):
    t = torch.arange(SR) / SR
    y = torch.randint(0, N_CLS, (n,), generator=gen)
    f0 = 200 + 120 * y.float()
    slope = torch.where(y % 2 == 0, 150.0, -150.0)
    jitter = 1 + 0.05 * torch.randn(n, generator=gen)
    phase = 2 * math.pi * ((f0 * jitter)[:, None] * t + 0.5 * slope[:, None] * t ** 2)
    wav = torch.sin(phase) * torch.hann_window(SR)
    wav = wav + 0.8 * torch.randn(n, SR, generator=gen)
    return wav.unsqueeze(1), y


class SpotNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(1, 32, 64, stride=4, padding=32)
        self.blocks = nn.Sequential(
            nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(32, 48, 9, padding=4), nn.BatchNorm1d(48), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(48, 64, 9, padding=4), nn.BatchNorm1d(64), nn.ReLU(),
        )
        self.fc = nn.Linear(64, N_CLS)

    def forward(self, wav):
        h = self.blocks(self.front(wav))
        return self.fc(h.mean(-1))


gen = torch.Generator().manual_seed(1)
train_x, train_y = synth(960, gen)
valid_x, valid_y = synth(1600, gen)
criterion = nn.CrossEntropyLoss()


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_validation(net, batch=32):
    net.eval()
    val_loss, hits, steps = 0.0, 0, 0
    for i in range(0, len(valid_y), batch):
        xb, yb = valid_x[i:i + batch], valid_y[i:i + batch]
        logits = net(xb)
        val_loss += criterion(logits, yb).item()
        hits += (logits.argmax(1) == yb).sum().item()
        steps += 1
    return val_loss / steps, hits / len(valid_y)


net = SpotNet()
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
peak_train = None
for epoch in range(5):
    net.train()
    perm = torch.randperm(len(train_y), generator=gen)
    for i in range(0, len(perm), 32):
        j = perm[i:i + 32]
        loss = criterion(net(train_x[j]), train_y[j])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    if peak_train is None:
        peak_train = rss_mb()
    vloss, vacc = run_validation(net)
    print(f"epoch {epoch}  train {loss.item():.3f}  val {vloss:.3f}  acc {vacc:.3f}  peak {rss_mb():.0f} MB")

print(f"peak memory after first training epoch: {peak_train:.0f} MB")
print(f"peak memory at the end:                 {rss_mb():.0f} MB")
print(f"final val accuracy {vacc:.3f} (chance {1 / N_CLS:.3f})")
