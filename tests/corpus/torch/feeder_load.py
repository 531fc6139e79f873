"""Load of 24 feeders, half-hourly. Batches are consecutive stretches of the record; the GRU state is carried over."""
import numpy as np
import torch
import torch.nn as nn


class FeederRecord:
    def __init__(self, feeders=24, days=90, seed=6):
        g = np.random.default_rng(seed)
        t = np.arange(days * 48)
        base = 1 + 0.5 * np.sin(2 * np.pi * t / 48 - 1) + 0.2 * np.sin(4 * np.pi * t / 48)
        week = np.where((t // 48) % 7 >= 5, 0.75, 1.0)
        rows = []
        for _ in range(feeders):
            slow = np.zeros(len(t))
            for k in range(1, len(t)):
                slow[k] = 0.995 * slow[k - 1] + g.normal(0, 0.01)
            rows.append(g.uniform(0.8, 1.2) * base * week + slow + g.normal(0, 0.04, len(t)))
        series = torch.tensor(np.array(rows), dtype=torch.float32)
        clock = torch.tensor(np.stack([np.sin(2 * np.pi * t / 48), np.cos(2 * np.pi * t / 48),
                                       (t // 48) % 7 >= 5], 1), dtype=torch.float32)
        self.cut = (days - 14) * 48
        m, s = series[:, :self.cut].mean(1, keepdim=True), series[:, :self.cut].std(1, keepdim=True)
        self.z = (series - m) / s
        self.clock = clock[None].expand(feeders, -1, -1)

    def stretches(self, start, stop, step):
        for i in range(start, stop - 1, step):
            j = min(i + step, stop - 1)
            x = torch.cat([self.z[:, i:j, None], self.clock[:, i + 1:j + 1]], -1)
            yield x, self.z[:, i + 1:j + 1]


class LoadGRU(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.gru = nn.GRU(4, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x, state=None):
        h, state = self.gru(x, state)
        # the net says how the next value departs from the present one
        return x[..., 0] + self.out(h).squeeze(-1), state


class Trainer:
    def __init__(self, record, step=48):
        self.record, self.step = record, step
        self.net = LoadGRU()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=4e-3)
        self.plan = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda e: 0.88 ** e)

    def train_epoch(self):
        self.net.train()
        state, losses = None, []
        for x, y in self.record.stretches(0, self.record.cut, self.step):
            pred, state = self.net(x, state)
            loss = nn.functional.smooth_l1_loss(pred, y, beta=0.5)
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
            self.opt.step()
            state = state.detach()
            losses.append(loss.item())
        self.plan.step()
        return sum(losses) / len(losses), state

    @torch.no_grad()
    def test(self, state):
        self.net.eval()
        err = naive = n = 0
        for x, y in self.record.stretches(self.record.cut, self.record.z.shape[1], self.step):
            pred, state = self.net(x, state)
            err += ((pred - y) ** 2).sum().item()
            naive += ((x[..., 0] - y) ** 2).sum().item()
            n += y.numel()
        return err / n, naive / n


if __name__ == "__main__":
    torch.manual_seed(6)
    fit = Trainer(FeederRecord())
    for epoch in range(16):
        loss, state = fit.train_epoch()
        mse, naive = fit.test(state)
        if epoch % 3 == 0:
            print(f"epoch {epoch:2d} loss {loss:.4f}  test mse {mse:.4f}  (same as last value: {naive:.4f})")
