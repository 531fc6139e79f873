import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(11)
torch.manual_seed(11)


def make_subscribers(n):
    x = rng.normal(size=(n, 10)).astype("float32")
    risk = 1.1 * x[:, 0] - 0.9 * x[:, 1] + 0.8 * x[:, 2] * x[:, 3] + 0.6 * np.abs(x[:, 4])
    event = rng.exponential(np.exp(-risk) * 12.0)
    censor = rng.uniform(2, 40, size=n)
    time = np.minimum(event, censor).astype("float32")
    return x, time, (event <= censor).astype("float32")


def cox_loss(score, time, died):
    order = torch.argsort(time, descending=True)
    score, died = score[order], died[order]
    log_cum = torch.logcumsumexp(score, dim=0)
    return -((score - log_cum) * died).sum() / died.sum().clamp(min=1)


def concordance(risk, time, died):
    good = total = 0.0
    for i in np.flatnonzero(died):
        later = time > time[i]
        total += later.sum()
        good += (risk[i] > risk[later]).sum() + 0.5 * (risk[i] == risk[later]).sum()
    return good / total


class RiskNet(nn.Module):
    def __init__(self, n_in, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


class HazardEnsemble:
    def __init__(self, n_members=4, epochs=25, lr=0.02, batch=128):
        self.n_members, self.epochs, self.lr, self.batch = n_members, epochs, lr, batch
        self.members = []

    def _fit_member(self, net, x, t, d):
        optimizer = torch.optim.SGD(net.parameters(), lr=self.lr, momentum=0.9)
        history = []
        for _ in range(self.epochs):
            perm = torch.randperm(len(x))
            running = 0.0
            for start in range(0, len(x), self.batch):
                idx = perm[start:start + self.batch]
                loss = cox_loss(net(x[idx]), t[idx], d[idx])
                loss.backward()
                optimizer.step()
                running += loss.item() * len(idx)
            history.append(running / len(x))
        return history

    def fit(self, x, t, d):
        x, t, d = map(torch.from_numpy, (x, t, d))
        for k in range(self.n_members):
            boot = torch.randint(0, len(x), (len(x),))
            net = RiskNet(x.shape[1])
            hist = self._fit_member(net, x[boot], t[boot], d[boot])
            print(f"member {k}: first epoch {hist[0]:.3f}  best {min(hist):.3f}  last epoch {hist[-1]:.3f}")
            self.members.append(net.eval())
        return self

    @torch.no_grad()
    def predict(self, x):
        x = torch.from_numpy(x)
        ranks = [net(x).argsort().argsort().float() for net in self.members]
        return torch.stack(ranks).mean(0).numpy()


x_train, t_train, d_train = make_subscribers(2000)
x_test, t_test, d_test = make_subscribers(800)
model = HazardEnsemble().fit(x_train, t_train, d_train)
print("events in training set: %.2f" % d_train.mean())
print("test concordance: %.3f" % concordance(model.predict(x_test), t_test, d_test))
