"""Forward-Forward (Hinton 2022): every layer has its own objective and its own optimizer; digits 8x8."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(13)
EPOCHS, BATCH, THETA = 60, 64, 2.0


def overlay(x, y):
    return torch.cat([x, 2.0 * F.one_hot(y, 10).float()], dim=1)


class LocalLayer(nn.Module):
    def __init__(self, n_in, n_out, lr):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out)
        self.opt = torch.optim.Adam(self.parameters(), lr=lr)

    def forward(self, x):
        x = x / (x.norm(dim=1, keepdim=True) + 1e-4)
        return F.relu(self.lin(x * x.size(1) ** 0.5))

    def learn(self, pos, neg):
        gp = self(pos).pow(2).mean(1)
        gn = self(neg).pow(2).mean(1)
        loss = F.softplus(torch.cat([THETA - gp, gn - THETA])).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        with torch.no_grad():
            return self(pos), self(neg), loss.item()


class Stack(nn.Module):
    def __init__(self, sizes, lr=2e-3):
        super().__init__()
        self.layers = nn.ModuleList(LocalLayer(a, b, lr) for a, b in zip(sizes, sizes[1:]))

    def learn(self, pos, neg):
        losses = []
        for layer in self.layers:
            pos, neg, value = layer.learn(pos, neg)
            losses.append(value)
        return losses

    @torch.no_grad()
    def scores(self, x):
        out = []
        for c in range(10):
            h = overlay(x, torch.full((len(x),), c))
            total = 0
            for layer in self.layers:
                h = layer(h)
                total = total + h.pow(2).mean(1)
            out.append(total)
        return torch.stack(out, 1)


images, labels = load_digits(return_X_y=True)
xtr, xte, ytr, yte = train_test_split(images / 8.0 - 0.6, labels, test_size=0.25, random_state=0, stratify=labels)
xtr, xte = torch.tensor(xtr).float(), torch.tensor(xte).float()
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

net = Stack([74, 200, 200])
for epoch in range(EPOCHS):
    track = []
    for b in torch.randperm(len(xtr)).split(BATCH):
        if len(b) < 2:
            continue
        x, y = xtr[b], ytr[b]
        if epoch < 5:
            wrong = (y + torch.randint(1, 10, y.shape)) % 10
        else:
            s = net.scores(x).scatter(1, y[:, None], 0.0).sqrt()
            wrong = torch.multinomial(s + 1e-3, 1).squeeze(1)
            wrong = torch.where(wrong == y, (y + 1) % 10, wrong)
        track.append(net.learn(overlay(x, y), overlay(x, wrong)))
    if epoch % 10 == 9:
        mean = torch.tensor(track).mean(0).tolist()
        acc = (net.scores(xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch + 1} layer losses {['%.3f' % v for v in mean]} test acc {acc:.3f}")
