"""Several rare defect types on synthetic wafer images (multi-label)."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE, KINDS = 24, ("scratch", "blob", "ring", "edge")
yy, xx = np.mgrid[:SIZE, :SIZE]


def wafer(rng):
    img = rng.normal(0, 0.35, (SIZE, SIZE))
    flags = (rng.random(len(KINDS)) < 0.15).astype(np.float32)
    if flags[0]:
        a, b = rng.uniform(-1, 1), rng.uniform(6, 18)
        img += 1.2 * (np.abs(yy - (a * (xx - 12) + b)) < 1.0)
    if flags[1]:
        cy, cx = rng.uniform(5, 19, 2)
        img += 1.5 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 8)
    if flags[2]:
        r = np.hypot(yy - 12, xx - 12)
        img -= 1.2 * (np.abs(r - rng.uniform(5, 9)) < 0.8)
    if flags[3]:
        img[:, rng.choice([0, SIZE - 1])] -= 1.5
    return img, flags


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    imgs, flags = zip(*(wafer(rng) for _ in range(n)))
    x = np.stack(imgs).astype(np.float32)[:, None]
    return TensorDataset(torch.from_numpy(x / x.std()), torch.from_numpy(np.stack(flags)))


class DefectNet(nn.Module):
    def __init__(self, n_out, prior=0.02):
        super().__init__()
        chans = [1, 16, 32, 32]
        blocks = []
        for c_in, c_out in zip(chans[:-1], chans[1:]):
            blocks += [nn.Conv2d(c_in, c_out, 3, stride=2, padding=1), nn.ReLU()]
        self.body = nn.Sequential(*blocks)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 9, 64), nn.ReLU())
        self.score = nn.Linear(64, n_out)
        self.reset(prior)

    def reset(self, prior):
        rare = -np.log((1 - prior) / prior)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.constant_(m.bias, rare)
        nn.init.normal_(self.score.weight, std=0.01)
        nn.init.constant_(self.score.bias, rare)

    def forward(self, x):
        return self.score(self.head(self.body(x)))


def focal(logits, target, gamma=1.0):
    ce = nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return ((1 - torch.exp(-ce)) ** gamma * ce).mean()


@torch.no_grad()
def mean_ap(net, data):
    net.eval()
    x, y = data.tensors
    prob = torch.sigmoid(net(x)).numpy()
    return [average_precision_score(y[:, k].numpy(), prob[:, k]) for k in range(len(KINDS))]


def main(epochs=14):
    torch.manual_seed(9)
    train, test = make_split(3000, 9), make_split(800, 10)
    loader = DataLoader(train, batch_size=64, shuffle=True)
    net = DefectNet(len(KINDS))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 3e-3, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for x, y in loader:
            loss = focal(net(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print("epoch %2d loss %.4f" % (epoch, total / len(loader)))
    ap = mean_ap(net, test)
    for kind, value in zip(KINDS, ap):
        print("%-8s AP %.4f" % (kind, value))
    print("mean AP %.4f (positives share %.3f)" % (np.mean(ap), test.tensors[1].mean().item()))


if __name__ == "__main__":
    main()
