import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SR = 2000
SPECIES = ["wren", "finch", "robin", "thrush", "tit", "lark"]


def synth_call(kind, rng):
    t = np.arange(SR // 2) / SR
    base = 220 + 25 * kind + rng.normal(0, 8)
    sweep = (-1) ** kind * (60 + 15 * kind)
    trill = 6 + 3 * (kind % 3)
    phase = 2 * np.pi * (base * t + 0.5 * sweep * t ** 2) + 1.5 * np.sin(2 * np.pi * trill * t)
    wave = np.sin(phase) * (1 + 0.4 * np.sin(2 * np.pi * trill * t + rng.uniform(0, 6.28)))
    return wave + rng.normal(0, 1.3, size=t.shape)


def log_spectrogram(waves, n_fft=128, hop=32):
    spec = torch.stft(waves, n_fft, hop, window=torch.hann_window(n_fft), return_complex=True)
    return torch.log1p(spec.abs() ** 2)


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), size=n)
    waves = np.stack([synth_call(k, rng) for k in y]).astype("float32")
    return log_spectrogram(torch.from_numpy(waves)), torch.from_numpy(y)


class CallNet(nn.Module):
    def __init__(self, n_bins, n_classes):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_bins, 32, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.head = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.head(self.conv(x))


def run_epoch(net, loader, loss_fn, opt=None):
    net.train(opt is not None)
    right, total, loss_sum = 0, 0, 0.0
    with torch.set_grad_enabled(opt is not None):
        for xb, yb in loader:
            out = net(xb)
            loss = loss_fn(out, yb)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            right += (out.argmax(1) == yb).sum().item()
            loss_sum += loss.item() * len(yb)
            total += len(yb)
    return loss_sum / total, right / total


torch.manual_seed(11)
train_x, train_y = make_split(1200, 1)
valid_x, valid_y = make_split(400, 2)
test_x, test_y = make_split(400, 3)
mu, sd = train_x.mean(), train_x.std()
sets = [TensorDataset((x - mu) / sd, y) for x, y in
        ((train_x, train_y), (valid_x, valid_y), (test_x, test_y))]
train_dl = DataLoader(sets[0], batch_size=32, shuffle=True)
valid_dl, test_dl = (DataLoader(s, batch_size=200) for s in sets[1:])

net = CallNet(train_x.shape[1], len(SPECIES))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", factor=0.2, patience=1)

for epoch in range(25):
    tr_loss, tr_acc = run_epoch(net, train_dl, loss_fn, opt)
    va_loss, va_acc = run_epoch(net, valid_dl, loss_fn)
    scheduler.step(va_acc)
    if epoch % 3 == 0:
        print(f"{epoch:2d} train {tr_loss:.3f}/{tr_acc:.3f} valid {va_loss:.3f}/{va_acc:.3f}")

te_loss, te_acc = run_epoch(net, test_dl, loss_fn)
print(f"test loss {te_loss:.4f} test accuracy {te_acc:.4f} (chance {1 / len(SPECIES):.3f})")
