"""Two phases: denoising pretraining of an encoder, then a grading head on top."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

LATENT = 16


class Net(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, LATENT), nn.ReLU()
        )
        self.head = nn.Linear(LATENT, n_in)

    def forward(self, x):
        return self.head(self.encoder(x))


def batches(*arrays, size=64):
    order = torch.randperm(len(arrays[0]))
    for idx in order.split(size):
        yield tuple(a[idx] for a in arrays)


def pretrain(net, x, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for (xb,) in batches(x):
            noisy = xb + 0.2 * torch.randn_like(xb)
            loss = F.mse_loss(net(noisy), xb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
    print(f"pretraining done, reconstruction mse {total / len(x):.4f}")


def build_grader(net, n_classes, lr_encoder, lr_head):
    for p in net.encoder[0].parameters():
        p.requires_grad = False
    groups = [
        {"params": net.encoder[2].parameters(), "lr": lr_encoder},
        {"params": net.head.parameters(), "lr": lr_head},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=1e-3)
    net.head = nn.Linear(LATENT, n_classes)
    return net, optimizer


def finetune(net, optimizer, x, y, x_te, y_te, epochs):
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for xb, yb in batches(x, y):
            loss = F.cross_entropy(net(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        net.eval()
        with torch.no_grad():
            acc = (net(x_te).argmax(1) == y_te).float().mean().item()
        if epoch % 3 == 0 or epoch == epochs - 1:
            print(f"finetune {epoch:2d} loss {total / len(x):.4f} test acc {acc:.3f}")
    return total / len(x), acc


def main():
    torch.manual_seed(7)
    x, y = load_digits(return_X_y=True)
    x = torch.from_numpy((x / 16.0).astype(np.float32))
    y = torch.from_numpy(y)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.3, random_state=7, stratify=y)

    net = Net(x.shape[1])
    pretrain(net, x[tr], epochs=30)
    net, optimizer = build_grader(net, 10, lr_encoder=1e-3, lr_head=5e-3)
    loss, acc = finetune(net, optimizer, x[tr], y[tr], x[te], y[te], epochs=20)
    print(f"final train loss {loss:.4f}, test accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
