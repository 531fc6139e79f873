import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(2)

images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
x_tr, x_te, y_tr, y_te = map(
    torch.as_tensor, train_test_split(images, labels, test_size=0.3, stratify=labels, random_state=2)
)


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.proj = nn.Linear(32 * 4, dim)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.normalize(self.proj(x.flatten(1)), dim=1)


class PrototypeBank:
    def __init__(self, classes, dim, momentum=0.9):
        self.momentum = momentum
        self.vectors = F.normalize(torch.randn(classes, dim), dim=1)

    def update(self, feats, y):
        new = self.vectors.clone()
        for c in y.unique():
            centre = feats[y == c].mean(0)
            new[c] = self.momentum * new[c] + (1 - self.momentum) * centre
        self.vectors = F.normalize(new, dim=1)

    def logits(self, feats, temperature=0.1):
        return feats @ self.vectors.T / temperature


class PrototypeClassifier:
    def __init__(self, epochs=12, batch_size=64, lr=2e-3):
        self.epochs, self.batch_size = epochs, batch_size
        self.net = Embedder()
        self.bank = PrototypeBank(10, 16)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def step(self, xb, yb):
        feats = self.net(xb)
        self.bank.update(feats.detach(), yb)
        loss = F.cross_entropy(self.bank.logits(feats), yb)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, x, y):
        for epoch in range(self.epochs):
            self.net.train()
            losses = [self.step(x[i], y[i]) for i in torch.randperm(len(x)).split(self.batch_size)]
            print(f"epoch {epoch:2d} loss {np.mean(losses):.4f}")
        return self

    @torch.no_grad()
    def predict(self, x):
        self.net.eval()
        return self.bank.logits(self.net(x)).argmax(1)


clf = PrototypeClassifier().fit(x_tr, y_tr)
acc = (clf.predict(x_te) == y_te).float().mean().item()
print(f"nearest-prototype test accuracy {acc:.4f} (chance 0.10)")
