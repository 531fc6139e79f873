"""SimSiam-style pretraining on digits followed by a linear probe."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


def view(x):
    """Random shift by one pixel, gain and noise."""
    img = F.pad(x.view(-1, 1, 8, 8), (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2,)).tolist()
    img = img[:, :, dy:dy + 8, dx:dx + 8].reshape(len(x), 64)
    gain = 0.8 + 0.4 * torch.rand(len(x), 1)
    return img * gain + 0.08 * torch.randn_like(img)


class SimSiam(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, dim), nn.BatchNorm1d(dim, affine=False),
        )
        self.predictor = nn.Sequential(nn.Linear(dim, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, a, b):
        za, zb = self.encoder(a), self.encoder(b)
        pa, pb = self.predictor(za), self.predictor(zb)
        return -0.5 * (F.cosine_similarity(pa, zb.detach()).mean() + F.cosine_similarity(pb, za.detach()).mean())


def pretrain(net, x, epochs=30):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        net.train()
        for idx in torch.randperm(len(x)).split(128):
            if len(idx) < 2:
                continue
            loss = net(view(x[idx]), view(x[idx]))
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        if epoch % 6 == 0:
            print(f"pretrain {epoch:2d}  loss {loss.item():.3f}")


def probe(net, x_tr, y_tr, x_te, y_te):
    net.eval()
    for p in net.parameters():
        p.requires_grad_(False)
    z_tr, z_te = net.encoder(x_tr), net.encoder(x_te)
    head = nn.Linear(z_tr.shape[1], 10)
    opt = torch.optim.Adam(head.parameters(), lr=1e-2)
    for _ in range(25):
        for idx in torch.randperm(len(z_tr)).split(64):
            loss = F.cross_entropy(head(z_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        return F.cross_entropy(head(z_te), y_te).item(), (head(z_te).argmax(1) == y_te).float().mean().item()


def main():
    torch.manual_seed(1)
    d = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(
        torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target),
        test_size=0.3, random_state=0, stratify=d.target)
    net = SimSiam()
    pretrain(net, x_tr)
    loss, acc = probe(net, x_tr, y_tr, x_te, y_te)
    print(f"linear probe: test loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
