import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BINS, STEPS, KINDS = 16, 120, 4


def record(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, KINDS, n)
    spec = rng.gamma(1.5, 0.2, (n, STEPS, BINS))
    bins = np.arange(BINS)
    for i, k in enumerate(y):
        onset = rng.integers(0, 40)
        for j in range(24):
            pos = 2 + 3 * k + 0.04 * j * (1 if k % 2 else -1)
            spec[i, onset + j] += 1.2 * np.exp(-0.5 * (bins - pos) ** 2)
    spec = np.log1p(spec)
    return torch.tensor((spec - 0.28) / 0.25, dtype=torch.float32), torch.from_numpy(y)


class HumEncoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.rnn = nn.RNN(BINS, width, nonlinearity="relu", batch_first=True)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.05)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.zeros_(self.rnn.bias_ih_l0)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        self.next_frame = nn.Linear(width, BINS)
        self.classify = nn.Linear(width, KINDS)

    def forward(self, x):
        return self.rnn(x)[0]


def frame_loss(model, x, y):
    states = model(x)
    return F.smooth_l1_loss(model.next_frame(states[:, :-1]), x[:, 1:])


def class_loss(model, x, y):
    return F.cross_entropy(model.classify(model(x)[:, -1]), y)


def run_phase(name, model, data, loss_fn, lr, epochs, max_norm, batch=64):
    x, y = data
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        total, count = 0.0, 0
        for idx in torch.randperm(len(x)).split(batch):
            opt.zero_grad()
            loss = loss_fn(model, x[idx], y[idx])
            loss.backward()
            opt.step()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            total += loss.item()
            count += 1
        print(f"[{name}] epoch {epoch} loss {total / count:.4f}")


def accuracy(model, data):
    x, y = data
    with torch.no_grad():
        return (model.classify(model(x)[:, -1]).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(2)
    unlabelled, labelled, test = record(1500, 0), record(1500, 1), record(500, 2)
    model = HumEncoder()
    run_phase("pretrain", model, unlabelled, frame_loss, lr=0.02, epochs=3, max_norm=1.0)
    run_phase("finetune", model, labelled, class_loss, lr=0.005, epochs=8, max_norm=1.0)
    print(f"test accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
