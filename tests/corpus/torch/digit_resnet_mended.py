import time
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x)))


class DigitNet(nn.Module):
    def __init__(self, width=16, depth=5):
        super().__init__()
        self.stem = Block(1, width)
        self.blocks = nn.Sequential(*[Block(width, width) for _ in range(depth)])
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.fc = nn.Linear(width * 4, 10)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.fc(self.pool(x).flatten(1))


class Trainer:
    def __init__(self, model, train_xy, val_xy, batch_size=64, lr=0.02):
        self.model = model
        self.x, self.y = train_xy
        self.vx, self.vy = val_xy
        self.bs = batch_size
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            out = self.model(self.vx)
        return F.cross_entropy(out, self.vy).item(), (out.argmax(1) == self.vy).float().mean().item()

    def train_epoch(self):
        self.model.train()
        perm = torch.randperm(len(self.x))
        running = 0.0
        for idx in perm.split(self.bs):
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(self.x[idx]), self.y[idx])
            loss.backward()
            self.opt.step()
            running += loss.item() * len(idx)
        return running / len(self.x)

    def run(self, epochs):
        loss, acc = self.validate()
        print(f"before training: val loss {loss:.3f} acc {acc:.3f}")
        for ep in range(1, epochs + 1):
            t0 = time.time()
            tr = self.train_epoch()
            loss, acc = self.validate()
            print(f"[{ep}/{epochs}] train {tr:.3f} val {loss:.3f} acc {acc:.3f} ({time.time() - t0:.1f}s)")
        return loss, acc


def main():
    torch.manual_seed(7)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
    x = (x - x.mean()) / x.std()
    y = torch.tensor(digits.target)
    tr, va = train_test_split(range(len(y)), test_size=0.3, random_state=0, stratify=digits.target)
    trainer = Trainer(DigitNet(), (x[tr], y[tr]), (x[va], y[va]))
    loss, acc = trainer.run(epochs=8)
    print(f"val accuracy {acc:.3f}  val loss {loss:.3f}")


if __name__ == "__main__":
    main()
