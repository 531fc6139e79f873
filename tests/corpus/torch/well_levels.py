"""Follow the water level of many wells through time, carrying the state from chunk to chunk."""
import numpy as np
import torch
import torch.nn as nn


class WellRecord:
    def __init__(self, wells=64, hours=3000, seed=0):
        r = np.random.default_rng(seed)
        rain = (r.random((wells, hours)) < 0.05) * r.gamma(2.0, 1.0, (wells, hours))
        level = np.zeros((wells, hours))
        for t in range(1, hours):
            level[:, t] = 0.985 * level[:, t - 1] + 0.3 * rain[:, t]
        level = (level - level.mean()) / level.std()
        self.x = torch.tensor(rain[..., None], dtype=torch.float32)
        self.y = torch.tensor(level + 0.03 * r.normal(size=level.shape), dtype=torch.float32)

    def chunks(self, begin, end, size):
        for a in range(begin, end - size + 1, size):
            yield self.x[:, a:a + size], self.y[:, a:a + size]


class LevelTracker(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return self.out(h).squeeze(-1), state


def walk(model, chunks, opt=None):
    state, losses = None, []
    for x, y in chunks:
        if state is not None:
            state = state.detach()
        with torch.set_grad_enabled(opt is not None):
            pred, state = model(x, state)
            loss = nn.functional.mse_loss(pred, y)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def main():
    torch.manual_seed(0)
    rec = WellRecord()
    model = LevelTracker()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    decay = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
    for epoch in range(20):
        model.train()
        tr = walk(model, rec.chunks(0, 2400, 50), opt)
        decay.step()
        model.eval()
        te = walk(model, rec.chunks(2000, 3000, 50))
        held = walk(model, rec.chunks(2400, 3000, 50))
        print(f"pass {epoch + 1:2d} train {tr:.4f}  with run-in {te:.4f}  cold start {held:.4f}")


if __name__ == "__main__":
    main()
